/**
 * Finds files of the workspace by name or by content, newest first.
 *
 * Hidden files and directories are left out unless the pattern names the dot, links are not followed, and `.gitignore` is
 * not read. What is found is a bounded list that says whether it is all: the walk, the size of files that are searched
 * and the time that the expression takes have limits.
 */
import { walkTree, type Entry } from '../../../workspace/directory.ts'
import { readFile } from '../../../workspace/files.ts'
import { parseGlob, type GlobState } from './glob-pattern.ts'
import type { ContainedPath } from '../../../workspace/paths.ts'
import { PatternThread } from '../../../workspace/pattern-thread.ts'

export interface SearchLimits {
  /** How many files are given. */
  readonly limitResults: number
  /** How many entries are looked at. */
  readonly limitEntries: number
  readonly signal: AbortSignal
}

export interface Found {
  /** Absolute paths, newest first. */
  readonly files: readonly string[]
  /** How many were found in all. */
  readonly count: number
  /** False when there are entries or large files that were not looked at. */
  readonly isComplete: boolean
}

export interface ContentQuery {
  /** A regular expression; `(?i)` in front of it ignores case. `^` and `$` stand for the ends of lines. */
  readonly pattern: string
  /** Only files whose name matches, or whose path below the directory if the pattern holds a slash. */
  readonly include: string | undefined
  /** Larger files are left out. */
  readonly limitBytes: number
  /** For the expression, in all files together. */
  readonly timeoutMs: number
}

/** @throws AppError for a pattern that is none, and for what is no directory */
export function findByName(place: ContainedPath, pattern: string, limits: SearchLimits): Promise<Found> {
  return find(place, parseGlob(pattern), limits, async () => true)
}

/** @throws AppError for a pattern that is none, an expression that takes too long, and for what is no directory */
export async function findByContent(place: ContainedPath, query: ContentQuery, limits: SearchLimits): Promise<Found> {
  const { include = '*', timeoutMs } = query
  const names = parseGlob(include.includes('/') ? include : `**/${include}`)
  const thread = await PatternThread.start({ ...expressionOf(query.pattern), timeoutMs, signal: limits.signal })
  let isComplete = true
  try {
    const found = await find(place, names, limits, async (entry) => {
      if (entry.size <= query.limitBytes) return matchesContent(entry, query.limitBytes, thread)
      isComplete = false
      return false
    })
    return { ...found, isComplete: found.isComplete && isComplete }
  } finally {
    await thread.close()
  }
}

interface Hit {
  readonly path: string
  readonly modifiedMs: number
}

async function find(
  place: ContainedPath,
  names: GlobState,
  limits: SearchLimits,
  accepts: (entry: Entry) => Promise<boolean>,
): Promise<Found> {
  const hits: Hit[] = []
  const states = new Map([['.', names]])
  const { isComplete } = await walkTree(place, {
    ...limits,
    visit: async (entry) => {
      const state = states.get(entry.parentPath)
      const { kind, path } = entry.place
      if (kind === 'file' && state?.matches(entry.name) && (await accepts(entry))) {
        hits.push({ path, modifiedMs: entry.modifiedMs })
      }
      const below = kind === 'directory' ? state?.enter(entry.name) : undefined
      if (below !== undefined) states.set(entry.relativePath, below)
      return below !== undefined
    },
  })
  return { files: newest(hits, limits.limitResults), count: hits.length, isComplete }
}

function newest(hits: readonly Hit[], limit: number): string[] {
  const sorted = hits.toSorted((a, b) => b.modifiedMs - a.modifiedMs || (a.path < b.path ? -1 : 1))
  return sorted.slice(0, limit).map(({ path }) => path)
}

/** A file that is binary, or that cannot be read now, does not match. */
async function matchesContent(entry: Entry, limitBytes: number, thread: PatternThread): Promise<boolean> {
  const content = await readFile(entry.place, limitBytes).catch(() => undefined)
  if (content === undefined || content.bytes.includes(0)) return false
  return thread.test(content.bytes)
}

function expressionOf(pattern: string): { readonly source: string; readonly flags: string } {
  const ignoresCase = pattern.startsWith('(?i)')
  return { source: ignoresCase ? pattern.slice(4) : pattern, flags: ignoresCase ? 'im' : 'm' }
}
