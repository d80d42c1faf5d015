/**
 * Reads a tar archive as a stream: ustar and pax (POSIX.1-2017, pax, "EXTENDED DESCRIPTION"), and the long names of GNU
 * tar.
 *
 * The reader refuses an ambiguous archive, in which another program could see other files.
 */
import { Bytes } from './bytes.ts'
import { entryLimit, noContent, textOf, unusable, type Entry, type EntryKind } from './entry.ts'
import { noRecords, paxRecords, type PaxRecords } from './pax.ts'

const blockBytes = 512
/** The most bytes of an extended header, a long name or a long target. */
const extensionLimitBytes = 64 * 1024
/** The most headers of an archive. An entry needs four at most: main header, pax header, long name and long target. */
const headerLimit = 4 * entryLimit

const kinds: Readonly<Record<string, EntryKind>> = {
  '0': 'file', '\0': 'file', '7': 'file', '5': 'folder', '2': 'link',
}
const refusedKinds: Readonly<Record<string, string>> = {
  '1': 'a hard link', '3': 'a device', '4': 'a device', '6': 'a pipe', S: 'a sparse file',
}

/** Yields the entries in order. @throws AppError `bad_request`; errors of the source */
export async function* readTar(source: AsyncIterable<Buffer>, limitBytes: number): AsyncGenerator<Entry, void> {
  const bytes = new Bytes(source, limitBytes)
  try {
    let extension: Extension = nothing
    for (let count = 0; ; count++) {
      const block = await bytes.take(blockBytes)
      if (block === undefined) throw unusable('it has no end, expected a block of zeros')
      if (isZero(block)) break
      if (count === headerLimit) throw unusable(`it has more than ${headerLimit} headers`)
      const header = headerOf(block)
      const more = await extensionOf(header, bytes)
      if (more === undefined) {
        yield* entryOf(header, extension, bytes)
        extension = nothing
      } else if (more !== nothing) extension = joined(extension, more)
    }
    if (extension !== nothing) throw unusable('it ends with an extended header')
    await expectZeros(bytes)
  } finally {
    await bytes.close()
  }
}

interface Header {
  readonly name: Buffer
  readonly target: Buffer
  readonly type: string
  readonly size: number
  readonly mode: number
}

/** Values for the next entry: `records` from a header of the type `x`, `name` from `L`, `target` from `K`. */
interface Extension {
  readonly records: PaxRecords
  readonly name: Buffer | undefined
  readonly target: Buffer | undefined
}

const nothing: Extension = { records: noRecords, name: undefined, target: undefined }

function headerOf(block: Buffer): Header {
  const sum = numberAt(block, 148, 8)
  if (sum !== checksumOf(block)) throw unusable('a header in it has a wrong checksum')
  const isUstar = block.toString('latin1', 257, 263) === 'ustar\0'
  const prefix = isUstar ? fieldAt(block, 345, 155) : Buffer.alloc(0)
  const last = fieldAt(block, 0, 100)
  return {
    name: prefix.length === 0 ? last : Buffer.concat([prefix, Buffer.from('/'), last]),
    target: fieldAt(block, 157, 100),
    type: block.toString('latin1', 156, 157),
    size: numberAt(block, 124, 12),
    mode: numberAt(block, 100, 8),
  }
}

/** Reads the content of a header of type `x`, `g`, `L` or `K`. Returns undefined for a header of another type. */
async function extensionOf({ type, size }: Header, bytes: Bytes): Promise<Extension | undefined> {
  if (!['x', 'g', 'L', 'K'].includes(type)) return undefined
  if (size > extensionLimitBytes) throw unusable(`an extended header in it has more than ${extensionLimitBytes} bytes`)
  const content = (await contentOf(bytes, size)) ?? Buffer.alloc(0)
  if (type === 'L') return { ...nothing, name: untilNul(content) }
  if (type === 'K') return { ...nothing, target: untilNul(content) }
  const records = paxRecords(content)
  if (type === 'x') return { ...nothing, records }
  if (records !== noRecords) throw unusable('a header in it names or sizes several entries at once')
  return nothing
}

function joined(before: Extension, more: Extension): Extension {
  const isTwice = (before.records !== noRecords && more.records !== noRecords) ||
    (before.name !== undefined && more.name !== undefined) || (before.target !== undefined && more.target !== undefined)
  if (isTwice) throw unusable('an entry in it has two extended headers')
  return {
    records: more.records === noRecords ? before.records : more.records,
    name: more.name ?? before.name,
    target: more.target ?? before.target,
  }
}

