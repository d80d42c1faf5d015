/**
 * One line of a log, and the chain that ties it to the line before.
 *
 *     line  = hash SP json LF
 *     hash  = 32 lower-case hex digits: the first 16 bytes of SHA-256(hash of the line before, as text, then json)
 *
 * The line before the first has 32 zeros. JSON on one line holds no LF, so lines can be found without parsing. The
 * chain finds accidents and careless edits, and proves that a log still begins with the one whose head was noted
 * elsewhere; it is no seal against who can write the files, since everything that made it is public.
 */
import { hash } from 'node:crypto'

/** What stands for the hash before the first line. */
export const genesis = '0'.repeat(32)

export const hashLength = 32
/** Hash and space: where the JSON of a line begins. */
export const headLength = hashLength + 1
export const lineFeed = 0x0a
const space = 0x20

/** A place between two lines: the byte where the next one begins, and the hash that it continues from. */
export interface Position {
  readonly offset: number
  readonly hash: string
}

/** Where every log begins. */
export const start: Position = { offset: 0, hash: genesis }

/** A line as it is stored, and the part of it that is JSON. */
export interface Line {
  readonly bytes: Buffer
  readonly json: Buffer
  readonly hash: string
}

/** The line that continues from `previous` with this JSON. */
export function formatLine(previous: string, json: Buffer): Line {
  const end = headLength + json.length
  // Not from the pool of small buffers: a line that is kept would keep all that shares its place there.
  const bytes = Buffer.allocUnsafeSlow(end + 1)
  // What is hashed is laid out where the line is made: the previous hash ends where the JSON begins.
  bytes.write(previous, 1)
  json.copy(bytes, headLength)
  const own = digest(bytes.subarray(1, end))
  bytes.write(own, 0)
  bytes[hashLength] = space
  bytes[end] = lineFeed
  return { bytes, json: bytes.subarray(headLength, end), hash: own }
}

/** The hash of a line with this JSON after one with the hash `previous`. */
export function hashOf(previous: string, json: Buffer): string {
  return digest(Buffer.concat([Buffer.from(previous, 'latin1'), json]))
}

/** The hash that a line beginning at this byte is stored with; undefined if no line begins there. */
export function hashAt(data: Buffer, at: number): string | undefined {
  return at + headLength <= data.length && mayBeginLine(data, at) ? data.toString('latin1', at, at + hashLength) : undefined
}

/** True when nothing that is there contradicts that a line begins at this byte, though the data may end within its head. */
export function mayBeginLine(data: Buffer, at: number): boolean {
  const end = Math.min(at + hashLength, data.length)
  for (let index = at; index < end; index++) if (!isHexDigit(data[index])) return false
  return end < at + hashLength || end === data.length || data[end] === space
}

function digest(bytes: Buffer): string {
  return hash('sha256', bytes, 'hex').slice(0, hashLength)
}

function isHexDigit(byte = 0): boolean {
  return (byte >= 0x30 && byte <= 0x39) || (byte >= 0x61 && byte <= 0x66)
}
