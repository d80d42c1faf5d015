/**
 * Walks directory trees of the workspace. The entries of a directory are visited in the order of their names.
 *
 * A walk follows no link, so it stays inside the workspace. By default it does not enter `.git` and `node_modules`,
 * unless it begins in them.
 */
import { type BigIntStats } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { AppError, systemCodeOf } from '../../base/errors.ts'
import { readdir } from '../../base/read-files.ts'
import type { DirectoryHandle } from './directory-handle.ts'
import { pathError, type ContainedPath } from './paths.ts'

const usuallyNotEntered: ReadonlySet<string> = new Set(['.git', 'node_modules'])
/** The most levels of directories below the start that are walked. Each level keeps a directory open. */
const depthLimit = 100

export interface Entry {
  readonly name: string
  /** The entry's path, relative to the directory where the walk began. */
  readonly relativePath: string
  /** The path of the entry's parent, relative to the directory where the walk began; `.` for that directory. */
  readonly parentPath: string
  /** Size in bytes; 0 for anything but a file. */
  readonly size: number
  readonly modifiedMs: number
  /** The entry as a `ContainedPath`, valid until `visit` has settled. */
  readonly place: ContainedPath
}

export interface WalkResult {
  /** True when the walk reached no limit, and could read each directory that it may enter. */
  readonly isComplete: boolean
}

export interface WalkOptions {
  readonly signal: AbortSignal
  /** The most entries that the walk visits. */
  readonly limitEntries: number
  /** The names of directories that are visited but not entered. Default: `.git` and `node_modules`. */
  readonly notEntered?: ReadonlySet<string>
  /** Called for each entry. Returns true for a directory that the walk may enter. */
  readonly visit: (entry: Entry) => Promise<boolean> | boolean
}

/**
 * Visits the entries below a directory, depth first.
 * @throws the errors of `assertDirectory` and `pathError`, an error of `visit` without a `code`, the signal's reason
 */
export async function walkTree(place: ContainedPath, options: WalkOptions): Promise<WalkResult> {
  assertDirectory(place)
  const { signal, limitEntries, visit, notEntered = usuallyNotEntered } = options
  const walk: TreeWalk = { signal, limitEntries, visit, notEntered, start: place, seen: 0, isComplete: true }
  try {
    await walkDirectory(walk, place.directory, '', 0)
  } catch (thrown) {
    throw pathError(place.path, thrown)
  }
  return { isComplete: walk.isComplete }
}

export function assertDirectory(place: ContainedPath): void {
  if (place.kind === 'directory') return
  if (place.kind === 'nothing') throw new AppError('not_found', `Cannot find the directory "${place.path}"`)
  throw new AppError('invalid_input', `Cannot use "${place.path}" as a directory: it is not a directory`)
}

interface TreeWalk extends Required<WalkOptions> {
  readonly start: ContainedPath
  seen: number
  isComplete: boolean
}

async function walkDirectory(
  walk: TreeWalk, directory: DirectoryHandle, relativePath: string, depth: number,
): Promise<void> {
  const names = await readdir(directory.locate('.'))
  await directory.assertInPlace()
  for (const name of names.sort(byCodeUnits)) {
    walk.signal.throwIfAborted()
    if (walk.seen++ >= walk.limitEntries) {
      walk.isComplete = false
      return
    }
    const stats = await directory.lstat(name)
    if (stats === undefined) continue
    await visitEntry(walk, entryOf(walk.start, directory, join(relativePath, name), stats), depth)
  }
}

async function visitEntry(walk: TreeWalk, entry: Entry, depth: number): Promise<void> {
  const wantsIn = await walk.visit(entry)
  if (!wantsIn || entry.place.kind !== 'directory' || walk.notEntered.has(entry.name)) return
  if (depth >= depthLimit) {
    walk.isComplete = false
    return
  }
  try {
    const directory = await entry.place.directory.enter(entry.name)
    try {
      await walkDirectory(walk, directory, entry.relativePath, depth + 1)
    } finally {
      await directory.close()
    }
  } catch (thrown) {
    // An unreadable directory does not end the walk. EPRIVATE: the walk may not enter the directory.
    const code = systemCodeOf(thrown)
    if (walk.signal.aborted || code === undefined) throw thrown
    if (code !== 'EPRIVATE') walk.isComplete = false
  }
}

function entryOf(start: ContainedPath, parent: DirectoryHandle, relativePath: string, stats: BigIntStats): Entry {
  const kind = stats.isDirectory() ? 'directory' : stats.isFile() ? 'file' : 'special'
  return {
    name: basename(relativePath),
    relativePath,
    parentPath: dirname(relativePath),
    size: kind === 'file' ? Number(stats.size) : 0,
    modifiedMs: Number(stats.mtimeMs),
    place: start.below(relativePath, parent, kind),
  }
}

function byCodeUnits(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
