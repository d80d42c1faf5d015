/**
 * Lists the interfaces that a source offers and the things that it reaches, read from its tokens: routes with their
 * rights, options, uses of powers, addresses, packages, and the list of files, programs and addresses that a running
 * server touches.
 *
 * It reads tables that are written out. A route or an option that is computed would be missed; the source has none.
 */
import { powers } from '../shape/power-table.ts'
import { usesOf } from '../shape/powers.ts'
import type { SourceFile } from '../shape/source-file.ts'
import type { Token } from '../shape/tokens.ts'
import { linesOfName } from './uses.ts'

/** Something at a place of the source. */
export interface Found {
  readonly file: string
  readonly line: number
  readonly name: string
}

/** `core`, or the name of the part that a file belongs to. */
export function unitOf(path: string): string {
  return /^src\/parts\/([^/]+)\//.exec(path)?.[1] ?? 'core'
}

const route = /^(?:GET|POST|PUT|PATCH|DELETE) \//

/** The routes with their rights: `GET /api/settings: read`. */
export function routesOf(files: readonly SourceFile[]): readonly Found[] {
  return descriptions(files, 'src/access.ts').flatMap(({ path, code }) => code.flatMap((token, index) => {
    const [colon, right] = [code[index + 1], code[index + 2]]
    if (token.kind !== 'string' || !route.test(token.text) || colon?.text !== ':' || right?.kind !== 'string') return []
    return [{ file: path, line: token.line, name: `${token.text}: ${right.text}` }]
  }))
}

const makers = new Set([
  'bytes', 'commands', 'count', 'integer', 'list', 'milliseconds', 'oneOf', 'optionalPath', 'optionalText', 'path',
  'text', 'toggle',
])

export function optionsOf(files: readonly SourceFile[]): readonly Found[] {
  return descriptions(files, 'src/config.ts').flatMap(({ path, code }) => code.flatMap((token, index) => {
    const [colon, maker, open] = [code[index + 1], code[index + 2], code[index + 3]]
    const isOption = colon?.text === ':' && makers.has(maker?.text ?? '') && open?.text === '('
    return token.kind === 'word' && isOption ? [{ file: path, line: token.line, name: token.text }] : []
  }))
}

function descriptions(files: readonly SourceFile[], core: string): readonly SourceFile[] {
  return files.filter(({ path }) => path === core || /^src\/parts\/[^/]+\/part\.ts$/.test(path))
}

export interface PowerUse {
  readonly power: string
  readonly file: string
  /** The door: `spawn of node:child_process`. */
  readonly door: string
  /** Where it is imported or read, then where its name stands. */
  readonly lines: readonly number[]
}

export function powerUsesOf(files: readonly SourceFile[]): readonly PowerUse[] {
  const uses = files.flatMap((file) => usesOf(file).flatMap(({ what, line, rows, local }) => {
    const lines = [line, ...(local === undefined ? [] : linesOfName(file, local, line))]
    return rows.map(({ power }) => ({ power, file: file.path, door: what, lines }))
  }))
  const joined = new Map<string, PowerUse>()
  for (const use of uses) {
    const key = `${use.power} ${use.file} ${use.door}`
    const lines = [...new Set([...joined.get(key)?.lines ?? [], ...use.lines])]
    joined.set(key, { ...use, lines })
  }
  const order = powers.map(({ power }) => power)
  return [...joined.values()].sort((a, b) => order.indexOf(a.power) - order.indexOf(b.power))
}

const address = /(?:https?|wss?):\/\/[a-z0-9[][^\s'"`$<>)\\]*/gi

/** Addresses that stand in the source. The rest of a template is `...`. */
export function addressesOf(files: readonly SourceFile[]): readonly Found[] {
  return byHand(files).flatMap(({ path, code }) => code
    .filter(({ kind }) => kind === 'string' || kind === 'template')
    .flatMap(({ line, text }) => (text.match(address) ?? []).map((found) => {
      const isOpen = text.endsWith(`${found}\${`)
      return { file: path, line, name: isOpen ? `${found}...` : found.replace(/[.,;:]$/, '') }
    })))
}

function byHand(files: readonly SourceFile[]): readonly SourceFile[] {
  return files.filter(({ path }) => !path.startsWith('src/schema/'))
}

/** Imports that are neither a file of the source nor a module of Node. */
export function packagesOf(files: readonly SourceFile[]): readonly Found[] {
  return files.flatMap(({ path, imports }) => imports
    .filter(({ specifier }) => !specifier.startsWith('.') && !specifier.startsWith('node:'))
    .map(({ specifier, line }) => ({ file: path, line, name: specifier })))
}

export interface Touched {
  readonly kind: string
  readonly name: string
  readonly why: string
}

/** Returns the rows of the list of files, programs and addresses that a running server touches. */
export function touchesOf(files: readonly SourceFile[]): readonly Touched[] {
  const code = files.find(({ path }) => path === 'src/parts/selftest/touches.ts')?.code ?? []
  return code.flatMap((token, index) => {
    if (token.text !== 'kind' || code[index - 1]?.text !== '{') return []
    const [kind, name, why] = [index, index + 4, index + 8].map((at) => valueAt(code, at))
    return kind === undefined || name === undefined || why === undefined ? [] : [{ kind, name, why }]
  })
}

function valueAt(code: readonly Token[], index: number): string | undefined {
  return code[index + 1]?.text === ':' && code[index + 2]?.kind === 'string' ? code[index + 2]?.text : undefined
}
