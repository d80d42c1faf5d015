/**
 * Remembers requests with an idempotency key, so that each takes effect once (decisions 7, 37).
 *
 * The record of a request is stored right before the event that the request caused. If the log lacks this event, the
 * request had no effect. A key is forgotten after one day, or after ten thousand newer keys.
 */
import { AppError } from '../../base/errors.ts'
import { isObject } from '../../base/json.ts'

export const requestLimits = { keptMs: 24 * 60 * 60 * 1000, count: 10_000 } as const

export interface KeyedRequest {
  readonly key: string
  /** Digest of the whole request. Equal digests mean equal requests. */
  readonly digest: string
  readonly at: number
}

export function isKeyedRequest(value: unknown): value is KeyedRequest {
  if (!isObject(value)) return false
  return typeof value['key'] === 'string' && typeof value['digest'] === 'string' && typeof value['at'] === 'number'
}

export interface RequestRecord extends KeyedRequest {
  /**
   * The id of the event that the request caused, which is the line after this record. Null for a record that belongs to
   * no event.
   */
  readonly event: string | null
  /** True for the first of two records of a request. The second is stored when the request is done. */
  readonly goes_on?: boolean
}

/** The most records that are remembered: two for each key, because a message with `run` has two records. */
const recordLimit = 2 * requestLimits.count

/** Appends a record to `known`. Drops the oldest records while they have expired or exceed `recordLimit`. */
export function remember(known: RequestRecord[], record: RequestRecord): void {
  known.push(record)
  const isForgotten = (oldest: RequestRecord): boolean => known.length > recordLimit || isExpired(oldest, record.at)
  for (let [oldest] = known; oldest !== undefined && isForgotten(oldest); [oldest] = known) known.shift()
}

/** Returns the records of a key that are not forgotten at the time `at`, newest first. */
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

/**
 * True when two requests with one key have equal digests. False when `known` has expired by the time of `request`.
 * @throws AppError `idempotency_mismatch` when `known` has not expired and the digests differ
 */
export function isSame(known: KeyedRequest, request: KeyedRequest): boolean {
  if (isExpired(known, request.at)) return false
  if (known.digest === request.digest) return true
  throw new AppError('idempotency_mismatch', `The idempotency key "${request.key}" was used for another request`)
}
