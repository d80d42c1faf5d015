import * as assert from 'uvu/assert'
import { suite } from '../support/suite.ts'
import { deltaFrame, errorFrame, fullStateFrame } from '../../src/conversation/frames.ts'
import { storedEvent } from '../../src/conversation/stored-event.ts'
import { say } from '../support/conversation.ts'

const test = suite('conversation/frames')
const stamp = { micros: 1, id: '00000000-0000-7000-8000-000000000000', timestamp: '2026-11-21T12:00:00.000000Z' }
const head = `"id":"${stamp.id}","timestamp":"${stamp.timestamp}"`

const frames: readonly (readonly [frame: Buffer, text: string])[] = [
  [deltaFrame({ content: 'a' }, stamp), `{"kind":"StreamingDeltaEvent",${head},"source":"agent","content":"a"}`],
  [deltaFrame({ reasoning_content: '' }, stamp), `{"kind":"StreamingDeltaEvent",${head},"source":"agent","reasoning_content":""}`],
  [errorFrame('C', 'd', stamp), `{"kind":"ServerErrorEvent",${head},"source":"environment","code":"C","detail":"d"}`],
  [
    fullStateFrame({ id: 'x' }, stamp),
    `{"kind":"ConversationStateUpdateEvent",${head},"source":"environment","key":"full_state","value":{"id":"x"}}`,
  ],
]
for (const [frame, text] of frames) {
  test(`prints ${text.slice(9, 40)}... in canonical form`, () => {
    assert.is(frame.toString(), text)
  })
}

test('a stored event is one with an id and a time, of a kind and form that we write', () => {
  const event = { ...say('hi'), id: stamp.id, timestamp: stamp.timestamp }
  assert.is(storedEvent(event)?.id, stamp.id)
  const { id: _, ...withoutId } = event
  for (const other of [withoutId, { ...event, timestamp: undefined }, { ...event, extra: 1 }, { kind: 'Unknown' }, null, 'x']) {
    assert.is(storedEvent(other), undefined)
  }
})

test.run()
