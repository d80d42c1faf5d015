/** The stage of the benchmarks of steps: whole steps lie between two figures. */
import * as assert from 'uvu/assert'
import { withStage } from '../../../scripts/bench/step-stage.ts'
import { suite } from '../../support/suite.ts'

const test = suite('scripts/bench/step-stage')

test('conversations go on to the step that is asked for, each with a longer request than before', async () => {
  await withStage('anthropic/claude-test', async ({ server, begin, until, end }) => {
    await begin('one', 3)
    await begin('two', 3)
    const [first = 0] = await until(['one', 'two'], 1)
    const [third = 0, other = 0] = await until(['one', 'two'], 3)
    assert.ok(third > first + 2 * 2048, `${first} bytes, then ${third}`)
    assert.ok(other > first)
    assert.is((await until(['one'], 3))[0], third)
    await until(['one', 'two'], 4)
    const { used, resident } = Object(await server.ask('memory'))
    assert.ok(used > 1024 * 1024 && resident > used, `${used} of ${resident} bytes`)
    await end('one')
    await end('two')
  })
})

test.run()
