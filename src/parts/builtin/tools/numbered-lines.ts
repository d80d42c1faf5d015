/** Shows lines of a file with their numbers to a model. */
import { pickLines } from '../workspace/text-lines.ts'

const linesAround = 4

export function numberLines(lines: readonly string[], first: number): string {
  return lines.map((line, index) => `${String(first + index).padStart(6)}\t${line}`).join('\n')
}

/** Returns the changed lines and up to four lines on each side, with numbers. Cuts the text after `limitChars`. */
export function showChange(
  text: string, change: { readonly start: number; readonly length: number }, limitChars: number,
): string {
  const firstChanged = lineOf(text, change.start)
  const first = Math.max(1, firstChanged - linesAround)
  const last = lineOf(text, change.start + change.length) + linesAround
  const { lines, isCut } = pickLines(text, { first, last }, limitChars)
  return numberLines(lines, first) + (isCut ? '\n[cut]' : '')
}

/** Returns the number, from 1, of the line that contains the character at `position`. */
export function lineOf(text: string, position: number): number {
  let line = 1
  for (let at = text.indexOf('\n'); at >= 0 && at < position; at = text.indexOf('\n', at + 1)) line++
  return line
}
