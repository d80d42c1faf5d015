/**
 * Rules about harm: who may use which module of Node and which global name, and code that nobody may write.
 *
 * They hold for code that does not try to deceive: a member that is named by a value of run time is a way round them
 * that a reader has to notice (`members.ts`). Importing only a type gives no power and is always allowed.
 */
import { posix } from 'node:path'
import {
  forbiddenGlobals, harmlessModules, harmlessProcessMembers, powers, type Names, type Power,
} from './power-table.ts'
import type { Finding } from './finding.ts'
import type { SourceFile } from './source-file.ts'
import type { Token } from './tokens.ts'

/** Checks a file of src against the table of powers. */
export function checkPowers(file: SourceFile): Finding[] {
  return usesOf(file)
    .filter(({ rows }) => !rows.some((row) => row.files.includes(file.path)))
    .map(({ what, line, rows }) => {
      const owners = rows.map(({ power, files }) => `"${power}": ${files.join(', ')}`).join('; ')
      const message = owners === ''
        ? `${what} is in no row: import the single names you need, or add a row to scripts/shape/power-table.ts`
        : `${what} belongs to ${owners}: call one of these, get it as an argument, or rename a local of that name`
      return { file: file.path, line, rule: 'powers', message }
    })
}

/** Finds code made at run time, wherever it stands. */
export function checkDangerousCode(file: SourceFile): Finding[] {
  return file.code.flatMap((token, index) => {
    const message = danger(file.code, index)
    return message === undefined ? [] : [{ file: file.path, line: token.line, rule: 'dangerous', message }]
  })
}

/** Powers that a file has and does not use. */
export function checkUnusedPowers(file: SourceFile): Finding[] {
  const used = new Set(usesOf(file).flatMap(({ rows }) => rows))
  const unused = powers.filter((row) => row.files.includes(file.path) && !used.has(row))
  return unused.map(({ power }): Finding => {
    const message = `"${power}" is granted to this file, where nothing uses it: take it away in ` +
      'scripts/shape/power-table.ts'
    return { file: file.path, line: 1, rule: 'powers', message }
  })
}

/** Files in the table that are not there. */
export function checkMissingFiles(paths: ReadonlySet<string>): Finding[] {
  const missing = new Set(powers.flatMap(({ files }) => files.filter((path) => !paths.has(path))))
  return [...missing].map((path) => {
    return {
      file: 'scripts/shape/power-table.ts',
      line: 1,
      rule: 'powers',
      message: `the table of powers names ${path}, which is not there`,
    }
  })
}

/** A use of a power: a description, and the rows that name it (none for a module or name that nobody may use). */
export interface Use {
  readonly what: string
  readonly line: number
  readonly rows: readonly Power[]
  /** The name in this file of something that is imported; undefined for a global name. */
  readonly local?: string | undefined
}

/** Everything with a power that a file uses. */
export function usesOf(file: SourceFile): Use[] {
  const modules = file.imports
    .filter(({ typeOnly }) => !typeOnly)
    .flatMap(({ specifier, line, names, bindings }) => {
      const module = moduleOf(file.path, specifier)
      return names.flatMap((name, index) => useOfModule(module, name, line)
        .map((use) => ({ ...use, local: bindings[index]?.local })))
    })
  return [...modules, ...file.code.flatMap((_, index) => useOfGlobal(file.code, index))]
}

/** The module of Node, or the path of a file. */
function moduleOf(from: string, specifier: string): string {
  return specifier.startsWith('.') ? posix.join(posix.dirname(from), specifier) : specifier
}

function useOfModule(module: string, name: string, line: number): Use[] {
  if (includes(harmlessModules[module], name)) return []
  const isOfNode = module.startsWith('node:')
  const rows = powers.filter(({ modules: { [module]: names } }) => {
    return includes(names, name) || (!isOfNode && name === '*' && names !== undefined)
  })
  // A file of src hands on no power unless a row says so.
  if (rows.length === 0 && !isOfNode) return []
  return [{ what: name === '*' ? `all of ${module}` : `${name} of ${module}`, line, rows }]
}

function useOfGlobal(code: readonly Token[], index: number): Use[] {
  const line = code[index]?.line ?? 0
  if (!isGlobal(code, index)) return []
  const what = globalName(code, index)
  const exact = powers.filter(({ globals }) => globals.includes(what))
  if (exact.length > 0) return [{ what, line, rows: exact }]
  const [root, member = ''] = what.split('.')
  if (root !== 'process' || harmlessProcessMembers.has(member)) return []
  return [{ what, line, rows: powers.filter(({ globals }) => globals.includes('process.*')) }]
}

/** `all` of a module includes `*`, a list of names does not. */
function includes(names: Names | undefined, name: string): boolean {
  return names === 'all' || names?.includes(name) === true
}

/** False for a member (`child.process`) and for a key or parameter (`{ fetch: ...`, `fetch?: ...`). */
function isGlobal(code: readonly Token[], index: number): boolean {
  const [before, word, after] = [code[index - 1], code[index], code[index + 1]]
  if (word?.kind !== 'word' || before?.text === '.' || before?.text === '?.') return false
  const isNamed = after?.text === ':' || (after?.text === '?' && code[index + 2]?.text === ':')
  const beginsEntry = before === undefined || before.line < word.line || '{,(;readonly'.includes(before.text)
  return !(isNamed && beginsEntry)
}

/** `process.env` for a member of process, else the word. */
function globalName(code: readonly Token[], index: number): string {
  const name = code[index]?.text ?? ''
  const dot = code[index + 1]?.text
  return name === 'process' && (dot === '.' || dot === '?.') ? `process.${code[index + 2]?.text ?? ''}` : name
}

function danger(code: readonly Token[], index: number): string | undefined {
  const word = code[index]?.text ?? ''
  if (word === '\\') return 'an escape in a name hides the name: write its letters'
  if (!isGlobal(code, index)) return undefined
  const after = code[index + 1]?.text
  if (forbiddenGlobals.has(word) || (word === 'global' && (after === '.' || after === '['))) {
    return `"${word}" makes code at run time or hides which name is used: write the code, name the name`
  }
  const isConstant = code[index + 2]?.kind === 'string' && code[index + 3]?.text === ')'
  if (word === 'import' && after === '(' && !isConstant) return 'import() of a computed path: give a constant string'
  return undefined
}
