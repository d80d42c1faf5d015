/**
 * One ES module as the compiler prints it, read for joining: its imports, its exports, and its text without either.
 *
 * Understood are named and namespace imports; exported functions, classes and single constants; lists of names, its own
 * or another module's; `import()` of a constant; and `import.meta.url`. An import or export that is anything else
 * (ECMA-262, 16.2) is refused with its line. So is code that would not work in a block as in a module: `var`, and names
 * that begin with `$`, which belong to the joined file. Like scripts/shape/tokens this is no parser, and trusts that
 * the compiler has made the text.
 */
import { tokenize, type Token } from '../shape/tokens.ts'

/** `from as to`, as it stands in a list. */
export interface Renamed {
  readonly from: string
  readonly to: string
}

export interface Import {
  readonly specifier: string
  readonly line: number
  readonly names: readonly Renamed[]
  /** The name that stands for the whole module. */
  readonly namespace?: string
  /** The names are exported, and are not known in this module itself. */
  readonly isReExport?: true
}

/**
 * A stretch of the text that the joined file has not, or has the address of the module or a module that is loaded in
 * its place.
 */
export interface Cut {
  readonly start: number
  readonly end: number
  readonly becomes: 'nothing' | 'address' | Loading
}

/** An `import()`. */
export interface Loading {
  readonly specifier: string
  readonly line: number
}

export interface Module {
  readonly path: string
  readonly text: string
  /** In their order in the text, which is the order in which the modules are evaluated. */
  readonly imports: readonly Import[]
  /** The exports that the module declares itself. */
  readonly exports: readonly Renamed[]
  readonly cuts: readonly Cut[]
}

/** @throws SyntaxError with path and line, for code that it does not understand */
export function readModule(path: string, text: string): Module {
  const { code } = tokenize(text, path)
  const state: State = {
    path, text, code, at: 0, depth: 0, fixed: new Set(), lists: [], imports: [], exports: [], cuts: [],
  }
  for (const [index, token] of code.entries()) checkName(state, token, code[index - 1])
  while (state.at < code.length) step(state)
  for (const { name, token } of state.lists) {
    if (!state.fixed.has(name.from)) {
      refuse(state, token, `an exported "${name.from}" that is no function, class or constant of the module`)
    }
    state.exports.push(name)
  }
  return state
}

/** That something stands there which cannot be joined. */
export function refusal(path: string, line: number, what: string): SyntaxError {
  return new SyntaxError(`Cannot join ${path}:${line}: ${what}`)
}

interface State extends Module {
  readonly code: readonly Token[]
  at: number
  /** How many brackets are open. */
  depth: number
  /** Names at the top of the module that always mean the same. */
  readonly fixed: Set<string>
  /** Exported in a list, perhaps before they are declared. */
  readonly lists: { readonly name: Renamed; readonly token: Token }[]
  readonly imports: Import[]
  readonly exports: Renamed[]
  readonly cuts: Cut[]
}

function checkName(state: State, token: Token, before: Token | undefined): void {
  if (isMark(token, '\\')) refuse(state, token, 'a name that is written with an escape')
  if (token.kind !== 'word' || isMark(before, '.')) return
  if (token.text.startsWith('$')) refuse(state, token, `the name "${token.text}": those with $ are the joined file's`)
  if (token.text === 'var') refuse(state, token, '"var", which no block holds')
}

function step(state: State): void {
  const token = next(state)
  state.depth += nesting(token)
  if (token.kind !== 'word' || isMark(state.code[state.at - 2], '.')) return
  if (token.text === 'import') readImport(state, token)
  else if (state.depth > 0) return
  else if (token.text === 'export') readExport(state, token)
  else if (declaring.has(token.text)) state.fixed.add(declaredName(state))
}

/**
 * Returns the number of brackets that a token opens or closes. The brackets of a substitution are in the pieces of its
 * template.
 */
function nesting({ kind, text }: Token): number {
  if (kind === 'template') return Number(text.endsWith('${')) - Number(text.startsWith('}'))
  if (kind !== 'mark') return 0
  return Number('([{'.includes(text)) - Number(')]}'.includes(text))
}

const declaring: ReadonlySet<string> = new Set(['function', 'class', 'const'])

/** The word behind, or a mark where there is none (a pattern, a function without a name), which nobody can export. */
function declaredName({ code, at }: State): string {
  return code[isMark(code[at], '*') ? at + 1 : at]?.text ?? ''
}

