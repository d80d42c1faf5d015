/**
 * The wait before another attempt to deliver. It doubles with each failure up to `longestWaitMs`, and has jitter.
 *
 * The receiver's `Retry-After` (RFC 9110, section 10.2.3) can make the wait longer, up to the same limit.
 */

export const longestWaitMs = 60 * 60 * 1000

export interface Attempt {
  /** The number of failed attempts, at least 1. */
  readonly failures: number
  /** The delay after the first failed attempt, before jitter. It doubles with each further failed attempt. */
  readonly retryDelayMs: number
  /** The header `Retry-After` of the last response; undefined when it has none. */
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

/** Returns the wait that a `Retry-After` of seconds or a date (`Date.parse`) asks for; 0 for any other value. */
function retryAfterMs(value: string | undefined, now: number): number {
  if (value === undefined) return 0
  if (/^\d{1,9}$/.test(value)) return Number(value) * 1000
  const at = Date.parse(value)
  return Number.isNaN(at) ? 0 : Math.max(0, at - now)
}
