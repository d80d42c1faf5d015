/**
 * Prevents changes of files in a folder that another process may own by now.
 *
 * The holder of a lock file (process/lock-file) sets a fence on the locked folder, because a suspended process can lose
 * the lock. `assertOwned` checks the fences before a change.
 */
import { resolve, sep } from 'node:path'
import { AppError } from './errors.ts'

interface Fence {
  readonly folder: string
  /** False when another process may own the folder. */
  readonly isOurs: () => boolean
}

const fences = new Set<Fence>()

/** Makes `assertOwned` refuse a folder and its content while `isOurs()` is false. The returned function undoes this. */
export function fenceFolder(path: string, isOurs: () => boolean): () => void {
  const fence = { folder: resolve(path), isOurs }
  fences.add(fence)
  return () => void fences.delete(fence)
}

/** @throws AppError `owned_by_another` unless `isOwned` is true for each path */
export function assertOwned(...paths: readonly string[]): void {
  if (paths.every(isOwned)) return
  throw new AppError('owned_by_another', 'Cannot write: another server may own the data folder')
}

/** Returns false for a path in a fenced folder, or the folder itself, while another process may own that folder. */
export function isOwned(path: string): boolean {
  if (fences.size === 0) return true
  const absolute = resolve(path)
  return [...fences].every(({ folder, isOurs }) => {
    const isInside = absolute === folder || absolute.startsWith(folder + sep)
    return !isInside || isOurs()
  })
}
