/** Readers that stop beside readers that keep up, with a real server: the short form of test/slow/readers. */
import * as assert from 'uvu/assert'
import { runStalledLoad } from '../load/stalled.ts'
import { withPrograms } from '../support/server.ts'
import { suite } from '../support/suite.ts'

const test = suite('e2e/readers')

test(
  'a reader that stops costs the others nothing; it goes on from the log without a gap, or is disconnected',
  withPrograms(async (start) => {
    const server = await start(['--reader-stall-ms', '10000'])
    const load = { rate: 200, seconds: 5, bytes: 40_000, fastReaders: 4, pauseSeconds: 1, stallSeconds: 10 }
    const { events } = await runStalledLoad(server, load)
    assert.ok(events > 1000, String(events))
  }),
)

test.run()
