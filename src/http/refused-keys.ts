/**
 * Counts refused keys by address, logs them, and delays the responses after many refusals.
 *
 * After ten refusals for an address, the response to each further refusal is delayed. A minute without a refusal ends
 * the delays. Of the refusals for an address, the first, second, fourth, eighth and so on are logged.
 */
import type { Log } from '../base/log.ts'
import type { Clock } from '../base/stamp.ts'

const addressLimit = 1000
const freeRefusals = 10
const firstDelayMs = 50
const longestDelayMs = 1000
const forgetAfterMs = 60_000

/** The subject of the log line about a refusal. */
export type RefusedThing = 'A session key' | 'The key of an init' | `A ${'code' | 'session'} of the console`

interface Count {
  /** The number of all refusals since the address was added to `#counts`, for the log. */
  total: number
  /** The number of refusals since the last pause of more than a minute. */
  recent: number
  lastAt: number
}

export class RefusedKeys {
  readonly #log: Log
  readonly #clock: Clock
  /** The counts of refusals by address. The address that was refused last is at the end. */
  readonly #counts = new Map<string, Count>()

  constructor(log: Log, clock: Clock) {
    this.#log = log
    this.#clock = clock
  }

  /**
   * Counts a refusal and calls `answer`, at once or after a delay. Returns a function that cancels the call, for use
   * when the connection closes.
   */
  refuse(address: string | undefined, answer: () => void, refused: RefusedThing = 'A session key'): () => void {
    const delayMs = delayAfter(this.#add(address ?? 'unknown', refused))
    if (delayMs === 0) {
      answer()
      return () => undefined
    }
    const timer = setTimeout(answer, delayMs)
    return () => clearTimeout(timer)
  }

  /** Counts a refusal, and logs it when the total is a power of 2. Returns the number of recent refusals. */
  #add(address: string, refused: RefusedThing): number {
    const now = this.#clock()
    const count = this.#counts.get(address) ?? { total: 0, recent: 0, lastAt: now }
    count.total++
    count.recent = now - count.lastAt > forgetAfterMs ? 1 : count.recent + 1
    count.lastAt = now
    this.#counts.delete(address)
    this.#counts.set(address, count)
    const [oldest] = this.#counts.keys()
    if (this.#counts.size > addressLimit && oldest !== undefined) this.#counts.delete(oldest)
    if (Number.isInteger(Math.log2(count.total))) {
      this.#log.warn(`${refused} was refused`, { address, count: count.total })
    }
    return count.recent
  }
}

function delayAfter(refusals: number): number {
  if (refusals <= freeRefusals) return 0
  return Math.min(longestDelayMs, firstDelayMs * 2 ** (refusals - freeRefusals - 1))
}
