/**
 * The tar form of a backup (POSIX.1-2017, "ustar Interchange Format"): entries `files/<number>`, each a piece of a
 * file, then the entry `manifest.jsonl`.
 *
 * A restore uses no name of the archive as a path: it stores a piece under the SHA-256 of its bytes. `readTar` refuses
 * links and devices.
 */
import { damaged, manifestName, type Piece } from './manifest.ts'
import { bytesOf, PieceOf, type Source, type Target } from './target.ts'
import { Limiter } from '../../base/limiter.ts'

const blockBytes = 512
/** The largest size of an entry: the header has eleven octal digits for it. */
const sizeLimit = 8 ** 11 - 1

export class TarTarget implements Target {
  readonly written = { copiedBytes: 0, linkedBytes: 0 }
  readonly #write: (bytes: Uint8Array) => Promise<void>
  readonly #entries = new Limiter(1)
  /** The sizes of the pieces that were written to the stream, by SHA-256. */
  readonly #sizes = new Map<string, number>()
  #count = 0

  /** @param write resolves when the bytes are written */
  constructor(write: (bytes: Uint8Array) => Promise<void>) {
    this.#write = write
  }

  async has({ sha256, size }: Piece): Promise<boolean> {
    return this.#sizes.get(sha256) === size
  }

  add(source: Source): Promise<Piece | undefined> {
    return this.#entry(source.to - source.from, bytesOf(source))
  }

  async addBytes(bytes: Buffer): Promise<Piece> {
    const piece = await this.#entry(bytes.length, [bytes])
    if (piece === undefined) throw new RangeError('A text cannot become shorter')
    return piece
  }

  async finish(lines: readonly string[]): Promise<void> {
    const text = Buffer.from(`${lines.join('\n')}\n`)
    await this.#write(tarHeader(manifestName, text.length))
    await this.#write(text)
    await this.#write(Buffer.alloc(paddingOf(text.length) + 2 * blockBytes))
  }

  /** Writes an entry of `size` bytes. If `bytes` has fewer bytes, writes zeros for the rest and returns undefined. */
  #entry(size: number, bytes: AsyncIterable<Buffer> | Iterable<Buffer>): Promise<Piece | undefined> {
    return this.#entries.run(async () => {
      await this.#write(tarHeader(`files/${(++this.#count).toString().padStart(6, '0')}`, size))
      const content = new PieceOf()
      for await (const part of bytes) {
        content.add(part)
        await this.#write(part)
      }
      const piece = content.end()
      for (let missing = size - piece.size; missing > 0; missing -= blockBytes) {
        await this.#write(Buffer.alloc(Math.min(blockBytes, missing)))
      }
      const padding = paddingOf(size)
      if (padding > 0) await this.#write(Buffer.alloc(padding))
      if (piece.size !== size) return undefined
      this.#sizes.set(piece.sha256, size)
      this.written.copiedBytes += size
      return piece
    })
  }
}

/** Returns the header of a regular file that only its owner may read and write. */
export function tarHeader(name: string, size: number): Buffer {
  if (size > sizeLimit) throw new RangeError(`Cannot write an entry of ${size} bytes`)
  const block = Buffer.alloc(blockBytes)
  block.write(name, 0, 'latin1')
  block.write('0000600\0' + '0000000\0' + '0000000\0', 100, 'latin1')
  block.write(`${size.toString(8).padStart(11, '0')}\0${'0'.repeat(11)}\0`, 124, 'latin1')
  block.write('0', 156, 'latin1')
  block.write('ustar\x0000', 257, 'latin1')
  block.write(`${checksumOf(block).toString(8).padStart(6, '0')}\0 `, 148, 'latin1')
  return block
}

export interface TarEntry {
  readonly kind: 'piece' | 'manifest'
  readonly size: number
  /** The content. It must be read to its end before the next entry. */
  readonly content: AsyncIterable<Buffer>
}

/** Yields the entries of a backup. @throws AppError `storage_failed` if `source` is no backup; errors of `source` */
export async function* readTar(source: AsyncIterable<Uint8Array>): AsyncGenerator<TarEntry, void> {
  const bytes = new Bytes(source)
  try {
    for (let count = 0; ; count++) {
      const block = await bytes.take(blockBytes)
      if (count === 0 && block?.[0] === 0x1f && block[1] === 0x8b) {
        throw damaged('it is compressed; expected gunzip -c FILE | agent-server restore - --to FOLDER')
      }
      if (block === undefined || block.length < blockBytes) throw damaged('it is cut off')
      if (block.equals(zeros)) return await expectZeros(bytes)
      const { kind, size } = headerOf(block)
      if (kind === 'other') await bytes.skip(size)
      else yield { kind, size, content: bytes.exactly(size) }
      await bytes.skip(paddingOf(size))
    }
  } finally {
    await bytes.close()
  }
}

