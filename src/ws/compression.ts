/**
 * What the connections of one server share for permessage-deflate, so that its memory has a bound for all of them
 * together, however many there are.
 *
 * At most `maxContexts` clients may refer to earlier messages; further ones are told not to (RFC 7692, section
 * 7.1.1.2). One message is decompressed at a time, which takes one thread and the memory of one message. Whoever waits
 * for that reads nothing more, so no more wait than there are connections.
 */
import { Inflater, type InflaterOwner } from './inflater.ts'

export interface CompressionOptions {
  /** Each costs 32 KiB while its connection lasts. */
  readonly maxContexts: number
}

export class Compression implements InflaterOwner {
  readonly #maxContexts: number
  #contexts = 0
  #last: Promise<void> = Promise.resolve()

  constructor({ maxContexts }: CompressionOptions = { maxContexts: 256 }) {
    this.#maxContexts = maxContexts
  }

  /** Whether one more client may keep its context. */
  get hasRoom(): boolean {
    return this.#contexts < this.#maxContexts
  }

  /** For one connection, which closes it. */
  open(keepsContext: boolean): Inflater {
    if (keepsContext) this.#contexts++
    return new Inflater(keepsContext, this)
  }

  /** For inflaters. */
  onClose({ keepsContext }: Inflater): void {
    if (keepsContext) this.#contexts--
  }

  /** For inflaters. */
  inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.then(work)
    // Without the outcome, which may be a large message that somebody has long been done with.
    this.#last = done.then(() => undefined)
    return done
  }
}
