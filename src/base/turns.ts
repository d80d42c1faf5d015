/**
 * Lets a few pieces of work go on at a time, in the order in which they were asked for.
 *
 * Between two pieces of those who wait the event loop turns, so that a thousand of them, each a millisecond long, hold up
 * nobody for a second. A piece that fails gives its turn back like any other.
 */
export class Turns {
  readonly #limit: number
  #running = 0
  readonly #waiting: (() => void)[] = []

  constructor(limit: number) {
    this.#limit = limit
  }

  /** Does the work when it is its turn. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running < this.#limit) this.#running++
    else await new Promise<void>((resolve) => this.#waiting.push(resolve))
    try {
      return await work()
    } finally {
      // The turn goes to the next who waits.
      const next = this.#waiting.shift()
      if (next === undefined) this.#running--
      else setImmediate(next)
    }
  }
}
