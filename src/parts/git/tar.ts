/**
 * Writes a tar archive piece by piece: ustar, with a pax header for a name that is long or not printable ASCII, and for
 * a size of 8 GiB or more (POSIX.1-2017, pax, "EXTENDED DESCRIPTION").
 *
 * Each entry gets exactly `size` bytes of content: shorter content is filled up with zeros, longer content is cut.
 */

export interface TarEntry {
  /** A relative path. The path of a folder ends with a slash. */
  readonly name: string
  /** The size in bytes; 0 for a folder. */
  readonly size: number
  readonly isExecutable: boolean
  readonly content: AsyncIterable<Buffer>
}

const blockBytes = 512
const nameBytes = 100
/** The smallest size that needs more than 11 octal digits. */
const firstLongSize = 8 ** 11

export async function* writeTar(entries: AsyncIterable<TarEntry>): AsyncGenerator<Buffer, void> {
  for await (const { name, size, isExecutable, content } of entries) {
    const isFolder = name.endsWith('/')
    const records = [...recordOf('path', name, Buffer.byteLength(name) > nameBytes || !/^[\x20-\x7e]*$/.test(name)),
      ...recordOf('size', String(size), size >= firstLongSize)]
    if (records.length > 0) {
      const extension = Buffer.concat(records)
      yield headerOf({ name: 'pax', size: extension.length, type: 'x', mode: 0o644 })
      yield Buffer.concat([extension, Buffer.alloc(paddingOf(extension.length))])
    }
    const mode = isFolder || isExecutable ? 0o755 : 0o644
    yield headerOf({ name, size: size < firstLongSize ? size : 0, type: isFolder ? '5' : '0', mode })
    yield* exactly(content, size)
  }
  yield Buffer.alloc(2 * blockBytes)
}

async function* exactly(content: AsyncIterable<Buffer>, size: number): AsyncGenerator<Buffer, void> {
  let left = size
  for await (const piece of content) {
    if (left > 0) yield piece.subarray(0, left)
    left -= Math.min(left, piece.length)
    if (left === 0) break
  }
  for (let zeros = left + paddingOf(size); zeros > 0; zeros -= 64 * 1024) yield Buffer.alloc(Math.min(zeros, 64 * 1024))
}

interface Header {
  readonly name: string
  readonly size: number
  readonly type: string
  readonly mode: number
}

function headerOf({ name, size, type, mode }: Header): Buffer {
  const header = Buffer.alloc(blockBytes)
  Buffer.from(name).copy(header, 0, 0, nameBytes)
  header.write(`${mode.toString(8).padStart(7, '0')}\0${'0000000\0'.repeat(2)}`, 100, 'latin1')
  header.write(`${size.toString(8).padStart(11, '0')}\0${'0'.repeat(11)}\0`, 124, 'latin1')
  header.fill(0x20, 148, 156)
  header.write(type, 156, 'latin1')
  header.write('ustar\x0000', 257, 'latin1')
  const sum = header.reduce((all, byte) => all + byte, 0)
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1')
  return header
}

/** Returns a list with a pax record; empty unless `isNeeded`. A record begins with its length, digits included. */
function recordOf(key: string, value: string, isNeeded: boolean): readonly Buffer[] {
  if (!isNeeded) return []
  const rest = Buffer.byteLength(` ${key}=${value}\n`)
  let length = rest
  while (length !== rest + String(length).length) length = rest + String(length).length
  return [Buffer.from(`${length} ${key}=${value}\n`)]
}

function paddingOf(size: number): number {
  return (blockBytes - (size % blockBytes)) % blockBytes
}
