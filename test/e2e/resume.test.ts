/** Connections that are cut at random bytes, in short; test/slow has the long form. */
import * as assert from 'uvu/assert'
import { suite } from '../support/suite.ts'
import { differencesOf, followThroughCuts } from './resume.ts'

const test = suite('e2e/resume')
const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000)

test('through a proxy that cuts at random bytes, streams and sockets that resume get the log and nothing else', () =>
  followThroughCuts({ events: 4000, cuts: 40, seed }))

test('what is missing, doubled or out of order is counted', () => {
  const log = ['a', 'b', 'c', 'd'].map((id) => JSON.stringify({ id }))
  const received = ['a', 'c', 'b', 'b'].map((id) => JSON.stringify({ id }))
  assert.equal(differencesOf(received, log), { missing: 1, doubled: 1, outOfOrder: 1 })
})

test.run()
