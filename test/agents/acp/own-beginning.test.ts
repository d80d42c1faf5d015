/** The late tail of a turn told apart from work that an agent begins by itself. */
import * as assert from 'uvu/assert'
import { OwnBeginning } from '../../../src/agents/acp/session/own-beginning.ts'
import type { AgentListener } from '../../../src/agents/acp/session/connection.ts'
import { suite } from '../../support/suite.ts'
import { manualTimers } from './manual-timers.ts'

const test = suite('acp own beginning')

function setUp(begin: () => Promise<void> = async () => undefined): {
  own: OwnBeginning
  timers: ReturnType<typeof manualTimers>
  heard: unknown[]
  listener: AgentListener
  counts: { begun: number; refused: number }
} {
  const timers = manualTimers()
  const heard: unknown[] = []
  const counts = { begun: 0, refused: 0 }
  const own = new OwnBeginning({
    timers,
    isKnownCall: (id) => id === 'old',
    begin: () => {
      counts.begun++
      return begin()
    },
    refused: () => void counts.refused++,
  })
  const listener: AgentListener = {
    onUpdate: (update) => void heard.push(update),
    onPermission: async (params, withdrawn) => heard.push({ ...params, isWithdrawn: withdrawn.aborted }),
  }
  return { own, timers, heard, listener, counts }
}

const wanted = new AbortController().signal
const givenUp = AbortSignal.abort()

const text = (words: string, messageId?: string): object => {
  return {
    sessionUpdate: 'agent_message_chunk',
    content: { type: 'text', text: words },
    ...(messageId === undefined ? {} : { messageId }),
  }
}
const call = (fields: object): object => ({
  sessionUpdate: 'tool_call', toolCallId: 'new', title: 'ls', kind: 'execute', status: 'pending', ...fields,
})

const leftovers: readonly (readonly [name: string, update: object, afterMs: number])[] = [
  ['text right after the turn', text('late'), 0],
  ['text of a message of the turn', text('late', 'm1'), 5000],
  ['an empty text', text(''), 5000],
  ['a notice of a mode', text('[MODE_UPDATE] yolo'), 5000],
  ['the end of a call of before', call({ sessionUpdate: 'tool_call_update', toolCallId: 'old', status: 'completed' }),
    5000],
  ['output of a call of before', call({ sessionUpdate: 'tool_call_update', toolCallId: 'old', status: 'in_progress' }),
    5000],
  ['a call that nobody knew and that is over, right after the turn', call({ status: 'failed' }), 0],
  ['figures', { sessionUpdate: 'usage_update', used: 1 }, 5000],
]

for (const [name, update, afterMs] of leftovers) {
  test(`drops ${name}`, () => {
    const { own, timers, listener, counts } = setUp()
    own.attach(listener, true)
    void own.hear({ ...text('one', 'm1') })
    own.detach(false)
    timers.advanceTo(afterMs)
    void own.hear({ ...update })
    assert.equal([counts.begun, own.isHolding], [0, false])
    own.close()
    assert.is(timers.waiting, 0)
  })
}

const beginnings: readonly (readonly [name: string, update: object, afterMs: number])[] = [
  ['text of another message', text('Done', 'm2'), 2000],
  ['text without an id', text('Done'), 2000],
  ['a new call, at once', call({}), 0],
  ['an id that is used again', call({ toolCallId: 'old' }), 2000],
  ['an update of a call that nobody announced', call({ sessionUpdate: 'tool_call_update', status: 'in_progress' }), 0],
]

for (const [name, update, afterMs] of beginnings) {
  test(`asks for a turn once, and hands over in order, for ${name}`, () => {
    const { own, timers, listener, counts, heard } = setUp()
    own.attach(listener, true)
    void own.hear({ ...text('one', 'm1') })
    own.detach(true)
    timers.advanceTo(afterMs)
    void own.hear({ ...update })
    void own.hear({ ...text('and') })
    assert.equal([counts.begun, own.isHolding], [1, true])
    own.attach(listener, false)
    assert.equal(heard.slice(1), [update, text('and')])
    assert.is(own.isHolding, false)
    own.close()
  })
}

test('answers a question of a turn that was stopped just now, and takes others into a turn', async () => {
  const { own, timers, listener, counts, heard } = setUp()
  own.attach(listener, true)
  own.detach(true)
  assert.equal(await own.asked({ a: 1 }, wanted), { outcome: { outcome: 'cancelled' } })
  assert.is(counts.begun, 0)
  timers.advanceTo(2000)
  const answer = own.asked({ a: 2 }, givenUp)
  own.attach(listener, false)
  assert.is(await answer, 1)
  assert.equal(heard, [{ a: 2, isWithdrawn: true }])
})

test('takes no text for work before the first prompt', () => {
  const { own, counts } = setUp()
  void own.hear({ ...text('Welcome') })
  assert.is(counts.begun, 0)
  void own.hear({ ...call({}) })
  assert.is(counts.begun, 1)
})

test('holds back the reading when much is held, until a turn takes it', async () => {
  const { own, listener, heard } = setUp()
  let waiting: void | Promise<void> = undefined
  for (let index = 0; index < 1000; index++) waiting = own.hear({ ...call({ toolCallId: `c${index}` }) })
  assert.ok(waiting instanceof Promise)
  own.attach(listener, false)
  await waiting
  assert.is(heard.length, 1000)
})

test('lets go of everything when there is no turn, and cancels its questions', async () => {
  const { own, counts } = setUp(() => Promise.reject(new Error('closed')))
  const answer = own.asked({}, wanted)
  assert.equal(await answer, { outcome: { outcome: 'cancelled' } })
  assert.equal([counts.refused, own.isHolding], [1, false])
})

test.run()
