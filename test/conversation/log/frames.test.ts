import * as assert from 'uvu/assert'
import { suite } from '../../support/suite.ts'
import { Frames } from '../../../src/conversation/log/frames.ts'
import { storedEvent } from '../../../src/conversation/log/stored-event.ts'
import { fullState } from '../../../src/conversation/log/info.ts'
import { initialState } from '../../../src/conversation/log/state.ts'
import { created, say } from '../../support/conversation.ts'

const test = suite('conversation/log/frames')
const stamp = { micros: 1, id: '00000000-0000-7000-8000-000000000000', timestamp: '2026-11-21T12:00:00.000000Z' }
const head = `"id":"${stamp.id}","timestamp":"${stamp.timestamp}"`

const state = initialState(created())
const frames = new Frames({ state, directory: '/data/c', nextStamp: () => stamp })

const printed: readonly (readonly [frame: Buffer, text: string])[] = [
  [frames.delta('content', 'a').json, `{"kind":"StreamingDeltaEvent",${head},"source":"agent","content":"a"}`],
  [frames.delta('reasoning_content', '').json,
    `{"kind":"StreamingDeltaEvent",${head},"source":"agent","reasoning_content":""}`],
  [frames.error('C', 'd'), `{"kind":"ServerErrorEvent",${head},"source":"environment","code":"C","detail":"d"}`],
  [
    frames.fullState(),
    `{"kind":"ConversationStateUpdateEvent",${head},"source":"environment","key":"full_state","value":${JSON.stringify(fullState(state, '/data/c'))}}`,
  ],
]
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
