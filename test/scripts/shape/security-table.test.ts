import * as assert from 'uvu/assert'
import { powers } from '../../../scripts/shape/power-table.ts'
import { filesCell } from '../../../scripts/shape/security-table.ts'
import { checkShape } from '../../../scripts/shape/rules.ts'
import { suite } from '../../support/suite.ts'

const test = suite('shape/security-table')

const rows = powers.map((power) => `| ${power.power} | ${filesCell(power)} |`)

function find(lines: readonly string[]): string[] {
  const findings = checkShape({ sources: new Map(), security: lines.join('\n') })
  return findings.filter(({ rule }) => rule === 'security-table').map(({ line, message }) => `${line} ${message}`)
}

const table = (body: readonly string[]): string[] => [
  '# Security', '', '## Which file can do harm', '', '| What | Files |', '|---|---|', ...body, '', '## Next',
  '| Other | `a.ts` |',
]

test('passes the same table, files in any order, with further columns', () => {
  const reversed = powers.map((row) => {
    const cell = filesCell(row)
    return `| ${row.power} | ${cell.startsWith('`') ? cell.split(', ').reverse().join(' ') : cell} | why |`
  })
  assert.equal(find(table(rows)), [])
  assert.equal(find(table(reversed)), [])
})

test('finds a file that the document leaves out or adds', () => {
  const changed = rows.map((row) => row.replace('`src/process/proc.ts` |', '`src/process/proc.ts`, `src/a.ts` |'))
  const [found, ...others] = find(table(changed))
  assert.equal(others, [])
  assert.is(found, `7 must have the row: ${rows[0]}`)
})

test('counts the files of a long row, and finds another count', () => {
  const long = rows.findIndex((row) => row.includes(' files that use '))
  const changed = rows.map((row, index) => (index === long ? row.replace(/\d+ files/, '1 files') : row))
  assert.equal(find(table(changed)), [`${7 + long} must have the row: ${rows[long]}`])
})

test('finds a power that the document leaves out', () => {
  const [found, ...others] = find(table(rows.slice(1)))
  assert.equal(others, [])
  assert.match(found ?? '', /^3 must have the row: \| Start and end programs/)
})

test('finds a power that the program does not know', () => {
  assert.equal(find(table([...rows, '| Fly | `src/a.ts` |'])), [
    `${7 + rows.length} "Fly" is no power in scripts/shape/architecture.ts`,
  ])
})

test('finds that the table is missing', () => {
  assert.equal(find(['# Security', ...rows]), ['1 no table under a heading "Which file can do harm"'])
  assert.equal(find(table([])), ['3 no table under a heading "Which file can do harm"'])
})

test.run()
