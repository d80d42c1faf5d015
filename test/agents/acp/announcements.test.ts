/** Questions that come before the calls that they are about. */
import * as assert from 'uvu/assert'
import { suite } from '../../support/suite.ts'
import { watch } from './watched-turn.ts'

const test = suite('agents/acp/calls/announcements')

const bare = { toolCallId: 'confirmation', title: 'Confirm Agent Actions', kind: 'other', status: 'pending' }

test('a question that names no work waits for the announcement of its calls, and for those beside them', async () => {
  const turn = watch()
  const steps: string[] = []
  const waiting = turn.events.untilAnnounced(bare, new AbortController().signal)?.then(() => steps.push('settled'))
  turn.timers.advanceTo(900)
  turn.call({ toolCallId: 'a', title: 'List', kind: 'execute', status: 'in_progress', rawInput: { command: 'ls' } })
  await new Promise(setImmediate)
  turn.timers.advanceTo(950)
  turn.call({ toolCallId: 'b', title: 'Look', kind: 'execute', status: 'in_progress', rawInput: { command: 'pwd' } })
  await new Promise(setImmediate)
  assert.equal(steps, [])
  turn.timers.advanceTo(1000)
  await waiting
  assert.equal(turn.events.asks(bare).map(({ id }) => id), ['a', 'b'])
  assert.is(turn.timers.waiting, 0)
})

test('the wait for an announcement ends by itself, with the turn and when the question is withdrawn', async () => {
  const withdrawn = new AbortController()
  const [late, gone, closed] = [watch(), watch(), watch()]
  const waits = [late, gone, closed].map(({ events }) => events.untilAnnounced(bare, withdrawn.signal))
  late.timers.advanceTo(1000)
  await new Promise(setImmediate)
  late.timers.advanceTo(1100)
  await waits[0]
  closed.events.close('over')
  await waits[2]
  withdrawn.abort()
  await waits[1]
  assert.equal([late, gone, closed].map(({ timers }) => timers.waiting), [0, 0, 0])
  assert.is(gone.events.untilAnnounced({ ...bare, kind: 'fetch' }, withdrawn.signal), undefined)
  assert.is(closed.events.untilAnnounced(bare, withdrawn.signal), undefined)
})

test.run()
