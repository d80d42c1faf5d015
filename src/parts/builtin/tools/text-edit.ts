/**
 * Edits a text as a model requests, and refuses requests that do not fit the text.
 *
 * The functions work on texts with LF at line ends. text-file.ts restores the line ends of the edited file.
 */
import { AppError } from '../../../base/errors.ts'
import { normalLineEnds, replaceText, type Replacement, type TextFile } from '../workspace/text-file.ts'
import { countLines } from '../workspace/text-lines.ts'
import { lineOf } from './numbered-lines.ts'

/** The most line numbers in the error about a wrong number of occurrences. */
const namedLines = 20

export interface TextEdit {
  readonly bytes: Buffer
  /** The new text, with LF at all line ends. */
  readonly text: string
  /** The position of the first replacement in `text`. */
  readonly start: number
  /** The length of the replacement at `start`, in characters. */
  readonly length: number
  /** The number of replacements. */
  readonly count: number
}

/**
 * Replaces all occurrences of `from`. Their number must be `expected`.
 * @throws AppError `invalid_input`, such as for another number of occurrences, or for an empty `from`
 */
export function replaceOccurrences(
  file: TextFile,
  request: { readonly from: string; readonly to: string; readonly expected: number },
): TextEdit {
  const [from, to] = [normalLineEnds(request.from), normalLineEnds(request.to)]
  if (from === to) throw problem('the old and the new text are the same')
  const starts = occurrencesOf(file.text, from)
  assertCount(file.text, starts, request.expected)
  return applyEdit(file, starts.map((start) => ({ start, end: start + from.length, by: to })))
}

/** Inserts lines after line `line`; 0 is the beginning. @throws AppError `invalid_input`, such as for a missing line */
export function insertLines(file: TextFile, line: number, lines: string): TextEdit {
  const total = countLines(file.text)
  if (line > total) {
    throw problem(`there is no line ${line}: the file has ${total} lines, so insert_line is from 0 to ${total}`)
  }
  const start = startOfLine(file.text, line + 1)
  const text = normalLineEnds(lines)
  // If the last line has no line end, lines that are appended to the file begin with a line end.
  const isOpen = start === file.text.length && start > 0 && !file.text.endsWith('\n')
  const by = isOpen ? `\n${text}` : text.endsWith('\n') ? text : `${text}\n`
  return applyEdit(file, [{ start, end: start, by }])
}

function applyEdit(file: TextFile, replacements: readonly Replacement[]): TextEdit {
  const pieces: string[] = []
  let done = 0
  for (const { start, end, by } of replacements) {
    pieces.push(file.text.slice(done, start), by)
    done = end
  }
  const [first] = replacements
  return {
    bytes: replaceText(file, replacements),
    text: pieces.join('') + file.text.slice(done),
    start: first?.start ?? 0,
    length: first?.by.length ?? 0,
    count: replacements.length,
  }
}

function occurrencesOf(text: string, wanted: string): number[] {
  const starts: number[] = []
  if (wanted === '') throw problem('the old text is empty')
  for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + wanted.length)) starts.push(at)
  return starts
}

function assertCount(text: string, starts: readonly number[], expected: number): void {
  if (starts.length === 0) {
    throw problem(
      'the old text is not in the file. It has to be there exactly, white space and indentation included: view the ' +
      'file again',
    )
  }
  if (starts.length === expected) return
  const lines = starts.slice(0, namedLines).map((start) => lineOf(text, start)).join(', ')
  const more = starts.length > namedLines ? ', ...' : ''
  const times = expected === 1 ? 'once' : `${expected} times`
  throw problem(
    `the old text occurs ${starts.length} times, expected ${times} (in lines ${lines}${more}). Give more of the ` +
    'text around it',
  )
}

function startOfLine(text: string, line: number): number {
  let start = 0
  for (let number = 1; number < line; number++) {
    const end = text.indexOf('\n', start)
    if (end < 0) return text.length
    start = end + 1
  }
  return start
}

function problem(why: string): AppError {
  return new AppError('invalid_input', `Cannot edit the file: ${why}`)
}
