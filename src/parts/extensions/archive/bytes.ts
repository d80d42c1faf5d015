/** Reads exact numbers of bytes from a stream of pieces. Refuses a stream that is longer than the limit. */
import { tooMuch, unusable } from './entry.ts'

export class Bytes {
  readonly #source: AsyncIterator<Buffer>
  readonly #limitBytes: number
  #held: Buffer = Buffer.alloc(0)
  #read = 0

  constructor(source: AsyncIterable<Buffer>, limitBytes: number) {
    this.#source = source[Symbol.asyncIterator]()
    this.#limitBytes = limitBytes
  }

  /** Reads `count` bytes; undefined at the end. @throws AppError if the source ends within them or exceeds its limit */
  async take(count: number): Promise<Buffer | undefined> {
    const pieces: Buffer[] = []
    let missing = count
    while (missing > 0) {
      const piece = await this.#next(missing)
      if (piece === undefined && missing === count) return undefined
      if (piece === undefined) throw unusable('it is cut off')
      pieces.push(piece)
      missing -= piece.length
    }
    return pieces.length === 1 ? pieces[0] : Buffer.concat(pieces)
  }

  /** Yields the next `count` bytes in pieces. @throws AppError if the source ends within them or exceeds its limit */
  async *pieces(count: number): AsyncGenerator<Buffer, void> {
    for (let missing = count; missing > 0;) {
      const piece = await this.#next(missing)
      if (piece === undefined) throw unusable('it is cut off')
      missing -= piece.length
      yield piece
    }
  }

  /** Ends the source early: calls `return` of its iterator, so that a generator runs its `finally`. */
  async close(): Promise<void> {
    await this.#source.return?.()
  }

  /** Reads at least one and at most `most` bytes. Returns undefined at the end of the source. */
  async #next(most: number): Promise<Buffer | undefined> {
    while (this.#held.length === 0) {
      const next = await this.#source.next()
      if (next.done === true) return undefined
      this.#read += next.value.length
      if (this.#read > this.#limitBytes) throw tooMuch(this.#limitBytes)
      this.#held = next.value
    }
    const piece = this.#held.subarray(0, most)
    this.#held = this.#held.subarray(piece.length)
    return piece
  }
}
