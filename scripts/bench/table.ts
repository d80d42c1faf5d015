/**
 * Prints rows as tables: for the terminal, with every column as wide as its widest cell, or in Markdown for documents.
 *
 * Rows that users notice, whose target is an absolute figure, have a table of their own with other columns.
 */
import { isMet, isNoisy, isOfPeer, judgedOf, type Row, type Target } from './gate.ts'
import type { Spread } from './rounds.ts'

interface Column {
  readonly title: string
  readonly cell: (row: Row) => string
}

const verdict: Column = { title: '', cell: verdictOf }
const what: Column = { title: 'what', cell: (row) => (isOfPeer(row) ? `${row.peer}: ${row.what}` : row.what) }
const forSize: Column = { title: 'for size', cell: ({ context = '' }) => context }

const limitColumns: readonly Column[] = [
  what,
  { title: 'limit', cell: ({ limit }) => limit },
  { title: 'ratio', cell: ({ ratio }) => printNumber(ratio.median) },
  { title: 'quartiles', cell: ({ ratio }) => printQuartiles(ratio) },
  { title: 'target', cell: (row) => printTarget(isOfPeer(row) ? 'none' : row.target) },
  verdict,
  forSize,
]

const userColumns: readonly Column[] = [
  what,
  { title: 'ours', cell: ({ figure }) => printFigure(figure?.ours, figure?.unit) },
  { title: 'quartiles', cell: ({ figure }) => (figure === undefined ? '' : printQuartiles(figure.ours)) },
  { title: 'target', cell: (row) => printTarget(isOfPeer(row) ? 'none' : judgedOf(row).target) },
  verdict,
  { title: 'the least', cell: ({ figure }) => printFigure(figure?.least, figure?.unit) },
  { title: 'which is', cell: ({ limit }) => limit },
  forSize,
]

export function isForUsers(row: Row): boolean {
  return row.figure !== undefined && (row.figure.target !== undefined || isOfPeer(row))
}

/** Lines without a line feed; the first of a table is its titles, the second a rule. */
export function printTable(rows: readonly Row[]): string[] {
  const [forUsers, others] = [rows.filter(isForUsers), rows.filter((row) => !isForUsers(row))]
  return [...aligned(userColumns, forUsers), ...aligned(limitColumns, others)]
}

function aligned(columns: readonly Column[], rows: readonly Row[]): string[] {
  if (rows.length === 0) return []
  const cells = rows.map((row) => columns.map(({ cell }) => cell(row)))
  const widths = columns.map(({ title }, at) => Math.max(title.length, ...cells.map((row) => row[at]?.length ?? 0)))
  const line = (row: readonly string[]): string =>
    row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join('  ').trimEnd()
  const titles = columns.map(({ title }) => title)
  return [line(titles), '-'.repeat(widths.reduce((sum, width) => sum + width + 2, -2)), ...cells.map(line)]
}

/** The rows of one kind as a table of Markdown, with `more` columns at its end. */
export function printMarkdown<R extends Row>(
  rows: readonly R[], more: readonly { readonly title: string; readonly cell: (row: R) => string }[] = [],
): string[] {
  const own = rows.filter((row) => !isOfPeer(row))
  const peersOf = (of: Row): string =>
    rows.filter((row) => isOfPeer(row) && row.what === of.what).map(printPeer).join(', ')
  const columns: readonly { readonly title: string; readonly cell: (row: R) => string }[] = [
    ...(rows.some(isForUsers) ? userColumns : limitColumns), { title: 'peers', cell: peersOf }, ...more,
  ]
  return markdown(columns.map(({ title }) => title), own.map((row) => columns.map(({ cell }) => cell(row))))
}

export function markdown(titles: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`
  return [line(titles), `|${'---|'.repeat(titles.length)}`, ...rows.map(line)]
}

export function printPeer({ peer, ratio, figure }: Row): string {
  return `${peer} ${figure === undefined ? printNumber(ratio.median) : printFigure(figure.ours, figure.unit)}`
}

export function printFigure(spread: Spread | undefined, unit = ''): string {
  return spread === undefined ? '' : `${printNumber(spread.median)} ${unit}`.trimEnd()
}

export function verdictOf(row: Row): string {
  const met = isMet(row)
  if (met === undefined) return ''
  if (isNoisy(row)) return 'too noisy to tell'
  return met ? 'met' : 'missed'
}

function printQuartiles({ low, high }: Spread): string {
  return `${printNumber(low)}-${printNumber(high)}`
}

/** Ratios are near 1; figures of their own may be large. */
function printNumber(figure: number): string {
  if (figure >= 1000) return Math.round(figure).toLocaleString('en')
  return figure.toFixed(figure < 10 ? 2 : 1)
}

export function printTarget(target: Target): string {
  if (target === 'none') return ''
  return 'atMost' in target ? `<= ${target.atMost.toLocaleString('en')}` : `>= ${target.atLeast.toLocaleString('en')}`
}
