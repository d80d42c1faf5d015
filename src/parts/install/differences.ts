/**
 * Compares an installed agent with its record. The thorough check compares the digest of every file. The quick check
 * compares only size, modification time and inode of the executables.
 */
import { join } from 'node:path'
import { lstat } from '../../base/read-files.ts'
import { digestFolder, type DigestOptions } from './digests.ts'
import type { Difference, Installation, InstalledFile } from './record.ts'

export interface Comparison {
  /** The differences, sorted by path; empty when no file is changed, missing or extra. */
  readonly differences: readonly Difference[]
  /** The files that the comparison found in the folder. */
  readonly files: readonly InstalledFile[]
}

export type CompareOptions = Omit<DigestOptions, 'entry'>

/** Compares the size and digest of every file of an agent with its record. @throws the errors of `digestFolder` */
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

/**
 * Returns the difference that the last `verify` noted in the record (`doubt`), else the first difference that the quick
 * check finds; undefined when there is none.
 */
export async function findDifference(folder: string, installation: Installation): Promise<Difference | undefined> {
  if (installation.doubt !== undefined) return installation.doubt
  for (const { path, size, stamp } of installation.files) {
    if (stamp === undefined) continue
    const now = await lstat(join(folder, installation.folder, path)).catch(() => undefined) // Handled below.
    if (now === undefined) return { path, problem: 'missing' }
    const isSame = now.isFile() && now.size === size && now.mtimeMs === stamp.mtimeMs && now.ino === stamp.inode
    if (!isSame) return { path, problem: 'changed' }
  }
  return undefined
}
