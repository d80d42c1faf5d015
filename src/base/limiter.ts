/**
 * Runs a limited number of tasks at a time, in the order of the calls of `run`.
 *
 * Each waiting task begins in a new turn of the event loop, so that many short tasks do not block it.
 */
export class Limiter {
  readonly #limit: number
  #running = 0
  readonly #waiting: (() => void)[] = []

  constructor(limit: number) {
    this.#limit = limit
  }

  get waiting(): number {
    return this.#waiting.length
  }

  /** Calls `work` when fewer than `limit` tasks are running. Settles like the promise of `work`. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running < this.#limit) this.#running++
    else await new Promise<void>((resolve) => this.#waiting.push(resolve))
    try {
      return await work()
    } finally {
      // The next task replaces the task that ended, so `#running` does not change.
      const next = this.#waiting.shift()
      if (next === undefined) this.#running--
      else setImmediate(next)
    }
  }
}
