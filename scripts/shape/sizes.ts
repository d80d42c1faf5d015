/**
 * How much there is to read: lines written by hand and files with powers, of the core and of each part, beside their
 * budgets.
 *
 * A budget is the size that the last commit that raised it allowed. A tree that is larger fails, so that growth is a
 * decision.
 */
import { isGenerated, lineBudgets } from './architecture.ts'
import { powers } from './power-table.ts'
import type { Finding } from './finding.ts'
import type { SourceFile } from './source-file.ts'

export interface Size {
  /** `core`, or the name of a part. */
  readonly unit: string
  readonly files: number
  readonly lines: number
  /** Files with a power. */
  readonly powerful: number
  /** The lines of the files with a power. */
  readonly powerfulLines: number
  /** Undefined for a unit without one. */
  readonly budget: number | undefined
}

export type SizedFile = Pick<SourceFile, 'path' | 'lineCount'>

/** The sizes of a tree, the core first. */
export function sizesOf(files: readonly SizedFile[]): Size[] {
  const units = new Map<string, SizedFile[]>([['core', []]])
  for (const file of files.filter(({ path }) => path.startsWith('src/') && !isGenerated(path))) {
    const unit = unitOf(file.path)
    units.set(unit, [...(units.get(unit) ?? []), file])
  }
  const granted = new Set(powers.flatMap((power) => power.files))
  return [...units].map(([unit, own]) => {
    const powerful = own.filter(({ path }) => granted.has(path))
    return {
      unit,
      files: own.length,
      lines: linesOf(own),
      powerful: powerful.length,
      powerfulLines: linesOf(powerful),
      budget: lineBudgets[unit],
    }
  })
}

function linesOf(files: readonly SizedFile[]): number {
  return files.reduce((sum, { lineCount }) => sum + lineCount, 0)
}

export function checkSizes(files: readonly SizedFile[]): Finding[] {
  return sizesOf(files).flatMap(({ unit, lines, budget }): Finding[] => {
    if (budget !== undefined && lines <= budget) return []
    const message = budget === undefined
      ? `"${unit}" has no budget of lines: add one to lineBudgets`
      : `"${unit}" has ${lines} lines, more than its budget of ${budget}: delete some, or raise the budget and say why`
    return [{ file: 'scripts/shape/architecture.ts', line: 1, rule: 'budget', message }]
  })
}

function unitOf(path: string): string {
  return /^src\/parts\/([^/]+)\//.exec(path)?.[1] ?? 'core'
}
