/** The same as test/fuzz/ws-streams, for long, and whether memory stays. SEED repeats a run. */
import * as assert from 'uvu/assert'
import { cutEverywhere, damageThem } from '../../fuzz/ws-streams.ts'
import { suite } from '../../support/suite.ts'

const test = suite('slow/ws/streams', 2_000_000)
const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000)
const MiB = 1024 * 1024
process.stdout.write(`seed ${seed}\n`)

test('300 valid streams give their messages wherever they are cut', () => cutEverywhere(seed, 300))

test('20,000 damaged streams give what a second decoder says, and leave nothing behind', async () => {
  await damageThem(seed, 2000)
  const before = heldBytes()
  const report = await damageThem(seed + 1, 20_000)
  const grown = heldBytes() - before
  process.stdout.write(`${JSON.stringify({ ...report, grownMiB: Number((grown / MiB).toFixed(1)) })}\n`)
  assert.ok(grown < 16 * MiB, `${grown} bytes more are held than before`)
})

function heldBytes(): number {
  if (typeof global.gc !== 'function') throw new Error('Run with --expose-gc, as npm run soak does')
  global.gc()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

test.run()
