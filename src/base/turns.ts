/**
 * A scheduler that runs a limited number of tasks at a time, in the order of their requests.
 *
 * Between two waiting tasks the event loop turns, so that a thousand tasks of a millisecond each do not block it for
 * a second. A task that fails frees its place like any other.
 */
export class Turns {
  readonly #limit: number
  #running = 0
  readonly #waiting: (() => void)[] = []

  constructor(limit: number) {
    this.#limit = limit
  }

  /** Runs the work when a place is free. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running < this.#limit) this.#running++
    else await new Promise<void>((resolve) => this.#waiting.push(resolve))
    try {
      return await work()
    } finally {
      // The place goes to the next waiting task.
      const next = this.#waiting.shift()
      if (next === undefined) this.#running--
      else setImmediate(next)
    }
  }
}
