/**
 * Compares the table "Which file can do harm" of SECURITY.md with the table of powers.
 *
 * A row of the document is `| power | files and folders, each in backticks |`; more columns may follow. Both tables
 * must name the same powers, and the same files in each, in any order.
 */
import { powers } from './power-table.ts'
import type { Finding } from './finding.ts'

const document = 'SECURITY.md'
const heading = /^#+ .*which file can do harm/i

export function checkSecurityTable(text: string): Finding[] {
  const { line, rows } = readTable(text)
  if (rows.size === 0) return [finding(line, 'no table under a heading "Which file can do harm"')]
  const unknown = [...rows].filter(([power]) => !powers.some((row) => row.power === power))
  const differing = powers.filter(({ power, files }) => rows.get(power)?.files !== listOf(files))
  return [
    ...unknown.map(([power, row]) => finding(row.line, `"${power}" is no power in scripts/shape/architecture.ts`)),
    ...differing.map(({ power, files }) => {
      return finding(rows.get(power)?.line ?? line, `must have the row: | ${power} | ${listOf(files)} |`)
    }),
  ]
}

interface Row {
  readonly line: number
  readonly files: string
}

function readTable(text: string): { line: number; rows: Map<string, Row> } {
  const lines = text.split('\n')
  const start = lines.findIndex((line) => heading.test(line))
  const rows = new Map<string, Row>()
  for (const [offset, line] of lines.slice(start + 1).entries()) {
    if (start < 0 || line.startsWith('#')) break
    const [, power = '', cell = ''] = line.split('|').map((part) => part.trim())
    const files = [...cell.matchAll(/`([^`]+)`/g)].map(([, path = '']) => path)
    if (files.length > 0) rows.set(power, { line: start + offset + 2, files: listOf(files) })
  }
  return { line: Math.max(start, 0) + 1, rows }
}

function listOf(files: readonly string[]): string {
  return [...files].sort().map((path) => `\`${path}\``).join(', ')
}

function finding(line: number, message: string): Finding {
  return { file: document, line, rule: 'security-table', message }
}
