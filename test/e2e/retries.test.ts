/** Retries across real kills of a real server, in short; test/slow has the long form. */
import { withPrograms } from '../support/server.ts'
import { suite } from '../support/suite.ts'
import { killAndRetry } from './retries.ts'

const test = suite('e2e/retries')
const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000)

test('100 requests of each kind, a kill in between: one answer and one effect for each key', withPrograms((start) =>
  killAndRetry(start, { rounds: 1, copies: 50, seed })))

test.run()
