/**
 * Compares the table "Which file can do harm" of SECURITY.md with the table of powers.
 *
 * A row of the document is `| power | files, each in backticks |`; more columns may follow. Both tables must name the
 * same powers, and the same files in each, in any order. A row with more than `namedFiles` files has their number, the
 * files by which they get the power, and a link to the list.
 */
import { powers, type Power } from './power-table.ts'
import type { Finding } from './finding.ts'

const document = 'SECURITY.md'
const heading = /^#+ .*which file can do harm/i
const namedFiles = 25

/** Returns the second cell of a row of the document. */
export function filesCell({ files, modules }: Power): string {
  if (files.length <= namedFiles) return listOf(files)
  const doors = Object.keys(modules).map((name) => `\`${name}\``).join(', ')
  return `${files.length} files that use ${doors}: [the list](scripts/shape/power-table.ts), and the README of each part`
}

export function checkSecurityTable(text: string): Finding[] {
  const { line, rows } = readTable(text)
  if (rows.size === 0) return [finding(line, 'no table under a heading "Which file can do harm"')]
  const unknown = [...rows].filter(([power]) => !powers.some((row) => row.power === power))
  const differing = powers.filter((row) => rows.get(row.power)?.cell !== comparable(filesCell(row)))
  return [
    ...unknown.map(([power, row]) => finding(row.line, `"${power}" is no power in scripts/shape/architecture.ts`)),
    ...differing.map((row) => {
      return finding(rows.get(row.power)?.line ?? line, `must have the row: | ${row.power} | ${filesCell(row)} |`)
    }),
  ]
}

interface Row {
  readonly line: number
  readonly cell: string
}

function readTable(text: string): { line: number; rows: Map<string, Row> } {
  const lines = text.split('\n')
  const start = lines.findIndex((line) => heading.test(line))
  const rows = new Map<string, Row>()
  for (const [offset, line] of lines.slice(start + 1).entries()) {
    if (start < 0 || line.startsWith('#')) break
    const [, power = '', cell = ''] = line.split('|').map((part) => part.trim())
    if (cell.includes('`')) rows.set(power, { line: start + offset + 2, cell: comparable(cell) })
  }
  return { line: Math.max(start, 0) + 1, rows }
}

/** Returns the text of a cell, with the files of a list in order. */
function comparable(cell: string): string {
  const files = [...cell.matchAll(/`([^`]+)`/g)].map(([, path = '']) => path)
  return cell.replaceAll(/`[^`]+`|[, ]/g, '') === '' ? listOf(files) : cell
}

function listOf(files: readonly string[]): string {
  return [...files].sort().map((path) => `\`${path}\``).join(', ')
}

function finding(line: number, message: string): Finding {
  return { file: document, line, rule: 'security-table', message }
}
