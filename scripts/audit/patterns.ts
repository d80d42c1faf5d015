/**
 * The regular expressions of the source: literals, and those that `new RegExp` makes of constants of their file.
 *
 * Constants are evaluated in a context of their own, and only when every word in them is a constant or one of a few
 * harmless names. An expression of anything else is made at run time: it is listed, and cannot be measured.
 */
import { runInNewContext } from 'node:vm'
import { matchBrackets } from '../shape/functions.ts'
import type { SourceFile } from '../shape/source-file.ts'
import type { MeasuredPattern } from './pattern-time.ts'

export interface FoundPattern {
  readonly file: string
  readonly line: number
  /** As in the source; for a made one the source that came of it. */
  readonly text: string
  /** Undefined for an expression that is made at run time. */
  readonly pattern: MeasuredPattern | undefined
}

export function patternsOf(file: SourceFile): readonly FoundPattern[] {
  const literals = file.code.flatMap((token, index): FoundPattern[] => {
    if (token.kind !== 'regex') return []
    const end = token.text.lastIndexOf('/')
    const isRepeated = file.code[index - 1]?.text === '(' && file.code[index - 2]?.text === 'split'
    const pattern = { source: token.text.slice(1, end), flags: token.text.slice(end + 1), isRepeated }
    return [{ file: file.path, line: token.line, text: token.text, pattern }]
  })
  return [...literals, ...madeOf(file)]
}

function madeOf(file: SourceFile): readonly FoundPattern[] {
  const { code, text, path } = file
  const partners = matchBrackets(code)
  return code.flatMap((token, index): FoundPattern[] => {
    const end = partners.get(index + 2)
    if (token.text !== 'new' || code[index + 1]?.text !== 'RegExp' || code[index + 2]?.text !== '(') return []
    if (end === undefined) return []
    const made = evaluate(file, index, end)
    const words = text.slice(token.start, code[end]?.end).split(/\s+/).join(' ')
    const shown = made === undefined ? words : `/${made.source}/${made.flags}`
    const pattern = made === undefined ? undefined : { ...made, isRepeated: false }
    return [{ file: path, line: token.line, text: shown, pattern }]
  })
}

/** Names that a constant expression may use beside constants. */
const harmless = new Set(['new', 'RegExp', 'String', 'raw', 'join', 'map', 'flatMap', 'source', 'const', 'as'])

function evaluate(file: SourceFile, from: number, to: number): { source: string; flags: string } | undefined {
  const constants = constantsFor(file, from, to, new Set())
  if (constants === undefined) return undefined
  const expression = file.text.slice(file.code[from]?.start, file.code[to]?.end)
  try {
    const script = `${constants}\n{ const { source, flags } = ${expression}; JSON.stringify([source, flags]) }`
    const value: unknown = runInNewContext(script, {}, { timeout: 200 })
    const [source, flags]: unknown[] = JSON.parse(String(value))
    return typeof source === 'string' && typeof flags === 'string' ? { source, flags } : undefined
  } catch {
    // What is no JavaScript by itself is made at run time.
    return undefined
  }
}

/** The declarations that an expression needs; undefined when it uses another name. */
function constantsFor(file: SourceFile, from: number, to: number, seen: Set<string>): string | undefined {
  let declared = ''
  for (const { kind, text } of file.code.slice(from, to + 1)) {
    if (kind !== 'word' || harmless.has(text) || seen.has(text)) continue
    seen.add(text)
    const place = constantOf(file, text)
    const inner = place === undefined ? undefined : constantsFor(file, place.from, place.to, seen)
    if (place === undefined || inner === undefined) return undefined
    const value = file.text.slice(file.code[place.from]?.start, file.code[place.to]?.end).replace(/ as const$/, '')
    declared += `${inner}const ${text} = ${value}\n`
  }
  return declared
}

/** The expression of `const name = ...` at the left margin of a file. */
function constantOf({ code, text }: SourceFile, name: string): { from: number; to: number } | undefined {
  const at = code.findIndex((token, index) => token.text === 'const' && code[index + 1]?.text === name &&
    (text[token.start - 1] ?? '\n') === '\n')
  const from = at === -1 ? -1 : code.findIndex(({ text: word }, index) => index > at && word === '=') + 1
  if (from <= 0) return undefined
  const behind = code.findIndex(({ start }, index) => index > from && text[start - 1] === '\n' &&
    !/^[)\]}]$/.test(code[index]?.text ?? ''))
  return { from, to: (behind === -1 ? code.length : behind) - 1 }
}
