/** The log of a server that starts after one that was killed. */
import * as assert from 'uvu/assert'
import { withPrograms } from '../support/server.ts'
import { suite } from '../support/suite.ts'

const test = suite('cli: a start after a crash')
const words = 'The last server of the data folder ended without closing'

test('a start tells that the last server was killed, and says nothing after an orderly end', withPrograms(
  async (start) => {
    const first = await start()
    const { pid } = first.child
    await first.stop('SIGKILL')
    const second = await start()
    assert.match(second.stderr(), words)
    assert.match(second.stderr(), `"process ${pid} on host `)
    await second.stop('SIGTERM')
    const third = await start()
    await third.stop('SIGTERM')
    assert.not.match(third.stderr(), words)
  },
))

test.run()
