/**
 * The file operations that a log is made of, so that a test can put a disk in their place that fills up, fails or
 * loses power between any two of them.
 *
 * Positions are explicit and nothing is appended implicitly: after a failed write the caller knows where to cut. A
 * read that is shorter than asked for has met the end of the file. `nodeFiles` is the real disk.
 */
import { constants } from 'node:fs'
import { open, type FileHandle } from 'node:fs/promises'
import { AppError, systemCodeOf } from '../base/errors.ts'

export interface ReadableFile {
  size(): Promise<number>
  /** `into` may be used for the bytes, instead of a new buffer. */
  read(length: number, position: number, into?: Buffer): Promise<Buffer>
  close(): Promise<void>
}

export interface OpenFile extends ReadableFile {
  /**
   * Writes all of the bytes or rejects, and then any part of them may be there. A file that was opened to write through
   * has them and its length on the disk when this resolves.
   */
  write(bytes: Buffer, position: number): Promise<void>
  truncate(length: number): Promise<void>
  /** Resolves when the content and the length are on the disk. */
  sync(): Promise<void>
}

export interface Files {
  /** Opens for reading and writing; makes an empty file, for its owner alone, if there is none. */
  open(path: string, options?: { readonly writeThrough: boolean }): Promise<OpenFile>
}

/**
 * What Linux promises of a write to a file that is opened with O_DSYNC is what a write and fdatasync promise (open(2)), at
 * the cost of one call that waits for the disk instead of two. Elsewhere a sync may do more than that, so there it is done.
 */
export const nodeFiles = createFiles({ hasDataSync: process.platform === 'linux' })

/** `hasDataSync`: O_DSYNC does what a sync after each write does. */
export function createFiles({ hasDataSync }: { readonly hasDataSync: boolean }): Files {
  return {
    async open(path, { writeThrough } = { writeThrough: false }) {
      const dataSync = writeThrough && hasDataSync ? constants.O_DSYNC : 0
      const handle = await open(path, constants.O_RDWR | constants.O_CREAT | dataSync, 0o600).catch((thrown: unknown) => {
        if (systemCodeOf(thrown) !== 'EROFS') throw thrown
        return undefined
      })
      if (handle === undefined) return readOnly(await openToRead(path))
      return {
        ...readable(handle),
        write: async (bytes, position) => {
          await writeFully(handle, bytes, position)
          if (writeThrough && !hasDataSync) await handle.datasync()
        },
        truncate: (length) => handle.truncate(length),
        sync: () => handle.datasync(),
      }
    },
  }
}

/** The same files, not changed any more once the folder they are in may be another server's. */
export function ownedFiles(files: Files, isOurs: () => boolean): Files {
  const assertOurs = (): void => {
    if (!isOurs()) throw new AppError('owned_by_another', 'Cannot write: another server may own the data folder')
  }
  return {
    async open(path, options) {
      const file = await files.open(path, options)
      return {
        ...file,
        async write(bytes, position) {
          assertOurs()
          await file.write(bytes, position)
        },
        async truncate(length) {
          assertOurs()
          await file.truncate(length)
        },
      }
    },
  }
}

/** Opens a real file that nothing is to be changed in. */
export async function openToRead(path: string): Promise<ReadableFile> {
  return readable(await open(path, constants.O_RDONLY))
}

/** A file that the system lets us read only is read, and refuses the rest. */
function readOnly(file: ReadableFile): OpenFile {
  const refuse = async (): Promise<never> => {
    throw new AppError('storage_failed', 'Cannot write: the file system was read-only when the file was opened')
  }
  return { ...file, write: refuse, truncate: refuse, sync: async () => undefined }
}

function readable(handle: FileHandle): ReadableFile {
  return {
    size: async () => (await handle.stat()).size,
    read: (length, position, into = Buffer.allocUnsafe(length)) => readFully(handle, into.subarray(0, length), position),
    close: () => handle.close(),
  }
}

async function readFully(handle: FileHandle, bytes: Buffer, position: number): Promise<Buffer> {
  let filled = 0
  while (filled < bytes.length) {
    const { bytesRead } = await handle.read(bytes, filled, bytes.length - filled, position + filled)
    if (bytesRead === 0) break
    filled += bytesRead
  }
  return bytes.subarray(0, filled)
}

async function writeFully(handle: FileHandle, bytes: Buffer, position: number): Promise<void> {
  let written = 0
  while (written < bytes.length) {
    const { bytesWritten } = await handle.write(bytes, written, bytes.length - written, position + written)
    written += bytesWritten
  }
}