function readImport(state: State, start: Token): void {
  const first = next(state)
  if (isMark(first, '.')) return readMeta(state, start)
  if (isMark(first, '(')) return readLoading(state, start)
  if (isMark(first, '{')) {
    const names = readNames(state)
    expect(state, 'from')
    for (const { to } of names) state.fixed.add(to)
    state.imports.push({ specifier: readSpecifier(state), line: start.line, names })
  } else if (isMark(first, '*')) {
    expect(state, 'as')
    const namespace = readWord(state)
    expect(state, 'from')
    state.fixed.add(namespace)
    state.imports.push({ specifier: readSpecifier(state), line: start.line, names: [], namespace })
  } else {
    refuse(state, start, 'an import of another form than { names } or * as name')
  }
  cut(state, start)
}

function readLoading(state: State, start: Token): void {
  const token = next(state)
  if (token.kind !== 'string') refuse(state, token, 'an import() of another form than import(constant)')
  expect(state, ')')
  cut(state, start, { specifier: token.text, line: start.line })
}

function readMeta(state: State, start: Token): void {
  expect(state, 'meta')
  expect(state, '.')
  expect(state, 'url')
  cut(state, start, 'address')
}

function readExport(state: State, start: Token): void {
  const first = next(state)
  if (isMark(first, '{')) return readList(state, start)
  const word = first.text === 'async' ? next(state) : first
  if (!declaring.has(word.text)) {
    refuse(state, start, 'an export of another form than function, class, const or { names }')
  }
  // The exported declaration stays where it is, without the word in front.
  state.cuts.push({ start: start.start, end: first.start, becomes: 'nothing' })
  if (isMark(state.code[state.at], '*')) next(state)
  const name = readWord(state)
  if (word.text === 'const') expectOnlyOne(state)
  state.fixed.add(name)
  state.exports.push({ from: name, to: name })
}

function readList(state: State, start: Token): void {
  const names = readNames(state)
  if (state.code[state.at]?.text === 'from') {
    next(state)
    state.imports.push({ specifier: readSpecifier(state), line: start.line, names, isReExport: true })
  } else {
    expect(state, ';')
    state.lists.push(...names.map((name) => ({ name, token: start })))
  }
  cut(state, start)
}

/** The names behind an opening brace, and the closing one. */
function readNames(state: State): Renamed[] {
  const names: Renamed[] = []
  while (!isMark(state.code[state.at], '}')) {
    const from = readWord(state)
    const isRenamed = state.code[state.at]?.text === 'as'
    if (isRenamed) next(state)
    names.push({ from, to: isRenamed ? readWord(state) : from })
    if (!isMark(state.code[state.at], '}')) expect(state, ',')
  }
  next(state)
  return names
}

/**
 * Reads the module name at the end of a statement. The import attributes that may follow it (`with`) are not
 * understood.
 */
function readSpecifier(state: State): string {
  const token = next(state)
  if (token.kind !== 'string') refuse(state, token, `"${token.text}" where the name of a module was expected`)
  expect(state, ';')
  return token.text
}

/** Looks ahead over `= value;` */
function expectOnlyOne(state: State): void {
  const { at } = state
  expect(state, '=')
  let open = 0
  for (let token = next(state); open > 0 || !isMark(token, ';'); token = next(state)) {
    open += nesting(token)
    if (open === 0 && isMark(token, ',')) refuse(state, token, 'several constants in one export')
  }
  state.at = at
}

function readWord(state: State): string {
  const token = next(state)
  if (token.kind !== 'word') refuse(state, token, `"${token.text}" where a name was expected`)
  return token.text
}

function expect(state: State, text: string): void {
  const token = next(state)
  if (token.text !== text || token.kind === 'string') {
    refuse(state, token, `"${token.text}" where "${text}" was expected`)
  }
}

function next(state: State): Token {
  const token = state.code[state.at++]
  if (token === undefined) throw refusal(state.path, state.code.at(-1)?.line ?? 1, 'it ends within a statement')
  return token
}

function isMark(token: Token | undefined, text: string): boolean {
  return token?.kind === 'mark' && token.text === text
}

/** Cuts from a token to the token that was read last. */
function cut(state: State, { start }: Token, becomes: Cut['becomes'] = 'nothing'): void {
  state.cuts.push({ start, end: state.code[state.at - 1]?.end ?? start, becomes })
}

function refuse(state: State, token: Token, what: string): never {
  throw refusal(state.path, token.line, what)
}
