/**
 * Describes the files of a folder: size and SHA-256 of each file, and a stamp (modification time and inode) of each
 * executable.
 *
 * Links are refused, so nothing outside the folder is read.
 */
import { createHash } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError } from '../../base/errors.ts'
import { openForReading, readdir } from '../../base/read-files.ts'
import type { InstalledFile } from './record.ts'

export interface DigestOptions {
  readonly signal: AbortSignal
  /** The path of the agent's program in the folder. It is always treated as an executable. */
  readonly entry: string
  /** The number of files that are read at the same time. Default 4. */
  readonly parallel?: number
  /** The most files. A folder with more files is refused. Default 200,000. */
  readonly fileLimit?: number
}

const pieceBytes = 128 * 1024

/**
 * Returns a description of each file, sorted by path. A file counts as executable if it is the `entry`, has an execute
 * bit, or begins like native code.
 * @throws AppError `storage_failed` for an entry that is neither file nor folder, or too many files; the system's
 * error; the signal's reason
 */
export async function digestFolder(folder: string, options: DigestOptions): Promise<InstalledFile[]> {
  const { parallel = 4, fileLimit = 200_000 } = options
  const paths = await listFiles(folder, fileLimit)
  const files: InstalledFile[] = []
  const waiting = paths.values()
  const work = async (): Promise<void> => {
    const piece = Buffer.alloc(pieceBytes)
    for (const path of waiting) files.push(await digestFile(folder, path, piece, options))
  }
  await Promise.all(Array.from({ length: parallel }, work))
  return files.sort(byPath)
}

export function digestText(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

async function listFiles(folder: string, fileLimit: number): Promise<string[]> {
  const files: string[] = []
  const folders = ['']
  for (let inside = folders.pop(); inside !== undefined; inside = folders.pop()) {
    for (const entry of await readdir(join(folder, inside), { withFileTypes: true })) {
      const path = inside === '' ? entry.name : `${inside}/${entry.name}`
      if (entry.isDirectory()) folders.push(path)
      else if (entry.isFile()) files.push(path)
      else throw new AppError('storage_failed', `Cannot take the digest of "${path}": expected a file or a folder`)
    }
    if (files.length > fileLimit) {
      throw new AppError('storage_failed', `Cannot take digests of more than ${fileLimit} files`)
    }
  }
  return files
}

async function digestFile(folder: string, path: string, piece: Buffer, options: DigestOptions): Promise<InstalledFile> {
  const handle = await openForReading(join(folder, path))
  try {
    const { size, mode, mtimeMs, ino } = await handle.stat()
    const { sha256, isNative } = await digestContent(handle, piece, options.signal)
    const isExecutable = path === options.entry || isNative || (mode & 0o111) !== 0
    return { path, size, sha256, ...(isExecutable ? { stamp: { mtimeMs, inode: ino } } : {}) }
  } finally {
    await handle.close()
  }
}

async function digestContent(
  handle: FileHandle, piece: Buffer, signal: AbortSignal,
): Promise<{ sha256: string; isNative: boolean }> {
  const hash = createHash('sha256')
  let isNative = false
  for (let position = 0; ; ) {
    signal.throwIfAborted()
    const { bytesRead } = await handle.read(piece, 0, piece.length, position)
    if (bytesRead === 0) return { sha256: hash.digest('hex'), isNative }
    if (position === 0) isNative = bytesRead >= 4 && nativeBeginnings.has(piece.readUInt32BE(0))
    hash.update(piece.subarray(0, bytesRead))
    position += bytesRead
  }
}

/** The first four bytes of native code: ELF; Mach-O of 32 and 64 bits in both byte orders; universal Mach-O. */
const nativeBeginnings: ReadonlySet<number> = new Set([
  0x7f454c46, 0xfeedface, 0xfeedfacf, 0xcefaedfe, 0xcffaedfe, 0xcafebabe,
])

function byPath(left: InstalledFile, right: InstalledFile): number {
  return left.path < right.path ? -1 : 1
}
