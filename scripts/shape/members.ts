/**
 * Members whose name is made at run time, and texts that spell the name of a way to code or to modules of Node.
 *
 * `value['constr' + 'uctor']` reaches a constructor of functions. So no text of the source may spell such a name, also
 * when it is put together of constants, and no member may be named by a text that is put together. Other expressions
 * between brackets are allowed, and `npm run audit -- --full` lists them.
 */
import { evaluateAt } from './evaluation.ts'
import type { Finding } from './finding.ts'
import { matchBrackets } from './functions.ts'
import type { SourceFile } from './source-file.ts'
import type { Token } from './tokens.ts'

/** Names of members that lead to code made at run time, to other objects, or to modules of Node. */
const namesOfWays: ReadonlySet<string> = new Set([
  '__defineGetter__', '__lookupGetter__', '__proto__', 'constructor', 'getBuiltinModule', 'mainModule',
])

/** A member that is named by an expression of more than a name, a number or a string. */
export interface ComputedMember {
  readonly line: number
  /** The expression between the brackets. */
  readonly text: string
  /** True when the expression puts a text together. */
  readonly isText: boolean
}

export function computedMembers({ code, text }: SourceFile): readonly ComputedMember[] {
  const partners = matchBrackets(code)
  return code.flatMap((token, index): ComputedMember[] => {
    const end = partners.get(index)
    if (end === undefined || !beginsMember(code, index)) return []
    const inside = code.slice(index + 1, end)
    if (inside.length === 0 || (inside.length === 1 && inside[0]?.kind !== 'template')) return []
    if (['keyof', 'typeof'].includes(inside[0]?.text ?? '')) return []
    const words = text.slice(token.end, code[end]?.start).split(/\s+/).join(' ')
    return [{ line: token.line, text: words, isText: inside.some((_, at) => isPartOfText(inside, at)) }]
  })
}

/** Finds texts that spell a name of `namesOfWays`, members of these names, and members that a text names. */
export function checkMembers(file: SourceFile): Finding[] {
  const spelled = file.code.flatMap((token, index): Finding[] => {
    if (!spellsWay(file, index)) return []
    const message = 'this names a way to code that is made at run time: reach the value by another name'
    return [{ file: file.path, line: token.line, rule: 'dangerous', message }]
  })
  const named = computedMembers(file).filter(({ isText }) => isText).map(({ line, text }): Finding => {
    const message = `a text that is put together names a member ([${text}]): give the text a name before`
    return { file: file.path, line, rule: 'dangerous', message }
  })
  return [...spelled, ...named]
}

const beforeList = new Set(
  'as await case const do else export extends in is keyof let of readonly return satisfies throw typeof var yield'
    .split(' '),
)

/** True for a bracket behind a value; false for that of a list, a pattern or a type of a list. */
function beginsMember(code: readonly Token[], index: number): boolean {
  const [bracket, before] = [code[index], code[index - 1]]
  if (bracket?.text !== '[' || bracket.kind !== 'mark' || before === undefined) return false
  const isKeyword = before.kind === 'word' && beforeList.has(before.text) && code[index - 2]?.text !== '.'
  return before.text === '?.' || (before.endsValue && !isKeyword)
}

function isPartOfText(inside: readonly Token[], at: number): boolean {
  const token = inside[at]
  if (token?.kind === 'template') return true
  if (token?.kind === 'word') return makingText.has(token.text)
  return token?.kind === 'string' && (inside[at - 1]?.text === '+' || '+.'.includes(inside[at + 1]?.text ?? ' '))
}

/** Functions that make one text of other values. */
const makingText = new Set([
  'String', 'atob', 'concat', 'decodeURIComponent', 'fromCharCode', 'fromCodePoint', 'join', 'repeat', 'replace',
  'replaceAll', 'toString',
])

function spellsWay(file: SourceFile, index: number): boolean {
  const [token, before, after] = [file.code[index], file.code[index - 1], file.code[index + 1]]
  if (token === undefined || before?.text === '+') return false
  if (token.kind === 'word') {
    const isMember = before?.text === '.' || before?.text === '?.'
    const isListed = (before?.text === '{' || before?.text === ',') && after?.text !== '('
    if (namesOfWays.has(token.text) && (isMember || isListed)) return true
    if (isMember || after?.text !== '+') return false
  }
  if (token.kind === 'number' || token.kind === 'regex') return false
  const isGroup = token.text === '(' && before?.endsValue === false
  if (token.kind === 'mark' && token.text !== '[' && !isGroup) return false
  if (token.kind === 'template' && token.text.startsWith('}')) return false
  const value = evaluateAt(file, index, () => undefined)?.value
  return value?.kind === 'text' && namesOfWays.has(value.text)
}
