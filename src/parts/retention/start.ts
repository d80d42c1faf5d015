/** Starts the part `retention`. */
import { errorOf } from '../../base/errors.ts'
import type { Core } from '../../capabilities.ts'
import { valuesOf } from '../../option.ts'
import type { StartedPart } from '../../part.ts'
import { hasLimit, type RetainLimits } from './families.ts'
import { options } from './part.ts'
import { Remover } from './retention.ts'
import { Schedule } from './schedule.ts'

export function start({ config, unusedConversations: conversations, load, ...lent }: Needs): StartedPart {
  const { clock, log, dataDir, trail } = lent
  const limits = limitsOf(config)
  const remover = new Remover({ limits, conversations, dataDir, clock, log, trail })
  const pass = async (signal: AbortSignal): Promise<void> => {
    await remover.prune(signal).catch((thrown: unknown) => {
      if (!signal.aborted) log.error('Retention ended early', { error: errorOf(thrown) })
    })
  }
  const isQuiet = (): boolean => load().conversations.statuses.get('running') === 0
  const schedule = hasLimit(limits) ? new Schedule({ pass, isQuiet, clock }) : undefined
  return {
    offers: { retention: remover },
    async close() {
      await schedule?.close()
      await remover.idle()
    },
  }
}

type Needs = Pick<Core, 'config' | 'unusedConversations' | 'load' | 'clock' | 'log' | 'dataDir' | 'trail'>

export function limitsOf(config: Core['config']): RetainLimits {
  const { retainDays: days, retainCount: count, retainBytes: bytes } = valuesOf(options, config)
  return { days, count, bytes }
}
