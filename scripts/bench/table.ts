/**
 * Prints rows as one table for the terminal: every column as wide as its widest cell, and nothing is cut.
 */
import { isMet, type Row, type Target } from './gate.ts'

const titles = ['what', 'limit', 'ratio', 'quartiles', 'target', '', 'for size']

/** Lines without a line feed; the first is the titles, the second a rule. */
export function printTable(rows: readonly Row[]): string[] {
  const cells = rows.map(cellsOf)
  const widths = titles.map((title, column) => Math.max(title.length, ...cells.map((row) => row[column]?.length ?? 0)))
  const line = (row: readonly string[]): string => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ').trimEnd()
  return [line(titles), '-'.repeat(widths.reduce((sum, width) => sum + width + 2, -2)), ...cells.map(line)]
}

function cellsOf(row: Row): string[] {
  const { what, limit, ratio, target, context = '' } = row
  const quartiles = `${ratio.low.toFixed(2)}-${ratio.high.toFixed(2)}`
  return [what, limit, ratio.median.toFixed(2), quartiles, printTarget(target), isMet(row) ? 'met' : 'missed', context]
}

function printTarget(target: Target): string {
  return 'atMost' in target ? `<= ${target.atMost}` : `>= ${target.atLeast}`
}
