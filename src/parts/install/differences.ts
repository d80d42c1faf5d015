/**
 * What is not as the record of an installed agent says: thoroughly, by every digest, or quickly, by what the file
 * system tells of the executables.
 *
 * The quick look sees a file that was written, replaced or removed; not one that was changed in place and given its
 * old time again. The thorough one sees every byte.
 */
import { lstat } from 'node:fs/promises'
import { join } from 'node:path'
import { digestFolder, type DigestOptions } from './digests.ts'
import type { Difference, Installation, InstalledFile } from './record.ts'

export interface Comparison {
  /** By path; empty when everything is as it was installed. */
  readonly differences: readonly Difference[]
  /** The files as they are now. */
  readonly files: readonly InstalledFile[]
}

export type CompareOptions = Omit<DigestOptions, 'entry'>

/** @throws AppError `storage_failed` for what cannot be read; the signal's reason. */
export async function compareFiles(
  folder: string, installation: Installation, options: CompareOptions,
): Promise<Comparison> {
  const files = await digestFolder(join(folder, installation.folder), { entry: installation.entry, ...options })
  const found = new Map(files.map((file) => [file.path, file]))
  const differences: Difference[] = []
  for (const { path, size, sha256 } of installation.files) {
    const file = found.get(path)
    found.delete(path)
    if (file === undefined) differences.push({ path, problem: 'missing' })
    else if (file.size !== size || file.sha256 !== sha256) differences.push({ path, problem: 'changed' })
  }
  for (const path of found.keys()) differences.push({ path, problem: 'extra' })
  return { differences: differences.sort((left, right) => (left.path < right.path ? -1 : 1)), files }
}

/** What is known to differ, or the first executable that is not the file it was: by size, time of change and inode. */
export async function findDifference(folder: string, installation: Installation): Promise<Difference | undefined> {
  if (installation.doubt !== undefined) return installation.doubt
  for (const { path, size, stamp } of installation.files) {
    if (stamp === undefined) continue
    const now = await lstat(join(folder, installation.folder, path)).catch(() => undefined)
    if (now === undefined) return { path, problem: 'missing' }
    const isSame = now.isFile() && now.size === size && now.mtimeMs === stamp.mtimeMs && now.ino === stamp.inode
    if (!isSame) return { path, problem: 'changed' }
  }
  return undefined
}
