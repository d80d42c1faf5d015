/** A line of 200 MB ends the agent at the limit of 100 MiB, and no more than twice that is held meanwhile. */
import * as assert from 'uvu/assert'
import { withAgent } from '../../agents/acp/with-agent.ts'
import { suite } from '../../support/suite.ts'

const test = suite('slow/agents/long line', 300_000)
const MiB = 1024 * 1024

test('a line of 200 MB is not read to its end, and is not held beyond the limit', async () => {
  const most = await mostHeld(async () => {
    await withAgent('long-line', async ({ agent, host }) => {
      const end = await agent.runTurn(host.turn('go'))
      assert.match(JSON.stringify(end), /ACPPromptError.*Cannot read a line of more than 104857600 bytes/)
    }, { settings: { acp_args: ['long-line', '200'] } })
  })
  process.stdout.write(`held at most ${Math.round(most / MiB)} MiB\n`)
  // A buffer that doubles, and its double while it is copied.
  assert.ok(most < 240 * MiB, `${most} bytes`)
})

test('a line below the limit is read', () => withAgent('long-line', async ({ agent, host }) => {
  assert.equal(await agent.runTurn(host.turn('go')), { outcome: 'finished', served: true })
}, { settings: { acp_args: ['long-line', '90'] } }))

/** The most memory outside the heap while `work` went on, beyond the memory before. */
async function mostHeld(work: () => Promise<void>): Promise<number> {
  const before = process.memoryUsage().arrayBuffers
  let most = 0
  const timer = setInterval(() => (most = Math.max(most, process.memoryUsage().arrayBuffers - before)), 5)
  try {
    await work()
  } finally {
    clearInterval(timer)
  }
  return most
}

test.run()