const zeros = Buffer.alloc(blockBytes)
const noHeader = 'it is no tar archive, or a header in it is damaged'
/** Entries that `folderNames` or `workNames` matches are skipped: tar(1) adds them when it packs a backup folder. */
const folderNames = /^(?:\.|files|partial|lost\+found)?\/?$/
const workNames = /^(?:partial\/\d+|lock(?:\.heartbeat.*)?|owner\.json|\.manifest\.jsonl\.[^.]+\.tmp)$/
const pieceNames = /^files\/[0-9a-f]{1,64}$/

function headerOf(block: Buffer): { readonly kind: TarEntry['kind'] | 'other'; readonly size: number } {
  const [sum, size] = [numberAt(block, 148, 8), numberAt(block, 124, 12)]
  if (sum === undefined || sum !== checksumOf(block)) throw damaged(noHeader)
  const name = block.toString('latin1', 0, 100).split('\0', 1)[0]?.replace(/^\.\//, '') ?? ''
  const type = block.toString('latin1', 156, 157)
  const isFile = type === '0' || type === '\0'
  if (size !== undefined && isFile && block[345] === 0) {
    if (name === manifestName) return { kind: 'manifest', size }
    if (pieceNames.test(name)) return { kind: 'piece', size }
    if (workNames.test(name)) return { kind: 'other', size }
  }
  if (size === 0 && type === '5' && folderNames.test(name)) return { kind: 'other', size }
  const shown = name.replace(/[^\x20-\x7e]/g, '?')
  throw damaged(`the archive has the entry "${shown}", which no backup has`)
}

/** Parses octal digits. Spaces may stand before them, spaces and NULs after them. Any other form gives undefined. */
function numberAt(block: Buffer, at: number, length: number): number | undefined {
  const [, digits] = /^ *([0-7]+)[ \0]*$/.exec(block.toString('latin1', at, at + length)) ?? []
  return digits === undefined ? undefined : Number.parseInt(digits, 8)
}

/** Returns the sum of the bytes of a header. The bytes of the checksum itself are added as spaces. */
function checksumOf(block: Buffer): number {
  let sum = 8 * 0x20
  for (let at = 0; at < blockBytes; at++) if (at < 148 || at >= 156) sum += block[at] ?? 0
  return sum
}

/** Reads to the end of the source. @throws AppError `storage_failed` unless only zeros follow */
async function expectZeros(bytes: Bytes): Promise<void> {
  for (;;) {
    const block = await bytes.take(blockBytes)
    if (block === undefined) return
    if (!block.equals(zeros.subarray(0, block.length))) throw damaged('bytes follow the end of the archive')
  }
}

function paddingOf(size: number): number {
  return (blockBytes - (size % blockBytes)) % blockBytes
}

/** Reads exact numbers of bytes from a stream of chunks of any size. */
class Bytes {
  readonly #source: AsyncIterator<Uint8Array>
  #held: Buffer = Buffer.alloc(0)

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#source = source[Symbol.asyncIterator]()
  }

  /** Returns the next `count` bytes, or fewer at the end of the source; undefined after the end. */
  async take(count: number): Promise<Buffer | undefined> {
    const parts: Buffer[] = []
    let missing = count
    for (let part = await this.#next(missing); part !== undefined; part = await this.#next(missing)) {
      parts.push(part)
      missing -= part.length
      if (missing === 0) break
    }
    return parts.length === 0 ? undefined : Buffer.concat(parts)
  }

  /** Yields the next `count` bytes in pieces. @throws AppError `storage_failed` when the source has fewer bytes */
  async *exactly(count: number): AsyncGenerator<Buffer, void> {
    for (let missing = count; missing > 0;) {
      const part = await this.#next(missing)
      if (part === undefined) throw damaged('it is cut off')
      missing -= part.length
      yield part
    }
  }

  async skip(count: number): Promise<void> {
    for await (const _ of this.exactly(count)) continue
  }

  async close(): Promise<void> {
    await this.#source.return?.()
  }

  async #next(most: number): Promise<Buffer | undefined> {
    while (this.#held.length === 0) {
      const next = await this.#source.next()
      if (next.done === true) return undefined
      const { buffer, byteOffset, byteLength } = next.value
      this.#held = Buffer.from(buffer, byteOffset, byteLength)
    }
    const part = this.#held.subarray(0, most)
    this.#held = this.#held.subarray(part.length)
    return part
  }
}
