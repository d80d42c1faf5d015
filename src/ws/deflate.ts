/**
 * permessage-deflate (RFC 7692, section 7): its negotiation, and messages in both directions.
 *
 * Outgoing messages never refer to earlier ones (`server_no_context_takeover`), so a compressed frame is made once
 * and sent to every connection that negotiated it. Incoming ones may: their last 32 KiB are kept and given to the
 * next decompression as its dictionary, which is the same as keeping the decompressor and leaves nothing to close.
 *
 * Both work synchronously: time is bounded by the limits, and messages keep their order without a queue.
 */
import { constants, deflateRawSync, inflateRawSync } from 'node:zlib'
import { systemCodeOf } from '../base/errors.ts'
import { isObject } from '../base/json.ts'
import type { Offer, Parameter } from './extensions.ts'
import { encodeFrame, encodeText, opcodes } from './frame.ts'
import { broken } from './violation.ts'
import type { Broken } from './violation.ts'

/** Smaller payloads hardly shrink; larger ones would hold the event loop too long. Both go out as they are. */
const minCompressBytes = 256
const maxCompressBytes = 1024 * 1024
/** The largest window of DEFLATE (RFC 1951, section 2). */
const windowBytes = 32 * 1024
/** An empty stored block, what a sync flush ends with; left out of a message (section 7.2.1). */
const tail = Buffer.from([0x00, 0x00, 0xff, 0xff])
/** What stays unread when a message ended with a final block: its padding byte and the tail (section 7.2.3.4). */
const afterFinalBlockBytes = 1 + tail.length
const finishFlush = constants.Z_SYNC_FLUSH
const empty = Buffer.alloc(0)

/** The header value that accepts the first acceptable offer, or undefined when there is none (section 7.1). */
export function negotiateDeflate(offers: readonly Offer[]): string | undefined {
  const offer = offers.find(({ name, parameters }) => name === 'permessage-deflate' && isAcceptable(parameters))
  if (offer === undefined) return undefined
  const limitsWindow = offer.parameters.some(({ name }) => name === 'server_max_window_bits')
  return `permessage-deflate; server_no_context_takeover${limitsWindow ? '; server_max_window_bits=15' : ''}`
}

/** The frame of a whole text message for connections whose `deflate` is true. */
export function encodeCompressedText(payload: Uint8Array): Buffer {
  if (payload.length < minCompressBytes || payload.length > maxCompressBytes) return encodeText(payload)
  const compressed = deflateRawSync(payload, { finishFlush })
  return encodeFrame(opcodes.text, compressed.subarray(0, -tail.length), true)
}

export class Inflater {
  #window: Buffer = empty

  /** The decompressed message, or the rule it breaks; never holds much more than `limitBytes` of it. */
  inflate(payload: Buffer, limitBytes: number): Buffer | Broken {
    const input = Buffer.concat([payload, tail])
    const dictionary = this.#window.length === 0 ? {} : { dictionary: this.#window }
    try {
      const options = { finishFlush, maxOutputLength: limitBytes, info: true, ...dictionary }
      const result: unknown = inflateRawSync(input, options)
      if (!isInflated(result)) return broken('compressed_data')
      if (!isWholeMessage(input.length - result.engine.bytesWritten)) return broken('compressed_data')
      this.#window = lastWindow(this.#window, result.buffer)
      return result.buffer
    } catch (error) {
      return broken(systemCodeOf(error) === 'ERR_BUFFER_TOO_LARGE' ? 'message_too_large' : 'compressed_data')
    }
  }
}

/** What zlib returns with the option `info`, unlike its published type; `bytesWritten` counts the input it has read. */
interface Inflated {
  readonly buffer: Buffer
  readonly engine: { readonly bytesWritten: number }
}

function isInflated(value: unknown): value is Inflated {
  if (!isObject(value) || !Buffer.isBuffer(value.buffer)) return false
  return isObject(value.engine) && typeof value.engine.bytesWritten === 'number'
}

/** Data after a final block is legal, but known from no client, and every such block would cost a new decompressor. */
function isWholeMessage(unreadBytes: number): boolean {
  return unreadBytes === 0 || unreadBytes === afterFinalBlockBytes
}

/** Copied, so that the window does not keep a large message alive. */
function lastWindow(window: Buffer, data: Buffer): Buffer {
  const recent = data.subarray(-windowBytes)
  return Buffer.concat([window.subarray(Math.max(0, window.length + recent.length - windowBytes)), recent])
}

/** Each parameter at most once, known, and with a value that section 7.1 allows and this server can keep. */
function isAcceptable(parameters: readonly Parameter[]): boolean {
  const names = new Set(parameters.map(({ name }) => name))
  return names.size === parameters.length && parameters.every(isAcceptableParameter)
}

function isAcceptableParameter({ name, value }: Parameter): boolean {
  switch (name) {
    case 'server_no_context_takeover':
    case 'client_no_context_takeover':
      return value === undefined
    case 'server_max_window_bits':
      // Frames are shared by all connections, so they are made for the largest window only.
      return value === '15'
    case 'client_max_window_bits':
      // A hint that may stay unanswered: decompression always has the largest window.
      return value === undefined || /^([89]|1[0-5])$/.test(value)
    default:
      return false
  }
}
