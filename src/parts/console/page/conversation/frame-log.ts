/** The newest frames of the socket, for a person who builds a client. A frame is cut after `textLimit` characters. */

export interface LoggedFrame {
  readonly number: number
  readonly text: string
  readonly size: number
}

const frameLimit = 200
const textLimit = 20_000

export class FrameLog {
  #frames: LoggedFrame[] = []
  #count = 0

  /** The newest frames, oldest first. Above `2 * frameLimit` frames, only the newest `frameLimit` are kept. */
  get frames(): readonly LoggedFrame[] {
    return this.#frames
  }

  /** The number of all frames that were received so far, also of those that are no longer kept. */
  get count(): number {
    return this.#count
  }

  add(text: string): void {
    this.#frames.push({ number: ++this.#count, text: text.slice(0, textLimit), size: text.length })
    if (this.#frames.length > 2 * frameLimit) this.#frames = this.#frames.slice(-frameLimit)
  }
}
