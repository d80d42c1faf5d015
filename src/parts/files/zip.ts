/**
 * Writes a zip archive piece by piece (APPNOTE.TXT 6.3.10 of PKWARE). Each entry is in memory as a whole.
 *
 * Equal entries give equal bytes, because every entry gets the same date and no mode.
 */
import { promisify } from 'node:util'
import { crc32, deflateRaw, deflateRawSync } from 'node:zlib'

export interface ZipEntry {
  /** A relative path with `/` between its parts. */
  readonly name: string
  readonly bytes: Buffer
}

export const zipType = 'application/zip'

const deflate = promisify(deflateRaw)
/** Entries up to this size are deflated in this thread, because passing them to another thread takes longer. */
const smallBytes = 16 * 1024

const most16 = 0xffff
const most32 = 0xffff_ffff
/** The versions of the format: deflate needs 2.0, ZIP64 needs 4.5 (APPNOTE.TXT, section 4.4.3). */
const version = 20
const version64 = 45
/** Bit 11 of an entry's flags: the name is UTF-8 (APPNOTE.TXT, section 4.4.4). */
const utf8Flag = 0x0800
const deflated = 8
/** 1 January 1980, the first date that the format knows (APPNOTE.TXT, section 4.4.6). */
const firstDate = 0x0021

/** Yields the bytes of the archive. Its offsets include `before`, the number of bytes in front of the archive. */
export async function* writeZip(entries: AsyncIterable<ZipEntry>, before = 0): AsyncGenerator<Buffer, void> {
  const directory: Buffer[] = []
  let offset = before
  for await (const { name, bytes } of entries) {
    const path = Buffer.from(name)
    const packed = bytes.length <= smallBytes ? deflateRawSync(bytes) : await deflate(bytes)
    const record = recordOf(bytes, packed, path)
    const local = Buffer.concat([numbers([0x04034b50, 4], [version, 2]), record, numbers([0, 2]), path])
    directory.push(directoryRecord(record, path, offset))
    offset += local.length + packed.length
    yield local
    if (packed.length > 0) yield packed
  }
  yield* directory
  yield endOf(directory, offset)
}

/**
 * Returns the bytes that an entry's local header and directory record share (APPNOTE.TXT, sections 4.3.7 and 4.3.12).
 */
function recordOf(bytes: Buffer, packed: Buffer, path: Buffer): Buffer {
  return numbers(
    [utf8Flag, 2], [deflated, 2], [0, 2], [firstDate, 2], [crc32(bytes), 4], [packed.length, 4], [bytes.length, 4],
    [path.length, 2],
  )
}

function directoryRecord(record: Buffer, path: Buffer, offset: number): Buffer {
  const is64 = offset >= most32
  // An offset that is too large for 32 bits goes into the ZIP64 extra field (APPNOTE.TXT, section 4.5.3).
  const extra = is64 ? numbers([0x0001, 2], [8, 2], [offset, 8]) : Buffer.alloc(0)
  const needed = is64 ? version64 : version
  return Buffer.concat([
    numbers([0x02014b50, 4], [needed, 2], [needed, 2]), record,
    numbers([extra.length, 2], [0, 2], [0, 2], [0, 2], [0, 4], [is64 ? most32 : offset, 4]), path, extra,
  ])
}

/** Returns the end record. Two ZIP64 records precede it if a number is too large (APPNOTE.TXT, 4.3.14 to 4.3.16). */
function endOf(directory: readonly Buffer[], offset: number): Buffer {
  const count = directory.length
  const length = directory.reduce((sum, record) => sum + record.length, 0)
  const end = numbers(
    [0x06054b50, 4], [0, 2], [0, 2], [Math.min(count, most16), 2], [Math.min(count, most16), 2],
    [Math.min(length, most32), 4], [Math.min(offset, most32), 4], [0, 2],
  )
  if (count < most16 && length < most32 && offset < most32) return end
  const end64 = numbers(
    [0x06064b50, 4], [44, 8], [version64, 2], [version64, 2], [0, 4], [0, 4], [count, 8], [count, 8], [length, 8],
    [offset, 8],
  )
  const locator = numbers([0x07064b50, 4], [0, 4], [offset + length, 8], [1, 4])
  return Buffer.concat([end64, locator, end])
}

/** Returns the bytes of numbers of 2, 4 or 8 bytes each, in little-endian order. */
function numbers(...values: readonly (readonly [value: number, bytes: 2 | 4 | 8])[]): Buffer {
  const buffer = Buffer.alloc(values.reduce((sum, [, bytes]) => sum + bytes, 0))
  let at = 0
  for (const [value, bytes] of values) {
    if (bytes === 8) buffer.writeBigUInt64LE(BigInt(value), at)
    else buffer.writeUIntLE(value, at, bytes)
    at += bytes
  }
  return buffer
}
