/**
 * Finds the places of a source file where an error ends: nothing throws, records, returns or passes it on.
 *
 * These are: a `catch` without a name for the error, or that only compares it; a handler of `.catch(...)`, the second
 * handler of `.then(...)` and a listener for `error` that take no error; a handler called `ignore...`; and
 * `Promise.allSettled` whose results nobody takes. A handler that throws or rejects is none. The reason is the comment
 * beside it: on a line of the handler, or on the line above the statement.
 */
import { matchBrackets } from '../shape/functions.ts'
import type { SourceFile } from '../shape/source-file.ts'
import type { Token } from '../shape/tokens.ts'

export interface Swallowed {
  readonly file: string
  readonly line: number
  /** The handler, shortened. */
  readonly code: string
  /** The comment beside it; undefined without one. */
  readonly reason: string | undefined
}

/** A handler, from its first token to the token behind its last. */
interface Handler {
  readonly from: number
  readonly to: number
  /** The name of the error; undefined without one. */
  readonly error: string | undefined
  /** Where the words that the reason is about begin: `catch`, or the name of the method. */
  readonly at: number
}

export function findSwallowed(file: SourceFile): readonly Swallowed[] {
  const partners = matchBrackets(file.code)
  return file.code.flatMap((_, index) => handlersAt(file.code, partners, index))
    .filter((handler) => endsError(file.code.slice(handler.from, handler.to), partners, handler))
    .map((handler): Swallowed => {
      const line = file.code[handler.at]?.line ?? 0
      const code = codeOf(file, partners, handler)
      return { file: file.path, line, code, reason: reasonBeside(file, partners, handler) }
    })

  function endsError(body: readonly Token[], partnersOfAll: ReadonlyMap<number, number>, handler: Handler): boolean {
    if (body.some((token, index) => token.text === 'throw' || isReject(body, index))) return false
    const { error, from } = handler
    if (error === undefined) return true
    const conditions = body.flatMap(({ text }, index) => {
      const end = text === 'if' ? partnersOfAll.get(from + index + 1) : undefined
      return end === undefined ? [] : [[index, end - from] as const]
    })
    return !body.some((token, index) => {
      return mentions(token, error) && !conditions.some(([start, end]) => start <= index && index <= end)
    })
  }
}

function isReject(body: readonly Token[], index: number): boolean {
  return body[index]?.text === 'reject' && body[index + 1]?.text === '('
}

function mentions({ kind, text }: Token, name: string): boolean {
  return kind === 'word' && text === name
}

function handlersAt(code: readonly Token[], partners: ReadonlyMap<number, number>, index: number): readonly Handler[] {
  const token = code[index]
  const isMember = code[index - 1]?.text === '.' || code[index - 1]?.text === '?.'
  if (token?.kind !== 'word' || (code[index + 1]?.text !== '(' && code[index + 1]?.text !== '{')) return []
  if (token.text === 'catch' && !isMember) return [catchClause(code, partners, index)].flatMap((one) => one ?? [])
  const end = partners.get(index + 1)
  if (!isMember || end === undefined) return []
  const args = argumentsOf(code, partners, index + 1)
  switch (token.text) {
    case 'catch': return blindFunction(code, partners, args[0], index)
    case 'then': return blindFunction(code, partners, args[1], index)
    case 'on': case 'once': case 'addListener': case 'addEventListener': {
      const [name] = args
      const isError = name !== undefined && code[name.from]?.kind === 'string' && code[name.from]?.text === 'error'
      return isError ? blindFunction(code, partners, args[1], index) : []
    }
    case 'allSettled':
      return isStatement(code, index) ? [{ from: index, to: end + 1, error: undefined, at: index }] : []
    default: return []
  }
}

function catchClause(
  code: readonly Token[], partners: ReadonlyMap<number, number>, index: number,
): Handler | undefined {
  const hasName = code[index + 1]?.text === '('
  const brace = hasName ? (partners.get(index + 1) ?? index) + 1 : index + 1
  const end = partners.get(brace)
  if (code[brace]?.text !== '{' || end === undefined) return undefined
  return { from: brace, to: end + 1, error: hasName ? code[index + 2]?.text : undefined, at: index }
}

interface Argument {
  readonly from: number
  readonly to: number
}

