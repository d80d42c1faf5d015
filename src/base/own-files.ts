/**
 * Writes, makes and removes the files and folders that this server makes for itself. Files of a workspace are written
 * by parts/workspace-files/files instead, because an agent may have put a link into their path.
 *
 * Unless a comment says otherwise, functions reject with the system's error, or with AppError `owned_by_another`
 * (write-fence).
 */
import { randomBytes } from 'node:crypto'
import { constants, writeSync } from 'node:fs'
import {
  appendFile, chmod as setMode, link as linkFile, mkdir, mkdtemp, open, readdir, rename as renameFile, rm,
  rmdir as removeFolder, stat, symlink as linkPath, writeFile, type FileHandle,
} from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { AppError, messageOf, systemCodeOf } from './errors.ts'
import { assertOwned } from './write-fence.ts'

export async function chmod(path: string, mode: number): Promise<void> {
  assertOwned(path)
  await setMode(path, mode)
}

export async function link(path: string, to: string): Promise<void> {
  assertOwned(path, to)
  await linkFile(path, to)
}

export async function rename(path: string, to: string): Promise<void> {
  assertOwned(path, to)
  await renameFile(path, to)
}

export async function rmdir(path: string): Promise<void> {
  assertOwned(path)
  await removeFolder(path)
}

export async function symlink(target: string, path: string): Promise<void> {
  assertOwned(path)
  await linkPath(target, path)
}

const ownFile = 0o600

/** Writes or replaces a file without a sync. A crash may damage the file. */
export async function writeLoosely(path: string, content: string | Uint8Array): Promise<void> {
  assertOwned(path)
  await writeFile(path, content, { mode: ownFile })
}

/** Creates a file with this content. Rejects with EEXIST when the name exists. The umask is applied to `mode`. */
export async function writeNew(path: string, content: string | Uint8Array, mode = ownFile): Promise<void> {
  assertOwned(path)
  await writeFile(path, content, { mode, flag: 'wx' })
}

/** Creates a file and opens it for writing. Rejects with EEXIST when the name exists. */
export async function openNew(path: string): Promise<FileHandle> {
  assertOwned(path)
  return open(path, 'wx', ownFile)
}

/** Appends to a file, or creates it, without a sync. */
export async function appendLoosely(path: string, content: string): Promise<void> {
  assertOwned(path)
  await appendFile(path, content, { mode: ownFile })
}

/** Opens a file to append to it, or creates it with the mode 0640. Rejects for a link, a pipe, a device or a folder. */
export async function openToAppend(path: string): Promise<FileHandle> {
  const { O_WRONLY, O_APPEND, O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK } = constants
  const flags = O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK
  const made = await open(path, flags | O_CREAT | O_EXCL, ownFile).catch((thrown: unknown) => {
    if (systemCodeOf(thrown) !== 'EEXIST') throw thrown
    return undefined
  })
  const handle = made ?? (await open(path, flags))
  try {
    // The mode is set here, because the umask would change the mode of `open`.
    if (made !== undefined) await made.chmod(0o640)
    else if (!(await handle.stat()).isFile()) throw new Error('expected a regular file')
    return handle
  } catch (thrown) {
    await handle.close()
    throw thrown
  }
}

/** Appends to an open file, synchronously. @throws the system's error */
export function appendNow({ fd }: FileHandle, content: string): void {
  const bytes = Buffer.from(content)
  let written = 0
  while (written < bytes.length) written += writeSync(fd, bytes, written)
}

/** Removes a file. Does nothing when the file is missing. */
export async function removeFile(path: string): Promise<void> {
  assertOwned(path)
  await rm(path, { force: true })
}

/** Removes a folder, if it exists, with its content. Links in the folder are not followed. */
export async function removeTree(path: string): Promise<void> {
  assertOwned(path)
  await rm(path, { recursive: true, force: true, maxRetries: 3 })
}

/** Replaces a file's content in place, or appends to it. Syncs the file, but not the folder of a new file. */
export async function writeSynced(path: string, content: string | Uint8Array, flag: 'w' | 'a' = 'w'): Promise<void> {
  assertOwned(path)
  await writeThrough(await open(path, flag, ownFile), content)
}

/**
 * Replaces or creates a file. After a crash the file has the old or the new content.
 * @throws AppError `storage_full`, `storage_failed` or `owned_by_another`
 */
export async function writeFileAtomically(path: string, content: string | Uint8Array): Promise<void> {
  await replaceBy(path, async (temporary) => {
    await writeThrough(await openNew(temporary), content)
    await rename(temporary, path)
    await syncFolder(dirname(path))
  })
}

/**
 * Replaces or creates a file without a sync, for a cache. A power cut may leave any content.
 * @throws AppError `storage_full`, `storage_failed` or `owned_by_another`; then the file is unchanged
 */
export async function replaceLoosely(path: string, content: string | Uint8Array): Promise<void> {
  await replaceBy(path, async (temporary) => {
    await writeNew(temporary, content)
    await rename(temporary, path)
  })
}

