/**
 * The end of a turn of the event loop, when outboxes write what was pushed in it: one immediate for all of them.
 *
 * Frames that several connections send are shared between them, and so is what they are joined to: whoever sends the
 * same frames as the one before gets the same buffer. Nothing is kept when all have written.
 */

export interface Departing {
  /** Writes what it has. Must not throw. */
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

  /** Lets it depart at the end of this turn. */
  add(one: Departing): void {
    if (this.#waiting.length === 0) setImmediate(this.#leave)
    this.#waiting.push(one)
  }

  /** The frames as one buffer, which is not to be changed. */
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
