/**
 * A thousand starts of agents in one process leave no memory, no listeners, no file handles and no processes behind.
 */
import * as assert from 'uvu/assert'
import { readdirSync } from 'node:fs'
import { withAgent } from '../../agents/acp/with-agent.ts'
import { suite } from '../../support/suite.ts'

const test = suite('slow/agents/starts', 1_800_000)
const starts = 1000
const warmUp = 100

test('a thousand starts of an agent leave nothing behind', async () => {
  await startAgents(warmUp)
  const before = held()
  await startAgents(starts)
  const after = held()
  process.stdout.write(`after ${warmUp} starts ${JSON.stringify(before)}, ${starts} later ${JSON.stringify(after)}\n`)
  assert.ok(after.files <= before.files, 'file handles grew')
  assert.ok(after.resources <= before.resources, 'timers and handles grew')
  assert.ok(after.listeners <= before.listeners, 'listeners grew')
  assert.ok(after.heapBytes < before.heapBytes * 1.05 + 1024 * 1024, 'memory grew')
})

async function startAgents(count: number): Promise<void> {
  for (let start = 0; start < count; start++) {
    await withAgent('echo', async ({ agent, host }) => {
      assert.equal(await agent.runTurn(host.turn('hello')), { outcome: 'finished', served: true })
    })
  }
}

interface Held {
  readonly files: number
  readonly resources: number
  readonly listeners: number
  readonly heapBytes: number
}

function held(): Held {
  const { gc } = globalThis
  if (gc === undefined) throw new Error('Run with NODE_OPTIONS=--expose-gc')
  gc()
  gc()
  return {
    files: readdirSync('/proc/self/fd').length,
    resources: process.getActiveResourcesInfo().length,
    listeners: process.eventNames().reduce((sum, name) => sum + process.listenerCount(name), 0),
    heapBytes: process.memoryUsage().heapUsed,
  }
}

test.run()
