/** The part of the view that stays as it is while a history grows, so that it need not be encoded again. */
import * as assert from 'uvu/assert'
import { View } from '../../../src/parts/builtin/view/view.ts'
import type { Event, EventDraft } from '../../../src/schema/generated/events.ts'
import { toEvent } from '../../../src/schema/generated/events.ts'
import { suite } from '../../support/suite.ts'

const test = suite('agents/builtin/settled-view')

let eventCount = 0

function made(draft: EventDraft): Event {
  eventCount++
  return toEvent({
    ...draft,
    id: `00000000-0000-7000-8000-${String(eventCount).padStart(12, '0')}`,
    timestamp: '2026-01-01T00:00:00.000000Z',
  })
}

function said(content: string): Event {
  return made({ kind: 'MessageEvent', source: 'user', llm_message: { role: 'user', content } })
}

function called(id: string, response: string): Event {
  return made({
    kind: 'ActionEvent', source: 'agent', thought: [], action: { kind: 'ThinkAction', thought: 'Hm' },
    tool_name: 'think', tool_call_id: id,
    tool_call: { id, name: 'think', arguments: '{}', origin: 'completion' }, llm_response_id: response,
  })
}

function answered(id: string): Event {
  return made({ kind: 'AgentErrorEvent', source: 'agent', tool_name: 'think', tool_call_id: id, error: 'No' })
}

function viewOf(events: readonly Event[]): View {
  const view = new View()
  view.add({ isFresh: true, events, late: new Map(), responses: new Map([['r1', { state: 1 }], ['r2', { state: 2 }]]) })
  return view
}

const all = { withImages: true }

test('what is before the last calls is the same objects at every reading', () => {
  const view = viewOf([said('Go'), called('a', 'r1'), answered('a'), called('b', 'r2')])
  const before = view.messages(all)
  view.add({ isFresh: false, events: [answered('b'), said('And?')], late: new Map(), responses: new Map() })
  const after = view.messages(all)
  assert.equal(after.map(({ message }) => message.role), ['user', 'assistant', 'tool', 'assistant', 'tool', 'user'])
  assert.is(before.length, 3)
  for (const [index, message] of before.entries()) assert.is(after[index], message)
})

test('the provider\'s state stays with its answer when further calls come', () => {
  const view = viewOf([
    said('Go'), called('a', 'r1'), answered('a'), called('b', 'r2'), answered('b'), called('c', 'r3'), answered('c'),
  ])
  assert.equal(view.messages(all).map(({ state }) => state), [
    undefined, { state: 1 }, undefined, { state: 2 }, undefined, undefined, undefined,
  ])
})

test('calls that nobody answered are left out, and what was said behind them stays', () => {
  const view = viewOf([said('Go'), called('a', 'r1'), said('Stop'), said('No'), called('b', 'r2'), answered('b')])
  assert.equal(view.messages(all).map(({ message }) => message.role), ['user', 'user', 'assistant', 'tool'])
})

test.run()