async function* entryOf(header: Header, extension: Extension, bytes: Bytes): AsyncGenerator<Entry, void> {
  const { records: { path, linkpath, size: longSize } } = extension
  const hasTwoNames = path !== undefined && extension.name !== undefined
  const hasTwoTargets = linkpath !== undefined && extension.target !== undefined
  if (hasTwoNames || hasTwoTargets) throw unusable('an entry in it has two names')
  const name = textOf(path ?? extension.name ?? header.name)
  const size = longSize ?? header.size
  const kind = kindOf(header, name)
  if (kind !== 'file' && size !== 0) throw unusable('an entry in it that is no file has a content')
  const state = { isRead: size === 0 }
  yield {
    name,
    kind,
    target: kind === 'link' ? textOf(linkpath ?? extension.target ?? header.target) : '',
    isExecutable: (header.mode & 0o100) !== 0,
    content: size === 0 ? noContent : fileContent(bytes, size, state),
  }
  if (!state.isRead) throw new TypeError('The content of an entry has to be read before the next entry')
}

/** Yields the content of a file, then skips the padding after it. */
async function* fileContent(bytes: Bytes, size: number, state: { isRead: boolean }): AsyncGenerator<Buffer, void> {
  yield* bytes.pieces(size)
  const padding = paddingOf(size)
  if (padding > 0 && (await bytes.take(padding)) === undefined) throw unusable('it is cut off')
  state.isRead = true
}

async function contentOf(bytes: Bytes, size: number): Promise<Buffer | undefined> {
  const padded = await bytes.take(size + paddingOf(size))
  if (padded === undefined && size > 0) throw unusable('it is cut off')
  return padded?.subarray(0, size)
}

function kindOf({ type }: Header, name: string): EntryKind {
  const kind = kinds[type]
  if (kind === undefined) throw unusable(`it has ${refusedKinds[type] ?? 'an entry of an unknown type'}`)
  // In archives older than ustar, a folder has the type of a file and a name with a slash at its end.
  return kind === 'file' && type !== '7' && name.endsWith('/') ? 'folder' : kind
}

/** Reads the rest of the source, which must be whole blocks of zeros. @throws AppError for other bytes */
async function expectZeros(bytes: Bytes): Promise<void> {
  for (;;) {
    const block = await bytes.take(blockBytes)
    if (block === undefined) return
    if (!isZero(block)) throw unusable('bytes follow its end')
  }
}

const zeros = Buffer.alloc(blockBytes)

function isZero(block: Buffer): boolean {
  return block.equals(zeros)
}

/** Returns the sum of the bytes of a header. The bytes of the checksum itself are added as spaces. */
function checksumOf(block: Buffer): number {
  let sum = 8 * 0x20
  for (let at = 0; at < blockBytes; at++) if (at < 148 || at >= 156) sum += block[at] ?? 0
  return sum
}

/** Reads an octal number (blank: 0), or a base 256 number of GNU tar below 2^48. @throws AppError for other bytes */
function numberAt(block: Buffer, at: number, length: number): number {
  const first = block[at] ?? 0
  if ((first & 0x80) !== 0) {
    const high = block.subarray(at + 1, at + length - 6)
    if (first !== 0x80 || high.some((byte) => byte !== 0)) throw unusable('a number in it is too large')
    return block.readUIntBE(at + length - 6, 6)
  }
  const [, digits] = /^ *([0-7]*)[ \0]*$/.exec(block.toString('latin1', at, at + length)) ?? []
  if (digits === undefined) throw unusable('a number in it is malformed')
  return digits === '' ? 0 : Number.parseInt(digits, 8)
}

function fieldAt(block: Buffer, at: number, length: number): Buffer {
  return untilNul(block.subarray(at, at + length))
}

/** Returns a copy of the bytes before the first NUL. A view would keep the whole buffer of the source in memory. */
function untilNul(bytes: Buffer): Buffer {
  const end = bytes.indexOf(0)
  return Buffer.from(end === -1 ? bytes : bytes.subarray(0, end))
}

function paddingOf(size: number): number {
  return (blockBytes - (size % blockBytes)) % blockBytes
}
