/** Writes archives byte by byte, sound ones and broken ones, and reads archives as the server does. */
import { crc32, deflateRawSync } from 'node:zlib'
import { readArchive } from '../../../src/parts/extensions/archive/open-archive.ts'
import { Names, assertInside } from '../../../src/parts/extensions/archive/names.ts'

export interface TarEntry {
  readonly name: string
  readonly content?: string | Buffer
  readonly type?: string
  readonly target?: string
  readonly mode?: number
  /** The size field, if it differs from the content. */
  readonly size?: string
  readonly magic?: string
  readonly checksum?: string
}

export function tarBlocks({ name, content = '', type = '0', target = '', mode = 0o644, ...rest }: TarEntry): Buffer {
  const bytes = Buffer.from(content)
  const header = Buffer.alloc(512)
  header.write(name, 0, 100)
  header.write(`${mode.toString(8).padStart(7, '0')}\0`, 100)
  header.write(rest.size ?? `${bytes.length.toString(8).padStart(11, '0')}\0`, 124, 'latin1')
  header.write(type, 156)
  header.write(target, 157, 100)
  header.write(rest.magic ?? 'ustar\x0000', 257)
  header.fill(0x20, 148, 156)
  const sum = header.reduce((all, byte) => all + byte, 0)
  header.write(rest.checksum ?? `${sum.toString(8).padStart(6, '0')}\0 `, 148)
  return Buffer.concat([header, bytes, Buffer.alloc((512 - (bytes.length % 512)) % 512)])
}

export const tarEnd = Buffer.alloc(1024)

export function tarOf(...entries: readonly TarEntry[]): Buffer {
  return Buffer.concat([...entries.map(tarBlocks), tarEnd])
}

/** An extended header with these records, each `key=value`. */
export function paxHeader(...records: readonly string[]): TarEntry {
  return { name: 'pax', type: 'x', content: records.map(paxRecord).join('') }
}

function paxRecord(record: string): string {
  const rest = Buffer.byteLength(record) + 2
  let length = rest + 1
  while (String(length).length + rest !== length) length++
  return `${length} ${record}\n`
}

export interface ZipEntry {
  readonly name: string
  readonly content?: string | Buffer
  readonly method?: number
  readonly mode?: number
  readonly flags?: number
  /** Members of the directory's record that lie. */
  readonly crc?: number
  readonly size?: number
  readonly packed?: number
  readonly offset?: number
  readonly host?: number
  readonly extra?: Buffer
  /** The name in the local header. */
  readonly localName?: string
  /** The bytes in front of the local header. */
  readonly before?: Buffer
  /** The bytes behind the data. */
  readonly after?: Buffer
}

export interface ZipEnd {
  readonly comment?: Buffer
  readonly count?: number
  readonly length?: number
  readonly offset?: number
  readonly disk?: number
}

export function zipOf(entries: readonly ZipEntry[], end: ZipEnd = {}): Buffer {
  const pieces: Buffer[] = []
  const records: Buffer[] = []
  let at = 0
  for (const entry of entries) {
    const { name, content = '', method = 8, mode = 0o100644, flags = 0x800, extra = Buffer.alloc(0) } = entry
    const bytes = Buffer.from(content)
    const packed = method === 8 ? deflateRawSync(bytes) : bytes
    const middle = numbers(
      [flags, 2], [method, 2], [0, 2], [0x21, 2], [entry.crc ?? crc32(bytes), 4], [entry.packed ?? packed.length, 4],
      [entry.size ?? bytes.length, 4],
    )
    const local = Buffer.from(entry.localName ?? name)
    const [before, after] = [entry.before ?? Buffer.alloc(0), entry.after ?? Buffer.alloc(0)]
    const start = numbers([0x04034b50, 4], [20, 2])
    pieces.push(before, start, middle, numbers([local.length, 2], [0, 2]), local, packed, after)
    const path = Buffer.from(name)
    records.push(
      numbers([0x02014b50, 4], [20, 1], [entry.host ?? 3, 1], [20, 2]), middle,
      numbers([path.length, 2], [extra.length, 2], [0, 2], [0, 2], [0, 2], [(mode << 16) >>> 0, 4]),
      numbers([entry.offset ?? at + before.length, 4]), path, extra,
    )
    at += before.length + 30 + local.length + packed.length + after.length
  }
  const directory = Buffer.concat(records)
  const { comment = Buffer.alloc(0), disk = 0, count = entries.length } = end
  return Buffer.concat([...pieces, directory, numbers(
    [0x06054b50, 4], [disk, 2], [disk, 2], [count, 2], [count, 2], [end.length ?? directory.length, 4],
    [end.offset ?? at, 4], [comment.length, 2],
  ), comment])
}

function numbers(...values: readonly (readonly [value: number, bytes: 1 | 2 | 4])[]): Buffer {
  const buffer = Buffer.alloc(values.reduce((sum, [, bytes]) => sum + bytes, 0))
  let at = 0
  for (const [value, bytes] of values) {
    buffer.writeUIntLE(value, at, bytes)
    at += bytes
  }
  return buffer
}

/** Reads an archive whole: the files by path, in the way `unpack` judges names. */
export async function filesIn(bytes: Buffer): Promise<Record<string, string>> {
  const names = new Names()
  const files: Record<string, string> = {}
  const read = async (position: number, length: number): Promise<Buffer> => bytes.subarray(position, position + length)
  for await (const { name, kind, target, content } of readArchive({ size: bytes.length, read })) {
    const parts = names.take(name, kind)
    if (kind === 'link') assertInside(parts, target)
    const pieces: Buffer[] = []
    for await (const piece of content) pieces.push(Buffer.from(piece))
    if (kind === 'file') files[parts.join('/')] = Buffer.concat(pieces).toString('latin1')
  }
  return files
}
