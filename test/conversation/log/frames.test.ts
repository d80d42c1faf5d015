import * as assert from 'uvu/assert'
import { suite } from '../../support/suite.ts'
import { createStamper, upperHalfOf, type NextStamp } from '../../../src/base/stamp.ts'
import { Frames } from '../../../src/conversation/log/frames.ts'
import { storedEvent } from '../../../src/conversation/log/stored-event.ts'
import { fullState } from '../../../src/conversation/log/info.ts'
import { initialState } from '../../../src/conversation/log/state.ts'
import { created, say } from '../../support/conversation.ts'

const test = suite('conversation/log/frames')
/** Makes the same stamp each time, but for the lower half of its id. */
const nextStamp: NextStamp = (lowerHalf) => createStamper(() => 0, (size) => Buffer.alloc(size))(lowerHalf)
const stamp = nextStamp()
const state = initialState(created())
// The lower half of a frame's id is that of the conversation.
const head = `"id":"${stamp.id.slice(0, 19)}${state.id.slice(19)}","timestamp":"${stamp.timestamp}"`
const frames = new Frames({ state, directory: '/data/c', nextStamp })

const printed: readonly (readonly [frame: Buffer, text: string])[] = [
  [frames.delta('content', 'a').json, `{"kind":"StreamingDeltaEvent",${head},"source":"agent","content":"a"}`],
  [frames.delta('reasoning_content', '').json,
    `{"kind":"StreamingDeltaEvent",${head},"source":"agent","reasoning_content":""}`],
  [frames.error('C', 'd'), `{"kind":"ServerErrorEvent",${head},"source":"environment","code":"C","detail":"d"}`],
  [
    frames.fullState().json,
    `{"kind":"ConversationStateUpdateEvent",${head},"source":"environment","key":"full_state","value":${JSON.stringify(fullState(state, '/data/c'))}}`,
  ],
]
test('knows the ids of its frames again, and no other id', () => {
  const seven = 7_000_000
  const next = createStamper(() => seven, (size) => Buffer.alloc(size, 1))
  const own = new Frames({ state, directory: '/data/c', nextStamp: next })
  const id = own.delta('content', 'a').id
  assert.is(own.timeOf(id), seven * 1000)
  assert.is(own.timeOf(id.replaceAll('-', '').toUpperCase()), seven * 1000)
  const later = upperHalfOf(seven * 1000 + 60_000_000)
  const others = [
    next().id, state.id, 'x', '', `${later.slice(0, 8)}-${later.slice(8, 12)}-${later.slice(12)}${id.slice(18)}`,
  ]
  for (const other of others) assert.is(own.timeOf(other), undefined, other)
})

for (const [frame, text] of printed) {
  test(`prints ${text.slice(9, 40)}... in canonical form`, () => {
    assert.is(frame.toString(), text)
  })
}

test('a stored event is one with an id and a time, of a kind and form that we write', () => {
  const event = { ...say('hi'), id: stamp.id, timestamp: stamp.timestamp }
  assert.is(storedEvent(event)?.id, stamp.id)
  const { id: _, ...withoutId } = event
  for (const other of [
    withoutId, { ...event, timestamp: undefined }, { ...event, extra: 1 }, { kind: 'Unknown' }, null, 'x',
  ]) {
    assert.is(storedEvent(other), undefined)
  }
})

test.run()
