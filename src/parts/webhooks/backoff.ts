/**
 * The wait before another attempt: it doubles with each attempt, with jitter, and never ends before the receiver's
 * `Retry-After` (RFC 9110, section 10.2.3).
 */

/** The longest wait, also when a receiver asks for more. */
export const longestWaitMs = 60 * 60 * 1000

export interface Attempt {
  /** The number of failed attempts, at least 1. */
  readonly failures: number
  readonly retryDelayMs: number
  readonly retryAfter: string | undefined
  /** Milliseconds since the epoch. */
  readonly now: number
  /** A number from 0 to 1. */
  readonly random: number
}

/** Returns the wait in milliseconds: between half of the delay and the whole delay. */
export function waitBefore({ failures, retryDelayMs, retryAfter, now, random }: Attempt): number {
  const delay = Math.min(longestWaitMs, retryDelayMs * 2 ** (failures - 1))
  const jittered = delay * (0.5 + random / 2)
  return Math.min(longestWaitMs, Math.max(jittered, retryAfterMs(retryAfter, now)))
}

/** Reads seconds or an HTTP date; 0 for anything else. */
function retryAfterMs(value: string | undefined, now: number): number {
  if (value === undefined) return 0
  if (/^\d{1,9}$/.test(value)) return Number(value) * 1000
  const at = Date.parse(value)
  return Number.isNaN(at) ? 0 : Math.max(0, at - now)
}
