/**
 * Rules about imports inside src: the import table, which grants only imports that exist, nothing from outside, no
 * cycles of files, not even of types, and no circles of folders. An `import()` closes no cycle: it is done when
 * everything has been evaluated.
 */
import { posix } from 'node:path'
import { importTable } from './architecture.ts'
import type { Finding } from './finding.ts'
import type { Import } from './imports.ts'
import type { SourceFile } from './source-file.ts'

export function checkImports(file: SourceFile): Finding[] {
  const unit = unitOf(file.path)
  if (unit === undefined) {
    const message = 'no row of the import table covers this file: move it, or add a row to ' +
      'scripts/shape/architecture.ts'
    return [{ file: file.path, line: 1, rule: 'imports', message }]
  }
  return file.imports.flatMap((one) => {
    const message = objection(file.path, unit, one.specifier)
    return message === undefined ? [] : [{ file: file.path, line: one.line, rule: 'imports', message }]
  })
}

/** Finds import cycles among the given files and reports each at the import that closes it. */
export function checkCycles(files: readonly SourceFile[]): Finding[] {
  const byPath = new Map(files.map((file) => [file.path, file]))
  const done = new Set<string>()
  const findings: Finding[] = []
  const visit = (file: SourceFile, trail: readonly string[]): void => {
    const path = [...trail, file.path]
    for (const one of file.imports) {
      if (one.isDynamic) continue
      const target = byPath.get(targetOf(file.path, one))
      if (target === undefined || done.has(target.path)) continue
      const start = path.indexOf(target.path)
      if (start >= 0) findings.push(cycle(file.path, one.line, [...path.slice(start), target.path]))
      else visit(target, path)
    }
    done.add(file.path)
  }
  for (const file of files) if (!done.has(file.path)) visit(file, [])
  return findings
}

/**
 * Finds circles among the rows of the import table, and among the folders of src, though no two files may import each
 * other. The files of a folder are one unit, without those of its subfolders; each file of src itself is one alone.
 */
export function checkCircles(files: readonly SourceFile[]): Finding[] {
  return [
    ...circlesAmong(files, (path) => unitOf(path) ?? '', 'move what both need into a row of its own'),
    ...circlesAmong(files, folderOf, 'move what both need into a folder of its own'),
  ]
}

function folderOf(path: string): string {
  const folder = posix.dirname(path)
  return folder === 'src' ? path : folder
}

function circlesAmong(files: readonly SourceFile[], nameOf: (path: string) => string, advice: string): Finding[] {
  const edges = new Map<string, Map<string, Finding>>()
  for (const file of files) {
    const from = nameOf(file.path)
    for (const one of file.imports.filter(({ isDynamic, specifier }) => !isDynamic && specifier.startsWith('.'))) {
      const to = nameOf(targetOf(file.path, one))
      const message = `closes a circle of "${from}" and "${to}": ${advice}`
      const known = edges.get(from) ?? new Map<string, Finding>()
      if (from !== to && !known.has(to)) known.set(to, { file: file.path, line: one.line, rule: 'circles', message })
      edges.set(from, known)
    }
  }
  const reaches = (from: string, wanted: string, seen = new Set<string>()): boolean => {
    if (from === wanted) return true
    seen.add(from)
    return [...(edges.get(from)?.keys() ?? [])].some((next) => !seen.has(next) && reaches(next, wanted, seen))
  }
  return [...edges].flatMap(([from, targets]) => {
    return [...targets].flatMap(([to, finding]) => (reaches(to, from) ? [finding] : []))
  })
}

type Table = typeof importTable

/** Grants of the table that no import among the files needs. Asked of a whole tree. */
export function checkUnusedGrants(files: readonly SourceFile[], table: Table = importTable): Finding[] {
  const used = new Map<string, Set<string>>(Object.keys(table).map((unit) => [unit, new Set()]))
  for (const file of files) {
    const unit = unitOf(file.path, table) ?? ''
    for (const one of file.imports) {
      const target = unitOf(targetOf(file.path, one), table)
      if (target !== undefined && target !== unit) used.get(unit)?.add(target)
    }
  }
  return Object.entries(table).flatMap(([unit, grants]) => {
    const targets = [...used.get(unit) ?? []]
    return grants.filter((grant) => !targets.some((target) => isOf(grant, target))).map((grant) => {
      const message = `the import table lets ${unit} import ${grant}, which no file there does: take it out of the row`
      return { file: 'scripts/shape/architecture.ts', line: 1, rule: 'imports', message }
    })
  })
}

/**
 * Returns the grants of a row and of the rows inside it, without grants inside the row and grants that another grant
 * covers.
 */
export function grantsBelow(folder: string, table: Table = importTable): readonly string[] {
  const rows = Object.entries(table).filter(([unit]) => isOf(folder, unit)).flatMap(([, grants]) => grants)
  const outside = [...new Set(rows)].filter((grant) => !isOf(folder, grant))
  return outside.filter((grant) => !outside.some((other) => other !== grant && isOf(other, grant)))
}

/** The row of the table that a file of src belongs to: the most specific one. */
export function unitOf(path: string, table: Table = importTable): string | undefined {
  const inner = path.replace(/^src\//, '')
  return Object.keys(table)
    .filter((unit) => inner === unit || inner.startsWith(`${unit}/`))
    .sort((a, b) => b.length - a.length)[0]
}

function objection(from: string, unit: string, specifier: string): string | undefined {
  if (specifier.startsWith('node:')) return undefined
  if (!specifier.startsWith('.')) {
    return `"${specifier}" is a package: use the Node standard library (with the prefix node:) or write it here`
  }
  const target = posix.join(posix.dirname(from), specifier)
  if (!target.startsWith('src/')) return `"${specifier}" lies outside src: nothing that is shipped may need it`
  const targetUnit = unitOf(target)
  if (targetUnit === unit || (targetUnit !== undefined && isAllowed(unit, targetUnit))) return undefined
  const allowed = importTable[unit]?.join(', ') || 'nothing else'
  return `${unit} may not import ${targetUnit ?? target}, only ${allowed}: pass what you need as an argument, or ` +
    'move it'
}

/** A folder in a row stands for the rows inside it, too. */
function isAllowed(unit: string, target: string): boolean {
  return importTable[unit]?.some((row) => isOf(row, target)) === true
}

function isOf(row: string, target: string): boolean {
  return target === row || target.startsWith(`${row}/`)
}

function targetOf(from: string, one: Import): string {
  return posix.join(posix.dirname(from), one.specifier)
}

function cycle(file: string, line: number, path: readonly string[]): Finding {
  const message = `import cycle ${path.join(' -> ')}: move what both need into a file of its own`
  return { file, line, rule: 'cycles', message }
}
