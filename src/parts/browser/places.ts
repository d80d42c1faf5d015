/**
 * How many browsers a server runs at once: each takes hundreds of megabytes, and what opens a hundred conversations is
 * to be told so by its tools, not by the kernel. Nobody waits, and no browser is taken from who has one: its tabs would
 * be lost.
 */
import { AppError } from '../../base/errors.ts'

export class BrowserPlaces {
  readonly #limit: number
  #taken = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  /** A place, until what is given back is called. @throws AppError `unavailable` when all are taken */
  take(): () => void {
    if (this.#taken >= this.#limit) {
      throw new AppError(
        'unavailable',
        `Cannot start another browser: ${this.#taken} run on this server, as many as --browser-limit allows`,
      )
    }
    this.#taken++
    let isHeld = true
    return () => {
      if (isHeld) this.#taken--
      isHeld = false
    }
  }
}
