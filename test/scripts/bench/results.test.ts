/** The results of benchmarks: the rows that a partial run replaces, and the tables that are made from them. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { isMet, isNoisy, type Row } from '../../../scripts/bench/gate.ts'
import { readResults, replaceGate, writeResults, type Result } from '../../../scripts/bench/results.ts'
import { limitsTable, shortTable, stallSentence, usersTable } from '../../../scripts/bench/tables.ts'
import { suite } from '../../support/suite.ts'

const test = suite('scripts/bench/results')

const measured = { date: '2026-11-23', node: '20.20.2', machine: 'Linux', load: 0.1, isRough: false }
const exactly = (median: number): Row['ratio'] => ({ low: median, median, high: median })
const limitRow: Result = {
  gate: 'parse', what: 'parse', limit: 'bare', ratio: exactly(1.2), target: { atMost: 1.25 }, measured,
}
const userRow: Result = {
  gate: 'user-create', what: 'create a conversation', limit: 'a bare program', ratio: exactly(3), target: 'none',
  figure: { unit: 'ms', ours: exactly(6), least: exactly(2), target: { atMost: 20 }, why: 'nobody notices' },
  stall: { stallMs: 12, busyMs: 10 },
  measured: { ...measured, isRough: true },
}
const peerRow: Result = {
  gate: 'python', what: 'create a conversation', peer: 'python', limit: '', ratio: exactly(1), target: 'none',
  figure: { unit: 'ms', ours: exactly(1200) }, measured,
}

test('a gate replaces its rows in their place and leaves the others, also when it has none any more', () => {
  const old = [{ ...userRow, what: 'first' }, { ...limitRow, what: 'gone' }, { ...userRow, what: 'other' }, limitRow]
  const fresh: Result[] = [{ ...limitRow, what: 'parse 1' }, { ...limitRow, what: 'parse 2' }]
  const after = (name: string, rows: readonly Result[]): string[] =>
    replaceGate(old, name, rows).map(({ what }) => what)
  assert.equal(after('parse', fresh), ['first', 'parse 1', 'parse 2', 'other'])
  assert.equal(after('parse', []), ['first', 'other'])
  assert.equal(after('python', [peerRow]), ['first', 'gone', 'other', 'parse', 'create a conversation'])
  assert.equal(replaceGate([], 'parse', fresh), fresh)
})

test('reads what it has written, a row a line, and says which row is unusable', () => {
  const folder = mkdtempSync(join(tmpdir(), 'results-'))
  try {
    const path = join(folder, 'results.json')
    const results = [limitRow, userRow, peerRow]
    writeResults(results, path)
    assert.equal(readResults(path), results)
    const endless = { ...limitRow, ratio: exactly(1 / 0) }
    assert.throws(() => writeResults([userRow, endless], path), /row 2: ratio: expected a number/)
    assert.equal(readResults(path), results)
    writeFileSync(path, JSON.stringify([limitRow, { ...limitRow, ratio: 5 }]))
    assert.throws(() => readResults(path), /row 2: ratio: expected an object/)
    writeFileSync(path, '{}')
    assert.throws(() => readResults(path), /expected a list/)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

test('a row that users notice is judged by its absolute figure, and has a table of its own with its peer', () => {
  const results = [limitRow, userRow, peerRow]
  assert.is(isMet(userRow), true)
  const users = usersTable(results)
  assert.match(users, '| create a conversation | 6.00 ms | 6.00-6.00 | <= 20 | met | 2.00 ms | a bare program |')
  assert.match(users, '| python 1,200 ms | nobody notices | 2026-11-23, Node 20.20.2, load 0.1, rough |')
  assert.not.match(users, '| parse |')
  assert.match(limitsTable(results), '| parse | bare | 1.20 | 1.20-1.20 | <= 1.25 | met |')
  assert.not.match(limitsTable(results), 'create')
})

test('the short table has the rows that were measured, with the best peer', () => {
  const slower = { ...peerRow, peer: 'slower', figure: { unit: 'ms', ours: exactly(2000) } }
  const lines = shortTable([limitRow, slower, userRow, peerRow]).split('\n').slice(2)
  assert.equal(lines, [
    '| Create a conversation | 6.00 ms | python 1,200 ms | 2.00 ms | <= 20 ms | met |', '',
    'Measured roughly on 2026-11-23 with Node 20.20.2.',
    'Just before a measurement, the rest of the machine used up to 0.1 processors.',
    'Other programs: python, slower.',
  ])
})

test('the short table tells when its peers were measured', () => {
  const older = { ...peerRow, measured: { ...measured, date: '2026-11-20', load: 1.5 } }
  assert.match(shortTable([userRow, older]), 'on 2026-11-20, 2026-11-23 with')
  assert.match(shortTable([userRow, older]), 'up to 1.5 processors')
})

test('tables without a row are a sentence', () => {
  for (const table of [shortTable, usersTable, limitsTable]) {
    assert.is(table([]), 'Nothing of this is measured yet.')
  }
  assert.is(usersTable([limitRow, peerRow]), 'Nothing of this is measured yet.')
  assert.is(limitsTable([userRow, { ...limitRow, peer: 'other', what: 'alone' }]), 'Nothing of this is measured yet.')
})

test('a row whose quartiles are far apart on both sides of its target is too noisy to tell', () => {
  const spread = { low: 1, median: 1.2, high: 2 }
  assert.is(isNoisy({ ...limitRow, ratio: spread }), true)
  assert.is(isNoisy({ ...limitRow, ratio: { ...spread, low: 1.21 } }), true)
  assert.is(isNoisy({ ...limitRow, ratio: { ...spread, high: 1.4 } }), false)
  assert.is(isNoisy({ ...limitRow, ratio: { low: 2, median: 3, high: 9 } }), false)
  assert.match(limitsTable([{ ...limitRow, ratio: spread }]), '| too noisy to tell |')
})

test('the longest stall is judged by the clock, unless others had the processor', () => {
  const stalled = (stallMs: number, busyMs: number): Row => ({ ...userRow, stall: { stallMs, busyMs } })
  assert.match(stallSentence([stalled(12, 10), stalled(90, 20)]), /^Worst.* 90 ms.*; met\)/s)
  assert.match(stallSentence([stalled(150, 120), stalled(400, 20)]), /^Worst.* 150 ms.*; missed\)/s)
  assert.match(stallSentence([stalled(150, 20), stalled(90, 130)]), /^Worst.* 150 ms.*; too noisy to tell\)/s)
  assert.match(stallSentence([stalled(150, 20)]), 'too noisy to tell')
  assert.match(stallSentence([stalled(150, 120)]), 'missed')
  assert.match(stallSentence([limitRow]), 'No row has watched')
})

test.run()
