/**
 * The common form of the entries of zip archives, tar archives and folders, and the limits of all archives.
 *
 * `unpack`, not `readTar` or `readZip`, checks where an entry's name leads. Faults are AppErrors `bad_request`.
 */
import { AppError } from '../../../base/errors.ts'

export interface Entry {
  /** The name as the archive has it: it can be absolute, have `..`, or be the name of an earlier entry. */
  readonly name: string
  readonly kind: EntryKind
  /** The target of a symbolic link; empty for other entries. */
  readonly target: string
  /** True when the mode of the entry has the owner's execute bit. */
  readonly isExecutable: boolean
  /** The content of a file in pieces. Read it to its end before the next entry. Empty for a folder or a link. */
  readonly content: AsyncIterable<Buffer>
}

/** `link` is a symbolic link. `readTar` and `readZip` refuse hard links, devices and pipes. */
export type EntryKind = 'file' | 'folder' | 'link'

/** The most entries of an archive. A parent folder that the archive does not list counts as an entry too. */
export const entryLimit = 10_000
/** The most bytes that an archive may unpack to. Headers in a tar archive count, headers in a zip archive do not. */
export const unpackedLimitBytes = 256 * 1024 * 1024
/** The most unpacked bytes for each byte of the archive. Up to `freeBytes` unpacked bytes this limit does not apply. */
export const ratioLimit = 200
/** The unpacked bytes that each archive may have, however small it is. */
export const freeBytes = 8 * 1024 * 1024
/** The most bytes of one name or link target. */
export const nameLimitBytes = 1024

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Checks the length of a name or a target. @throws AppError `bad_request` above `nameLimitBytes` */
export function assertNameLength(bytes: number): void {
  if (bytes > nameLimitBytes) throw unusable(`a name in it is longer than ${nameLimitBytes} bytes`)
}

/** Returns the text of a name or a target. @throws AppError `bad_request` if the text is too long or not UTF-8 */
export function textOf(bytes: Uint8Array): string {
  assertNameLength(bytes.length)
  try {
    return decoder.decode(bytes)
  } catch {
    throw unusable('a name in it is not UTF-8')
  }
}

/** Returns the most bytes that an archive of this size may unpack to. */
export function unpackedLimitOf(packedBytes: number): number {
  return Math.min(unpackedLimitBytes, Math.max(freeBytes, ratioLimit * packedBytes))
}

export function tooMuch(limitBytes: number): AppError {
  return unusable(`it unpacks to more than ${limitBytes} bytes`)
}

export function unusable(why: string): AppError {
  return new AppError('bad_request', `Cannot unpack the archive: ${why}`)
}

/** An empty content: for an entry that is not a file, or for an empty file. */
export const noContent: AsyncIterable<Buffer> = {
  async *[Symbol.asyncIterator]() { /* empty */ },
}
