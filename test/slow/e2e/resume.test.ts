/** The same as test/e2e/resume, with a thousand cuts for each follower. */
import { followThroughCuts } from '../../e2e/resume.ts'
import { suite } from '../../support/suite.ts'

const test = suite('slow/e2e/resume', 1_800_000)
const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000)

test('1,000 cuts for each follower while 100,000 events flow', () => {
  return followThroughCuts({ events: 100_000, cuts: 1000, seed })
})

test.run()
