/** A real process, a real disk, a real kill -9; test/slow has many more of them. */
import { suite } from '../support/suite.ts'
import { killAgainAndAgain } from './kill.ts'

const test = suite('storage/kill', 100_000)
const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000)
process.stdout.write(`seed ${seed}\n`)

test('keeps every acknowledged event of a process that is killed while it writes', () => killAgainAndAgain(5, seed))

test.run()
