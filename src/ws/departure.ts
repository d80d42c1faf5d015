/**
 * Writes the frames of several outboxes at the end of a turn of the event loop, in one `setImmediate`.
 *
 * Connections that write the same frames one after another in this `setImmediate` share one buffer.
 */

export interface Departing {
  /** Writes the waiting frames of one connection. Must not throw. */
  depart(): void
}

interface Joined {
  readonly frames: readonly Buffer[]
  readonly bytes: Buffer
}

export class Departure {
  #waiting: Departing[] = []
  #isLeaving = false
  #last: Joined | undefined

  /** Schedules `one.depart()` for the end of this turn of the event loop. */
  add(one: Departing): void {
    if (this.#waiting.length === 0) setImmediate(this.#leave)
    this.#waiting.push(one)
  }

  /** Returns the frames in one buffer. Do not change the buffer: connections may share it. */
  join(frames: readonly Buffer[]): Buffer {
    if (this.#last !== undefined && areSame(this.#last.frames, frames)) return this.#last.bytes
    const joined = { frames, bytes: Buffer.concat(frames) }
    if (this.#isLeaving) this.#last = joined
    return joined.bytes
  }

  readonly #leave = (): void => {
    const waiting = this.#waiting
    this.#waiting = []
    this.#isLeaving = true
    for (const one of waiting) one.depart()
    this.#isLeaving = false
    this.#last = undefined
  }
}

function areSame(some: readonly Buffer[], others: readonly Buffer[]): boolean {
  return some.length === others.length && some.every((frame, index) => frame === others[index])
}
