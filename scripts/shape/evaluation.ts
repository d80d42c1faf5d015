/**
 * Evaluates constants of a source from its tokens. No code of the source runs.
 *
 * Known are strings, templates, `String.raw`, regular expressions, lists, `+`, `join`, `map` with an arrow of one
 * parameter, `source`, `flags`, and names of constants at the left margin of the same file or of an imported file.
 * Everything else, a list that is changed later, and a text over `textLimitChars` are not evaluated.
 */
import { posix } from 'node:path'
import type { SourceFile } from './source-file.ts'
import type { Token } from './tokens.ts'

export type Constant =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'pattern'; readonly source: string; readonly flags: string }
  | { readonly kind: 'list'; readonly items: readonly Constant[] }

/** Returns the file of a path such as `src/base/a.ts`; undefined for a path without a file. */
export type FindFile = (path: string) => SourceFile | undefined

const textLimitChars = 64 * 1024
const stepLimit = 20_000
const depthLimit = 32

/** Returns the value of the tokens from `from` to the token before `to`; undefined when it is not evaluated. */
export function evaluate(file: SourceFile, from: number, to: number, find: FindFile): Constant | undefined {
  const read = evaluateAt(file, from, find)
  return read?.to === to ? read.value : undefined
}

/** Returns the value of the expression that begins at a token, and the index behind it. */
export function evaluateAt(
  file: SourceFile, from: number, find: FindFile,
): { readonly value: Constant; readonly to: number } | undefined {
  try {
    const walk = { find, steps: 0, depth: 0 }
    const reader = new Reader(file, from, isAtMargin(file, from), new Map(), walk)
    const value = reader.expression()
    return { value, to: reader.at }
  } catch (error) {
    if (error instanceof NotConstant) return undefined
    throw error
  }
}

class NotConstant extends Error {}

interface Walk {
  readonly find: FindFile
  steps: number
  depth: number
}

class Reader {
  at: number
  readonly #file: SourceFile
  readonly #hasNames: boolean
  readonly #scope: ReadonlyMap<string, Constant>
  readonly #walk: Walk

  constructor(file: SourceFile, at: number, hasNames: boolean, scope: ReadonlyMap<string, Constant>, walk: Walk) {
    this.#file = file
    this.at = at
    this.#hasNames = hasNames
    this.#scope = scope
    this.#walk = walk
  }

  expression(): Constant {
    let value = this.#operand()
    while (this.#accept('+')) value = textConstant(textIn(value) + textIn(this.#operand()))
    return value
  }

  get #next(): Token | undefined {
    return this.#file.code[this.at]
  }

