/**
 * Reads a pax extended header: records `<length> <key>=<value>\n` (POSIX.1-2017, "pax Extended Header").
 *
 * A sparse file (keys `GNU.sparse...`) is refused, because the archive stores its content without the holes.
 */
import { unusable } from './entry.ts'

export interface PaxRecords {
  readonly path?: Buffer
  readonly linkpath?: Buffer
  /** The size in bytes of the entry's content. */
  readonly size?: number
}

/** The result for a header without `path`, `linkpath` and `size`. */
export const noRecords: PaxRecords = {}

const space = 0x20
const equals = 0x3d
const lineEnd = 0x0a
/** The most digits of a record's length. */
const lengthDigits = 6
/** The most bytes of a key and the `=` after it. */
const keyLimit = 256

/** Parses a header. @throws AppError `bad_request` */
export function paxRecords(bytes: Buffer): PaxRecords {
  const found = new Map<string, Buffer>()
  for (let at = 0; at < bytes.length;) {
    const end = bytes.subarray(at, at + lengthDigits + 1).indexOf(space)
    const digits = end === -1 ? '' : bytes.toString('latin1', at, at + end)
    if (!/^[1-9][0-9]*$/.test(digits)) throw malformed()
    const next = at + Number(digits)
    if (next > bytes.length || next <= at + end + 1 || bytes[next - 1] !== lineEnd) throw malformed()
    const record = bytes.subarray(at + end + 1, next - 1)
    const split = record.subarray(0, keyLimit).indexOf(equals)
    if (split < 1) throw malformed()
    note(found, record.toString('latin1', 0, split), record.subarray(split + 1))
    at = next
  }
  return found.size === 0 ? noRecords : recordsOf(found)
}

function note(found: Map<string, Buffer>, key: string, value: Buffer): void {
  if (key.startsWith('GNU.sparse.')) throw unusable('it has a sparse file')
  if (key !== 'path' && key !== 'linkpath' && key !== 'size') return
  if (found.has(key)) throw unusable(`an extended header in it gives "${key}" twice`)
  if (value.includes(0)) throw malformed()
  found.set(key, Buffer.from(value))
}

function recordsOf(found: ReadonlyMap<string, Buffer>): PaxRecords {
  const path = found.get('path')
  const linkpath = found.get('linkpath')
  const size = found.get('size')?.toString('latin1')
  if (size !== undefined && !/^[0-9]{1,15}$/.test(size)) throw malformed()
  return {
    ...(path === undefined ? {} : { path }),
    ...(linkpath === undefined ? {} : { linkpath }),
    ...(size === undefined ? {} : { size: Number(size) }),
  }
}

function malformed(): Error {
  return unusable('an extended header in it is malformed')
}
