/**
 * Reads files and folders.
 *
 * For a path that a client or an agent gives, use parts/workspace-files/paths instead: it checks each folder.
 */
import { access, constants, open, type FileHandle } from 'node:fs/promises'
import { systemCodeOf } from './errors.ts'

export { existsSync, readFileSync, statSync } from 'node:fs'
export { access, lstat, readdir, readFile, realpath, stat, statfs } from 'node:fs/promises'

/** True if something is at the path and can be reached. */
export function isThere(path: string): Promise<boolean> {
  return access(path).then(() => true, () => false) // After any error, the path counts as missing.
}

/** Opens a file for reading. If the path itself is a symbolic link, rejects with ELOOP. */
export function openForReading(path: string): Promise<FileHandle> {
  return open(path, constants.O_RDONLY | constants.O_NOFOLLOW)
}

/**
 * Returns a file's text; undefined when there is no such file.
 * @throws the system's error; RangeError above `limitBytes`
 */
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