/** Calls `write`, which makes a temporary file and moves it to `path`. If `write` fails, removes the temporary file. */
async function replaceBy(path: string, write: (temporary: string) => Promise<void>): Promise<void> {
  const temporary = temporaryPath(path)
  try {
    await write(temporary)
  } catch (thrown) {
    await removeFile(temporary).catch(() => undefined) // The error of `write` is thrown, not this one.
    throw storageError(`Cannot write "${basename(path)}"`, thrown)
  }
}

/**
 * Creates a file. Readers see it only with its whole content. Returns false, without a change, when the name exists.
 * @throws AppError `storage_full`, `storage_failed` or `owned_by_another`; the file exists if only the last sync failed
 */
export async function createFile(path: string, content: string | Uint8Array): Promise<boolean> {
  const temporary = temporaryPath(path)
  try {
    await writeThrough(await openNew(temporary), content)
    await link(temporary, path)
    await removeFile(temporary).catch(() => undefined) // A leftover is removed by `removeTemporaryFiles`.
    await syncFolder(dirname(path))
    return true
  } catch (thrown) {
    await removeFile(temporary).catch(() => undefined) // The caller gets `thrown`, not this error.
    if (systemCodeOf(thrown) === 'EEXIST') return false
    throw storageError(`Cannot write "${basename(path)}"`, thrown)
  }
}

async function writeThrough(handle: FileHandle, content: string | Uint8Array): Promise<void> {
  try {
    await handle.writeFile(content)
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** Makes a folder. Rejects when the folder exists or its parent does not exist. */
export async function makeNewFolder(path: string): Promise<void> {
  assertOwned(path)
  await mkdir(path, { mode: 0o700 })
}

/** Makes a new folder and returns its path, which is `prefix` followed by six random characters. */
export async function makeTemporaryFolder(prefix: string): Promise<string> {
  assertOwned(prefix)
  return mkdtemp(prefix)
}

export interface FolderOptions {
  readonly mode?: number
  /** True if a new folder must survive a power cut. */
  readonly isDurable?: boolean
}

/** The options of the server's own folders: for the owner only, and durable. */
export const ownFolder: FolderOptions = { mode: 0o700, isDurable: true }

/** The options of a private folder that need not survive a power cut. */
export const privateFolder: FolderOptions = { mode: 0o700 }

/** Makes a folder and its parents, if missing. Does not use `mkdir` with `recursive`, which can hang below /proc. */
export async function makeFolder(path: string, options: FolderOptions = {}): Promise<void> {
  const parent = dirname(path)
  try {
    await makeOne(path, options)
  } catch (thrown) {
    if (systemCodeOf(thrown) !== 'ENOENT' || parent === path) throw thrown
    await makeFolder(parent, options)
    await makeOne(path, options)
  }
}

async function makeOne(path: string, { mode, isDurable = false }: FolderOptions): Promise<void> {
  try {
    assertOwned(path)
    await mkdir(path, mode)
  } catch (thrown) {
    if (systemCodeOf(thrown) !== 'EEXIST' || !(await stat(path)).isDirectory()) throw thrown
    return
  }
  if (isDurable) await syncFolder(dirname(path))
}

/** Makes new names, renames and removals in a folder survive a power cut. */
export async function syncFolder(path: string): Promise<void> {
  const handle = await open(path, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** Removes temporary files that a crash left in a folder. Call it only when nothing is writing there. */
export async function removeTemporaryFiles(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (temporaryName.test(name)) await removeFile(join(folder, name))
  }
}

/** Matches the name of a temporary file: a dot, the name of the file to write, a dot, 12 hex digits and `.tmp`. */
const temporaryName = /^\.(.+)\.[0-9a-f]{12}\.tmp$/

/** True if `name` is the name of a temporary file for writing the file `of`. A crash may leave such a file. */
export function isTemporaryFile(name: string, of: string): boolean {
  return temporaryName.exec(name)?.[1] === of
}

function temporaryPath(path: string): string {
  return join(dirname(path), `.${basename(path)}.${randomBytes(6).toString('hex')}.tmp`)
}

/** Returns an AppError unchanged. Returns `storage_full` for a full disk or quota, else `storage_failed`. */
export function storageError(what: string, thrown: unknown): AppError {
  if (thrown instanceof AppError) return thrown
  const code = systemCodeOf(thrown)
  const full = code === 'ENOSPC' || code === 'EDQUOT'
  if (full) return new AppError('storage_full', `${what}: the disk is full`, { cause: thrown })
  // A system error's message holds the whole path, so only the code is shown.
  const why = code === 'EEXIST' ? 'the name is taken' : (code ?? messageOf(thrown))
  return new AppError('storage_failed', `${what}: ${why}`, { cause: thrown })
}

/** Runs `work`. For an error of `work`, throws the result of `storageError`. */
export async function failsAsStorage<T>(what: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (thrown) {
    throw storageError(what, thrown)
  }
}
