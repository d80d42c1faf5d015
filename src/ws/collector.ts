/**
 * Collects bytes that arrive in pieces into one buffer.
 *
 * The pieces are copied, so that a small piece does not keep its large chunk in memory. There is no limit here: check
 * the size before you append.
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

  /** Returns all appended bytes; the collector is empty afterwards. */
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
