/**
 * Reads a zip archive by its central directory (APPNOTE.TXT 6.3.10 of PKWARE): stored and deflated entries.
 *
 * The entries must be where the directory says, without gaps or overlaps. So a program that reads from front to back
 * sees the same entries.
 */
import { Readable } from 'node:stream'
import { crc32, createInflateRaw } from 'node:zlib'
import { systemCodeOf } from '../../../base/errors.ts'
import { assertNameLength, entryLimit, noContent, tooMuch, textOf, unusable, type Entry } from './entry.ts'
import { directoryOf, endBytes, endOf, recordBytes, type Directory, type ZipRecord } from './zip-directory.ts'

/** A file that can be read at any position. */
export interface RandomAccess {
  readonly size: number
  /** Returns `length` bytes from `position`, fewer at the end of the file. */
  read(position: number, length: number): Promise<Buffer>
}

const localBytes = 30
const localSignature = 0x04034b50
const descriptorSignature = 0x08074b50
const pieceBytes = 64 * 1024
/** The most bytes of the central directory. */
const directoryLimitBytes = 4 * 1024 * 1024

/** Yields the entries in the order of their positions. @throws AppError `bad_request`; the errors of `file.read` */
export async function* readZip(file: RandomAccess, limitBytes: number): AsyncGenerator<Entry, void> {
  const directory = await readDirectory(file)
  const records = [...directory.records].sort((one, other) => one.offset - other.offset)
  const budget = { left: limitBytes, limitBytes }
  let position = 0
  for (const [index, record] of records.entries()) {
    if (record.offset !== position) throw unusable('its entries overlap, or bytes lie between them')
    const data = position + localBytes + (await assertLocalHeader(file, record))
    const next = records[index + 1]?.offset ?? directory.offset
    if (data + record.packed > next) throw unusable('its entries overlap')
    await assertDescriptor(file, record, { from: data + record.packed, to: next })
    yield await entryOf(file, record, { data, budget })
    position = next
  }
  if (position !== directory.offset) throw unusable('bytes lie in front of its directory')
}

interface Budget {
  left: number
  readonly limitBytes: number
}

async function readDirectory(file: RandomAccess): Promise<Directory & { readonly offset: number }> {
  const tail = await file.read(Math.max(0, file.size - endBytes.most), Math.min(file.size, endBytes.most))
  const { count, length, offset } = endOf(tail, file.size)
  if (count > entryLimit) throw unusable(`it has ${count} entries, expected at most ${entryLimit}`)
  if (length > directoryLimitBytes || length < count * recordBytes) throw unusable('its directory has a wrong length')
  return { offset, ...directoryOf(await exactly(file, offset, length), count) }
}

/** Checks an entry's local header against the directory. Returns the total length of its name and extra field. */
async function assertLocalHeader(file: RandomAccess, record: ZipRecord): Promise<number> {
  const header = await exactly(file, record.offset, localBytes)
  const nameLength = header.readUInt16LE(26)
  const extraLength = header.readUInt16LE(28)
  const isSame = header.readUInt32LE(0) === localSignature && header.readUInt16LE(6) === record.flags &&
    header.readUInt16LE(8) === record.method && nameLength === record.name.length &&
    (await exactly(file, record.offset + localBytes, nameLength)).equals(record.name)
  if (!isSame) throw unusable('a header in it differs from its directory')
  const known = [header.readUInt32LE(14), header.readUInt32LE(18), header.readUInt32LE(22)]
  const expected = [record.crc, record.packed, record.size]
  const unknown = record.hasDescriptor ? [0, most32] : []
  if (known.some((value, index) => value !== expected[index] && !unknown.includes(value))) {
    throw unusable('a size in it differs from its directory')
  }
  return nameLength + extraLength
}

const most32 = 0xffff_ffff

