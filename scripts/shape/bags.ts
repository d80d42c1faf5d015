/**
 * A rule about spreads: an option bag that carries capabilities is not spread across the border of a module.
 *
 * "Which modules are given the cipher?" is then a search for the word `cipher`: each module that passes it on names it.
 * A bag is a type with a name that ends in `Options`, `Parts`, `Needs` and so on. It carries capabilities when it has a
 * method or a function, or a member whose type does, to any depth; classes do too. Plain data may be spread: events,
 * JSON values, configuration. So may a bag inside the file that declares the bag: in an argument of a function of that
 * file, or in the value that it returns.
 *
 * The rule sees the type that a name is declared with: a parameter, a member, a rest of either, the result of a
 * function of the same file. In an argument of an imported function it also sees the members of an object without a
 * type, in a constant or returned by a constant function. It does not see other types that the compiler infers.
 */
import { posix } from 'node:path'
import type { Finding } from './finding.ts'
import { matchBrackets } from './functions.ts'
import type { SourceFile } from './source-file.ts'
import type { Token } from './tokens.ts'

const bagName = /(?:Options|Parts|Needs|Core|Rules|Host|Shared|Work|Call|CommandLine|App|Init)$/

/** @param files all files of src */
export function checkBags(files: readonly SourceFile[]): Finding[] {
  const capable = capableTypes(files)
  return files.flatMap((file) => spreadsOf(file.code).flatMap(({ name, index, line, callee }): Finding[] => {
    const isCapable = (word: string): boolean => capable.has(placeOf(file, word))
    const type = typeWords(file.code, name, index).find((word) => bagName.test(word) && isCapable(word))
    if (type === undefined) {
      if (!file.imports.some(({ importedNames }) => importedNames.includes(callee))) return []
      const member = literalMembers(file.code, name).find((at) => {
        return typeWords(file.code, file.code[at]?.text ?? '', at).some(isCapable)
      })
      if (member === undefined) return []
      const message = `"...${name}" passes on "${file.code[member]?.text}": name the members that are passed`
      return [{ file: file.path, line, rule: 'bags', message }]
    }
    const isOwn = isDeclared(file.code, type) && (callee === 'return' || isDeclared(file.code, callee))
    if (isOwn) return []
    const message = `"...${name}" passes on every capability of ${type}: name the members that are passed`
    return [{ file: file.path, line, rule: 'bags', message }]
  }))
}

/** Indices of the shorthand members of the object that is kept in, or returned by, the constant of this name. */
function literalMembers(code: readonly Token[], name: string): readonly number[] {
  const start = code.findIndex(({ text }, index) => text === name && code[index - 1]?.text === 'const')
  if (start < 0 || code[start + 1]?.text !== '=') return []
  const first = code.findIndex(({ text, line }, at) => at > start && text === '{' && line === code[start]?.line)
  const last = matchBrackets(code).get(first) ?? first
  return code.slice(0, last).flatMap(({ kind }, at) => {
    const isMember = '{,'.includes(code[at - 1]?.text ?? ' ') && ',}'.includes(code[at + 1]?.text ?? ' ')
    return at > first && first > 0 && kind === 'word' && isMember ? [at] : []
  })
}

/** Places of the interfaces, types and classes that have a function, themselves or in a member. */
function capableTypes(files: readonly SourceFile[]): ReadonlySet<string> {
  const types = files.flatMap((file) => declaredTypes(file.code).map(({ name, hasFunction, words }) => {
    return { place: `${file.path}#${name}`, hasFunction, members: words.map((word) => placeOf(file, word)) }
  }))
  const capable = new Set(types.filter(({ hasFunction }) => hasFunction).map(({ place }) => place))
  for (let before = -1; before < capable.size;) {
    before = capable.size
    for (const { place, members } of types) if (members.some((member) => capable.has(member))) capable.add(place)
  }
  return capable
}

function isDeclared(code: readonly Token[], name: string): boolean {
  return code.some(({ text }, index) => text === name && declaring.has(code[index - 1]?.text ?? ''))
}

const declaring: ReadonlySet<string> = new Set(['interface', 'type', 'class', 'function', '*'])

/** Where a file has the type of this name from: `src/base/time.ts#Clock`. */
function placeOf({ path, imports }: SourceFile, name: string): string {
  const source = imports.find(({ importedNames }) => importedNames.includes(name))?.specifier
  return `${source === undefined ? path : posix.join(posix.dirname(path), source)}#${name}`
}

interface DeclaredType {
  readonly name: string
  readonly hasFunction: boolean
  /** Names of the types in it. */
  readonly words: readonly string[]
}

function declaredTypes(code: readonly Token[]): DeclaredType[] {
  const partners = matchBrackets(code)
  return code.flatMap(({ kind, text }, index): DeclaredType[] => {
    const name = code[index + 1]
    if (kind !== 'word' || name?.kind !== 'word') return []
    if (text === 'class') return [{ name: name.text, hasFunction: true, words: [] }]
    if (text !== 'interface' && text !== 'type') return []
    const body = code.slice(index + 2, endOfType(code, partners, index, text))
    const hasFunction = body.some((token, at) => token.text === '=>' || isMethod(body, at))
    return [{ name: name.text, hasFunction, words: body.filter(isTypeName).map((token) => token.text) }]
  })
}