function argumentsOf(
  code: readonly Token[], partners: ReadonlyMap<number, number>, open: number,
): readonly Argument[] {
  const end = partners.get(open) ?? open
  const found: Argument[] = []
  let from = open + 1
  for (let at = from; at <= end; at++) {
    if (at === end || code[at]?.text === ',' && code[at]?.kind === 'mark') {
      if (at > from) found.push({ from, to: at })
      from = at + 1
    } else if (partners.has(at)) {
      at = Math.max(at, partners.get(at) ?? at)
    }
  }
  return found
}

/** A function that is written there, or a name that begins with `ignore`. Other names are functions that take it. */
function blindFunction(
  code: readonly Token[], partners: ReadonlyMap<number, number>, given: Argument | undefined, at: number,
): readonly Handler[] {
  if (given === undefined) return []
  const { from, to } = given
  const first = code[from]?.text === 'async' ? from + 1 : from
  if (code[first]?.kind === 'word' && code[first + 1]?.text !== '=>') {
    return code[first]?.text.startsWith('ignore') === true ? [{ from, to, error: undefined, at }] : []
  }
  const isBare = code[first]?.kind === 'word'
  const hasParameter = isBare || code[first + 1]?.kind === 'word'
  const behind = isBare ? first + 1 : (partners.get(first) ?? first) + 1
  const error = isBare ? code[first]?.text : hasParameter ? code[first + 1]?.text : undefined
  return [{ from: behind, to, error, at }]
}

/** True when the result of a call is not taken: `await Promise.allSettled(...)` as a statement. */
function isStatement(code: readonly Token[], index: number): boolean {
  const [before, start] = [code[index - 3], code[index - 2]]
  return start?.text === 'Promise' && before?.text === 'await' && !'=:('.includes(code[index - 4]?.text ?? ';')
}

/** The code without comments, to the end of the call. */
function codeOf({ code }: SourceFile, partners: ReadonlyMap<number, number>, { at, to }: Handler): string {
  const end = Math.max(to, (code[at + 1]?.text === '(' ? partners.get(at + 1) ?? at : at) + 1)
  const words = code.slice(at, end).map(({ start, kind, text }, index) => {
    const before = code[at + index - 1]
    const shown = kind === 'string' ? `'${text}'` : text
    return index === 0 || before?.end === start ? shown : ` ${shown}`
  }).join('').replaceAll(/\s+/g, ' ')
  return words.length > 80 ? `${words.slice(0, 77)}...` : words
}

/**
 * Returns the comments on the lines of the handler, and the comments that stand alone above its line or its statement.
 */
function reasonBeside(
  { text, code, comments }: SourceFile, partners: ReadonlyMap<number, number>, { at, to }: Handler,
): string | undefined {
  const own = code[at]?.line ?? 0
  const last = code[to - 1]?.line ?? 0
  const start = code[statementStart(code, partners, at)]?.line ?? 0
  const lines = text.split('\n')
  const above = [...new Set([start, own])].flatMap((line) => commentsAbove(lines, line))
  const beside = comments.filter(({ line }) => line >= own && line <= last).map((comment) => comment.text)
  const words = [...above, ...beside].map((one) => one.replaceAll(/^\s*\/[/*]+\s*|\s*\*\/$/g, '')).join(' ')
  return words === '' ? undefined : words
}

function commentsAbove(lines: readonly string[], line: number): readonly string[] {
  const code = lines.findLastIndex((text, index) => index < line - 1 && !text.trimStart().startsWith('//'))
  return lines.slice(code + 1, line - 1)
}

/**
 * Finds the first token of the statement: behind the brace, the semicolon or the line that ends the previous statement.
 */
function statementStart(code: readonly Token[], partners: ReadonlyMap<number, number>, at: number): number {
  let start = at
  for (let index = at - 1; index >= 0; index--) {
    const [token, next] = [code[index], code[start]]
    if (token === undefined || next === undefined || token.text === '{' || token.text === ';') break
    const isOtherLine = token.line < next.line && next.text !== '.' && next.text !== '?.'
    if (isOtherLine && (token.endsValue || token.text === '}')) break
    const partner = partners.get(index) ?? index
    if (partner > index) break
    index = partner
    start = partner
  }
  return start
}
