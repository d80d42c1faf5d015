/**
 * Refuses to change files in a folder that another process may own by now.
 *
 * This process can lose a lock file while it is suspended (process/lock-file). The holder of a lock file therefore sets
 * a fence on the locked folder. The functions of own-files, except `openToAppend` and `appendNow`, and the writes of
 * storage/files check the fences at the moment of each change. All fences of the process are in one list, so a function
 * that writes need not know the lock. A change that the system began before the suspension is not refused, and neither
 * are changes by child processes.
 */
import { resolve, sep } from 'node:path'
import { AppError } from './errors.ts'

interface Fence {
  readonly folder: string
  /** False when another process may own the folder. */
  readonly isOurs: () => boolean
}

const fences = new Set<Fence>()

/** Refuses changes of a folder and below it while `isOurs` is false. Returns the function that ends the refusal. */
export function fenceFolder(path: string, isOurs: () => boolean): () => void {
  const fence = { folder: resolve(path), isOurs }
  fences.add(fence)
  return () => void fences.delete(fence)
}

/** @throws AppError `owned_by_another` when one of the paths is in a fenced folder that another process may own */
export function assertOwned(...paths: readonly string[]): void {
  if (paths.every(isOwned)) return
  throw new AppError('owned_by_another', 'Cannot write: another server may own the data folder')
}

/** Returns false for a path in a fenced folder that another process may own. */
export function isOwned(path: string): boolean {
  if (fences.size === 0) return true
  const absolute = resolve(path)
  return [...fences].every(({ folder, isOurs }) => {
    const isInside = absolute === folder || absolute.startsWith(folder + sep)
    return !isInside || isOurs()
  })
}