/** The index behind an interface's brace, or behind a type's last line. */
function endOfType(code: readonly Token[], partners: ReadonlyMap<number, number>, start: number, word: string): number {
  if (word === 'interface') {
    const brace = code.findIndex(({ text }, index) => index > start && text === '{')
    return (partners.get(brace) ?? brace) + 1
  }
  let index = start + 3
  for (; index < code.length; index++) {
    const [before, token] = [code[index - 1], code[index]]
    if (token === undefined || before === undefined) break
    const goesOn = '|&=<,'.includes(before.text) || before.text === '=>' || '|&'.includes(token.text)
    if (token.line !== before.line && !goesOn) break
    index = '([{'.includes(token.text) ? partners.get(index) ?? index : index
  }
  return index
}

/** `name(`, `name?(` or `name<T>(` where a member begins. */
function isMethod(body: readonly Token[], at: number): boolean {
  const [before, token, after] = [body[at - 1], body[at], body[at + 1]]
  if (token?.kind !== 'word' || before === undefined || before.line === token.line && !'{;,'.includes(before.text)) {
    return false
  }
  return after?.text === '(' || after?.text === '?' && body[at + 2]?.text === '('
    || after?.text === '<' && before.text !== ':'
}

function isTypeName({ kind, text }: Token): boolean {
  return kind === 'word' && /^[A-Z]/.test(text)
}

interface Spread {
  /** The last word of the spread value: `options` of `...this.#options`, `git` of `...options.git`. */
  readonly name: string
  readonly index: number
  readonly line: number
  /** The function or class whose first argument is the object, or `return`; empty elsewhere. */
  readonly callee: string
}

/** Spreads of a name, a call of a name, or a member of either or of `this`, into an object. */
function spreadsOf(code: readonly Token[]): Spread[] {
  const partners = matchBrackets(code)
  const open: number[] = []
  return code.flatMap(({ kind, text, line }, index): Spread[] => {
    if (kind === 'mark' && partners.has(index)) {
      if ('([{'.includes(text)) open.push(index)
      else open.pop()
    }
    if (text !== '...' || code[open.at(-1) ?? -1]?.text !== '{') return []
    let at = index + 1
    while (code[at + 1]?.text === '.' && at < index + 5) at += 2
    const name = code[at]
    const after = code[at + 1]?.text
    if (name?.kind !== 'word' || after !== ',' && after !== '}' && after !== '(') return []
    const brace = open.at(-1) ?? 0
    const before = code[brace - 1]?.text
    const callee = before === '(' ? code[brace - 2]?.text ?? '' : before === 'return' ? before : ''
    return [{ name: name.text, index: at, line, callee }]
  })
}

/** The names of types that a name was last declared with above `index`; if there is none above, first below. */
function typeWords(code: readonly Token[], name: string, index: number): readonly string[] {
  const declared = code.flatMap((token, at) => {
    if (token.kind !== 'word' || token.text !== name || at === index) return []
    const isBare = code[at - 1]?.text === '(' && code[at + 1]?.text === ')' && code[at + 2]?.text === '=>'
    const words = declaredAt(code, at)
    return words.length === 0 && !isBare ? [] : [{ at, words }]
  })
  const found = declared.filter(({ at }) => at < index).at(-1) ?? declared[0]
  return found?.words ?? []
}

/** The names of types behind `name:`, `name?:`, or behind the pattern that a rest ends: `{ a, ...name }: Type`. */
function declaredAt(code: readonly Token[], at: number): readonly string[] {
  const isRest = code[at - 1]?.text === '...' && code[at + 1]?.text === '}'
  const end = isRest ? at + 1 : at
  if (isRest && code[end + 1]?.text === '=') {
    const value = code[end + 2]
    return value === undefined ? [] : typeWords(code, value.text, end + 2)
  }
  if (code[at - 1]?.text === 'const' && code[at + 1]?.text === '=' && code[at + 3]?.text === '(') {
    return returnWords(code, code[at + 2]?.text ?? '')
  }
  const colon = code[end + 1]?.text === '?' ? end + 2 : end + 1
  if (code[colon]?.text !== ':') return []
  const words: string[] = []
  for (let index = colon + 1, token = code[index]; token !== undefined; token = code[++index]) {
    if (isTypeName(token)) words.push(token.text)
    if (',)=;{}'.includes(token.text) || token.line !== code[colon]?.line) break
  }
  return words
}

/** The names of types that the function of this name returns. */
function returnWords(code: readonly Token[], name: string): readonly string[] {
  const start = code.findIndex(({ text }, index) => text === name && code[index - 1]?.text === 'function')
  const end = start < 0 ? undefined : matchBrackets(code).get(start + 1)
  return end === undefined ? [] : declaredAt(code, end)
}
