/** Starts the part `audit`: opens the trail and sets the core's `TrailWriter`. */
import { randomUUID } from 'node:crypto'
import type { Deed, EndDeed, TrailWriter } from '../../http/trail.ts'
import { valuesOf } from '../../option.ts'
import type { Lent, Started } from '../../part.ts'
import { options, type audit } from './part.ts'
import { TrailLog, type TrailRecord } from './trail-log.ts'

export async function start(core: Lent<typeof audit>): Promise<Started<typeof audit>> {
  const { config, dataDir, clock, log, masker, trail } = core
  const isRequired = valuesOf(options, config).audit === 'required'
  const file = await TrailLog.open({ dataDir, clock, log })
  const started = file.append({ kind: 'start' })
  if (isRequired) await started
  else await started.catch(() => undefined) // `append` has logged the first error of the outage.
  trail.writer = writerOf({ file, isRequired, mask: (text) => masker.mask(text) })
  return {
    async close() {
      trail.writer = undefined
      await file.append({ kind: 'stop' }).catch(() => undefined) // `append` has logged the first error of the outage.
      await file.close()
    },
  }
}

interface WriterParts {
  readonly file: Pick<TrailLog, 'append'>
  /** True for `--audit required`: a deed (such as a request) is refused when its record cannot be stored. */
  readonly isRequired: boolean
  readonly mask: (text: string) => string
}

/** The most characters of a name in a record. */
const nameChars = 200

export function writerOf({ file, isRequired, mask }: WriterParts): TrailWriter {
  const shown = (text: string): string => mask(text).slice(0, nameChars)
  const add = (record: TrailRecord): void => void file.append(record).catch(() => undefined) // `append` logs an outage.
  return {
    async begin(deed): Promise<EndDeed> {
      const ref = randomUUID()
      const written = file.append({ kind: 'request', ref, ...recordOf(deed, shown) })
      if (isRequired) await written
      else if (deed.isGrave) await written.catch(() => undefined) // `append` has logged the first error of the outage.
      else written.catch(() => undefined) // `append` has logged the first error of the outage.
      return (status, subject) => {
        add({ kind: 'result', ref, status, ...(subject === undefined ? {} : { subject: shown(subject) }) })
      }
    },
    secretsUsed: (conversation, names) => add({ kind: 'secrets', conversation, names: names.map(shown) }),
    note: (event, name) => add({ kind: 'event', event, name: shown(name) }),
  }
}

function recordOf({ by, address, operation, target, requestId }: Deed, shown: (text: string) => string): TrailRecord {
  const { conversation_id: conversation, path: _, ...names } = target
  const entries = Object.entries(names).map(([name, value]) => [name, shown(value)])
  return {
    key: by.name,
    ...(by.keyId === undefined ? {} : { key_id: by.keyId }),
    address, operation,
    ...(conversation === undefined ? {} : { conversation: shown(conversation) }),
    ...(entries.length === 0 ? {} : { target: Object.fromEntries(entries) }),
    request_id: requestId,
  }
}
