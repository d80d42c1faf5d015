/**
 * Masks a text of an external agent in pieces while it arrives.
 *
 * A short text is masked once, at its end. When the secrets change while a text grows, the whole text is masked again.
 */
import type { MaskingStream } from '../../../base/masking.ts'

/** The functions that mask the texts of a session. */
export interface TextHiding {
  readonly mask: (text: string) => string
  /** Makes a stream that masks secrets in a text that arrives in pieces. The stream does not hide the session id. */
  readonly stream: () => MaskingStream
  /** Hides the session id in a text. Does not mask secrets. */
  readonly maskDelta: (text: string) => string
}

/** The least number of characters that are masked at once. The last piece of the text may be shorter. */
const pieceChars = 32 * 1024

export class GrowingText {
  readonly #hiding: TextHiding
  #text = ''
  /** The end of the text, which `#stream` has not got yet. `#masked` is the stream's output for the text before it. */
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

  /** Returns the whole text, masked, and empties this object. */
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
