/**
 * Opens, reads and writes regular files of the workspace. `readFile` has a size limit. `writeFile` replaces a file as a
 * whole or not at all.
 *
 * A write goes to a temporary file, which is synced and then takes the place of the target. A file with a second hard
 * link is not replaced or removed, because its other name may be outside the workspace (decisions 30).
 */
import { randomUUID } from 'node:crypto'
import { constants, type BigIntStats } from 'node:fs'
import { link, open, rename, rm, type FileHandle } from 'node:fs/promises'
import { AppError, systemCodeOf } from '../../base/errors.ts'
import { pathError, type ContainedPath } from './paths.ts'

export interface FileContent {
  readonly bytes: Buffer
  readonly version: string
}

/** Opens a regular file for reading. The caller closes it. @throws AppError `not_found`, `invalid_input` */
export async function openFile(place: ContainedPath): Promise<FileHandle> {
  assertFile(place)
  return withPathErrors(place, () => openRegular(place, constants.O_RDONLY))
}

/** Reads a file. @throws AppError `invalid_input` for a file that is too large; the errors of `openFile` */
export async function readFile(place: ContainedPath, limitBytes: number): Promise<FileContent> {
  const handle = await openFile(place)
  try {
    const stats = await handle.stat({ bigint: true })
    if (stats.size > limitBytes) throw tooLarge(place, stats.size, limitBytes)
    return { bytes: await readUpTo(handle, place, limitBytes), version: versionOf(stats) }
  } catch (thrown) {
    throw pathError(place.path, thrown)
  } finally {
    await handle.close()
  }
}

/** The whole content of a file, or its pieces in order. */
export type Content = Uint8Array | AsyncIterable<Uint8Array>

/**
 * Replaces or creates a file and returns its new version. `expected` is the version to replace, or `none` for a new
 * file. Default: any version.
 * @throws AppError `conflict` for another version; the errors of `assertFile` and `pathError`
 */
export async function writeFile(
  place: ContainedPath,
  bytes: Content,
  options: { readonly expected?: string } = {},
): Promise<string> {
  if (place.kind !== 'nothing') assertFile(place)
  return withPathErrors(place, async () => {
    const before = place.kind === 'file' ? await inspectForWriting(place) : undefined
    const found = before === undefined ? 'none' : versionOf(before)
    if (options.expected !== undefined && options.expected !== found) throw changed(place)
    return replace(place, bytes, before, options.expected === 'none')
  })
}

/** Removes a file if its version is `expected`. @throws the errors of `writeFile` */
export async function removeFile(place: ContainedPath, expected: string): Promise<void> {
  assertFile(place)
  await withPathErrors(place, async () => {
    if (versionOf(await inspectForWriting(place)) !== expected) throw changed(place)
    await rm(place.directory.locate(place.name))
  })
}

/** Checks that the place is a regular file. @throws AppError `not_found`, `invalid_input` if not */
export function assertFile(place: ContainedPath): void {
  if (place.kind === 'file') return
  if (place.kind === 'nothing') throw new AppError('not_found', `Cannot find "${place.path}"`)
  const what = place.kind === 'directory' ? 'a directory' : 'a link, a device, a socket or a pipe'
  throw new AppError('invalid_input', `Cannot use "${place.path}" as a file: it is ${what}`)
}

export function changed(place: ContainedPath): AppError {
  const problem = 'it was changed by something else meanwhile, so look at it again first'
  return new AppError('conflict', `Cannot write "${place.path}": ${problem}`)
}

/** Returns inode, size and modification time as text. The device number is left out: a restart may change it. */
function versionOf(stats: BigIntStats): string {
  return `${stats.ino}:${stats.size}:${stats.mtimeNs}`
}

/** Returns the stats of a file to replace or remove. Refuses a file with a second hard link. */
async function inspectForWriting(place: ContainedPath): Promise<BigIntStats> {
  const handle = await openRegular(place, constants.O_WRONLY)
  try {
    const stats = await handle.stat({ bigint: true })
    if (stats.nlink > 1n) {
      const problem = 'the file has another name (a hard link), which may be outside the workspace'
      throw new AppError('invalid_input', `Cannot write "${place.path}": ${problem}`)
    }
    return stats
  } finally {
    await handle.close()
  }
}

