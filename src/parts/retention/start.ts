/** Starts the part `retention`. */
import { errorOf } from '../../base/errors.ts'
import type { Core } from '../../capabilities.ts'
import { valuesOf } from '../../option.ts'
import type { Lent, Started } from '../../part.ts'
import { DiskUsage } from './disk-usage.ts'
import { KeyUse } from './key-use.ts'
import { hasLimit, type RetainLimits } from './families.ts'
import { Limits } from './limits.ts'
import { options, type retention } from './part.ts'
import { Remover } from './retention.ts'
import { Schedule } from './schedule.ts'

export function start(core: Lent<typeof retention>): Started<typeof retention> {
  const { config, unusedConversations: conversations, load, clock, log, dataDir, trail, admission, written } = core
  const limits = limitsOf(config)
  const remover = new Remover({ limits, conversations, dataDir, clock, log, trail })
  const pass = async (signal: AbortSignal): Promise<void> => {
    await remover.prune(signal).catch((thrown: unknown) => {
      if (!signal.aborted) log.error('Retention ended early', { error: errorOf(thrown) })
    })
  }
  const isQuiet = (): boolean => load().conversations.statuses.get('running') === 0
  const schedule = hasLimit(limits) ? new Schedule({ pass, isQuiet, clock }) : undefined
  const { maxConversations, maxRuns, maxDisk } = valuesOf(options, config)
  const disk = maxDisk > 0 ? new DiskUsage({ folder: dataDir, clock, written: () => written.bytes }) : undefined
  const keyUse = new KeyUse({ dataDir, clock, listed: conversations, namedKeys: core.namedKeys })
  whenListed(core.conversations, () => keyUse.refresh())
  const rules = new Limits({
    limits: { conversations: maxConversations, runs: maxRuns, diskBytes: maxDisk },
    listed: conversations, conversations: core.conversations, namedKeys: core.namedKeys,
    disk: disk ?? { bytes: 0, refresh: () => undefined }, keyUse,
  })
  admission.rules = rules
  return {
    offers: { retention: remover },
    figures: () => rules.figures(),
    async close() {
      await disk?.close()
      await keyUse.close()
      await schedule?.close()
      await remover.idle()
    },
  }
}

/** Calls `begin` once: when all conversations are listed, or earlier if a conversation changes or is removed. */
function whenListed({ follow }: Pick<Core['conversations'], 'follow'>, begin: () => void): void {
  const first = (): void => {
    end()
    begin()
  }
  const end = follow({ started: first, changed: first, removing: async () => first(), closing: async () => undefined })
}

export function limitsOf(config: Core['config']): RetainLimits {
  const { retainDays: days, retainCount: count, retainBytes: bytes } = valuesOf(options, config)
  return { days, count, bytes }
}
