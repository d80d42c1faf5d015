/**
 * Computes the wait before another attempt to send a request to a webhook. The wait is random, and doubles on average
 * with each failure, up to `longestWaitMs`.
 *
 * The receiver's `Retry-After` (RFC 9110, section 10.2.3) can make the wait longer, up to the same limit.
 */

export const longestWaitMs = 60 * 60 * 1000

export interface Attempt {
  /** The number of failed attempts, at least 1. */
  readonly failures: number
  /** The delay after the first failed attempt, before jitter. It doubles with each further failed attempt. */
  readonly retryDelayMs: number
  /** The header `Retry-After` of the last response; undefined without the header or without a response. */
  readonly retryAfter: string | undefined
  /** Milliseconds since the epoch. */
  readonly now: number
  /** A random number from 0 to 1. */
  readonly random: number
}

/**
 * Returns the wait in milliseconds, at most `longestWaitMs`: a random time from half the delay to the whole delay, or
 * `Retry-After` if longer. The delay is `retryDelayMs`, doubled for each failure after the first.
 */
export function waitBefore({ failures, retryDelayMs, retryAfter, now, random }: Attempt): number {
  const delay = Math.min(longestWaitMs, retryDelayMs * 2 ** (failures - 1))
  const jittered = delay * (0.5 + random / 2)
  return Math.min(longestWaitMs, Math.max(jittered, retryAfterMs(retryAfter, now)))
}

/** Returns the wait for which `Retry-After` asks, in seconds or as a date (`Date.parse`); 0 for any other value. */
function retryAfterMs(value: string | undefined, now: number): number {
  if (value === undefined) return 0
  if (/^\d{1,9}$/.test(value)) return Number(value) * 1000
  const at = Date.parse(value)
  return Number.isNaN(at) ? 0 : Math.max(0, at - now)
}
