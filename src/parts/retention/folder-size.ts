/** Measures the disk space of folders. Symbolic links inside a folder are not followed. */
import { join } from 'node:path'
import { lstat, readdir } from '../../base/read-files.ts'

const blockBytes = 512

/**
 * Returns the disk space of a folder with everything in it, in bytes. An entry that cannot be read counts 0. A file
 * with two hard links in the folder counts twice.
 * @throws the signal's reason
 */
export async function folderBytes(folder: string, signal?: AbortSignal): Promise<number> {
  let bytes = 0
  const open = [folder]
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    signal?.throwIfAborted()
    bytes += await entryBytes(path)
    // A folder that cannot be read counts as empty.
    for (const entry of await readdir(path, { withFileTypes: true }).catch(() => [])) {
      const inner = join(path, entry.name)
      if (entry.isDirectory()) open.push(inner)
      else bytes += await entryBytes(inner)
    }
  }
  return bytes
}

async function entryBytes(path: string): Promise<number> {
  const stats = await lstat(path).catch(() => undefined) // An unreadable or missing entry counts 0.
  return (stats?.blocks ?? 0) * blockBytes
}
