/**
 * Glob patterns, matched part by part while a tree is walked.
 *
 *     **        as a whole part between slashes, any number of directories; as the last part, any file below
 *     * ?       any number of characters (*) or one character (?), without slashes
 *     [a-z]     one character from a to z; [!a-z] one other character
 *     {a,b}     a or b
 *     \x        the character x
 *
 * `*`, `?`, `[` and `**` do not match a dot at the beginning of a name. A pattern does not become a regular expression,
 * so matching takes little time.
 */
import { AppError } from '../../../base/errors.ts'

const alternativeLimit = 500
const patternLimitChars = 1000

/** The state of a pattern in one directory of a walk. */
export interface GlobState {
  /** Returns whether an entry of the directory with this name matches. */
  matches(name: string): boolean
  /** Returns the state for a subdirectory; undefined when nothing below it can match. */
  enter(name: string): GlobState | undefined
}

/** Parses a pattern, and returns the state for the folder in which the walk begins. @throws AppError `invalid_input` */
export function parseGlob(pattern: string): GlobState {
  if (pattern === '' || pattern.length > patternLimitChars) {
    throw new AppError(
      'invalid_input',
      `Cannot use the pattern: it has ${pattern.length} characters, expected 1 to ${patternLimitChars}`,
    )
  }
  const alternatives = expandBraces(pattern).map((alternative) =>
    alternative.split('/').filter((part) => part !== '' && part !== '.'),
  )
  return stateOf(alternatives.map((parts) => ({ parts, places: new Set([0]) })))
}

/** A pattern without braces: its parts between slashes, and the indexes of the parts that the next name may match. */
interface Route {
  readonly parts: readonly string[]
  readonly places: ReadonlySet<number>
}

function stateOf(routes: readonly Route[]): GlobState {
  const open = routes.map(pastDoubleStars)
  return {
    matches: (name) =>
      open.some(({ parts, places }) => places.has(parts.length - 1) && matchesPart(parts.at(-1) ?? '', name)),
    enter: (name) => {
      const next = open.map((route) => step(route, name)).filter(({ places }) => places.size > 0)
      return next.length === 0 ? undefined : stateOf(next)
    },
  }
}

/** Returns the route with the index after each `**` added to `places`, because `**` may match no directory. */
function pastDoubleStars({ parts, places }: Route): Route {
  const reached = new Set<number>()
  for (const place of places) {
    for (let at = place; !reached.has(at) && at < parts.length; at++) {
      reached.add(at)
      if (parts[at] !== '**') break
    }
  }
  return { parts, places: reached }
}

function step({ parts, places }: Route, name: string): Route {
  const next = new Set<number>()
  for (const place of places) {
    const part = parts[place] ?? ''
    if (part === '**') {
      if (!name.startsWith('.')) next.add(place)
    } else if (place < parts.length - 1 && matchesPart(part, name)) {
      next.add(place + 1)
    }
  }
  return { parts, places: next }
}

function matchesPart(part: string, name: string): boolean {
  if (name.startsWith('.') && /^[*?[]/.test(part)) return false
  return matchName(tokensOf(part === '**' ? '*' : part), [...name])
}

type Token = { readonly type: 'star' } | { readonly type: 'one'; readonly accepts: (char: string) => boolean }

/** Returns whether the name matches. After a mismatch it is enough to let the last star take one more character. */
function matchName(tokens: readonly Token[], chars: readonly string[]): boolean {
  let token = 0
  let char = 0
  let star = -1
  let resume = 0
  while (char < chars.length) {
    const now = tokens[token]
    if (now?.type === 'star') {
      star = token++
      resume = char
    } else if (now?.accepts(chars[char] ?? '') === true) {
      token++
      char++
    } else if (star >= 0) {
      token = star + 1
      char = ++resume
    } else {
      return false
    }
  }
  return tokens.slice(token).every(({ type }) => type === 'star')
}

function tokensOf(part: string): Token[] {
  const tokens: Token[] = []
  for (const piece of piecesOf([...part])) {
    if (piece === '*') tokens.push({ type: 'star' })
    else if (piece === '?') tokens.push({ type: 'one', accepts: () => true })
    else if (piece.length > 1 && piece.startsWith('[')) tokens.push(classToken(piece.slice(1, -1)))
    else tokens.push(literal(piece.startsWith('\\') ? piece.slice(1) || piece : piece))
  }
  return tokens
}

/** Splits a part of a pattern into escaped characters, classes (`[a-z]`) and single characters, in linear time. */
function piecesOf(chars: readonly string[]): string[] {
  const pieces: string[] = []
  const lastClose = chars.lastIndexOf(']')
  for (let at = 0, end = 0; at < chars.length; at = end) {
    end = at + (chars[at] === '\\' ? 2 : 1)
    if (chars[at] === '[' && at < lastClose) {
      const first = at + (chars[at + 1] === '!' || chars[at + 1] === '^' ? 2 : 1)
      const close = chars.indexOf(']', chars[first] === ']' ? first + 1 : first)
      end = (close === -1 ? first : close) + 1
    }
    pieces.push(chars.slice(at, end).join(''))
  }
  return pieces
}

function literal(expected: string): Token {
  return { type: 'one', accepts: (char) => char === expected }
}

function classToken(inside: string): Token {
  const isNegated = /^[!^]/.test(inside)
  const ranges = [...(isNegated ? inside.slice(1) : inside).matchAll(/([^])-([^])|([^])/gu)].map(
    ([, low, high, single = '']): [string, string] => [low ?? single, high ?? single],
  )
  const has = (char: string): boolean =>
    ranges.some(([low, high]) => codeOf(low) <= codeOf(char) && codeOf(char) <= codeOf(high))
  return { type: 'one', accepts: (char) => has(char) !== isNegated }
}

function codeOf(char: string): number {
  return char.codePointAt(0) ?? 0
}

/** Expands braces: `a{b,c{d,e}}` -> `ab`, `acd`, `ace`. A brace without partner or comma is an ordinary character. */
function expandBraces(pattern: string): string[] {
  const done: string[] = []
  const open = [pattern]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const group = firstGroup(next)
    if (group === undefined) done.push(next)
    else open.push(...group.reverse())
    if (done.length + open.length > alternativeLimit) {
      throw new AppError(
        'invalid_input', `Cannot use the pattern: its braces stand for more than ${alternativeLimit} alternatives`,
      )
    }
  }
  return done
}

/** Expands the first group of braces: returns a pattern for each alternative; undefined when there is no group. */
function firstGroup(pattern: string): string[] | undefined {
  for (let start = 0; start < pattern.length; start++) {
    const char = pattern[start]
    if (char === '\\') start++ // The next character is escaped.
    if (char !== '{') continue
    const cuts = cutsOf(pattern, start)
    const end = cuts.at(-1)
    if (end === undefined || cuts.length < 2) continue
    const [head, tail] = [pattern.slice(0, start), pattern.slice(end + 1)]
    return cuts.map((cut, index) => head + pattern.slice((cuts[index - 1] ?? start) + 1, cut) + tail)
  }
  return undefined
}

/** Returns the indexes of the commas and the closing brace of the brace group at `start`; empty if it is unclosed. */
function cutsOf(pattern: string, start: number): number[] {
  const cuts: number[] = []
  let depth = 0
  for (let at = start; at < pattern.length; at++) {
    const char = pattern[at]
    if (char === '\\') at++
    else if (char === '{') depth++
    else if (char === ',' && depth === 1) cuts.push(at)
    else if (char === '}' && --depth === 0) return [...cuts, at]
  }
  return []
}
