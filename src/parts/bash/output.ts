/**
 * One stream of a command: decoded, masked and cut into outputs of a limited length.
 *
 * Known secrets are masked before anything is kept, also across pieces.
 */
import type { Readable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import type { Masker } from '../../base/masking.ts'
import { deferred } from '../../base/wait.ts'

/** A text that is longer than this becomes an output of its own. */
const chunkChars = 1_048_576

export interface OutputOptions {
  readonly masker: Masker
  /** Called with the bytes of each piece. */
  readonly onBytes: (count: number) => void
  /** Called with each text that is long enough for an output. */
  readonly onChunk: (text: string) => void
}

export class OutputText {
  readonly ended: Promise<void>
  #text = ''
  readonly #finish: () => string

  constructor(stream: Readable, { masker, onBytes, onChunk }: OutputOptions) {
    const decoder = new StringDecoder('utf8')
    const masking = masker.stream()
    const { promise, resolve } = deferred<void>()
    this.ended = promise
    stream.on('data', (piece: Buffer) => {
      onBytes(piece.length)
      this.#text += masking.push(decoder.write(piece))
      if (this.#text.length <= chunkChars) return
      onChunk(this.#text)
      this.#text = ''
    })
    stream.once('close', resolve)
    this.#finish = () => masking.push(decoder.end()) + masking.end()
  }

  /** Returns the text that was not passed to `onChunk`. Call it once. */
  rest(): string {
    return this.#text + this.#finish()
  }
}
