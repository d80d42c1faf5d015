/**
 * Finds the functions of a source file and how many lines each has.
 *
 * A body is a brace behind an arrow, behind a parameter list, or behind the return type that follows one. Anything
 * else in braces (blocks, classes, literals, types) is no function.
 */
import { controlWords, type Token } from './tokens.ts'

export interface FunctionSize {
  /** Where its parameters or, for an arrow, its body begin. */
  readonly line: number
  readonly lineCount: number
}

export function measureFunctions(code: readonly Token[]): FunctionSize[] {
  const partners = matchBrackets(code)
  const bodies = new Map<number, number>()
  for (const [index, token] of code.entries()) {
    if (token.text === '=>' && code[index + 1]?.text === '{') bodies.set(index + 1, index + 1)
    if (token.text !== ')') continue
    const open = partners.get(index)
    const body = bodyBehind(code, partners, index + 1)
    if (open === undefined || body === undefined || controlWords.has(code[open - 1]?.text ?? '')) continue
    bodies.set(body, open)
  }
  const lineAt = (index: number | undefined): number => (index === undefined ? 0 : code[index]?.line ?? 0)
  return [...bodies].map(([body, start]) => {
    return { line: lineAt(start), lineCount: lineAt(partners.get(body)) - lineAt(start) + 1 }
  })
}

/** Opening index -> closing index and back, of round, square and curly brackets. */
export function matchBrackets(code: readonly Token[]): Map<number, number> {
  const partners = new Map<number, number>()
  const open: number[] = []
  for (const [index, token] of code.entries()) {
    if (token.kind === 'template') matchTemplate(token.text, index)
    if (token.kind !== 'mark') continue
    if ('([{'.includes(token.text)) open.push(index)
    else if (')]}'.includes(token.text)) close(index)
  }
  return partners

  // The braces of a substitution belong to the template's own pieces.
  function matchTemplate(text: string, index: number): void {
    if (text.startsWith('}')) close(index)
    if (text.endsWith('${')) open.push(index)
  }
  function close(index: number): void {
    const start = open.pop()
    if (start === undefined) return
    partners.set(start, index)
    partners.set(index, start)
  }
}

/** The brace that opens a body behind a parameter list, over a return type if there is one. */
function bodyBehind(code: readonly Token[], partners: ReadonlyMap<number, number>, start: number): number | undefined {
  if (code[start]?.text === '{') return start
  if (code[start]?.text !== ':') return undefined
  let wantsOperand = true
  for (let index = start + 1, token = code[index]; token !== undefined; token = code[++index]) {
    if (!wantsOperand && token.text === '{') return index
    if (token.kind === 'mark' && '([{<'.includes(token.text)) {
      index = token.text === '<' ? endOfTypeArguments(code, index) : partners.get(index) ?? index
      wantsOperand = false
    } else if (typeOperators.has(token.text)) {
      wantsOperand = true
    } else if (wantsOperand && token.kind !== 'mark') {
      wantsOperand = prefixes.has(token.text)
    } else {
      return undefined
    }
  }
  return undefined
}

const typeOperators = new Set(['|', '&', '=>', '.', 'is', 'extends', '?', ':'])
const prefixes = new Set(['asserts', 'keyof', 'readonly', 'typeof', 'unique', 'infer', 'new', 'abstract'])

function endOfTypeArguments(code: readonly Token[], start: number): number {
  let depth = 0
  let index = start
  do {
    const text = code[index++]?.text
    if (text === '<') depth++
    if (text === '>') depth--
  } while (depth > 0 && index < code.length)
  return index - 1
}
