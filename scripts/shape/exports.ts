/**
 * A rule about exports: each function, class and constant that a file of src exports is used by src or scripts.
 *
 * A name that only tests import is dead code with a test. Exports that the file itself uses, and `index.ts`, pass.
 */
import { posix } from 'node:path'
import type { Finding } from './finding.ts'
import type { SourceFile } from './source-file.ts'
import type { Token } from './tokens.ts'

/** @param files all files of src, scripts and test */
export function checkExports(files: readonly SourceFile[], isChecked: (path: string) => boolean): Finding[] {
  const used = usedNames(files.filter(({ path }) => !path.startsWith('test/')))
  return files.filter(({ path }) => isChecked(path)).flatMap((file) => exportsOf(file.code)
    .filter(({ name }) => !isUsed(used.get(file.path), name) && !isUsedInside(file.code, name))
    .map(({ name, line }): Finding => {
      return {
        file: file.path, line, rule: 'exports', message: `nothing but tests uses "${name}": delete it, or use it`,
      }
    }))
}

/** Path -> the names that other files import from it; `*` stands for all. */
function usedNames(files: readonly SourceFile[]): ReadonlyMap<string, ReadonlySet<string>> {
  const used = new Map<string, Set<string>>()
  for (const file of files) {
    for (const { specifier, importedNames } of file.imports) {
      const target = posix.join(posix.dirname(file.path), specifier)
      const names = used.get(target) ?? new Set()
      for (const name of importedNames) names.add(name)
      used.set(target, names)
    }
  }
  return used
}

function isUsed(names: ReadonlySet<string> | undefined, name: string): boolean {
  return names?.has(name) === true || names?.has('*') === true
}

interface Exported {
  readonly name: string
  readonly line: number
}

/** The functions, classes and constants at the top of the file that are exported where they are declared. */
function exportsOf(code: readonly Token[]): Exported[] {
  return code.flatMap(({ text, kind, line }, index): Exported[] => {
    if (kind !== 'word' || text !== 'export') return []
    const words = code.slice(index + 1, index + 5).map((token) => token.text).filter((word) => {
      return word !== 'async' && word !== '*'
    })
    const [declared = '', name = ''] = words
    return ['function', 'class', 'const'].includes(declared) ? [{ name, line }] : []
  })
}

function isUsedInside(code: readonly Token[], name: string): boolean {
  return code.filter(({ kind, text }) => kind === 'word' && text === name).length > 1
}
