/**
 * The record of killed mutations: a run that goes on takes the mutations that were not killed, or were changed since.
 */
import * as assert from 'uvu/assert'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Mutation } from '../../../scripts/mutate/mutation.ts'
import { KilledRecord } from '../../../scripts/mutate/record.ts'
import type { Verdict } from '../../../scripts/mutate/trial.ts'
import { suite } from '../../support/suite.ts'

const test = suite('scripts/mutate/record')

const mutation: Mutation = {
  file: 'src/a.ts', old: '1', new: '2', promise: 'One is one.', tests: ['test/a.test.ts'],
}
const tried = (verdict: Verdict) => ({ folder: 'a', mutation, outcome: { verdict, detail: '', ms: 1 } })

const folder = mkdtempSync(join(tmpdir(), 'record-'))
test.after(() => rmSync(folder, { recursive: true, force: true }))

test('a killed mutation is in the next record, and no other verdict is', () => {
  const path = join(folder, 'verdicts')
  for (const verdict of ['survived', 'in doubt', 'not applicable', 'does not compile'] as const) {
    new KilledRecord(path).add(tried(verdict))
  }
  assert.not.ok(new KilledRecord(path).has(mutation))
  new KilledRecord(path).add(tried('killed'))
  assert.ok(new KilledRecord(path).has(mutation))
  assert.match(readFileSync(path, 'utf8'), /^[0-9a-f]{16} src\/a\.ts: One is one\.\n$/)
})

test('a mutation with another edit or other tests is tried again; other words of its promise change nothing', () => {
  const path = join(folder, 'changes')
  new KilledRecord(path).add(tried('killed'))
  const record = new KilledRecord(path)
  assert.not.ok(record.has({ ...mutation, new: '3' }))
  assert.not.ok(record.has({ ...mutation, old: '0' }))
  assert.not.ok(record.has({ ...mutation, file: 'src/b.ts' }))
  assert.not.ok(record.has({ ...mutation, tests: ['test/b.test.ts'] }))
  assert.ok(record.has({ ...mutation, promise: 'One stays one.' }))
})

test('a line that a run has not finished writing stands for no mutation; a folder is an error', () => {
  const path = join(folder, 'cut')
  new KilledRecord(path).add(tried('killed'))
  writeFileSync(path, readFileSync(path, 'utf8').slice(0, 10))
  assert.not.ok(new KilledRecord(path).has(mutation))
  mkdirSync(join(folder, 'folder'))
  assert.throws(() => new KilledRecord(join(folder, 'folder')), /EISDIR/)
})

test.run()
