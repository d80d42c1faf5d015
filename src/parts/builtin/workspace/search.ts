/**
 * Finds files of the workspace by name or by content, newest first.
 *
 * A name with a dot at its beginning is matched only by a part of the glob that begins with a dot. `.git` and
 * `node_modules` are not entered, links are not followed, and `.gitignore` is not read.
 */
import { walkTree, type Entry } from '../../workspace-files/directory.ts'
import { readFile } from '../../workspace-files/files.ts'
import { parseGlob, type GlobState } from './glob-pattern.ts'
import type { ContainedPath } from '../../workspace-files/paths.ts'
import { PatternThread } from '../../patterns/pattern-thread.ts'

export interface SearchLimits {
  /** The most files that a search returns. */
  readonly limitResults: number
  /** The most files and directories that a search visits. */
  readonly limitEntries: number
  readonly signal: AbortSignal
}

export interface Found {
  /** The absolute paths of the newest matching files, newest first. */
  readonly files: readonly string[]
  /** The number of matching files, which may exceed the length of `files`. */
  readonly count: number
  /** False when the search reached a limit or an unreadable directory, or left out a file above `limitBytes`. */
  readonly isComplete: boolean
}

export interface ContentQuery {
  /** A regular expression; a leading `(?i)` ignores case. `^` and `$` match the beginning and the end of a line. */
  readonly pattern: string
  /** A glob for file names or, if it has a slash, for file paths relative to the searched folder. Default `*`. */
  readonly include: string | undefined
  /** The size of the largest file that is searched. */
  readonly limitBytes: number
  /** The time limit of the regular expression, for all files together. */
  readonly timeoutMs: number
}

/** Finds files by a glob. @throws AppError for a bad glob or if `place` is no readable folder; the signal's reason */
export function findByName(place: ContainedPath, pattern: string, limits: SearchLimits): Promise<Found> {
  return find(place, parseGlob(pattern), limits, async () => true)
}

/** Finds files by content. @throws the errors of `findByName`; AppError for an invalid or slow regular expression */
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

/** Returns whether the file matches. A binary or unreadable file does not. */
async function matchesContent(entry: Entry, limitBytes: number, thread: PatternThread): Promise<boolean> {
  const content = await readFile(entry.place, limitBytes).catch(() => undefined) // An unreadable file does not match.
  if (content === undefined || content.bytes.includes(0)) return false
  return thread.test(content.bytes)
}

function expressionOf(pattern: string): { readonly source: string; readonly flags: string } {
  const ignoresCase = pattern.startsWith('(?i)')
  return { source: ignoresCase ? pattern.slice(4) : pattern, flags: ignoresCase ? 'im' : 'm' }
}
