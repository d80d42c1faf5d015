/**
 * Reads the imports of a source file: every static form, re-exports, and `import()` of a constant.
 *
 * A computed `import()` has no specifier and is reported by the rule about dangerous code instead. Names are the names
 * in the module, not the local names; `*` stands for everything (a namespace, a default, an import for its effect).
 */
import type { Token } from './tokens.ts'

export interface Import {
  readonly specifier: string
  readonly line: number
  /** Erased by the compiler: nothing of the module runs. */
  readonly typeOnly: boolean
  /** By `import()`, when it is needed. */
  readonly isDynamic: boolean
  /** Names taken at run time. */
  readonly names: readonly string[]
  /** All names, types included. */
  readonly importedNames: readonly string[]
  /** Names taken at run time, each with its name in this file: of `{ a as b }` name `a` and local `b`. */
  readonly bindings: readonly Binding[]
}

export interface Binding {
  /** The name in the module; `*` for all of it. */
  readonly name: string
  readonly local: string
}

export function readImports(code: readonly Token[]): Import[] {
  const found: Import[] = []
  for (const [index, token] of code.entries()) {
    if (token.kind !== 'word' || code[index - 1]?.text === '.') continue
    if (token.text === 'import') found.push(...readImport(code, index))
    if (token.text === 'export') found.push(...readReExport(code, index))
  }
  return found
}

function readImport(code: readonly Token[], at: number): Import[] {
  const next = code[at + 1]
  if (next?.kind === 'string') return [importOf(next, false, ['*'])]
  if (next?.text === '(') {
    const specifier = code[at + 2]
    return specifier?.kind === 'string' ? [{ ...importOf(specifier, false, ['*']), isDynamic: true }] : []
  }
  // `import.meta`, or a property that is called import.
  if (next?.kind !== 'word' && next?.text !== '{' && next?.text !== '*') return []
  return readClause(code, at + 1)
}

function readReExport(code: readonly Token[], at: number): Import[] {
  const first = code[at + 1]?.text === 'type' ? at + 2 : at + 1
  const opening = code[first]?.text
  if (opening !== '{' && opening !== '*') return []
  return readClause(code, at + 1)
}

/** `[type] [default ,] [* as x | { a, type b, c as d }] from 'specifier'`; no `from` means a plain export list. */
function readClause(code: readonly Token[], start: number): Import[] {
  const second = code[start + 1]?.text
  const allTypes = code[start]?.text === 'type' && second !== 'from' && second !== ','
  const from = endOfClause(code, allTypes ? start + 1 : start)
  const specifier = code[from + 1]
  if (code[from]?.text !== 'from' || specifier?.kind !== 'string') return []
  const clause = code.slice(allTypes ? start + 1 : start, from)
  const bindings = allTypes ? [] : runtimeBindings(clause)
  const names = bindings.map(({ name }) => name)
  const importedNames = runtimeBindings(withoutTypeWords(clause)).map(({ name }) => name)
  return [{ ...importOf(specifier, names.length === 0, names), importedNames, bindings }]
}

/** The index behind the names: that of `from`, if there is one. */
function endOfClause(code: readonly Token[], start: number): number {
  let index = start
  for (let depth = 0; index < code.length; index++) {
    const text = code[index]?.text
    if (text === '{') depth++
    else if (text === '}') {
      if (--depth === 0) return index + 1
    } else if (depth === 0 && text === 'from') return index
  }
  return index
}

function runtimeBindings(clause: readonly Token[]): Binding[] {
  const bindings: Binding[] = []
  let inBraces = false
  for (const [index, token] of clause.entries()) {
    const before = clause[index - 1]?.text
    const after = clause[index + 1]
    const local = (after?.text === 'as' ? clause[index + 2]?.text : undefined) ?? token.text
    if (token.text === '{') inBraces = true
    else if (token.text === '*') bindings.push({ name: '*', local })
    else if (!inBraces && token.kind === 'word' && before === undefined) bindings.push({ name: '*', local })
    else if (!inBraces || token.kind !== 'word') continue
    else if (token.text === 'type' && after?.kind === 'word' && after.text !== 'as') continue
    else if (before === '{' || before === ',') bindings.push({ name: token.text, local })
  }
  return bindings
}

/** The clause as if all its names were taken at run time. */
function withoutTypeWords(clause: readonly Token[]): readonly Token[] {
  return clause.filter(({ text }, index) => {
    const after = clause[index + 1]
    return !(text === 'type' && after?.kind === 'word' && after.text !== 'as')
  })
}

function importOf(specifier: Token, typeOnly: boolean, names: readonly string[]): Import {
  const { text, line } = specifier
  return { specifier: text, line, typeOnly, isDynamic: false, names, importedNames: names, bindings: [] }
}
