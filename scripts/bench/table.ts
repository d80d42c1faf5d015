/**
 * Prints rows as one table: for the terminal, with every column as wide as its widest cell, or in Markdown for the
 * README.md of this folder.
 */
import { isMet, isOfPeer, type Row, type Target } from './gate.ts'

const titles = ['what', 'limit', 'ratio', 'quartiles', 'target', '', 'for size']

/** Lines without a line feed; the first is the titles, the second a rule. */
export function printTable(rows: readonly Row[]): string[] {
  const cells = rows.map(cellsOf)
  const widths = titles.map((title, column) => Math.max(title.length, ...cells.map((row) => row[column]?.length ?? 0)))
  const line = (row: readonly string[]): string =>
    row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ').trimEnd()
  return [line(titles), '-'.repeat(widths.reduce((sum, width) => sum + width + 2, -2)), ...cells.map(line)]
}

/** A table of Markdown with the figures of peers behind those of this server. */
export function printMarkdown(rows: readonly Row[]): string[] {
  const peersOf = (own: Row): string =>
    rows.filter((row) => isOfPeer(row) && row.what === own.what).map(printPeer).join(', ')
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`
  const own = rows.filter((row) => !isOfPeer(row))
  const columns = [...titles, 'peers']
  return [
    line(columns), `|${'---|'.repeat(columns.length)}`, ...own.map((row) => line([...cellsOf(row), peersOf(row)])),
  ]
}

function printPeer({ peer, ratio }: Row): string {
  return `${peer} ${printFigure(ratio.median)}`
}

function cellsOf(row: Row): string[] {
  const { limit, ratio, context = '' } = row
  const what = isOfPeer(row) ? `${row.peer}: ${row.what}` : row.what
  const target = isOfPeer(row) ? 'none' : row.target
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
