/**
 * Collects stdout or stderr of a command as text: decodes UTF-8, masks known secrets, and cuts the text into pieces.
 *
 * A secret that is split between two chunks is masked too.
 */
import type { Readable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import type { Masker } from '../../base/masking.ts'
import { deferred } from '../../base/wait.ts'

/** The number of collected characters above which the text is passed to `onChunk`. */
const chunkChars = 1_048_576

export interface OutputOptions {
  readonly masker: Masker
  /** Called with the number of bytes of each chunk that arrives. */
  readonly onBytes: (count: number) => void
  /** Called with the collected text when it has more than `chunkChars` characters. Collecting then begins anew. */
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

  /** Ends the decoding and masking. Returns the text that was not passed to `onChunk`. Call it once. */
  rest(): string {
    return this.#text + this.#finish()
  }
}
