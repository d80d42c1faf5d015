/** Limits the number of browsers of a server, because each takes hundreds of megabytes of memory. */
import { AppError } from '../../base/errors.ts'

export class BrowserPlaces {
  readonly #limit: number
  #taken = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  /**
   * Counts one more browser. Call the returned function when the browser has ended.
   * @throws AppError `unavailable` at the limit
   */
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
