import * as assert from 'uvu/assert'
import { suite } from '../../support/suite.ts'
import { systemTimers } from '../../../src/agents/acp/calls/timers.ts'
import { deferred } from '../../../src/base/wait.ts'

const test = suite('agents/acp/calls/timers')

test('a restarted timer lets all of its time pass again, a stopped one is not woken', async () => {
  const calls: string[] = []
  const done = deferred<void>()
  const stopped = systemTimers.after(1, () => calls.push('stopped'))
  stopped.stop()
  stopped.restart()
  const early = systemTimers.after(40, () => {
    calls.push('early')
    early.restart()
  })
  // It began first, and begins again behind the other one.
  const late = systemTimers.after(40, () => {
    calls.push('late')
    done.resolve()
  })
  late.restart()
  await done.promise
  assert.equal(calls, ['early', 'late'])
})

test('takes a time that is longer than the timers of the process can wait', () => {
  const timer = systemTimers.after(Infinity, () => assert.unreachable('An endless wait ended'))
  timer.restart()
  timer.stop()
})

test.run()
