/**
 * What is in a directory of the workspace: its entries in order of their names, and walks of the tree below it.
 *
 * A walk holds every directory on its way open and never follows a link, so it stays inside and ends. `.git` and
 * `node_modules` are listed but not walked unless the walk begins in them: they hold much and are seldom meant. How many
 * entries a walk looks at is limited.
 */
import { type BigIntStats } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { AppError, systemCodeOf } from '../base/errors.ts'
import type { DirectoryHandle } from './directory-handle.ts'
import { pathError, type ContainedPath } from './paths.ts'

const notWalked: ReadonlySet<string> = new Set(['.git', 'node_modules'])
/** Directories that are open at once. */
const depthLimit = 100

export interface Entry {
  readonly name: string
  /** From where the walk began. */
  readonly relativePath: string
  /** The directory that it is in, from where the walk began; `.` for that one itself. */
  readonly parentPath: string
  /** Bytes; of a file. */
  readonly size: number
  readonly modifiedMs: number
  /** Lent until the visitor has returned. */
  readonly place: ContainedPath
}

export interface WalkOptions {
  readonly signal: AbortSignal
  /** How many entries are looked at. */
  readonly limitEntries: number
  /** Looks at an entry; for a directory it says whether to go into it. */
  readonly visit: (entry: Entry) => Promise<boolean> | boolean
}

/** Visits what is below a directory, depth first. Gives whether it has seen all. @throws AppError `invalid_input` for a file */
export async function walkTree(place: ContainedPath, options: WalkOptions): Promise<{ readonly isComplete: boolean }> {
  assertDirectory(place)
  const walk: TreeWalk = { ...options, start: place, seen: 0, isComplete: true }
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
  throw new AppError('invalid_input', `Cannot use "${place.path}" as a directory: it is none`)
}

interface TreeWalk extends WalkOptions {
  readonly start: ContainedPath
  seen: number
  isComplete: boolean
}

async function walkDirectory(walk: TreeWalk, directory: DirectoryHandle, relativePath: string, depth: number): Promise<void> {
  const names = await readdir(directory.locate('.'))
  await directory.assertInPlace()
  for (const name of names.sort(byCodeUnits)) {
    walk.signal.throwIfAborted()
    if (walk.seen++ >= walk.limitEntries) {
      walk.isComplete = false
      return
    }
    const stats = await directory.lstat(name)
    if (stats !== undefined) await visitEntry(walk, entryOf(walk.start, directory, join(relativePath, name), stats), depth)
  }
}

async function visitEntry(walk: TreeWalk, entry: Entry, depth: number): Promise<void> {
  const wantsIn = await walk.visit(entry)
  if (!wantsIn || entry.place.kind !== 'directory' || notWalked.has(entry.name)) return
  if (depth >= depthLimit) {
    walk.isComplete = false
    return
  }
  const directory = await enter(entry)
  if (directory === undefined) return
  try {
    await walkDirectory(walk, directory, entry.relativePath, depth + 1)
  } catch (thrown) {
    // One directory that may not be read is no reason to show nothing of the others.
    if (walk.signal.aborted || systemCodeOf(thrown) === undefined) throw thrown
    walk.isComplete = false
  } finally {
    await directory.close()
  }
}

/** A directory that was exchanged or closed to us since it was looked at is left out. */
async function enter(entry: Entry): Promise<DirectoryHandle | undefined> {
  return entry.place.directory.enter(entry.name).catch(() => undefined)
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
