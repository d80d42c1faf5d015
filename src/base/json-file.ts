/**
 * Small JSON files that are replaced whole: settings, secrets, the format number, cached state.
 *
 * A write goes to a temporary file beside the target, which is synced and renamed over the target; then the folder is
 * synced. After a crash the file holds the old text or the new text, never a mixture; once the promise has resolved,
 * the new text. Files are readable and writable by their owner only (0600). Two concurrent writes of one file are
 * each whole, but either may win: a caller that writes a change of what it read must queue its writes. A crash may
 * leave a temporary file, which `removeTemporaryFiles` removes at the next start.
 *
 * Messages name the file without its folders. The meaning of the content, and its version number, are up to the caller.
 */
import { randomBytes } from 'node:crypto'
import { access, link, mkdir, open, readdir, rename, rm, type FileHandle } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { AppError, messageOf, systemCodeOf } from './errors.ts'
import { countValues, parseJson, usualValueLimit } from './json.ts'

/** The default limit of a file's size. A file is parsed at once, so a larger file would hold the event loop. */
const defaultLimitBytes = 16 * 1024 * 1024

export interface ReadJsonFileOptions {
  /** A longer file is refused before it is read. Default 16 MiB. */
  readonly limitBytes?: number
  /** The most JSON values. Default: that of `parseJson`. */
  readonly valueLimit?: number
}

/** True if the path is an existing file or folder. */
export function isThere(path: string): Promise<boolean> {
  return access(path).then(() => true, () => false)
}

/**
 * Returns the value in a JSON file; undefined when there is no such file.
 * @throws AppError `storage_failed` when it cannot be read, is too long or is not JSON.
 */
export async function readJsonFile(path: string, options: ReadJsonFileOptions = {}): Promise<unknown> {
  const { limitBytes = defaultLimitBytes, valueLimit } = options
  const what = `Cannot read "${basename(path)}"`
  try {
    const text = await readText(path, limitBytes)
    return text === undefined ? undefined : parseContent(text, valueLimit)
  } catch (thrown) {
    throw storageError(what, thrown)
  }
}

/**
 * Replaces a file by the JSON of `value`, indented, or creates it. A value that `readJsonFile` would refuse is not
 * written, because it would replace readable content.
 * @throws AppError `invalid_input` for a value that is too large, `storage_full` or `storage_failed`; then the file
 * is unchanged.
 */
export async function writeJsonFile(path: string, value: unknown): Promise<void> {
  const text = `${JSON.stringify(value, undefined, 2)}\n`
  if (Buffer.byteLength(text) > defaultLimitBytes || countValues(text, usualValueLimit) > usualValueLimit) {
    const most = `at most ${usualValueLimit} values and ${defaultLimitBytes} bytes`
    throw new AppError('invalid_input', `Cannot write "${basename(path)}": it would hold too much, expected ${most}`)
  }
  await writeFileAtomically(path, text)
}

/**
 * Replaces a file by these bytes, or creates it.
 * @throws AppError `storage_full` or `storage_failed`; then the file is unchanged.
 */
export async function writeFileAtomically(path: string, content: string | Uint8Array): Promise<void> {
  const temporary = temporaryPath(path)
  try {
    await writeSynced(temporary, content)
    await rename(temporary, path)
    await syncFolder(dirname(path))
  } catch (thrown) {
    await rm(temporary, { force: true }).catch(() => undefined)
    throw storageError(`Cannot write "${basename(path)}"`, thrown)
  }
}

/**
 * Creates a file with the JSON of `value`; it appears with its whole content. Returns false when a file of this name
 * exists, which stays unchanged: of several concurrent callers one creates the file.
 * @throws AppError `storage_full` or `storage_failed`; then nothing was created.
 */
export async function createJsonFile(path: string, value: unknown): Promise<boolean> {
  const temporary = temporaryPath(path)
  try {
    await writeSynced(temporary, `${JSON.stringify(value, undefined, 2)}\n`)
    await link(temporary, path)
    await rm(temporary)
    await syncFolder(dirname(path))
    return true
  } catch (thrown) {
    await rm(temporary, { force: true }).catch(() => undefined)
    if (systemCodeOf(thrown) === 'EEXIST') return false
    throw storageError(`Cannot write "${basename(path)}"`, thrown)
  }
}

export interface FolderOptions {
  readonly mode?: number
  /** True if the folder must survive a power cut once it was made. */
  readonly isDurable?: boolean
}

/** The options of the server's own folders: for the owner only, and durable. */
export const ownFolder: FolderOptions = { mode: 0o700, isDurable: true }

/**
 * Makes a folder and its parents, unless it exists. It does not use mkdir's own recursion: Node repeats that for ever
 * where the system makes no folder, as in /proc, and reports ENOENT where there is no space. Rejects with the error
 * of mkdir.
 */
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
    await mkdir(path, mode)
  } catch (thrown) {
    if (systemCodeOf(thrown) !== 'EEXIST') throw thrown
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
    if (temporaryName.test(name)) await rm(join(folder, name), { force: true })
  }
}

/** Dot, the name of the file being written, dot, 12 hex digits, `.tmp`. */
const temporaryName = /^\.(.+)\.[0-9a-f]{12}\.tmp$/

/** True for the name of a temporary file that a crash may leave beside the file `of`. */
export function isTemporaryFile(name: string, of: string): boolean {
  return temporaryName.exec(name)?.[1] === of
}

function temporaryPath(path: string): string {
  return join(dirname(path), `.${basename(path)}.${randomBytes(6).toString('hex')}.tmp`)
}

/** Returns a failure as AppError: as it is, or `storage_full` for a full disk or quota, else `storage_failed`. */
export function storageError(what: string, thrown: unknown): AppError {
  if (thrown instanceof AppError) return thrown
  const code = systemCodeOf(thrown)
  const full = code === 'ENOSPC' || code === 'EDQUOT'
  if (full) return new AppError('storage_full', `${what}: the disk is full`, { cause: thrown })
  // The message of a system error holds the whole path; its code says enough.
  return new AppError('storage_failed', `${what}: ${code ?? messageOf(thrown)}`, { cause: thrown })
}

/** Parses a file's content. The engine's message quotes the text, which may hold secrets: only the position is kept. */
function parseContent(text: string, valueLimit?: number): unknown {
  try {
    return parseJson(text, valueLimit)
  } catch (thrown) {
    if (!(thrown instanceof SyntaxError)) throw thrown
    throw new SyntaxError(`it is not JSON${/ at position \d+/.exec(thrown.message)?.[0] ?? ''}`)
  }
}

export async function readText(path: string, limitBytes: number): Promise<string | undefined> {
  const handle = await openIfThere(path)
  if (handle === undefined) return undefined
  try {
    const { size } = await handle.stat()
    if (size > limitBytes) throw new RangeError(`${size} bytes, expected at most ${limitBytes}`)
    return await handle.readFile('utf8')
  } finally {
    await handle.close()
  }
}

async function openIfThere(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path, 'r')
  } catch (thrown) {
    if (systemCodeOf(thrown) === 'ENOENT') return undefined
    throw thrown
  }
}

async function writeSynced(path: string, content: string | Uint8Array): Promise<void> {
  const handle = await open(path, 'wx', 0o600)
  try {
    await handle.writeFile(content)
    await handle.sync()
  } finally {
    await handle.close()
  }
}
