/** The same as test/e2e/readers with 50 readers at 500 events in a second for ten minutes. Prints the measurements. */
import { runStalledLoad } from '../../load/stalled.ts'
import { withPrograms } from '../../support/server.ts'
import { suite } from '../../support/suite.ts'

const test = suite('slow/readers/stalled', 1_200_000)
const seconds = Number(process.env['SECONDS'] ?? 600)

test('one stalled and 50 fast readers at 500 events in a second', withPrograms(async (start) => {
  const load = { rate: 500, seconds, bytes: 500, fastReaders: 50, pauseSeconds: 40, stallSeconds: 60 }
  const { events, closeCode, p50, p99, memoryBefore, memoryPeak } = await runStalledLoad(await start(), load)
  const [before, peak] = [memoryBefore, memoryPeak].map((bytes) => (bytes / 2 ** 20).toFixed(0))
  process.stdout.write(`Node ${process.versions.node}, ${events} events in ${seconds} s, 50 readers that keep up\n`)
  process.stdout.write(`from the agent to a reader: p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms (target 50)\n`)
  process.stdout.write(`the one that stopped for good was closed with ${closeCode ?? 'nothing (it read too late)'}\n`)
  process.stdout.write(`memory of the server: ${before} MB before, ${peak} MB at most\n`)
}))

test.run()
