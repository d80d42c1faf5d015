/**
 * Joins ES modules into few files that do the same, because Node loads few large files far faster than hundreds of
 * small files. Pure: texts in, texts out, and the same out for the same in.
 *
 * Each module becomes a block, in the order in which modules are evaluated (ECMA-262, 16.2.1.5), so that its names stay
 * its own. The first line of a module is the third line below its path. The exports of a module are an object with a
 * name at the top, from which later blocks take their imports. The joined file begins by taking names from Node's
 * modules. The text of a module stays the same but for the words of imports and exports, and `import.meta.url`, which
 * remains the module's own address: the joined files belong into the folder to which the paths are relative. An `await`
 * at the top of a module delays all later modules. A missing name (of Node's modules, a name that the Node of the build
 * lacks), a cycle, a package, and everything that `module.ts` does not know is refused.
 */
import { createRequire, isBuiltin } from 'node:module'
import { posix } from 'node:path'
import { readModule, refusal, type Import, type Loading, type Module, type Renamed } from './module.ts'

export interface Joining {
  /** Path -> text; more of them than the entry needs is fine. */
  readonly modules: ReadonlyMap<string, string>
  /** The path of the module that is run. */
  readonly entry: string
  /** Lines of comment for the readers of the joined files. */
  readonly header: string
  /** The name of the joined file; others that are needed have names made of it. */
  readonly file: string
  /** The group of a module that is only loaded by `import()`. */
  readonly groupOf?: (path: string) => string | undefined
  /** A module that other programs import, and the name of its file, which exports the names of the module. */
  readonly library?: Library
}

interface Library {
  readonly path: string
  readonly file: string
}

/**
 * The joined files by name, the entry's first. Modules that are only loaded by `import()` have files of their own, one
 * for each group; a module without a group is in the file of the entry's imports. A program without `import()` is one
 * file.
 * @throws SyntaxError with path and line, for code that `module.ts` does not know
 */
export function joinModules(joining: Joining): ReadonlyMap<string, string> {
  const { modules, entry, header, file, groupOf = () => undefined, library } = joining
  const { atOnce, ordered } = orderModules(modules, entry, library === undefined ? [] : [library.path])
  const names = nameObjects(ordered)
  const exported = new Map(ordered.map((module) => [module.path, exportsOf(module)]))
  for (const module of ordered) checkNames(module, exported)
  const files = assignFiles({ atOnce, ordered }, { entry, file, groupOf, library })
  const wanted = wantedElsewhere(ordered, files)
  const joined = new Map<string, string>()
  for (const name of new Set([file, ...files.values()])) {
    const own = ordered.filter(({ path }) => files.get(path) === name)
    const lines = name === file ? (shebang.exec(modules.get(entry) ?? '')?.[0] ?? '') : ''
    const host = own.find(({ path }) => path === library?.path)
    const text = printFile(own, { name, files, names, wanted }) + printExports(host, names)
    joined.set(name, lines + header + text)
  }
  return joined
}

interface Assigning extends Required<Pick<Joining, 'entry' | 'file' | 'groupOf'>> {
  readonly library: Library | undefined
}

/** Path -> the file in which the module stands. */
function assignFiles(
  { atOnce, ordered }: Order, { entry, file, groupOf, library }: Assigning,
): ReadonlyMap<string, string> {
  const named = (group: string): string => file.replace(/(?=\.js$)/, `.${group}`)
  const isOne = atOnce.size === ordered.length
  return new Map(ordered.map(({ path }) => {
    if (path === library?.path) return [path, library.file]
    const group = atOnce.has(path) ? undefined : groupOf(path)
    // The entry stands alone, so that the others can import from a file that has been evaluated.
    return [path, isOne || path === entry ? file : named(group ?? 'core')]
  }))
}

/** The paths of modules that another file imports, or that are loaded by `import()`. */
function wantedElsewhere(ordered: readonly Module[], files: ReadonlyMap<string, string>): ReadonlySet<string> {
  const wanted = new Set<string>()
  for (const module of ordered) {
    for (const loading of loadingsOf(module)) wanted.add(targetOf(module, loading))
    for (const one of module.imports) {
      const target = targetOf(module, one)
      if (!isNodes(one) && files.get(target) !== files.get(module.path)) wanted.add(target)
    }
  }
  return wanted
}

interface Printing {
  readonly name: string
  readonly files: ReadonlyMap<string, string>
  readonly names: ReadonlyMap<string, string>
  /** Paths of modules that a file has to export. */
  readonly wanted: ReadonlySet<string>
}

