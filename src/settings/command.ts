/**
 * Splits a command line into words with the quoting of sh (POSIX.1-2024, Shell Command Language 2.2), and joins words
 * into a line.
 *
 * Nothing is expanded, so `$`, `*`, `~`, `|`, `;` and `&` are ordinary characters.
 */
import { AppError } from '../base/errors.ts'

const limitChars = 32_768

const token = /(?<blank>\s+)|'(?<single>[^']*)'|"(?<double>(?:[^"\\]|\\[^])*)"|\\(?<escaped>[^])|(?<plain>[^\s'"\\]+)/y

/**
 * Splits a command line into its words. The error does not quote the line, which may contain a secret.
 * @throws AppError `invalid_input` for an open quote, a `\` at the end, NUL or more than 32,768 characters
 */
export function splitCommand(line: string): string[] {
  if (line.length > limitChars) throw refusal(`at most ${limitChars} characters`)
  if (line.includes('\0')) throw refusal('no NUL character')
  const words: string[] = []
  let word: string | undefined
  for (let position = 0; position < line.length; position = token.lastIndex) {
    token.lastIndex = position
    const groups = token.exec(line)?.groups
    if (groups === undefined) throw refusal('every quote to be closed and no "\\" at the end')
    if (groups['blank'] === undefined) word = (word ?? '') + unquote(groups)
    else if (word !== undefined) {
      words.push(word)
      word = undefined
    }
  }
  return word === undefined ? words : [...words, word]
}

/** Joins words into a line. Quotes empty words and words with special characters. */
export function joinCommand(words: readonly string[]): string {
  return words.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`)).join(' ')
}

function unquote(groups: Record<string, string | undefined>): string {
  const { single, double, escaped, plain } = groups
  if (double !== undefined) return double.replaceAll(/\\(?:\n|(["\\$`]))/g, '$1')
  if (escaped !== undefined) return escaped === '\n' ? '' : escaped
  return single ?? plain ?? ''
}

function refusal(expected: string): AppError {
  return new AppError('invalid_input', `Cannot split the command into words: expected ${expected}`)
}
