/**
 * Finds where a growing log is cut for a backup: after its last complete line.
 *
 * The hash of a line covers all lines before it (storage/chain). So if a log was shortened and continued, the line
 * before the cut has another hash.
 */
import type { FileHandle } from 'node:fs/promises'
import { hashAt, hashLength, headLength, lineFeed } from '../../storage/chain.ts'
import type { LastLine } from './manifest.ts'

export interface Cut {
  /** The offset after the last complete line. */
  readonly end: number
  readonly last: LastLine
}

const chunkBytes = 64 * 1024

/** Returns the cut after the last complete line in the first `size` bytes; undefined without a complete line. */
export async function cutOf(file: FileHandle, size: number): Promise<Cut | undefined> {
  const end = await afterLineFeed(file, size)
  if (end === 0) return undefined
  const start = await afterLineFeed(file, end - 1)
  const head = await readAt(file, start, headLength)
  // The characters of a damaged hash are stored as they are, because `hasCut` compares characters.
  return { end, last: { start, hash: hashAt(head, 0) ?? head.toString('latin1', 0, hashLength) } }
}

/** True if the last line before the cut is still at its place in the log. */
export async function hasCut(file: FileHandle, { end, last }: Cut): Promise<boolean> {
  const feed = await readAt(file, end - 1, 1)
  if (feed[0] !== lineFeed || last.start >= end) return false
  const head = await readAt(file, last.start, headLength)
  return head.toString('latin1', 0, hashLength) === last.hash
}

/** Returns the offset after the last line feed in the first `before` bytes; 0 without a line feed. */
async function afterLineFeed(file: FileHandle, before: number): Promise<number> {
  for (let end = before; end > 0;) {
    const start = Math.max(0, end - chunkBytes)
    const at = (await readAt(file, start, end - start)).lastIndexOf(lineFeed)
    if (at !== -1) return start + at + 1
    end = start
  }
  return 0
}

/** Reads `length` bytes, or fewer at the end of the file. */
export async function readAt(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(length)
  let filled = 0
  while (filled < length) {
    const { bytesRead } = await file.read(bytes, filled, length - filled, position + filled)
    if (bytesRead === 0) break
    filled += bytesRead
  }
  return bytes.subarray(0, filled)
}
