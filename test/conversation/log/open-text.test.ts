import * as assert from 'uvu/assert'
import { suite } from '../../support/suite.ts'
import { printDelta, type DeltaPiece } from '../../../src/conversation/log/frames.ts'
import { OpenText, type TextPosition } from '../../../src/conversation/log/open-text.ts'
import { toEvent, type EventDraft } from '../../../src/schema/generated/events.ts'
import { act, objectOf, say } from '../../support/conversation.ts'

const test = suite('conversation/log/open-text')

const nowhere = (): TextPosition => ({ content: 0, reasoning_content: 0 })

function add(text: OpenText, piece: DeltaPiece, second = 1): void {
  const stamp = { id: `id-${second}`, timestamp: `2026-11-21T12:00:0${second}.000000Z` }
  const [field, words] = piece.content === undefined
    ? ['reasoning_content', piece.reasoning_content ?? ''] as const
    : ['content', piece.content] as const
  text.add(printDelta(field, words, stamp))
}

function event(draft: EventDraft): ReturnType<typeof toEvent> {
  return toEvent({ ...draft, id: '00000000-0000-7000-8000-000000000000', timestamp: '2026-11-21T12:00:00.000000Z' })
}

/** Returns the frames that a reader without any piece would get. */
function whole(text: OpenText): string[] {
  return text.missing(nowhere(), '').map((frame) => `${frame.field} ${frame.text}`)
}

test('a reader gets the pieces that it lacks, with the id of the newest one', () => {
  const text = new OpenText()
  add(text, { content: 'ab' })
  const position = nowhere()
  text.pass(position, 'content')
  add(text, { content: 'cd' }, 2)
  assert.is(text.isAhead(position), true)
  const [frame] = text.missing(position, '')
  assert.equal(objectOf(JSON.parse(String(frame?.json))), {
    kind: 'StreamingDeltaEvent', id: 'id-2', timestamp: '2026-11-21T12:00:02.000000Z', source: 'agent', content: 'cd',
  })
  text.pass(position, 'content')
  assert.equal([text.isAhead(position), text.missing(position, '')], [false, []])
})

test('a reader that lacks a piece of one of the two texts is behind', () => {
  for (const field of ['content', 'reasoning_content'] as const) {
    const text = new OpenText()
    add(text, { [field]: 'ab' })
    const position = nowhere()
    assert.is(text.isAhead(position), true)
    text.pass(position, field)
    assert.is(text.isAhead(position), false)
  }
})

test('the text that grew last comes last, and no frame is older than the newest event', () => {
  const text = new OpenText()
  add(text, { content: 'said' }, 1)
  add(text, { reasoning_content: 'thought' }, 3)
  assert.equal(whole(text), ['content said', 'reasoning_content thought'])
  const after = '2026-11-21T12:00:02.000000Z'
  assert.equal(text.missing(nowhere(), after).map(({ timestamp }) => timestamp), [after, '2026-11-21T12:00:03.000000Z'])
  const later = '2026-11-21T12:00:04.000000Z'
  const frames = text.missing(nowhere(), later).map(({ field, timestamp }) => `${field} ${timestamp}`)
  assert.equal(frames, [`content ${later}`, `reasoning_content ${later}`])
})

const held: readonly (readonly [name: string, draft: EventDraft | undefined, left: readonly string[]])[] = [
  ['a message of the agent', say('whole'), []],
  ['a message of the user', { ...say('next'), source: 'user' }, ['reasoning_content thought', 'content said']],
  ['an action without text', { ...act('c'), thought: [] }, ['content said']],
  ['an action with text', { ...act('c'), thought: [{ type: 'text', text: 'said' }] }, []],
  [
    'an action that finishes', { ...act('c'), thought: [], action: { kind: 'FinishAction', message: 'said' } }, [],
  ],
  [
    'a state update',
    { kind: 'ConversationStateUpdateEvent', source: 'environment', key: 'stats', value: {} },
    ['reasoning_content thought', 'content said'],
  ],
  ['the end of the turn', undefined, []],
]
for (const [name, draft, left] of held) {
  test(`${name} closes what it holds`, () => {
    const text = new OpenText()
    add(text, { reasoning_content: 'thought' }, 1)
    add(text, { content: 'said' }, 2)
    text.close(draft === undefined ? undefined : event(draft))
    assert.equal(whole(text), left)
    add(text, { content: ' on' }, 3)
    assert.is(whole(text).at(-1), left.includes('content said') ? 'content said on' : 'content  on')
  })
}

test('beyond the limit the beginning is dropped, and a note says how much', () => {
  const text = new OpenText(10)
  const position = nowhere()
  add(text, { content: 'xxxx' })
  text.close()
  add(text, { content: '0123' })
  text.pass(position, 'content')
  add(text, { content: '456789' })
  assert.equal(whole(text), ['content 0123456789'])
  add(text, { content: 'a' })
  assert.equal(whole(text), ['content [6 characters are left out]\n\n6789a'])
  assert.equal(text.missing(position, '').map((frame) => frame.text), ['[2 characters are left out]\n\n6789a'])
})

test.run()