async function replace(
  place: ContainedPath, bytes: Content, before: BigIntStats | undefined, isNew: boolean,
): Promise<string> {
  const temporary = place.directory.locate(`.${randomUUID()}.tmp`)
  try {
    const version = await writeNew(temporary, bytes, before)
    await place.directory.assertInPlace()
    const isLinked = isNew && (await linkIntoPlace(temporary, place))
    if (!isLinked) await rename(temporary, place.directory.locate(place.name))
    return version
  } catch (thrown) {
    await rm(temporary, { force: true })
    throw thrown
  }
}

/**
 * Gives the temporary file its final name by a hard link. Returns false on a file system without hard links.
 * @throws AppError `conflict` when a file with this name exists
 */
async function linkIntoPlace(temporary: string, place: ContainedPath): Promise<boolean> {
  try {
    await link(temporary, place.directory.locate(place.name))
  } catch (thrown) {
    const code = systemCodeOf(thrown) ?? ''
    if (code === 'EEXIST') throw changed(place)
    if (['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'].includes(code)) return false
    throw thrown
  }
  await rm(temporary)
  return true
}

async function writeNew(path: string, bytes: Content, before: BigIntStats | undefined): Promise<string> {
  const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants
  const handle = await open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, before === undefined ? 0o666 : 0o600)
  try {
    if (before !== undefined) await keepAttributes(handle, before)
    if (bytes instanceof Uint8Array) await handle.writeFile(bytes)
    else for await (const piece of bytes) await handle.writeFile(piece)
    await handle.sync()
    return versionOf(await handle.stat({ bigint: true }))
  } finally {
    await handle.close()
  }
}

async function keepAttributes(handle: FileHandle, before: BigIntStats): Promise<void> {
  const now = await handle.stat({ bigint: true })
  if (now.uid !== before.uid || now.gid !== before.gid) {
    await handle.chown(Number(before.uid), Number(before.gid)).catch((thrown: unknown) => {
      if (systemCodeOf(thrown) !== 'EPERM') throw thrown
    })
  }
  await handle.chmod(Number(before.mode & 0o777n))
}

/** Opens a regular file. Does not wait at a FIFO, and acquires no controlling terminal. */
async function openRegular(place: ContainedPath, mode: number): Promise<FileHandle> {
  const { O_NOFOLLOW, O_NONBLOCK, O_NOCTTY } = constants
  const handle = await open(place.directory.locate(place.name), mode | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY)
  try {
    await place.directory.assertInPlace()
    if ((await handle.stat()).isFile()) return handle
    throw new AppError('invalid_input', `Cannot use "${place.path}" as a file: it is not a regular one`)
  } catch (thrown) {
    await handle.close()
    throw thrown
  }
}

/** Reads a whole file. Counts the bytes instead of trusting the size in the stats: the file may grow meanwhile. */
async function readUpTo(handle: FileHandle, place: ContainedPath, limitBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  for (;;) {
    const { bytesRead, buffer } = await handle.read({ buffer: Buffer.allocUnsafe(64 * 1024), position: size })
    if (bytesRead === 0) return Buffer.concat(chunks)
    size += bytesRead
    if (size > limitBytes) throw tooLarge(place, BigInt(size), limitBytes)
    chunks.push(buffer.subarray(0, bytesRead))
  }
}

function tooLarge(place: ContainedPath, size: bigint, limitBytes: number): AppError {
  const problem = `it has ${size} bytes, expected at most ${limitBytes}`
  return new AppError('invalid_input', `Cannot read "${place.path}" as a whole: ${problem}`)
}

async function withPathErrors<T>(place: ContainedPath, body: () => Promise<T>): Promise<T> {
  try {
    return await body()
  } catch (thrown) {
    throw pathError(place.path, thrown)
  }
}
