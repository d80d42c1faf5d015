/**
 * The syntax of a regular expression as a tree, as far as inputs are made from it.
 *
 * It trusts that the engine accepts the pattern. Look-aheads, edges and back-references are kept as nodes that match
 * nothing, so a text that is made from the tree may fail where the engine looks at them (ECMA-262, section 22.2.1).
 */

export type PatternNode =
  /** One character: a literal, a class, an escape or a dot, as written. */
  | { readonly kind: 'char'; readonly source: string }
  | { readonly kind: 'sequence'; readonly items: readonly PatternNode[] }
  | { readonly kind: 'choice'; readonly options: readonly PatternNode[] }
  | { readonly kind: 'repeat'; readonly min: number; readonly max: number; readonly body: PatternNode }
  /** An edge or a back-reference. */
  | { readonly kind: 'empty' }
  /** `body` is the expression that a look-around looks for. */
  | { readonly kind: 'look'; readonly body: PatternNode }

interface Reading {
  readonly source: string
  at: number
}

/** @throws SyntaxError for a pattern that is not closed */
export function parsePattern(source: string): PatternNode {
  const reading = { source, at: 0 }
  const tree = readChoice(reading)
  if (reading.at < source.length) throw new SyntaxError(`Cannot read the pattern at ${reading.at}: ${source}`)
  return tree
}

function readChoice(reading: Reading): PatternNode {
  const options = [readSequence(reading)]
  while (reading.source[reading.at] === '|') {
    reading.at++
    options.push(readSequence(reading))
  }
  const [only] = options
  return options.length === 1 && only !== undefined ? only : { kind: 'choice', options }
}

function readSequence(reading: Reading): PatternNode {
  const items: PatternNode[] = []
  for (let char = reading.source[reading.at]; char !== undefined && char !== '|' && char !== ')';) {
    items.push(readQuantified(reading))
    char = reading.source[reading.at]
  }
  const [only] = items
  return items.length === 1 && only !== undefined ? only : { kind: 'sequence', items }
}

const quantifier = /(?:([*+?])|\{(\d+)(,(\d*))?\})\??/y

function readQuantified(reading: Reading): PatternNode {
  const body = readAtom(reading)
  quantifier.lastIndex = reading.at
  const found = quantifier.exec(reading.source)
  if (found === null) return body
  reading.at += found[0].length
  const [, mark, least = '0', range, most] = found
  if (mark !== undefined) return { kind: 'repeat', min: mark === '+' ? 1 : 0, max: mark === '?' ? 1 : Infinity, body }
  const max = range === undefined ? Number(least) : most === '' || most === undefined ? Infinity : Number(most)
  return { kind: 'repeat', min: Number(least), max, body }
}

const edge = /[$^]|\\[bB]|\\k<[^>]*>|\\[1-9]\d*/y
const look = /\(\?<?[=!]/y
const group = /\((?:\?(?:[a-z-]*:|<[^>]*>))?/y
const char = new RegExp([
  /\[(?:[^\]\\]|\\[^])*\]/,
  /\\(?:u\{[0-9a-fA-F]+\}|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|[pP]\{[^}]*\}|c[A-Za-z]|[^])/,
  /[^]/,
].map(({ source }) => source).join('|'), 'uy')

function readAtom(reading: Reading): PatternNode {
  if (take(reading, edge) !== undefined) return { kind: 'empty' }
  if (take(reading, look) !== undefined) return { kind: 'look', body: readGroup(reading) }
  if (take(reading, group) !== undefined) return readGroup(reading)
  return { kind: 'char', source: take(reading, char) ?? '' }
}

function readGroup(reading: Reading): PatternNode {
  const body = readChoice(reading)
  if (reading.source[reading.at++] !== ')') throw new SyntaxError(`A group is not closed: ${reading.source}`)
  return body
}

function take(reading: Reading, pattern: RegExp): string | undefined {
  pattern.lastIndex = reading.at
  const text = pattern.exec(reading.source)?.[0]
  reading.at += text?.length ?? 0
  return text
}
