/** The short form of `test/slow/ws/streams`. SEED repeats a run. */
import { suite } from '../support/suite.ts'
import { cutEverywhere, damageThem } from './ws-streams.ts'

const test = suite('fuzz/ws-streams', 110_000)
const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000)
process.stdout.write(`seed ${seed}\n`)

test('6 valid streams give their messages wherever they are cut', () => cutEverywhere(seed, 6))

test('400 damaged streams give what a second decoder says, however they are cut', async () => {
  const report = await damageThem(seed, 400)
  process.stdout.write(`${JSON.stringify(report)}\n`)
})

test.run()
