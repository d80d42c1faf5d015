/**
 * Requests that carry an idempotency key: whatever their number, they have one effect (decisions 7, 37).
 *
 * What is remembered of one is a private record in the log, right before the event that is its effect: the request was
 * done if and only if that event is in the log, wherever a crash has cut it. So a key and its effect are durable together,
 * and nothing of a request that failed is remembered. Who asks again while the first is under way waits for the same end.
 * A key is known for a day, and no longer than ten thousand newer ones have not come; a fork knows none.
 */
import { AppError } from '../base/errors.ts'
import { isObject } from '../base/json.ts'
import type { ConversationLog } from '../storage/log.ts'
import { readEvent } from './history.ts'

export const requestLimits = { keptMs: 24 * 60 * 60 * 1000, count: 10_000 } as const

export interface KeyedRequest {
  readonly key: string
  /** Of all that the request says: two that have the same are the same request. */
  readonly digest: string
  /** Milliseconds since the epoch. */
  readonly at: number
}

export function isKeyedRequest(value: unknown): value is KeyedRequest {
  if (!isObject(value)) return false
  return typeof value.key === 'string' && typeof value.digest === 'string' && typeof value.at === 'number'
}

/** As in the log. */
export interface RequestRecord extends KeyedRequest {
  /** The event that follows, and without which nothing was done. Null: nothing was to be recorded. */
  readonly event: string | null
  /** It is done in part: another record is to follow. */
  readonly goes_on?: boolean
}

/** A message that is run takes two records. */
const recordLimit = 2 * requestLimits.count

/** Adds a record to those that are remembered, oldest first, and forgets what need not be remembered any more. */
export function remember(known: RequestRecord[], record: RequestRecord): void {
  known.push(record)
  const isForgotten = (oldest: RequestRecord): boolean => known.length > recordLimit || isExpired(oldest, record.at)
  for (let [oldest] = known; oldest !== undefined && isForgotten(oldest); [oldest] = known) known.shift()
}

/** The records of a key that are known still, newest first. */
export function recordsOf(known: readonly RequestRecord[], { key, at }: KeyedRequest): RequestRecord[] {
  const found: RequestRecord[] = []
  let newer = 0
  for (let place = known.length - 1; place >= 0 && newer < requestLimits.count; place--) {
    const record = known[place]
    if (record?.key !== key) newer += record?.goes_on === true ? 0 : 1
    else if (!isExpired(record, at)) found.push(record)
  }
  return found
}

function isExpired(known: KeyedRequest, at: number): boolean {
  return known.at <= at - requestLimits.keptMs
}

/** Whether a request is known still. @throws AppError `idempotency_mismatch` when its key was used for another one */
export function isSame(known: KeyedRequest, request: KeyedRequest): boolean {
  if (isExpired(known, request.at)) return false
  if (known.digest === request.digest) return true
  throw new AppError('idempotency_mismatch', `The idempotency key "${request.key}" was used for another request`)
}

/** Requests under way, by their keys. */
export class OpenRequests<T> {
  readonly #open = new Map<string, { readonly request: KeyedRequest; readonly end: Promise<T> }>()

  /** What becomes of the request: of the one under way, or of `work`. @throws AppError `idempotency_mismatch` */
  async join(request: KeyedRequest, work: () => Promise<T>): Promise<T> {
    const open = this.#open.get(request.key)
    if (open !== undefined && isSame(open.request, request)) return open.end
    const end = work().finally(() => this.#open.delete(request.key))
    this.#open.set(request.key, { request, end })
    return end
  }
}

export interface RequestsOptions {
  readonly log: ConversationLog
  readonly known: () => readonly RequestRecord[]
}

/** The keyed requests of one conversation. */
export class Requests {
  readonly #options: RequestsOptions
  readonly #open = new OpenRequests<void>()

  constructor(options: RequestsOptions) {
    this.#options = options
  }

  /**
   * Does the work of a request, unless it was done. The work must record the request with its effect; it is given the
   * event of the part that was done already, if there is one.
   * @throws AppError `idempotency_mismatch`, and what the work throws
   */
  once(request: KeyedRequest | undefined, work: (done: string | undefined) => Promise<void>): Promise<void> {
    if (request === undefined) return work(undefined)
    return this.#open.join(request, async () => {
      const done = await this.#find(request)
      if (done === undefined || done.goes_on === true) await work(done?.event ?? undefined)
    })
  }

  /** What was done of a request last. @throws AppError `idempotency_mismatch` */
  async #find(request: KeyedRequest): Promise<RequestRecord | undefined> {
    const { log, known } = this.#options
    for (const record of recordsOf(known(), request)) {
      const isDone = record.event === null || (await readEvent(log, record.event)) !== undefined
      if (isDone && isSame(record, request)) return record
    }
    return undefined
  }
}
