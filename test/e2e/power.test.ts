/** The data after a loss of power at some moments of a server's work; test/slow/e2e/power tries all moments. */
import { suite } from '../support/suite.ts'
import { losePower } from './power-rounds.ts'

const test = suite('power', 90_000)
const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000)
process.stdout.write(`seed ${seed}\n`)

test('whatever was acknowledged is there after power is lost, and nothing half-made', async () => {
  await losePower(seed, { times: 8 })
})

test.run()