function printFile(own: readonly Module[], { name, files, names, wanted }: Printing): string {
  const needs = new Map<string, Set<string>>()
  for (const module of own) {
    for (const one of module.imports) {
      const target = targetOf(module, one)
      const from = files.get(target) ?? ''
      if (isNodes(one) || from === name) continue
      needs.set(from, (needs.get(from) ?? new Set()).add(names.get(target) ?? ''))
    }
  }
  const given = own.filter(({ path }) => wanted.has(path)).map(({ path }) => names.get(path) ?? '')
  return [
    ...printNodeImports(own),
    ...[...needs].map(([from, objects]) => `import { ${[...objects].sort().join(', ')} } from './${from}';\n`),
    'const $addressOf = (path) => new URL(path, import.meta.url).href;\n',
    ...own.map((module) => printModule(module, names, files)),
    given.length === 0 ? '' : `\nexport { ${given.join(', ')} };\n`,
  ].join('')
}

/** Exports the names of a module from its file. */
function printExports(module: Module | undefined, names: ReadonlyMap<string, string>): string {
  if (module === undefined) return ''
  return `\nexport const { ${[...exportsOf(module)].sort().join(', ')} } = ${names.get(module.path) ?? ''};\n`
}

function loadingsOf({ cuts }: Module): Loading[] {
  return cuts.flatMap(({ becomes }) => (typeof becomes === 'object' ? [becomes] : []))
}

const shebang = /^#!.*\n/
const sourceMap = /\n\/\/# sourceMappingURL=\S+\s*$/

interface Order {
  /** Paths of the modules that the entry imports, directly or not. */
  readonly atOnce: ReadonlySet<string>
  /** These modules and all modules that they may load, each behind the modules that it imports itself. */
  readonly ordered: readonly Module[]
}

function orderModules(modules: ReadonlyMap<string, string>, entry: string, others: readonly string[]): Order {
  const ordered = new Map<string, Module>()
  const later = [...others]
  const visit = (path: string, trail: readonly string[]): void => {
    const text = modules.get(path)
    if (text === undefined) throw new RangeError(`Cannot join ${path}: there is no such module`)
    const module = readModule(path, text)
    for (const one of module.imports) {
      if (isNodes(one)) continue
      const target = targetOf(module, one)
      if (!modules.has(target)) throw refusal(path, one.line, `"${one.specifier}", which is not among the modules`)
      if (target === path || trail.includes(target)) throw refusal(path, one.line, `a cycle through "${one.specifier}"`)
      if (!ordered.has(target)) visit(target, [...trail, path])
    }
    ordered.set(path, module)
    for (const loading of loadingsOf(module)) {
      const target = targetOf(module, loading)
      if (!modules.has(target)) {
        throw refusal(path, loading.line, `"${loading.specifier}", which is not among the modules`)
      }
      later.push(target)
    }
  }
  visit(entry, [])
  const atOnce = new Set(ordered.keys())
  for (let path = later.shift(); path !== undefined; path = later.shift()) if (!ordered.has(path)) visit(path, [])
  return { atOnce, ordered: [...ordered.values()] }
}

/** Maps the path of a module to the name of the object with its exports. */
function nameObjects(ordered: readonly Module[]): ReadonlyMap<string, string> {
  const paths = new Map<string, string>()
  for (const { path } of ordered) {
    const name = `$${path.replace(/\.js$/, '').replaceAll('-', '_').replaceAll(/\W/g, '$')}`
    if (paths.has(name) || name.startsWith('$node$') || name === '$addressOf') {
      throw refusal(path, 1, `two things that are named ${name}`)
    }
    paths.set(name, path)
  }
  return new Map([...paths].map(([name, path]) => [path, name]))
}

function exportsOf({ path, imports, exports }: Module): ReadonlySet<string> {
  const names = [...exports, ...imports.flatMap((one) => (one.isReExport ? one.names : []))].map(({ to }) => to)
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice !== undefined) throw refusal(path, 1, `"${twice}" exported twice`)
  return new Set(names)
}

/** A name that is missing would be found undefined, because the joined files import none of their names. */
function checkNames(module: Module, exported: ReadonlyMap<string, ReadonlySet<string>>): void {
  for (const one of module.imports) {
    const nodes = isNodes(one) ? moduleOfNode(one.specifier) : undefined
    const missing = one.names.find(({ from }) => {
      if (isNodes(one)) return nodes === undefined || !Object.hasOwn(nodes, from)
      return exported.get(targetOf(module, one))?.has(from) !== true
    })
    if (missing !== undefined) {
      throw refusal(module.path, one.line, `"${missing.from}", which "${one.specifier}" does not export`)
    }
  }
}

