/**
 * The file operations of a log. Tests replace `nodeFiles` by a simulated disk that is full, fails or loses power.
 *
 * Each read and write names its position in the file. A read that returns fewer bytes than requested has reached the
 * end of the file.
 */
import { constants } from 'node:fs'
import { open, type FileHandle } from 'node:fs/promises'
import { AppError, systemCodeOf } from '../base/errors.ts'
import { assertOwned, isOwned } from '../base/write-fence.ts'

export interface ReadableFile {
  size(): Promise<number>
  /** Reads up to `length` bytes at `position` into `into`, by default a new buffer. */
  read(length: number, position: number, into?: Buffer): Promise<Buffer>
  close(): Promise<void>
}

export interface OpenFile extends ReadableFile {
  /**
   * Writes all bytes. After a rejection, any part of them may be in the file. If the file was opened with
   * `writeThrough`, the bytes are on the disk when the promise resolves.
   */
  write(bytes: Buffer, position: number): Promise<void>
  truncate(length: number): Promise<void>
  /** Resolves when the content and the length are on the disk. */
  sync(): Promise<void>
}

export interface Files {
  /**
   * Opens a file. Creates a missing file (mode 0600), unless another server may own the folder (`isOwned`). On a
   * read-only file system, writes reject.
   */
  open(path: string, options?: { readonly writeThrough: boolean }): Promise<OpenFile>
}

/** The real disk. `writeThrough` uses O_DSYNC on Linux (open(2)), and a sync after each write elsewhere. */
export const nodeFiles = createFiles({ hasDataSync: process.platform === 'linux' })

/** @param hasDataSync true when the system has O_DSYNC, which makes each write durable without a separate sync */
export function createFiles({ hasDataSync }: { readonly hasDataSync: boolean }): Files {
  return {
    async open(path, { writeThrough } = { writeThrough: false }) {
      const dataSync = writeThrough && hasDataSync ? constants.O_DSYNC : 0
      const flags = constants.O_RDWR | (isOwned(path) ? constants.O_CREAT : 0) | dataSync
      const handle = await open(path, flags, 0o600).catch((thrown: unknown) => {
        if (systemCodeOf(thrown) !== 'EROFS') throw thrown
        return undefined
      })
      if (handle === undefined) return readOnly(await openToRead(path))
      return {
        ...readable(handle),
        write: async (bytes, position) => {
          assertOwned(path)
          await writeFully(handle, bytes, position)
          if (writeThrough && !hasDataSync) await handle.datasync()
        },
        truncate: async (length) => {
          assertOwned(path)
          await handle.truncate(length)
        },
        sync: () => handle.datasync(),
      }
    },
  }
}

export async function openToRead(path: string): Promise<ReadableFile> {
  return readable(await open(path, constants.O_RDONLY))
}

/** Returns a file of a read-only file system: writes and truncations reject with `storage_failed`. */
function readOnly(file: ReadableFile): OpenFile {
  const refuse = async (): Promise<never> => {
    throw new AppError('storage_failed', 'Cannot write: the file system was read-only when the file was opened')
  }
  return { ...file, write: refuse, truncate: refuse, sync: async () => undefined }
}

function readable(handle: FileHandle): ReadableFile {
  return {
    size: async () => (await handle.stat()).size,
    read(length, position, into = Buffer.allocUnsafe(length)) {
      return readFully(handle, into.subarray(0, length), position)
    },
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
