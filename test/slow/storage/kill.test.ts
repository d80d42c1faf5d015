/** The same as test/storage/kill, many times. */
import { killAgainAndAgain } from '../../storage/kill.ts'
import { suite } from '../../support/suite.ts'

const test = suite('slow/storage/kill', 1_800_000)
const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000)
process.stdout.write(`seed ${seed}\n`)

test('keeps every acknowledged event of a process that is killed while it writes, 200 times', () => {
  return killAgainAndAgain(200, seed)
})

test.run()