/** Returns a module of Node; undefined when Node has no such module. */
function moduleOfNode(specifier: string): object | undefined {
  const found: unknown = isBuiltin(specifier) ? createRequire(import.meta.url)(specifier) : undefined
  return found instanceof Object ? found : undefined
}

/**
 * Takes names from Node's modules without importing them. For an import, Node reads every export of its module, which
 * loads further modules of Node that nobody asked for, such as the Web Crypto API behind `node:crypto`.
 */
function printNodeImports(ordered: readonly Module[]): string[] {
  const names = new Map<string, Set<string>>()
  for (const { path, imports } of ordered) {
    for (const one of imports.filter(isNodes)) {
      if (one.namespace !== undefined) throw refusal(path, one.line, `"${one.specifier}" as a whole: import names`)
      const known = names.get(one.specifier) ?? new Set()
      for (const { from } of one.names) known.add(from)
      names.set(one.specifier, known)
    }
  }
  const sorted = [...names].sort(([a], [b]) => (a < b ? -1 : 1))
  const lines = sorted.map(([specifier, used]) => {
    const list = [...used].sort().map((name) => `${name}: ${nodeName(specifier, name)}`)
    return `const { ${list.join(', ')} } = node$require('${specifier}');\n`
  })
  const begin = "import { createRequire } from 'node:module';\nconst node$require = createRequire(import.meta.url);\n"
  return lines.length === 0 ? [] : [begin, ...lines]
}

function printModule(module: Module, names: ReadonlyMap<string, string>, files: ReadonlyMap<string, string>): string {
  const name = names.get(module.path)
  const objectOf = (one: Import): string => names.get(targetOf(module, one)) ?? ''
  const own = module.exports.map(({ from, to }) => (from === to ? to : `${to}: ${from}`))
  const others = module.imports.filter(({ isReExport }) => isReExport).flatMap((one) =>
    one.names.map(({ from, to }) => {
      return `${to}: ${isNodes(one) ? nodeName(one.specifier, from) : `${objectOf(one)}.${from}`}`
    }))
  // A namespace has its names in order, and nothing but them.
  const members = ['__proto__: null', ...[...own, ...others].sort()]
  return [
    `\n// ${module.path}\nlet ${name};\n{ `,
    module.imports.filter(({ isReExport }) => !isReExport).map((one) => printImport(one, objectOf)).join(' '),
    `\n${printText(module, (loading) => printLoading(targetOf(module, loading), names, files))}`,
    `\n${name} = { ${members.join(', ')} };\n}\n`,
  ].join('')
}

function printImport(one: Import, objectOf: (one: Import) => string): string {
  if (one.namespace !== undefined) return `const ${one.namespace} = ${objectOf(one)};`
  if (isNodes(one)) return one.names.map(({ from, to }) => `const ${to} = ${nodeName(one.specifier, from)};`).join(' ')
  return `const { ${one.names.map(printRenamed).join(', ')} } = ${objectOf(one)};`
}

function printRenamed({ from, to }: Renamed): string {
  return from === to ? from : `${from}: ${to}`
}

function printLoading(target: string, names: ReadonlyMap<string, string>, files: ReadonlyMap<string, string>): string {
  const name = names.get(target) ?? ''
  return `import('./${files.get(target) ?? ''}').then((file) => file.${name})`
}

function printText({ path, text, cuts }: Module, printed: (loading: Loading) => string): string {
  let joined = ''
  let at = 0
  for (const { start, end, becomes } of cuts) {
    // Lines stay where they are.
    const lineEnds = text.slice(start, end).replaceAll(/[^\n]/g, '')
    const instead = typeof becomes === 'object'
      ? printed(becomes)
      : becomes === 'address' ? `$addressOf('./${path}')` : ''
    joined += text.slice(at, start) + instead + lineEnds
    at = end
  }
  return (joined + text.slice(at)).replace(shebang, '\n').replace(sourceMap, '')
}

function isNodes({ specifier }: Import): boolean {
  return specifier.startsWith('node:')
}

function nodeName(specifier: string, name: string): string {
  return `$${specifier.replaceAll(/\W/g, '$')}$${name}`
}

function targetOf({ path }: Pick<Module, 'path'>, { specifier }: Pick<Import, 'specifier'>): string {
  return specifier.startsWith('.') ? posix.join(posix.dirname(path), specifier) : specifier
}
