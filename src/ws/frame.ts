/**
 * Frames as this server sends them (RFC 6455, section 5.2): not masked, not fragmented. Nothing in a frame depends on
 * the connection, so connections can share its buffer.
 *
 * The opcodes (section 11.8) and the close codes (section 7.4) are for both directions.
 */

export const opcodes = { continuation: 0x0, text: 0x1, binary: 0x2, close: 0x8, ping: 0x9, pong: 0xa } as const
export type Opcode = (typeof opcodes)[keyof typeof opcodes]

/** The code that stands for a Close frame without a code; never sent (section 7.1.5). */
export const noCloseCode = 1005
/** The code that stands for the end of a connection without a Close frame; never sent (section 7.1.5). */
export const abnormalCloseCode = 1006
/** The most bytes in the payload of a control frame (section 5.5). */
export const maxControlBytes = 125

/** Returns the frame of a whole text message; bytes must be UTF-8. */
export function encodeText(payload: string | Uint8Array): Buffer {
  if (typeof payload !== 'string') return encodeFrame(opcodes.text, payload)
  const length = Buffer.byteLength(payload)
  const frame = allocateFrame(opcodes.text, length)
  frame.write(payload, frame.length - length)
  return frame
}

/** Returns the frames of whole text messages, in one buffer. */
export function encodeTexts(payloads: readonly Uint8Array[]): Buffer {
  const frames = Buffer.allocUnsafe(payloads.reduce((sum, { length }) => sum + headLengthOf(length) + length, 0))
  let at = 0
  for (const payload of payloads) {
    at = writeHead(frames, at, opcodes.text, payload.length)
    frames.set(payload, at)
    at += payload.length
  }
  return frames
}

/**
 * Returns a Close frame. A reason that is too long is cut between characters. Without a code the payload is empty.
 * @throws RangeError for a code that must not be sent.
 */
export function encodeClose(code?: number, reason = ''): Buffer {
  if (code === undefined) return encodeFrame(opcodes.close, Buffer.alloc(0))
  if (!isCloseCode(code)) {
    throw new RangeError(`Cannot close with code ${code}: expected 1000-1003, 1007-1014 or 3000-4999`)
  }
  const payload = Buffer.alloc(maxControlBytes)
  payload.writeUInt16BE(code)
  const { written } = new TextEncoder().encodeInto(reason, payload.subarray(2))
  return encodeFrame(opcodes.close, payload.subarray(0, 2 + written))
}

/** Returns one final frame; `compressed` sets RSV1 (RFC 7692, section 6). */
export function encodeFrame(opcode: Opcode, payload: Uint8Array, compressed = false): Buffer {
  const frame = allocateFrame(opcode | (compressed ? 0x40 : 0), payload.length)
  frame.set(payload, frame.length - payload.length)
  return frame
}

/** Returns a frame with its header, and `length` bytes of room for the payload. */
function allocateFrame(firstByte: number, length: number): Buffer {
  const frame = Buffer.allocUnsafe(headLengthOf(length) + length)
  writeHead(frame, 0, firstByte, length)
  return frame
}

function headLengthOf(length: number): number {
  if (length < 126) return 2
  return length < 0x10000 ? 4 : 10
}

/** Writes the header of a final frame at an offset; returns the offset after it. */
function writeHead(target: Buffer, at: number, firstByte: number, length: number): number {
  const headLength = headLengthOf(length)
  target[at] = 0x80 | firstByte
  if (headLength === 2) {
    target[at + 1] = length
  } else if (headLength === 4) {
    target[at + 1] = 126
    target[at + 2] = length >>> 8
    target[at + 3] = length & 0xff
  } else {
    target[at + 1] = 127
    target.writeBigUInt64BE(BigInt(length), at + 2)
  }
  return at + headLength
}

/** True for a code that may be in a Close frame: section 7.4, and 1012-1014 of IANA's registry. */
export function isCloseCode(code: number): boolean {
  return (code >= 1000 && code <= 1003) || (code >= 1007 && code <= 1014) || (code >= 3000 && code <= 4999)
}
