/**
 * Limits the number of conversations, the runs at once and the size of the data folder. A named key (an API key with a
 * name) can have limits of its own.
 *
 * The limits of a key count the conversations that the key has made, also when clients with other keys use them.
 */
import { AppError } from '../../base/errors.ts'
import type { AdmissionRules } from '../../conversation/run/admission.ts'
import type { StoredConversations } from '../../conversation/list/stored.ts'
import type { UnusedConversations } from '../../conversation/list/unused.ts'
import type { NamedKeys } from '../../http/principal.ts'
import type { PartFigure } from '../../server-load.ts'
import type { DiskUsage } from './disk-usage.ts'
import type { KeyUse } from './key-use.ts'

/** The limits of the server. The value 0 means no limit. */
export interface ServerLimits {
  readonly conversations: number
  readonly runs: number
  /** The most bytes of the data folder. */
  readonly diskBytes: number
}

export interface LimitsOptions {
  readonly limits: ServerLimits
  readonly listed: Pick<UnusedConversations, 'entries'>
  readonly conversations: Pick<StoredConversations, 'running'>
  readonly namedKeys: NamedKeys
  readonly disk: Pick<DiskUsage, 'bytes' | 'refresh'>
  readonly keyUse: Pick<KeyUse, 'bytesOf'>
}

/** By conversation id, the name of the named key that made the conversation; undefined if no named key made it. */
type Made = Map<string, string | undefined>

/** The `Retry-After` (RFC 9110, section 10.2.3) of a response with `too_many_runs`. */
const retryAfterSeconds = 5

export class Limits implements AdmissionRules {
  readonly #options: LimitsOptions
  /** New conversations that `creating` has allowed. The function that `creating` returned removes the entry. */
  readonly #creating = new Map<symbol, readonly [id: string, madeBy: string | undefined]>()
  /** Runs that `starting` has allowed. The function that `starting` returned removes the entry. */
  readonly #starting = new Map<symbol, readonly [id: string, madeBy: string | undefined]>()

  constructor(options: LimitsOptions) {
    this.#options = options
  }

  get limits(): Readonly<Record<string, number>> {
    const { conversations, runs, diskBytes } = this.#options.limits
    const all = Object.entries({ conversations, runs, disk_bytes: diskBytes })
    return Object.fromEntries(all.filter(([, limit]) => limit > 0))
  }

  creating(id: string, madeBy: string | undefined): () => void {
    this.assertSpace(madeBy, id)
    const { limits: { conversations: limit } } = this.#options
    const ofKey = this.#limitsOf(madeBy)?.conversations
    if (limit > 0 || ofKey !== undefined) {
      const made = this.#made()
      const remedy = 'delete a conversation first'
      if (limit > 0 && made.size >= limit) {
        const words = `The server may have ${limit} conversations (--max-conversations), and has ${made.size}`
        throw new AppError('too_many_conversations', `${words}: ${remedy}`, { limit: { limit, used: made.size } })
      }
      const used = countOf(made, madeBy)
      if (ofKey !== undefined && used >= ofKey) {
        const words = `The key "${madeBy}" may have ${ofKey} conversations, and has ${used}`
        throw new AppError('too_many_conversations', `${words}: ${remedy}`, { limit: { limit: ofKey, used } })
      }
    }
    return mark(this.#creating, id, madeBy)
  }

  starting(id: string, madeBy: string | undefined): () => void {
    this.assertSpace(madeBy, id)
    const { limits: { runs: limit } } = this.#options
    const ofKey = this.#limitsOf(madeBy)?.runs
    if (limit > 0 || ofKey !== undefined) {
      const running = this.#running()
      running.delete(id)
      const remedy = 'try again when one of them has ended'
      if (limit > 0 && running.size >= limit) {
        const words = `The server may have ${limit} runs at once (--max-runs), and has ${running.size}`
        throw new AppError('too_many_runs', `${words}: ${remedy}`, {
          limit: { limit, used: running.size }, retryAfterSeconds,
        })
      }
      const used = countOf(running, madeBy)
      if (ofKey !== undefined && used >= ofKey) {
        const words = `The key "${madeBy}" may have ${ofKey} runs at once, and has ${used}`
        throw new AppError('too_many_runs', `${words}: ${remedy}`, { limit: { limit: ofKey, used }, retryAfterSeconds })
      }
    }
    return mark(this.#starting, id, madeBy)
  }

  assertSpace(madeBy: string | undefined, id?: string): void {
    // While `#starting` has a run of this conversation, nothing is checked: a refusal could leave a new conversation
    // without its first message.
    if ([...this.#starting.values()].some(([started]) => started === id)) return
    const { limits: { diskBytes: limit }, disk, keyUse } = this.#options
    if (limit > 0 && disk.bytes >= limit) {
      const used = disk.bytes
      disk.refresh()
      const words = `The data folder may have ${limit} bytes (--max-disk), and has ${used}`
      throw new AppError('storage_full', `${words}: delete conversations first`, { limit: { limit, used } })
    }
    const ofKey = this.#limitsOf(madeBy)?.diskBytes
    if (madeBy === undefined || ofKey === undefined) return
    const used = keyUse.bytesOf(madeBy)
    if (used < ofKey) return
    const words = `The conversations of the key "${madeBy}" may have ${ofKey} bytes, and have ${used}`
    const remedy = 'delete some of them first, or ask the operator for a larger limit'
    throw new AppError('storage_full', `${words}: ${remedy}`, { limit: { limit: ofKey, used } })
  }

  figures(): readonly PartFigure[] {
    const { limits: { conversations, runs, diskBytes }, disk } = this.#options
    return [
      ...gauge('max_conversations', 'The limit of conversations, --max-conversations.', conversations),
      ...gauge('max_runs', 'The limit of runs at once, --max-runs.', runs),
      ...gauge('runs', 'Runs under way, as --max-runs counts them.', runs > 0 ? this.#running().size : undefined),
      ...gauge('max_disk_bytes', 'The limit of the data folder, --max-disk.', diskBytes),
      ...gauge('disk_used_bytes', 'Size of the data folder, as --max-disk counts it.',
        diskBytes > 0 ? disk.bytes : undefined),
    ]
  }

  #limitsOf(name: string | undefined): ReturnType<NonNullable<NamedKeys['source']>['limitsOf']> {
    return name === undefined ? undefined : this.#options.namedKeys.source?.limitsOf(name)
  }

  #made(): Made {
    const listed = this.#options.listed.entries().map(({ id, madeBy }) => [id, madeBy] as const)
    return new Map([...listed, ...this.#creating.values()])
  }

  #running(): Made {
    const running = this.#options.conversations.running().map(({ id, made_by: madeBy }) => [id, madeBy] as const)
    return new Map([...running, ...this.#starting.values()])
  }
}

function mark(
  marks: Map<symbol, readonly [id: string, madeBy: string | undefined]>, id: string, madeBy: string | undefined,
): () => void {
  const own = Symbol(id)
  marks.set(own, [id, madeBy])
  return () => void marks.delete(own)
}

function countOf(made: Made, madeBy: string | undefined): number {
  let count = 0
  for (const maker of made.values()) if (maker === madeBy) count++
  return count
}

/** Returns a metric as a list of one. The list is empty if `value` is undefined, or 0 for a limit (`max_...`). */
function gauge(name: string, about: string, value: number | undefined): PartFigure[] {
  return value === undefined || (value === 0 && name.startsWith('max_')) ? [] : [{ name, type: 'gauge', about, value }]
}
