/**
 * Prints rows as one table: for the terminal, with every column as wide as its widest cell, or in Markdown for README.
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

/** The same as a table of Markdown. */
export function printMarkdown(rows: readonly Row[]): string[] {
  const line = (row: readonly string[]): string => `| ${row.join(' | ')} |`
  return [line(titles), `|${'---|'.repeat(titles.length)}`, ...rows.map((row) => line(cellsOf(row)))]
}

function cellsOf(row: Row): string[] {
  const { what, limit, ratio, target, context = '' } = row
  const quartiles = `${printFigure(ratio.low)}-${printFigure(ratio.high)}`
  return [what, limit, printFigure(ratio.median), quartiles, printTarget(target), verdictOf(row), context]
}

function verdictOf(row: Row): string {
  const met = isMet(row)
  if (met === undefined) return ''
  return met ? 'met' : 'missed'
}

/** Ratios are near 1; figures of their own may be large. */
function printFigure(figure: number): string {
  return figure.toFixed(figure < 10 ? 2 : 1)
}

function printTarget(target: Target): string {
  if (target === 'none') return ''
  return 'atMost' in target ? `<= ${target.atMost}` : `>= ${target.atLeast}`
}
