/**
 * Bytes that arrive in pieces and are wanted as one buffer.
 *
 * The pieces are copied, so a small piece never keeps the large chunk alive that it came in, and a million pieces of
 * one byte cost a million bytes: at no time is more held than twice what was appended (three times while it grows).
 * It has no limit of its own; whoever appends has checked theirs.
 */

const minCapacityBytes = 1024
const empty = Buffer.alloc(0)

export class Collector {
  #bytes: Buffer = empty
  #length = 0

  get length(): number {
    return this.#length
  }

  append(piece: Uint8Array): void {
    const length = this.#length + piece.length
    if (length > this.#bytes.length) this.#grow(length)
    this.#bytes.set(piece, this.#length)
    this.#length = length
  }

  /** Everything appended so far; the collector is empty afterwards. */
  take(): Buffer {
    const taken = this.#bytes.subarray(0, this.#length)
    this.#bytes = empty
    this.#length = 0
    return taken
  }

  #grow(length: number): void {
    const larger = Buffer.allocUnsafeSlow(Math.max(length, this.#bytes.length * 2, minCapacityBytes))
    larger.set(this.#bytes.subarray(0, this.#length))
    this.#bytes = larger
  }
}
