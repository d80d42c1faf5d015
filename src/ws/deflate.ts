/**
 * permessage-deflate (RFC 7692, section 7): its negotiation, and the compression of outgoing messages.
 *
 * Outgoing messages never refer to earlier messages (`server_no_context_takeover`). So all connections with the
 * extension can share a compressed frame.
 */
import { constants, deflateRawSync } from 'node:zlib'
import type { Offer, Parameter } from './extensions.ts'
import { encodeFrame, encodeText, opcodes } from './frame.ts'

/** The smallest and the largest payload that is compressed. A larger payload would block the event loop. */
const minCompressBytes = 1024
const maxCompressBytes = 256 * 1024
/** The fastest level. Measured on events, it is several times faster than the default, with nearly as small output. */
const options = { level: constants.Z_BEST_SPEED, finishFlush: constants.Z_SYNC_FLUSH }
/** The empty stored block at the end of a sync flush. Messages are sent without it (section 7.2.1). */
export const tail: Readonly<Buffer> = Buffer.from([0x00, 0x00, 0xff, 0xff])

export interface Agreement {
  /** The value of the header that accepts the offer. */
  readonly header: string
  /** True when a compressed message of the client may refer to its earlier messages (context takeover). */
  readonly keepsContext: boolean
}

/** Returns the agreement to the first acceptable offer; undefined when no offer is acceptable (section 7.1). */
export function negotiateDeflate(
  offers: readonly Offer[],
  rules: { readonly mayKeepContext: boolean },
): Agreement | undefined {
  const offer = offers.find(({ name, parameters }) => name === 'permessage-deflate' && isAcceptable(parameters))
  if (offer === undefined) return undefined
  const has = (wanted: string): boolean => offer.parameters.some(({ name }) => name === wanted)
  const keepsContext = rules.mayKeepContext && !has('client_no_context_takeover')
  const answer = ['permessage-deflate', 'server_no_context_takeover']
  if (!keepsContext) answer.push('client_no_context_takeover')
  if (has('server_max_window_bits')) answer.push('server_max_window_bits=15')
  return { header: answer.join('; '), keepsContext }
}

/**
 * Returns the frame of a text message for connections whose `deflate` is true. Compresses a payload of
 * `minCompressBytes` to `maxCompressBytes` if that makes it smaller.
 */
export function encodeCompressedText(payload: Uint8Array): Buffer {
  if (payload.length < minCompressBytes || payload.length > maxCompressBytes) return encodeText(payload)
  const compressed = deflateRawSync(payload, options).subarray(0, -tail.length)
  if (compressed.length >= payload.length) return encodeText(payload)
  return encodeFrame(opcodes.text, compressed, true)
}

/** True when each parameter occurs once and is acceptable (section 7.1). */
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
      // An offer that demands a smaller window is declined: the frames that connections share use the largest window.
      return value === '15'
    case 'client_max_window_bits':
      // The client offers to use a smaller window. This needs no reply: decompression always has the largest window.
      return value === undefined || /^([89]|1[0-5])$/.test(value)
    default:
      return false
  }
}
