/** The stored results of runs over real agents, and the table that is made of them. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { keepCell, passedCells, readResults, type AgentResults, type Cell } from '../../../scripts/real/results.ts'
import { printPage, printTable, type Row } from '../../../scripts/real/results-table.ts'
import { suite } from '../../support/suite.ts'

const test = suite('real/results')

const subject = { agent: 'codex', package: 'codex-acp 2.6.0', build: 'aaaa' }
const cell = (changes: Partial<Cell> = {}): Cell => ({
  scenario: 'denied', pace: 20, passed: 3, known: 0, failed: 0, ...changes,
})

test('keeps cells from run to run, each once', () => withFolder(async (folder) => {
  await keepCell(folder, subject, cell({ failed: 1 }))
  await keepCell(folder, subject, cell({ pace: 80 }))
  await keepCell(folder, subject, cell())
  await writeFile(join(folder, 'RESULTS.md'), '')
  const [kept, ...others] = await readResults(folder)
  assert.equal(kept?.cells, [cell({ pace: 80 }), cell()])
  assert.equal(others, [])
}))

test('knows what has passed with a build, and nothing of another', () => withFolder(async (folder) => {
  await keepCell(folder, subject, cell())
  await keepCell(folder, subject, cell({ pace: 80, failed: 1 }))
  await keepCell(folder, subject, cell({ pace: 400, passed: 0 }))
  assert.equal(await passedCells(folder, subject), [cell()])
  assert.equal(await passedCells(folder, { ...subject, build: 'bbbb' }), [])
  assert.equal(await passedCells(folder, { ...subject, agent: 'cline' }), [])
}))

for (const other of [{ build: 'bbbb' }, { package: 'codex-acp 2.7.0' }]) {
  test(`drops what was found with another ${Object.keys(other).join()}`, () => withFolder(async (folder) => {
    await keepCell(folder, subject, cell({ pace: 80 }))
    await keepCell(folder, { ...subject, ...other }, cell())
    assert.equal((await readResults(folder))[0]?.cells, [cell()])
    assert.not.match(await readFile(join(folder, 'codex.json'), 'utf8'), '"pace": 80')
  }))
}

const rows: readonly Row[] = [20, 80, 400].map((pace) => ({ scenario: 'denied', pace, agents: ['codex', 'cline'] }))
const results: readonly AgentResults[] = [
  {
    ...subject,
    date: '2026-01-02T03:04',
    cells: [cell(), cell({ pace: 80, known: 2 }), cell({ pace: 400, known: 1, failed: 1 })],
  },
  { ...subject, agent: 'cline', date: '2026-01-02T03:04', cells: [cell({ passed: 0 })] },
  { ...subject, agent: 'gemini-cli', date: '2026-01-02T03:04', cells: [] },
]

test('tells passed, limited, failed and missing cells apart', () => {
  assert.equal(printTable(results, rows).map((line) => line.split(/ {2,}/)), [
    ['scenario', 'tokens/s', 'codex', 'cline', 'gemini-cli'],
    ['denied', '20', 'ok 3', 'FAIL 0', '-'],
    ['denied', '80', 'limit 3/5', 'not run', '-'],
    ['denied', '400', 'FAIL 3/5', 'not run', '-'],
    [''],
    ['9 checks passed, 1 failed, 3 fail as is known'],
  ])
})

test('makes a page with what was driven, the table and the limits', () => {
  const limit = {
    agent: 'codex', scenarios: ['denied', 'edit'], checks: ['it asked'], limit: 'It asks a|b.', evidence: 'its wire',
  }
  const page = printPage(results, rows, [limit])
  assert.ok(page.includes('| codex | codex-acp 2.6.0 | 2026-01-02 03:04 | aaaa | 9 | 3 | 1 |'))
  assert.ok(page.includes('9 checks passed, 1 failed, 3 fail as is known. 4 of 6 cells were run, with 1 build.'))
  assert.ok(page.includes('| denied | 80 | limit 3/5 | not run | - |'))
  assert.ok(page.includes('| codex | denied, edit | It asks a\\|b. | "it asked ..." | its wire |'))
})

async function withFolder(use: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'results-'))
  try {
    await use(folder)
  } finally {
    await rm(folder, { recursive: true })
  }
}

test.run()
