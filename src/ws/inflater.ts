/**
 * Decompresses incoming messages of permessage-deflate (RFC 7692, section 7.2.2).
 *
 * With context takeover, the last 32 KiB of decompressed data are the dictionary for the next message. For invalid
 * data, `inflate` returns the rule that the data breaks.
 */
import { inflateRaw } from 'node:zlib'
import { systemCodeOf } from '../base/errors.ts'
import { isObject } from '../base/json.ts'
import { tail } from './deflate.ts'
import { broken } from './violation.ts'
import type { Broken } from './violation.ts'

/** The largest window of DEFLATE, in bytes (RFC 1951, section 2). */
const windowBytes = 32 * 1024
const pieceBytes = 64 * 1024
/** Appended to each message to end its DEFLATE stream: the tail that the sender left out, and an empty final block. */
const ending = Buffer.concat([tail, Buffer.from([0x01, 0x00, 0x00, 0xff, 0xff])])
/** The most final blocks in a message (section 7.2.3.4). Each needs a new decompressor. Known clients send none. */
const maxFinalBlocks = 16
const empty = Buffer.alloc(0)

export interface InflaterOwner {
  /** Runs the work when no other inflater of this owner decompresses. The work must not reject. */
  inTurn<T>(work: () => Promise<T>): Promise<T>
  onClose(inflater: Inflater): void
}

export class Inflater {
  /** True when a compressed message may refer to earlier messages (context takeover). */
  readonly keepsContext: boolean
  readonly #owner: InflaterOwner
  #window: Buffer = empty
  #isClosed = false

  constructor(keepsContext: boolean, owner: InflaterOwner) {
    this.keepsContext = keepsContext
    this.#owner = owner
  }

  /** Returns the decompressed message, or the rule that it breaks. Await the promise before the next call. */
  inflate(payload: Buffer, limitBytes: number): Promise<Buffer | Broken> {
    return this.#owner.inTurn(() => this.#inflate(payload, limitBytes))
  }

  /** Closes the inflater. `inflate` then returns a broken rule for messages that still wait. Idempotent. */
  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#window = empty
    this.#owner.onClose(this)
  }

  async #inflate(payload: Buffer, limitBytes: number): Promise<Buffer | Broken> {
    const { keepsContext } = this
    let rest = Buffer.concat([payload, ending])
    let window = this.#window
    const parts: Buffer[] = []
    let length = 0
    while (parts.length <= maxFinalBlocks && !this.#isClosed) {
      const part = await inflateOnce(rest, window, Math.max(1, limitBytes - length))
      if (part.kind === 'broken') return part
      length += part.data.length
      if (length > limitBytes) return broken('message_too_large')
      parts.push(part.data)
      if (keepsContext || part.unreadBytes > 0) window = lastWindow(window, part.data)
      if (part.unreadBytes === 0) {
        if (keepsContext && !this.#isClosed) this.#window = window
        return parts.length === 1 ? part.data : Buffer.concat(parts)
      }
      rest = rest.subarray(rest.length - part.unreadBytes)
    }
    return broken('compressed_data')
  }
}

interface Part {
  readonly kind: 'part'
  readonly data: Buffer
  /** The number of bytes after the final block. */
  readonly unreadBytes: number
}

/** Decompresses `input` up to the end of its first final block. Returns `compressed_data` if it has no such block. */
function inflateOnce(input: Buffer, dictionary: Buffer, maxOutputLength: number): Promise<Part | Broken> {
  const limits = { chunkSize: pieceBytes, maxOutputLength, info: true }
  const options = dictionary.length === 0 ? limits : { ...limits, dictionary }
  return new Promise((resolve) => {
    inflateRaw(input, options, (error, result: unknown) => {
      if (systemCodeOf(error) === 'ERR_BUFFER_TOO_LARGE') return resolve(broken('message_too_large'))
      if (error !== null || !isInflated(result)) return resolve(broken('compressed_data'))
      resolve({ kind: 'part', data: result.buffer, unreadBytes: input.length - result.engine.bytesWritten })
    })
  })
}

/** The result of `inflateRaw` with the option `info`. Node's types lack it. `bytesWritten` counts input bytes. */
interface Inflated {
  readonly buffer: Buffer
  readonly engine: { readonly bytesWritten: number }
}

function isInflated(value: unknown): value is Inflated {
  if (!isObject(value) || !Buffer.isBuffer(value['buffer'])) return false
  return isObject(value['engine']) && typeof value['engine']['bytesWritten'] === 'number'
}

/** Returns a copy of the last `windowBytes` of `window` and `data` together, so that a large message can be freed. */
function lastWindow(window: Buffer, data: Buffer): Buffer {
  const recent = data.subarray(-windowBytes)
  return Buffer.concat([window.subarray(Math.max(0, window.length + recent.length - windowBytes)), recent])
}
