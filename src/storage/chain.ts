/**
 * The format of a log line, and the hash chain that ties each line to the line before.
 *
 *     line  = hash SP json LF
 *     hash  = 32 lower-case hex digits: the first 16 bytes of SHA-256(hash of the line before, as text, then json)
 *
 * Before the first line, the hash is 32 zeros. Lines are found without parsing, because their JSON contains no LF.
 *
 * The chain detects accidents and careless edits. It does not protect against an attacker who can write the files,
 * because its inputs are public.
 */
import { hash } from 'node:crypto'

/** The hash that stands for the line before the first line. */
export const genesis = '0'.repeat(32)

export const hashLength = 32
/** Number of bytes before the JSON of a line: the hash and the space. */
export const headLength = hashLength + 1
export const lineFeed = 0x0a
const space = 0x20

/** A place between two lines: the offset of the next line, and the hash of the line before. */
export interface Position {
  readonly offset: number
  readonly hash: string
}

export const start: Position = { offset: 0, hash: genesis }

export interface Line {
  readonly bytes: Buffer
  readonly json: Buffer
  readonly hash: string
}

export function formatLine(previous: string, json: Buffer): Line {
  const end = headLength + json.length
  // Buffer.allocUnsafe would use a pool of small buffers, and a kept line would keep its whole pool in memory.
  const bytes = Buffer.allocUnsafeSlow(end + 1)
  // Builds the input of the hash in `bytes` itself: `previous` stands right before the JSON until `own` replaces it.
  bytes.write(previous, 1)
  json.copy(bytes, headLength)
  const own = digest(bytes.subarray(1, end))
  bytes.write(own, 0)
  bytes[hashLength] = space
  bytes[end] = lineFeed
  return { bytes, json: bytes.subarray(headLength, end), hash: own }
}

/** Returns the hash of a line with this JSON after a line with the hash `previous`. */
export function hashOf(previous: string, json: Buffer): string {
  return digest(Buffer.concat([Buffer.from(previous, 'latin1'), json]))
}

/** Returns the stored hash of the line at this byte; undefined if no whole hash with a space is there. */
export function hashAt(data: Buffer, at: number): string | undefined {
  const isLine = at + headLength <= data.length && mayBeginLine(data, at)
  return isLine ? data.toString('latin1', at, at + hashLength) : undefined
}

/** True if a line may begin at this byte: 32 hex digits and a space follow, or the end of `data` cuts them off. */
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
