/**
 * A second decoder of WebSocket bytes, to compare src/ws with: written from RFC 6455 and 7692 alone, as plainly as can
 * be, over all bytes at once, without a line of src/ws.
 *
 * A context is kept in the most literal way: all compressed messages so far are one stream, which is decompressed from
 * its beginning for every message. Where two codes would be right for a damaged message, both are named; where a final
 * block stands inside a message it does not know further, and says `unsure`.
 */
import { TextDecoder } from 'node:util'
import { inflateRawSync } from 'node:zlib'
import { isObject } from '../../src/base/json.ts'

export type DeflateMode = 'off' | 'context' | 'no_context'

export interface NaiveOptions {
  /** Whether frames must have a mask, like the frames of clients, or must not. */
  readonly masked: boolean
  readonly deflate: DeflateMode
  readonly maxMessageBytes: number
  readonly maxFragments: number
}

interface Header {
  readonly final: boolean
  readonly compressed: boolean
  readonly opcode: number
  readonly length: number
  /** Where the mask key, or the payload, begins. */
  readonly end: number
}

const tail = Buffer.from([0x00, 0x00, 0xff, 0xff])
const finalBlock = Buffer.from([0x01, 0x00, 0x00, 0xff, 0xff])
const farTooMuch = 64 * 1024 * 1024

/**
 * `text <hex>`, `binary <hex>`, `ping <hex>`, `pong <hex>`, `close <code>`; the last may be `failed <codes>` or
 * `unsure`.
 */
export function decodeNaively(bytes: Buffer, options: NaiveOptions): string[] {
  const told: string[] = []
  const stream: Buffer[] = []
  let parts: Buffer[] = []
  let kind: { readonly opcode: number; readonly compressed: boolean } | undefined
  for (let at = 0; ;) {
    const header = readHeader(bytes, at, options, Buffer.concat(parts).length)
    if (header === undefined) return told
    if (typeof header === 'string') return [...told, header]
    const start = header.end + (options.masked ? 4 : 0)
    if (start + header.length > bytes.length) return told
    at = start + header.length
    const [key, body] = [bytes.subarray(header.end, start), bytes.subarray(start, at)]
    const payload = Buffer.from(options.masked ? body.map((byte, index) => byte ^ (key[index % 4] ?? 0)) : body)
    if (header.opcode >= 8) {
      const control = tellControl(header.opcode, payload)
      told.push(control)
      if (/^(close|failed)/.test(control)) return told
      continue
    }
    if ((header.opcode === 0) !== (kind !== undefined)) return [...told, 'failed 1002']
    kind ??= header
    parts.push(payload)
    const isWhole = header.final && parts.length === 1
    if (!isWhole && parts.length > options.maxFragments) return [...told, 'failed 1009']
    if (kind.opcode === 1 && !kind.compressed && !isUtf8(Buffer.concat(parts), !header.final)) {
      return [...told, 'failed 1007']
    }
    if (!header.final) continue
    const message = tellMessage(kind, Buffer.concat(parts), stream, options)
    told.push(message)
    if (/^(failed|unsure)/.test(message)) return told
    kind = undefined
    parts = []
  }
}

function readHeader(bytes: Buffer, at: number, options: NaiveOptions, collected: number): Header | string | undefined {
  const [first, second] = [bytes[at], bytes[at + 1]]
  if (first === undefined || second === undefined) return undefined
  const [opcode, final, short] = [first & 15, first > 127, second & 127]
  const compressed = (first & 64) !== 0
  const rules = [
    [0, 1, 2, 8, 9, 10].includes(opcode),
    (first & 48) === 0,
    !compressed || (options.deflate !== 'off' && (opcode === 1 || opcode === 2)),
    second > 127 === options.masked,
    opcode < 8 || (final && short < 126),
  ]
  if (rules.includes(false)) return 'failed 1002'
  const extra = short === 126 ? 2 : short === 127 ? 8 : 0
  if (bytes.length < at + 2 + extra) return undefined
  const digits = bytes.subarray(at + 2, at + 2 + extra).toString('hex')
  const length = extra === 0 ? BigInt(short) : BigInt(`0x${digits}`)
  if (extra > 0 && (length < (extra === 2 ? 126n : 65_536n) || length >= 1n << 63n)) return 'failed 1002'
  if (opcode < 8 && length > BigInt(options.maxMessageBytes - collected)) return 'failed 1009'
  return { final, compressed, opcode, length: Number(length), end: at + 2 + extra }
}

function tellControl(opcode: number, payload: Buffer): string {
  if (opcode !== 8) return `${opcode === 9 ? 'ping' : 'pong'} ${payload.toString('hex')}`
  if (payload.length === 0) return 'close 1005'
  if (payload.length === 1) return 'failed 1002'
  const code = payload.readUInt16BE(0)
  const defined = [1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 1012, 1013, 1014]
  if (!defined.includes(code) && (code < 3000 || code > 4999)) return 'failed 1002'
  return isUtf8(payload.subarray(2), false) ? `close ${code}` : 'failed 1007'
}

function tellMessage(
  kind: { readonly opcode: number; readonly compressed: boolean },
  payload: Buffer,
  stream: Buffer[],
  options: NaiveOptions,
): string {
  const data = kind.compressed ? inflateFromTheBeginning(payload, stream, options) : payload
  if (typeof data === 'string') return data
  if (kind.opcode === 2) return `binary ${data.toString('hex')}`
  return isUtf8(data, false) ? `text ${data.toString('hex')}` : 'failed 1007'
}

function inflateFromTheBeginning(
  payload: Buffer, stream: Buffer[], { deflate, maxMessageBytes }: NaiveOptions,
): Buffer | string {
  const before = deflate === 'context' ? Buffer.concat(stream) : Buffer.alloc(0)
  stream.push(payload, tail)
  const known = before.length === 0 ? 0 : inflateRawSync(Buffer.concat([before, finalBlock])).length
  const input = Buffer.concat([before, payload, tail, finalBlock])
  try {
    const result: unknown = inflateRawSync(input, { info: true, maxOutputLength: farTooMuch })
    if (!isObject(result) || !Buffer.isBuffer(result['buffer']) || !isObject(result['engine'])) {
      throw new TypeError('zlib gave something else')
    }
    if (result['engine']['bytesWritten'] !== input.length) return 'unsure'
    const data = result['buffer'].subarray(known)
    return data.length > maxMessageBytes ? 'failed 1009' : data
  } catch (thrown) {
    if (thrown instanceof TypeError) throw thrown
    // How much came out before zlib noticed is nothing that two decoders have to agree about.
    return 'failed 1007 or 1009'
  }
}

function isUtf8(bytes: Buffer, isBeginning: boolean): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: isBeginning })
    return true
  } catch {
    return false
  }
}
