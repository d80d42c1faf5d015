/**
 * Rules about how a file is written: its name, header and size, and the ways round the type checker.
 *
 * They are the part of the house style that a program can see; the rest is for readers.
 */
import { forbiddenNames, limits } from './architecture.ts'
import type { Finding } from './finding.ts'
import { measureFunctions } from './functions.ts'
import type { SourceFile } from './source-file.ts'
import type { Token } from './tokens.ts'

type Rule = (file: SourceFile) => Finding[]

/** Every rule here over one file. */
export function checkStyle(file: SourceFile): Finding[] {
  return styleRules.flatMap((rule) => rule(file))
}

/** A sentence at least before the first import. Only asked of src. */
export const checkHeader: Rule = (file) => {
  const header = /^(?:#![^\n]*\n)?\/\*\*([^]*?)\*\//.exec(file.text)?.[1] ?? ''
  const prose = header.split('\n').filter((line) => /[\p{L}\d]/u.test(line))
  if (prose.length >= limits.headerLines) return []
  return [
    finding(file, 1, 'header', 'begin with a /** comment: what this file is, what it promises, what it does not do'),
  ]
}

/** The log is an argument; only the command line may print. */
export const checkConsole: Rule = (file) =>
  file.code.flatMap((token, index) => {
    const isUse = token.text === 'console' && token.kind === 'word' && file.code[index + 1]?.text === '.'
    if (!isUse || file.code[index - 1]?.text === '.') return []
    return [finding(file, token.line, 'console', 'write to the log that you were given; only src/cli prints')]
  })

const checkName: Rule = (file) => {
  const parts = file.path.replace(/(\.test)?\.ts$/, '').split('/')
  const vague = parts.flatMap((part) => part.split('-')).find((word) => forbiddenNames.has(word))
  if (vague !== undefined) return [finding(file, 1, 'name', `"${vague}" says nothing: name what the file holds`)]
  const odd = parts.find((part) => !/^[a-z0-9]+(-[a-z0-9]+)*$/.test(part))
  return odd === undefined ? [] : [finding(file, 1, 'name', `"${odd}" is not in kebab-case`)]
}

const checkSize: Rule = (file) => {
  const { lineCount } = file
  const limit = file.path.startsWith('test/') ? limits.testFileLines : limits.fileLines
  if (lineCount <= limits.fileLinesWarning) return []
  const message = `${lineCount} lines: find the missing noun and give it a file (limit ${limit})`
  const one = finding(file, lineCount, 'size', message)
  return [lineCount > limit ? one : { ...one, warning: true }]
}

/**
 * The width of lines. Outside of src a line may be longer where one text, template or regular expression in it takes
 * most of it, or where it is inside of a template: the characters of those matter to the test.
 */
export const checkColumns: Rule = (file) => {
  const wide = file.text.split('\n').flatMap((line, index) => (columnsOf(line) > limits.columns ? [index + 1] : []))
  if (wide.length === 0) return []
  const literals = file.path.startsWith('src/') ? [] : wideLiterals(file)
  const long = wide.filter((line) => !literals.some(({ first, last }) => first <= line && line <= last))
  const [first] = long
  if (first === undefined) return []
  const message = `${long.length} lines of more than ${limits.columns} columns: wrap them`
  return [finding(file, first, 'columns', message)]
}

function columnsOf(text: string): number {
  return Array.from(text).length
}

/** The lines of literals that are wide or have several lines. The parts of a template in one line count together. */
function wideLiterals({ code, text }: SourceFile): readonly { readonly first: number; readonly last: number }[] {
  const starts = new Map<number, number>()
  return code.filter(({ kind }) => kind === 'string' || kind === 'template' || kind === 'regex').flatMap((token) => {
    const { kind, line, start, end } = token
    const from = kind === 'template' ? starts.get(line) ?? start : start
    if (kind === 'template') starts.set(line, from)
    const more = text.slice(start, end).split('\n').length - 1
    const isWide = more > 0 || columnsOf(text.slice(from, end)) >= limits.literalColumns
    return isWide ? [{ first: line, last: line + more }] : []
  })
}

const checkFunctions: Rule = (file) => {
  const limit = file.path.startsWith('test/') ? limits.testFunctionLines : limits.functionLines
  return measureFunctions(file.code)
    .filter(({ lineCount }) => lineCount > limit)
    .map(({ line, lineCount }) => {
      return finding(file, line, 'function', `a function of ${lineCount} lines (limit ${limit}): name its steps`)
    })
}

/** `: any`, `any[]`, `<any>` and so on; not a member, key or method of that name. */
const checkAny: Rule = (file) =>
  file.code.flatMap((token, index) => {
    if (token.text !== 'any' || token.kind !== 'word') return []
    const before = file.code[index - 1]?.text
    const after = file.code[index + 1]?.text
    if (before === '.' || before === '?.' || after === '(' || after === ':') return []
    return [finding(file, token.line, 'any', 'use unknown and narrow it with a check')]
  })

/** An exclamation mark directly behind a value. */
const checkNonNull: Rule = (file) =>
  file.code.flatMap((token, index) => {
    const before = file.code[index - 1]
    if (token.text !== '!' || token.kind !== 'mark' || !before?.endsValue || before.end !== token.start) return []
    return [finding(file, token.line, 'non-null', 'handle the missing case, or throw with the reason it cannot be')]
  })

/** The lines of all casts but `as const`. */
export function castsOf(file: SourceFile): readonly number[] {
  return file.code.filter((_, index) => isCast(file.code, index)).map(({ line }) => line)
}

const checkCasts: Rule = (file) => {
  const message = 'a cast proves nothing: narrow the value with a check, or type it where it is made'
  return castsOf(file).map((line) => finding(file, line, 'cast', message))
}

const checkComments: Rule = (file) =>
  file.comments.flatMap(({ text, line }) => {
    const match = /\b(?:TODO|FIXME)\b|@ts-(?:ignore|nocheck|expect-error)/.exec(text)
    if (match === null) return []
    const at = line + text.slice(0, match.index).split('\n').length - 1
    return [finding(file, at, 'comment', `"${match[0]}": do it, or open an issue`)]
  })

const styleRules: readonly Rule[] = [
  checkName, checkSize, checkColumns, checkFunctions, checkAny, checkNonNull, checkCasts, checkComments,
]

function isCast(code: readonly Token[], index: number): boolean {
  const [before, token, after] = [code[index - 1], code[index], code[index + 1]]
  if (token?.text !== 'as' || token.kind !== 'word' || !before?.endsValue && before?.text !== '}') return false
  if (after === undefined || after.text === 'const') return false
  // Behind a value, `as` is the operator; it is a name before one of these.
  if (after.kind === 'mark' && !'{[('.includes(after.text)) return false
  return !isRename(code, index)
}

/** `import { a as b }`, `export * as b` and `[K in T as U]` are no casts. */
function isRename(code: readonly Token[], index: number): boolean {
  let depth = 0
  for (let at = index - 1; at >= 0; at--) {
    const text = code[at]?.kind === 'mark' ? code[at]?.text : undefined
    if (text === ')' || text === ']' || text === '}') depth++
    if (text !== '(' && text !== '[' && text !== '{') continue
    if (depth-- > 0) continue
    const opener = code[at - 1]?.text
    if (text === '{') return opener === 'import' || opener === 'export' || isImportClause(code, at)
    return text === '[' && code.slice(at, index).some((token) => token.text === 'in')
  }
  return false
}

/** `import type {` and `import name, {` */
function isImportClause(code: readonly Token[], brace: number): boolean {
  const words = code.slice(Math.max(0, brace - 3), brace).map(({ text }) => text)
  if (words.at(-1) === 'type') return words.at(-2) === 'import' || words.at(-2) === 'export'
  return words.at(-1) === ',' && words.at(-3) === 'import'
}

function finding(file: SourceFile, line: number, rule: string, message: string): Finding {
  return { file: file.path, line, rule, message }
}
