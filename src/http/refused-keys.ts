/**
 * Tells the operator of keys that were refused: from which address, and how many of them so far.
 *
 * A line comes with the first, second, fourth, eighth refusal and so on, so that a flood of guesses fills no log. A request
 * without a key is not counted: it guesses nothing. The addresses seen last are remembered, up to a limit. Behind a proxy the
 * address is the proxy's. Never sees a key.
 */
import type { Log } from '../base/log.ts'

const addressLimit = 1000

export class RefusedKeys {
  readonly #log: Log
  /** Counts by address, the address seen last at the end. */
  readonly #counts = new Map<string, number>()

  constructor(log: Log) {
    this.#log = log
  }

  /** Counts a refusal. The address is undefined when its connection has gone. */
  add(address = 'unknown'): void {
    const count = (this.#counts.get(address) ?? 0) + 1
    this.#counts.delete(address)
    this.#counts.set(address, count)
    const [oldest] = this.#counts.keys()
    if (this.#counts.size > addressLimit && oldest !== undefined) this.#counts.delete(oldest)
    if (Number.isInteger(Math.log2(count))) this.#log.warn('A session key was refused', { address, count })
  }
}
