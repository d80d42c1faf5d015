/**
 * A pass of retention over 10,000 conversations (RETAINED): all go, and the event loop is not held for 100 ms.
 *
 * The test measures the time that the main thread had a processor between two beats of a timer: others may use the
 * machine too. Linux keeps it in /proc/self/task/<pid>/schedstat.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { makeFolder } from '../../support/processes.ts'
import { fakeAgent, withServer, type TestServer } from '../../support/server.ts'
import { suite } from '../../support/suite.ts'

const count = Number(process.env['RETAINED'] ?? 10_000)
const test = suite('slow/storage/retention', 1_200_000)
const limitMs = 100

/** Measures the longest time on a processor between two beats. Returns the function that ends it and tells the time. */
function startHeartbeat(): () => number {
  const place = `/proc/self/task/${process.pid}/schedstat`
  const busyMs = (): number => Number(readFileSync(place, 'latin1').split(' ')[0]) / 1e6
  let [last, most] = [busyMs(), 0]
  const beat = (): void => {
    const now = busyMs()
    most = Math.max(most, now - last)
    last = now
  }
  const timer = setInterval(beat, 4)
  return () => {
    clearInterval(timer)
    beat()
    return most
  }
}

async function fill({ server, workspaceDir }: TestServer): Promise<void> {
  const workspace = { working_dir: join(workspaceDir, 'shared') }
  let made = 0
  const makeMore = async (): Promise<void> => {
    while (made < count) {
      made++
      await server.createConversation({ agent: fakeAgent('answer'), workspace })
    }
  }
  await Promise.all(Array.from({ length: 32 }, makeMore))
}

test(`${count} conversations go, and no other work waits for long`, async () => {
  const { folder, remove } = makeFolder()
  try {
    await withServer(fill, { folder, logLevel: 'error' })
    const later = (): number => Date.now() + 40 * 86_400_000
    // The limit of bytes has each folder measured.
    const options = { folder, logLevel: 'error', clock: later, retainDays: 30, retainBytes: 1 } as const
    await withServer(async ({ server, dataDir }) => {
      const retention = await server.use('retention')
      const endHeartbeat = startHeartbeat()
      const begun = performance.now()
      const judged = await retention.prune(new AbortController().signal)
      const seconds = (performance.now() - begun) / 1000
      const busyMs = endHeartbeat()
      process.stdout.write(`${count} removed in ${seconds.toFixed(1)} s, ${busyMs.toFixed(1)} ms at a time at most\n`)
      assert.is(judged.filter(({ stays }) => stays === null).length, count)
      assert.equal(readdirSync(join(dataDir, 'conversations')), [])
      assert.ok(busyMs < limitMs, `${busyMs} ms`)
    }, options)
  } finally {
    remove()
  }
})

test.run()
