/** The same as test/e2e/retries, with many kills. */
import { killAndRetry } from '../../e2e/retries.ts'
import { withPrograms } from '../../support/server.ts'
import { suite } from '../../support/suite.ts'

const test = suite('slow/e2e/retries', 1_800_000)
const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000)

test(
  '100 kills while requests with keys are under way',
  withPrograms((start) => killAndRetry(start, { rounds: 100, copies: 10, seed })),
)

test.run()
