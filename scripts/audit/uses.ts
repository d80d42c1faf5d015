/**
 * The lines of a file that use an imported name: neither a member, a key or a declaration of the same name, nor a name
 * that a parameter or a local variable hides.
 */
import { matchBrackets } from '../shape/functions.ts'
import type { SourceFile } from '../shape/source-file.ts'
import { controlWords, type Token } from '../shape/tokens.ts'

/** @param from the line of the import, behind which the uses are */
export function linesOfName({ code }: SourceFile, name: string, from: number): readonly number[] {
  const partners = matchBrackets(code)
  const hidden = hidingScopes(code, partners, name)
  const lines = code.flatMap(({ line }, index) => {
    const isHidden = hidden.some(({ start, end }) => start <= index && index <= end)
    return line > from && !isHidden && isUse(code, partners, index, name) ? [line] : []
  })
  return [...new Set(lines)]
}

type Partners = ReadonlyMap<number, number>

interface Scope {
  readonly start: number
  readonly end: number
}

function isUse(code: readonly Token[], partners: Partners, index: number, name: string): boolean {
  const [before, token, after] = [code[index - 1], code[index], code[index + 1]]
  if (token?.kind !== 'word' || token.text !== name || before?.text === '.' || before?.text === '?.') return false
  const isFirst = before === undefined || before.line < token.line || '{,(;'.includes(before.text) ||
    ['async', 'readonly', 'get', 'set', 'static'].includes(before.text)
  const isKey = after?.text === ':' || (after?.text === '?' && code[index + 2]?.text === ':')
  if (isKey && isFirst) return false
  return !(isFirst && after?.text === '(' && isMethod(code, partners, index + 1))
}

/** True for `name(...) {` and `name(...): type`, which declare a method. */
function isMethod(code: readonly Token[], partners: Partners, open: number): boolean {
  const behind = code[(partners.get(open) ?? open) + 1]
  return behind?.text === '{' || (behind?.text === ':' && behind.start === code[partners.get(open) ?? open]?.end)
}

/** The functions and blocks in which the name is a parameter or a local variable. */
function hidingScopes(code: readonly Token[], partners: Partners, name: string): readonly Scope[] {
  return code.flatMap((token, index): readonly Scope[] => {
    if (token.kind !== 'word' || token.text !== name) return []
    const [before, after] = [code[index - 1]?.text ?? '', code[index + 1]?.text ?? '']
    if (after === '=>') return [{ start: index, end: endOfArrow(code, partners, index + 1) }]
    if (['const', 'let', 'var'].includes(before)) return blockAround(code, partners, index)
    // Behind a colon is a type, or the name that a pattern gives to a member.
    const isBound = '({[,'.includes(before) || before === '...' || before === ':'
    if (!isBound || !/^(?:[,)}\]:=?])$/.test(after)) return []
    let at = index
    for (let open = openingBefore(partners, at); open !== undefined; open = openingBefore(partners, at)) {
      const isPattern = code[open]?.text !== '('
      const declares = isPattern && ['const', 'let', 'var'].includes(code[open - 1]?.text ?? '')
      if (declares) return blockAround(code, partners, open)
      if (!isPattern) return isType(code, index, open) ? [] : functionWith(code, partners, open)
      // A pattern between the name and the parameter list; a type in braces stands behind a colon.
      if (code[open - 1]?.text === ':' && code[open]?.text === '{' && !isInPattern(code, partners, open)) return []
      at = open
    }
    return []
  })
}

/** True for `parameter: name`, a type of a parameter. */
function isType(code: readonly Token[], index: number, open: number): boolean {
  return code[index - 1]?.text === ':' && !code.slice(open + 1, index).some(({ text }) => text === '{' || text === '[')
}

function isInPattern(code: readonly Token[], partners: Partners, open: number): boolean {
  const outer = openingBefore(partners, open)
  return outer !== undefined && code[outer]?.text === '{'
}

/** The bracket that is open before an index. */
function openingBefore(partners: Partners, index: number): number | undefined {
  for (let at = index - 1; at >= 0; at--) {
    const partner = partners.get(at)
    if (partner === undefined) continue
    if (partner > at) return at
    at = partner
  }
  return undefined
}

/** The function whose parameters are in the parentheses; nothing for a call or a condition. */
function functionWith(code: readonly Token[], partners: Partners, open: number): readonly Scope[] {
  const close = partners.get(open)
  if (close === undefined || controlWords.has(code[open - 1]?.text ?? '')) return []
  for (let at = close + 1; at < code.length && at < close + 60; at++) {
    const text = code[at]?.text ?? ''
    if (text === '=>') return [{ start: open, end: endOfArrow(code, partners, at) }]
    const isBody = text === '{' && (at === close + 1 || !':|&<,'.includes(code[at - 1]?.text ?? ''))
    if (isBody) return [{ start: open, end: partners.get(at) ?? at }]
    if (at === close + 1 && text !== ':') return []
    if (text === ';' || text === ')' || text === ',' || (code[at]?.line ?? 0) > (code[close]?.line ?? 0) + 3) return []
    if ('([{'.includes(text)) at = partners.get(at) ?? at
  }
  return []
}

/** The last token of an arrow function, from its arrow. */
function endOfArrow(code: readonly Token[], partners: Partners, arrow: number): number {
  if (code[arrow + 1]?.text === '{') return partners.get(arrow + 1) ?? arrow
  for (let at = arrow + 1; at < code.length; at++) {
    const [before, token] = [code[at - 1], code[at]]
    const partner = partners.get(at)
    if (partner !== undefined && partner < at) return at
    if (token?.text === ',' || token?.text === ';') return at
    const isNewLine = token !== undefined && before !== undefined && token.line > before.line
    if (isNewLine && before.endsValue && token.kind === 'word') return at - 1
    at = partner ?? at
  }
  return code.length
}

function blockAround(code: readonly Token[], partners: Partners, index: number): readonly Scope[] {
  let open = openingBefore(partners, index)
  for (; open !== undefined; open = openingBefore(partners, open)) {
    const close = partners.get(open) ?? open
    if (code[open]?.text === '{') return [{ start: open, end: close }]
    // The variable of a loop, whose body may be one statement.
    if (code[open - 1]?.text === 'for') return [{ start: open, end: partners.get(close + 1) ?? close }]
  }
  return []
}