/** Checks the bytes after the data: a correct data descriptor if the flags announce one, else no bytes. */
async function assertDescriptor(
  file: RandomAccess, record: ZipRecord, { from, to }: { readonly from: number; readonly to: number },
): Promise<void> {
  const length = to - from
  if (!record.hasDescriptor) {
    if (length !== 0) throw unusable('bytes lie between its entries')
    return
  }
  if (![12, 16, 20, 24].includes(length)) throw unusable('an entry in it has no data descriptor')
  const bytes = await exactly(file, from, length)
  const hasSignature = length === 16 || length === 24
  const rest = hasSignature ? bytes.subarray(4) : bytes
  const isLong = rest.length === 20
  const sizes = isLong
    ? [Number(rest.readBigUInt64LE(4)), Number(rest.readBigUInt64LE(12))]
    : [rest.readUInt32LE(4), rest.readUInt32LE(8)]
  const isSame = (!hasSignature || bytes.readUInt32LE(0) === descriptorSignature) &&
    rest.readUInt32LE(0) === record.crc && sizes[0] === record.packed && sizes[1] === record.size
  if (!isSame) throw unusable('a data descriptor in it differs from its directory')
}

interface Place {
  readonly data: number
  readonly budget: Budget
}

async function entryOf(file: RandomAccess, record: ZipRecord, place: Place): Promise<Entry> {
  const { kind, isExecutable } = record
  const name = textOf(record.name)
  if (kind === 'folder' && record.size !== 0) throw unusable('an entry in it that is no file has a content')
  const content = kind === 'folder' ? noContent : contentOf(file, record, place)
  if (kind !== 'link') return { name, kind, target: '', isExecutable, content }
  // The target of a link is its content, of which `contentOf` yields at most `record.size` bytes.
  assertNameLength(record.size)
  const pieces: Buffer[] = []
  for await (const piece of content) pieces.push(piece)
  return { name, kind, target: textOf(Buffer.concat(pieces)), isExecutable, content: noContent }
}

/** Yields the unpacked content, checking size and CRC-32. @throws AppError `bad_request`; the errors of `file.read` */
async function* contentOf(file: RandomAccess, record: ZipRecord, place: Place): AsyncGenerator<Buffer, void> {
  const { budget } = place
  let size = 0
  let crc = 0
  for await (const piece of record.method === 0 ? packedPieces(file, record, place) : inflated(file, record, place)) {
    size += piece.length
    budget.left -= piece.length
    if (size > record.size) throw unusable('an entry in it is longer than it says')
    if (budget.left < 0) throw tooMuch(budget.limitBytes)
    crc = crc32(piece, crc)
    yield piece
  }
  if (size !== record.size) throw unusable('an entry in it is shorter than it says')
  if (crc !== record.crc) throw unusable('an entry in it has a wrong checksum')
}

async function* packedPieces(file: RandomAccess, { packed }: ZipRecord, { data }: Place): AsyncGenerator<Buffer, void> {
  for (let at = 0; at < packed; at += pieceBytes) {
    yield await exactly(file, data + at, Math.min(pieceBytes, packed - at))
  }
}

async function* inflated(file: RandomAccess, record: ZipRecord, place: Place): AsyncGenerator<Buffer, void> {
  const inflate = createInflateRaw({ chunkSize: pieceBytes })
  const source = Readable.from(packedPieces(file, record, place), { objectMode: false })
  source.once('error', (error) => inflate.destroy(error))
  try {
    for await (const piece of source.pipe(inflate)) if (Buffer.isBuffer(piece)) yield piece
  } catch (thrown) {
    throw systemCodeOf(thrown)?.startsWith('Z_') === true ? unusable('an entry in it cannot be decompressed') : thrown
  } finally {
    source.destroy()
    inflate.destroy()
  }
  if (inflate.bytesWritten !== record.packed) throw unusable('an entry in it ends before its data')
}

async function exactly(file: RandomAccess, position: number, length: number): Promise<Buffer> {
  const bytes = position < 0 ? Buffer.alloc(0) : await file.read(position, length)
  if (bytes.length !== length) throw unusable('it is cut off')
  return bytes
}
