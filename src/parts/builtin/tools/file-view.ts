/**
 * Shows a file or a directory to a model: numbered lines, or the entries of two levels.
 *
 * A file over `editBytes` is read in pieces, and has to be UTF-8.
 */
import { AppError } from '../../../base/errors.ts'
import { walkTree } from '../../workspace-files/directory.ts'
import { openFile } from '../../workspace-files/files.ts'
import type { ContainedPath } from '../../workspace-files/paths.ts'
import { pickLines, readLines, type LineRange, type Lines } from '../workspace/text-lines.ts'
import { readText, type FileScope } from './file-scope.ts'
import { numberLines } from './numbered-lines.ts'

/** The most entries of a directory that the model gets. */
const entryLimit = 500

export interface FileRange extends Lines {
  /** The numbers of the first and the last line, from 1. Without lines, `last` is less than `first`. */
  readonly first: number
  readonly last: number
}

/**
 * Returns the lines of a range, up to `textChars` characters.
 * @throws AppError for a file that is no text or cannot be read, or for a range after the end; the signal's reason
 */
export async function readRange(
  place: ContainedPath, range: LineRange, scope: FileScope, signal: AbortSignal,
): Promise<FileRange> {
  const lines = await linesIn(place, range, scope, signal)
  if (lines.lines.length === 0 && range.first > 1) {
    const there = lines.total === undefined ? '' : `: the file has ${lines.total} lines`
    throw new AppError('invalid_input', `Cannot show lines from ${range.first} on${there}`)
  }
  return { ...lines, first: range.first, last: range.first + lines.lines.length - 1 }
}

/**
 * Returns the range of the file editor's `view_range`; the whole file without `view_range`. An end of -1 means the end
 * of the file.
 * @throws AppError `invalid_input`
 */
export function parseViewRange(range: readonly number[] | undefined): LineRange {
  if (range === undefined) return { first: 1, last: Infinity }
  const [first = 0, end = 0] = range
  const last = end === -1 ? Infinity : end
  if (range.length === 2 && first >= 1 && last >= first) return { first, last }
  throw new AppError(
    'invalid_input',
    `Cannot use the view_range [${range.slice(0, 5).join(', ')}]: expected the first and the last line, from 1, or ` +
    '-1 for the end',
  )
}

export async function viewFile(
  place: ContainedPath, range: LineRange, scope: FileScope, signal: AbortSignal,
): Promise<string> {
  const { lines, first, last, total, isCut } = await readRange(place, range, scope, signal)
  if (lines.length === 0) return `${place.path} is empty`
  const of = total === undefined ? '' : ` of ${total}`
  const cut = isCut ? `\n[cut after ${scope.limits.textChars} characters: view a range of lines to see more]` : ''
  return `${place.path}, lines ${first} to ${last}${of}:\n${numberLines(lines, first)}${cut}`
}

/** Returns a text with the paths of at most 500 entries of the directory, in two levels, without hidden entries. */
export async function viewDirectory(place: ContainedPath, scope: FileScope, signal: AbortSignal): Promise<string> {
  const paths: string[] = []
  let count = 0
  await walkTree(place, {
    signal,
    limitEntries: scope.limits.walkEntries,
    visit: ({ name, parentPath, relativePath, place: { kind } }) => {
      if (name.startsWith('.')) return false
      if (count++ < entryLimit) paths.push(kind === 'directory' ? `${relativePath}/` : relativePath)
      return parentPath === '.'
    },
  })
  const more = count > entryLimit ? `\n[${count - entryLimit} more]` : ''
  return `${place.path}, two levels, without hidden entries:\n${paths.join('\n')}${more}`
}

async function linesIn(place: ContainedPath, range: LineRange, scope: FileScope, signal: AbortSignal): Promise<Lines> {
  const { editBytes, textChars } = scope.limits
  if ((await sizeOf(place)) > editBytes) return readLines(place, range, { limitChars: textChars, signal })
  const { file } = await readText(place, scope)
  return pickLines(file.text, range, textChars)
}

async function sizeOf(place: ContainedPath): Promise<number> {
  const handle = await openFile(place)
  try {
    return (await handle.stat()).size
  } finally {
    await handle.close()
  }
}