  #accept(mark: string): boolean {
    const isNext = this.#next?.text === mark && this.#next.kind !== 'string' && this.#next.kind !== 'template'
    if (isNext) this.at++
    return isNext
  }

  #expect(...words: readonly string[]): void {
    for (const word of words) if (!this.#accept(word)) throw new NotConstant()
  }

  #operand(): Constant {
    if (++this.#walk.steps > stepLimit) throw new NotConstant()
    let value = this.#primary()
    for (;;) {
      if (this.#accept('as')) this.#expect('const')
      else if (this.#accept('.')) value = this.#member(value)
      else return value
    }
  }

  #primary(): Constant {
    const token = this.#next
    if (token === undefined) throw new NotConstant()
    if (token.kind === 'template') return this.#template(cooked)
    this.at++
    switch (token.kind) {
      case 'string': return textConstant(cooked(token.text))
      case 'regex': return patternOf(token.text)
      case 'word': return this.#word(token.text)
      case 'mark':
        if (token.text === '(') {
          const value = this.expression()
          this.#expect(')')
          return value
        }
        if (token.text === '[') return { kind: 'list', items: this.#items(']') }
        throw new NotConstant()
      case 'number': throw new NotConstant()
    }
  }

  /** Reads the pieces of a template and the expressions between them. */
  #template(read: (piece: string) => string): Constant {
    let text = ''
    for (;;) {
      const piece = this.#next
      if (piece?.kind !== 'template') throw new NotConstant()
      this.at++
      const isLast = !piece.text.endsWith('${')
      text += read(piece.text.slice(1, isLast ? -1 : -2))
      if (isLast) return textConstant(text)
      text += textIn(this.expression())
    }
  }

  #word(name: string): Constant {
    const own = this.#scope.get(name)
    if (own !== undefined) return own
    if (name === 'new' || name === 'RegExp') {
      if (name === 'new') this.#expect('RegExp')
      if (declares(this.#file, 'RegExp')) throw new NotConstant()
      this.#expect('(')
      return madePattern(this.#items(')'))
    }
    if (name === 'String') {
      if (declares(this.#file, 'String')) throw new NotConstant()
      this.#expect('.', 'raw')
      return this.#template((piece) => piece.replaceAll(/\r\n?/g, '\n'))
    }
    if (!this.#hasNames) throw new NotConstant()
    return valueOf(this.#file, name, this.#walk)
  }

  #items(end: string): readonly Constant[] {
    const items: Constant[] = []
    while (!this.#accept(end)) {
      if (this.#accept('...')) items.push(...listIn(this.expression()))
      else items.push(this.expression())
      if (!this.#accept(',')) {
        this.#expect(end)
        break
      }
    }
    return items
  }

  #member(value: Constant): Constant {
    const name = this.#next?.text
    this.at++
    switch (name) {
      case 'source': return textConstant(patternIn(value).source)
      case 'flags': return textConstant(patternIn(value).flags)
      case 'join': {
        this.#expect('(')
        const [separator, ...more] = this.#items(')')
        if (separator === undefined || more.length > 0) throw new NotConstant()
        return textConstant(listIn(value).map(textIn).join(textIn(separator)))
      }
      case 'map': return { kind: 'list', items: this.#mapped(listIn(value)) }
      default: throw new NotConstant()
    }
  }

  /** Reads `((name) => expression)` or `(({ source }) => expression)`, and applies it to each item. */
  #mapped(items: readonly Constant[]): readonly Constant[] {
    this.#expect('(', '(')
    const isPattern = this.#accept('{')
    const parameter = this.#next
    if (parameter?.kind !== 'word' || items.length === 0) throw new NotConstant()
    if (isPattern && parameter.text !== 'source') throw new NotConstant()
    this.at++
    this.#expect(...(isPattern ? ['}'] : []), ')', '=>')
    let end = this.at
    const values = items.map((item) => {
      const bound = isPattern ? textConstant(patternIn(item).source) : item
      const scope = new Map([...this.#scope, [parameter.text, bound]])
      const body = new Reader(this.#file, this.at, this.#hasNames, scope, this.#walk)
      const value = body.expression()
      end = body.at
      return value
    })
    this.at = end
    this.#expect(')')
    return values
  }
}

/** Returns the value of a name: a constant of the file, or one that the file imports from another file. */
function valueOf(file: SourceFile, name: string, walk: Walk): Constant {
  if (++walk.depth > depthLimit) throw new NotConstant()
  const from = constantOf(file, name)
  const value = from === undefined ? importedValue(file, name, walk) : declaredValue(file, from, walk)
  if (value.kind === 'list' && isChanged(file, name)) throw new NotConstant()
  walk.depth--
  return value
}

function declaredValue(file: SourceFile, from: number, walk: Walk): Constant {
  const reader = new Reader(file, from, true, new Map(), walk)
  const value = reader.expression()
  const next = file.code[reader.at]
  if (next !== undefined && !(next.kind === 'word' && startsLine(file, next))) throw new NotConstant()
  return value
}

function importedValue(file: SourceFile, name: string, walk: Walk): Constant {
  for (const { specifier, bindings } of file.imports) {
    const binding = bindings.find(({ local }) => local === name)
    if (binding === undefined) continue
    const other = walk.find(posix.join(posix.dirname(file.path), specifier))
    if (other !== undefined && specifier.startsWith('.')) return valueOf(other, binding.name, walk)
  }
  throw new NotConstant()
}

/** The index of the expression of `const name = ...` at the left margin. */
function constantOf(file: SourceFile, name: string): number | undefined {
  const { code } = file
  const at = code.findIndex((token, index) => {
    const first = code[index - 1]?.text === 'export' ? code[index - 1] : token
    return token.text === 'const' && code[index + 1]?.text === name && first !== undefined && startsLine(file, first)
  })
  if (at === -1) return undefined
  const equals = code.findIndex(({ text, kind }, index) => index > at && text === '=' && kind === 'mark')
  return equals === -1 ? undefined : equals + 1
}

const changing = new Set(['copyWithin', 'fill', 'pop', 'push', 'reverse', 'shift', 'sort', 'splice', 'unshift'])

function isChanged({ code }: SourceFile, name: string): boolean {
  return code.some(({ kind, text }, index) => kind === 'word' && text === name &&
    (code[index + 1]?.text === '[' || changing.has(code[index + 2]?.text ?? '')))
}

const declaring = new Set(['class', 'const', 'function', 'let', 'var'])

/** True for a file that gives the name of a global a meaning of its own. */
function declares({ code, imports }: SourceFile, name: string): boolean {
  return imports.some(({ bindings }) => bindings.some(({ local }) => local === name)) ||
    code.some(({ text }, index) => text === name && declaring.has(code[index - 1]?.text ?? ''))
}

/** True outside functions, classes and braces, where no parameter hides a constant. */
function isAtMargin(file: SourceFile, index: number): boolean {
  let depth = 0
  for (let at = index - 1; at >= 0; at--) {
    const token = file.code[at]
    if (token === undefined) return false
    if (token.text === '=>' || token.text === 'function' || token.text === 'class') return false
    if (token.kind === 'mark' && '({['.includes(token.text)) depth--
    if (token.kind === 'mark' && ')}]'.includes(token.text)) depth++
    if (token.text === '{' && depth < 0) return false
    if (token.kind === 'word' && startsLine(file, token)) return true
  }
  return index === 0
}

function startsLine({ text }: SourceFile, { start }: Token): boolean {
  return (text[start - 1] ?? '\n') === '\n'
}

function textConstant(text: string): Constant {
  if (text.length > textLimitChars) throw new NotConstant()
  return { kind: 'text', text }
}

function patternOf(literal: string): Constant {
  const end = literal.lastIndexOf('/')
  return { kind: 'pattern', source: literal.slice(1, end), flags: literal.slice(end + 1) }
}

function madePattern([first, flags, ...more]: readonly Constant[]): Constant {
  if (first === undefined || more.length > 0) throw new NotConstant()
  const given = first.kind === 'pattern' ? first : { source: textIn(first), flags: '' }
  try {
    const made = new RegExp(given.source, flags === undefined ? given.flags : textIn(flags))
    return { kind: 'pattern', source: made.source, flags: made.flags }
  } catch {
    throw new NotConstant() // The text is no regular expression.
  }
}

function textIn(value: Constant): string {
  if (value.kind !== 'text') throw new NotConstant()
  return value.text
}

function patternIn(value: Constant): { readonly source: string; readonly flags: string } {
  if (value.kind !== 'pattern') throw new NotConstant()
  return value
}

function listIn(value: Constant): readonly Constant[] {
  if (value.kind !== 'list') throw new NotConstant()
  return value.items
}

const short: ReadonlyMap<string, string> = new Map([
  ['b', '\b'], ['f', '\f'], ['n', '\n'], ['r', '\r'], ['t', '\t'], ['v', '\v'], ['0', '\0'],
])

/** Replaces the escape sequences of a string or template (ECMA-262, section 12.9.4). */
export function cooked(text: string): string {
  return text.replaceAll('\r\n', '\n').replaceAll(escape, (_, sequence: string) => {
    if (sequence === '\n' || sequence === '\u2028' || sequence === '\u2029') return ''
    const digits = /^[xu]\{?([0-9A-Fa-f]+)\}?$/.exec(sequence)?.[1]
    return digits === undefined ? short.get(sequence) ?? sequence : String.fromCodePoint(Number.parseInt(digits, 16))
  })
}

const escape = /\\(x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|u\{[0-9A-Fa-f]{1,6}\}|[^])/g
