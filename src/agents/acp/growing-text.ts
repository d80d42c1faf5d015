/**
 * A text of an external agent that comes in chunks, and is masked while it grows: when it is whole, little is left to do.
 *
 * A short text is masked once, at its end. What is known at the end is hidden everywhere: a text that has grown long
 * while secrets were added or removed is masked again as a whole.
 */
import type { MaskingStream } from '../../base/masking.ts'

/** How texts of a session are masked. */
export interface TextHiding {
  /** Masks a whole text. */
  readonly mask: (text: string) => string
  /** Masks a text in pieces, but for what `maskDelta` hides. */
  readonly stream: () => MaskingStream
  /** Hides what `stream` does not hide. */
  readonly maskDelta: (text: string) => string
}

/** A few milliseconds of work as a rule, and 30 at the worst. */
const pieceChars = 32 * 1024

export class GrowingText {
  readonly #hiding: TextHiding
  #text = ''
  /** The end of the text, which the stream has not got. */
  #rest = ''
  #masked = ''
  #stream: MaskingStream | undefined

  constructor(hiding: TextHiding) {
    this.#hiding = hiding
  }

  get isEmpty(): boolean {
    return this.#text === ''
  }

  add(chunk: string): void {
    this.#text += chunk
    this.#rest += chunk
    if (this.#rest.length < pieceChars) return
    this.#stream ??= this.#hiding.stream()
    this.#masked += this.#stream.push(this.#rest)
    this.#rest = ''
  }

  /** All of it, masked. It is empty then. */
  take(): string {
    const masked = this.#whole()
    this.#text = this.#rest = this.#masked = ''
    this.#stream = undefined
    return masked
  }

  #whole(): string {
    const { mask, maskDelta } = this.#hiding
    const stream = this.#stream
    if (stream === undefined || stream.isOutdated) return mask(this.#text)
    return maskDelta(this.#masked + stream.push(this.#rest) + stream.end())
  }
}
