/**
 * Parses the end record and the central directory of a zip archive (APPNOTE.TXT 6.3.10, sections 4.3.12 and 4.3.16).
 */
import { textOf, unusable, type EntryKind } from './entry.ts'

export interface ZipRecord {
  readonly name: Buffer
  readonly kind: EntryKind
  readonly isExecutable: boolean
  readonly flags: number
  /** The compression method: 0 for stored bytes, 8 for deflate. */
  readonly method: number
  readonly crc: number
  readonly packed: number
  readonly size: number
  /** The position of the local header in the file. */
  readonly offset: number
  readonly hasDescriptor: boolean
}

export interface Directory {
  readonly records: readonly ZipRecord[]
}

interface End {
  readonly count: number
  /** The length of the central directory, in bytes. */
  readonly length: number
  /** The position of the central directory in the file. */
  readonly offset: number
}

export const recordBytes = 46
/** The size of an end record without a comment, and with the longest comment. */
export const endBytes = { least: 22, most: 22 + 0xffff } as const

const endSignature = 0x06054b50
const recordSignature = 0x02014b50
const most16 = 0xffff
const most32 = 0xffff_ffff

/** Bits of the general purpose flags (APPNOTE.TXT, section 4.4.4). */
const encryptedFlags = 0x0001 | 0x0040 | 0x2000
const descriptorFlag = 0x0008
const patchFlag = 0x0020
/** The id of the extra field that repeats the name in UTF-8 (APPNOTE.TXT, section 4.6.9). */
const unicodePathField = 0x7075

/** Systems that store a Unix mode in an entry's attributes: Unix and OS X (APPNOTE.TXT, section 4.4.2.2). */
const unixHosts: ReadonlySet<number> = new Set([3, 19])
const typeMask = 0o170000
const kindsByType: Readonly<Record<number, EntryKind>> = { 0o100000: 'file', 0o040000: 'folder', 0o120000: 'link' }

/** Finds and checks the end record in `tail`, the last bytes of the file. @throws AppError `bad_request` */
export function endOf(tail: Buffer, fileSize: number): End {
  const found: number[] = []
  for (let at = tail.length - endBytes.least; at >= 0 && found.length < 2; at--) {
    if (tail[at] !== 0x50 || tail.readUInt32LE(at) !== endSignature) continue
    if (at + endBytes.least + tail.readUInt16LE(at + 20) === tail.length) found.push(at)
  }
  const [at] = found
  if (at === undefined) throw unusable('it has no end record, so it is no zip archive or cut off')
  if (found.length > 1) throw unusable('it has two end records')
  const count = tail.readUInt16LE(at + 10)
  const length = tail.readUInt32LE(at + 12)
  const offset = tail.readUInt32LE(at + 16)
  if (count === most16 || length === most32 || offset === most32) throw unusable('it has the ZIP64 form')
  if (tail.readUInt16LE(at + 4) !== 0 || tail.readUInt16LE(at + 6) !== 0 || tail.readUInt16LE(at + 8) !== count) {
    throw unusable('it has several disks')
  }
  if (offset + length !== fileSize - tail.length + at) throw unusable('its directory is not where its end record says')
  return { count, length, offset }
}

/** Parses a central directory of exactly `count` records. @throws AppError `bad_request` */
export function directoryOf(bytes: Buffer, count: number): Directory {
  const records: ZipRecord[] = []
  let at = 0
  while (records.length < count) {
    if (at + recordBytes > bytes.length || bytes.readUInt32LE(at) !== recordSignature) throw malformed()
    // The lengths of the name, the extra fields and the comment.
    const lengths = [bytes.readUInt16LE(at + 28), bytes.readUInt16LE(at + 30), bytes.readUInt16LE(at + 32)]
    const next = lengths.reduce((sum, length) => sum + length, at + recordBytes)
    if (next > bytes.length) throw malformed()
    records.push(recordOf(bytes.subarray(at, next)))
    at = next
  }
  if (at !== bytes.length) throw malformed()
  return { records }
}

function recordOf(record: Buffer): ZipRecord {
  const flags = record.readUInt16LE(8)
  const method = record.readUInt16LE(10)
  if ((flags & encryptedFlags) !== 0) throw unusable('it is encrypted')
  if ((flags & patchFlag) !== 0) throw unusable('it is a patch')
  if (method !== 0 && method !== 8) throw unusable(`an entry in it has the compression method ${method}`)
  const nameEnd = recordBytes + record.readUInt16LE(28)
  const name = record.subarray(recordBytes, nameEnd)
  assertOneName(name, record.subarray(nameEnd, nameEnd + record.readUInt16LE(30)))
  const [packed, size, offset] = [record.readUInt32LE(20), record.readUInt32LE(24), record.readUInt32LE(42)]
  if (packed === most32 || size === most32 || offset === most32) throw unusable('it has the ZIP64 form')
  if (record.readUInt16LE(34) !== 0) throw unusable('it has several disks')
  if (method === 0 && packed !== size) throw unusable('a stored entry in it has two sizes')
  const mode = unixHosts.has(record.readUInt8(5)) ? record.readUInt16LE(40) : 0
  const kind = kindOf(mode, name)
  const crc = record.readUInt32LE(16)
  const hasDescriptor = (flags & descriptorFlag) !== 0
  return { name, kind, isExecutable: (mode & 0o100) !== 0, flags, method, crc, packed, size, offset, hasDescriptor }
}

function kindOf(mode: number, name: Buffer): EntryKind {
  const isNamedFolder = name.at(-1) === 0x2f
  const type = mode & typeMask
  const kind = type === 0 ? (isNamedFolder ? 'folder' : 'file') : kindsByType[type]
  if (kind === undefined) throw unusable('it has a device or a pipe')
  if (isNamedFolder !== (kind === 'folder')) throw unusable('an entry in it is a folder by its name or its mode only')
  return kind
}

/** Refuses a record whose Unicode path field has another name. @throws AppError `bad_request` */
function assertOneName(name: Buffer, extra: Buffer): void {
  for (let at = 0; at + 4 <= extra.length;) {
    const end = at + 4 + extra.readUInt16LE(at + 2)
    if (extra.readUInt16LE(at) === unicodePathField && !extra.subarray(at + 9, end).equals(name)) {
      throw unusable(`an entry in it has two names, one of them ${JSON.stringify(textOf(extra.subarray(at + 9, end)))}`)
    }
    at = end
  }
}

function malformed(): Error {
  return unusable('its directory is malformed')
}
