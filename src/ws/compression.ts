/**
 * Limits the memory and threads that all connections of a server use for permessage-deflate.
 *
 * At most `maxContexts` clients may compress with reference to earlier messages (RFC 7692, section 7.1.1.2). One
 * message is decompressed at a time.
 */
import { Inflater, type InflaterOwner } from './inflater.ts'

export interface CompressionOptions {
  /** The most connections that keep a decompression context between messages. Each context takes up to 32 KiB. */
  readonly maxContexts: number
}

export class Compression implements InflaterOwner {
  readonly #maxContexts: number
  #contexts = 0
  #last: Promise<void> = Promise.resolve()

  constructor({ maxContexts }: CompressionOptions = { maxContexts: 256 }) {
    this.#maxContexts = maxContexts
  }

  /** True while fewer than `maxContexts` connections keep a decompression context. */
  get hasRoom(): boolean {
    return this.#contexts < this.#maxContexts
  }

  /** Makes the inflater of a connection. The connection must close it. */
  open(keepsContext: boolean): Inflater {
    if (keepsContext) this.#contexts++
    return new Inflater(keepsContext, this)
  }

  /** Called by an inflater when it closes. Its context no longer counts. */
  onClose({ keepsContext }: Inflater): void {
    if (keepsContext) this.#contexts--
  }

  /** Runs the work of an inflater when no other work is running. */
  inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.then(work)
    // `#last` must not keep the result, a possibly large message, in memory.
    this.#last = done.then(() => undefined)
    return done
  }
}
