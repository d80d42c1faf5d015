/** The same as test/fuzz/ws-streams, for long, and whether memory stays. SEED repeats a run. */
import { constants, deflateRawSync } from 'node:zlib'
import * as assert from 'uvu/assert'
import { Compression } from '../../../src/ws/compression.ts'
import { cutEverywhere, damageThem } from '../../fuzz/ws-streams.ts'
import { suite } from '../../support/suite.ts'

const test = suite('slow/ws/streams', 2_000_000)
const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000)
const MiB = 1024 * 1024
process.stdout.write(`seed ${seed}\n`)

test('300 valid streams give their messages wherever they are cut', () => cutEverywhere(seed, 300))

test('20,000 damaged streams give what a second decoder says, and leave nothing behind', async () => {
  await damageThem(seed, 2000)
  const before = await heldBytes()
  const report = await damageThem(seed + 1, 20_000)
  const grown = (await heldBytes()) - before
  process.stdout.write(`${JSON.stringify({ ...report, grownMiB: Number((grown / MiB).toFixed(1)) })}\n`)
  assert.ok(grown < 16 * MiB, `${grown} bytes more are held than before`)
})

test('twenty messages and bombs of 16 MiB that come at once cost the memory of one', async () => {
  const compression = new Compression()
  const limitBytes = 16 * MiB
  const squeezed = [limitBytes, 4 * limitBytes].map((length) => {
    return deflateRawSync(Buffer.alloc(length), { finishFlush: constants.Z_SYNC_FLUSH }).subarray(0, -4)
  })
  const before = await heldBytes()
  let waiting = 0
  for (let count = 0; count < 10; count++) {
    for (const payload of squeezed) {
      waiting++
      void compression.open(false).inflate(payload, limitBytes).then(() => waiting--)
    }
  }
  let most = 0
  for (let turn = 0; waiting > 0; turn++) {
    if (turn % 20 === 0) most = Math.max(most, (await heldBytes()) - before)
    await new Promise((resolve) => setImmediate(resolve))
  }
  process.stdout.write(`${JSON.stringify({ mostMiB: Number((most / MiB).toFixed(1)) })}\n`)
  // The pieces and, for a moment, the whole that is made of them.
  assert.ok(most < 2.5 * limitBytes, `${most} bytes were held`)
})

/** Buffers that nobody has any more are given back in the turn after they were found. */
async function heldBytes(): Promise<number> {
  if (typeof global.gc !== 'function') throw new Error('Run with --expose-gc, as npm run soak does')
  for (let round = 0; round < 2; round++) {
    global.gc()
    await new Promise((resolve) => setImmediate(resolve))
  }
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

test.run()
