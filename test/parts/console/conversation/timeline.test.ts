import * as assert from 'uvu/assert'
import { describeCall, subjectIn } from '../../../../src/parts/console/page/conversation/call-pieces.ts'
import {
  durationOf, readEvent, statusOf, Timeline, type Call, type Item, type StoredEvent,
} from '../../../../src/parts/console/page/conversation/timeline.ts'
import { actions } from '../../../../src/schema/spec/actions.ts'
import { suite } from '../../../support/suite.ts'

const test = suite('parts/console/conversation: events as items')

let count = 0
function event(kind: string, members: object = {}): StoredEvent {
  const timestamp = `2026-01-01T00:00:${String(count % 60).padStart(2, '0')}.000000`
  const made = readEvent({ kind, id: `e${++count}`, timestamp, source: 'agent', ...members })
  if (made === undefined) throw new Error('no event')
  return made
}

function action(call: string, response: string, members: object = {}): StoredEvent {
  const inner = { kind: 'TerminalAction', command: 'ls' }
  const ids = { tool_call_id: call, llm_response_id: response }
  return event('ActionEvent', { ...ids, tool_name: 'terminal', action: inner, ...members })
}

function result(of: StoredEvent, call: string, members: object = {}): StoredEvent {
  const observation = { kind: 'TerminalObservation', content: [{ type: 'text', text: 'out' }], exit_code: 0 }
  return event('ObservationEvent', { action_id: of.id, tool_call_id: call, observation, ...members })
}

function itemsOf(...events: readonly StoredEvent[]): readonly Item[] {
  const timeline = new Timeline()
  timeline.reset(events)
  return timeline.items
}

function callsOf(item: Item | undefined): readonly Call[] {
  return item?.type === 'calls' ? item.calls : []
}

test('a result goes to its action, and actions of one response are one item', () => {
  const [first, second] = [action('c1', 'r1'), action('c2', 'r1')]
  const items = itemsOf(first, second, result(second, 'c2'), result(first, 'c1'), action('c3', 'r2'))
  assert.equal(items.map(({ type }) => type), ['calls', 'calls'])
  assert.equal(callsOf(items[0]).map(({ result: found }) => found?.body['tool_call_id']), ['c1', 'c2'])
  assert.is(statusOf({ action: first, result: undefined }), 'open')
})

test('ids of calls that come again belong to the newest action without a result', () => {
  const [first, second] = [action('same', 'r1'), action('same', 'r2')]
  const error = event('AgentErrorEvent', { tool_call_id: 'same', error: 'no' })
  const items = itemsOf(first, result(first, 'same'), second, error)
  assert.is(callsOf(items[0])[0]?.result?.kind, 'ObservationEvent')
  assert.is(callsOf(items[1])[0]?.result?.kind, 'AgentErrorEvent')
})

test('a result without its action is an item of its own, and quiet events do not part a group', () => {
  const stranger = event('ObservationEvent', { action_id: 'gone', tool_call_id: 'gone', observation: {} })
  const [first, second] = [action('c1', 'r1'), action('c2', 'r1')]
  const update = event('ConversationStateUpdateEvent', { key: 'stats', value: {} })
  const items = itemsOf(stranger, first, update, second)
  assert.equal(items.map(({ type }) => type), ['result', 'calls', 'note'])
  assert.is(callsOf(items[1]).length, 2)
})

test('an event of an unknown kind, and one of odd members, becomes an item', () => {
  const odd = [
    event('NewKindEvent', { surprise: [1] }), event('MessageEvent', { llm_message: 7 }),
    event('ActionEvent', { action: [] }),
    event('ConversationErrorEvent', { code: 5 }), event('ConversationStateUpdateEvent', { key: {}, value: 'x' }),
    event('Condensation', { forgotten_event_ids: 'many' }), event('ObservationEvent', { observation: null }),
  ]
  assert.is(itemsOf(...odd).length, odd.length)
  assert.is(readEvent({ kind: 'x' }), undefined)
  assert.is(readEvent([]), undefined)
})

test('each event costs the same, however many came before', () => {
  const timeline = new Timeline()
  for (let at = 0; at < 5000; at++) {
    const one = action(`c${at}`, `r${at}`)
    assert.is(timeline.append(one), timeline.items.at(-1))
    assert.is(timeline.append(result(one, `c${at}`)).key, one.id)
  }
  assert.is(timeline.items.length, 5000)
})

test('what became of a call can be seen', () => {
  const one = action('c', 'r')
  const withResult = (found: StoredEvent): string => statusOf({ action: one, result: found })
  const failed = { kind: 'TerminalObservation', exit_code: 2 }
  assert.is(withResult(result(one, 'c')), 'done')
  assert.is(withResult(result(one, 'c', { observation: failed })), 'failed')
  assert.is(withResult(result(one, 'c', { observation: { is_error: true } })), 'failed')
  assert.is(withResult(event('UserRejectObservation', { rejection_source: 'user' })), 'rejected')
  assert.is(withResult(event('UserRejectObservation', { rejection_source: 'hook' })), 'blocked')
  assert.is(withResult(event('AgentErrorEvent', { error: 'The action was cancelled' })), 'cancelled')
  assert.is(withResult(event('AgentErrorEvent', { error: 'Error executing' })), 'failed')
  const start = event('ActionEvent', { timestamp: '2026-01-01T00:00:01.5' })
  const end = event('X', { timestamp: '2026-01-01T00:00:04' })
  assert.is(durationOf({ action: start, result: end }), 2500)
})

test('every kind of action has a form of its own', () => {
  const kinds = Object.keys(actions).filter((name) => /.Action$/.test(name))
  assert.is(kinds.length, 28)
  for (const kind of kinds) {
    const one = action('c', 'r', { tool_name: 'the_tool', action: { kind } })
    const view = describeCall({ action: one, result: undefined })
    assert.is(view.verb === 'the_tool', kind === 'MCPToolAction', kind)
  }
})

test('an unknown action, an unexecuted call and an odd result are shown as JSON', () => {
  const unknown = action('c', 'r', { action: { kind: 'NewAction', deep: { a: 1 } } })
  assert.equal(describeCall({ action: unknown, result: undefined }).pieces, [
    { type: 'json', label: 'Action', value: { kind: 'NewAction', deep: { a: 1 } }, isOpen: true },
  ])
  const unexecuted = action('c', 'r', { action: null, tool_call: { arguments: '{"a": [1]}' } })
  assert.equal(describeCall({ action: unexecuted, result: undefined }).pieces, [
    { type: 'json', label: 'Arguments', value: { a: [1] }, isOpen: true },
  ])
  const list = action('c', 'r', { action: { kind: 'ThinkAction', thought: 'hm' } })
  const odd = result(list, 'c', { observation: { kind: 'New', is_error: true, content: [{ text: 'bad' }] } })
  assert.equal(describeCall({ action: list, result: odd }).pieces.at(-1), { type: 'problem', text: 'bad' })
})

test('an edit is the difference of the whole file where the result has it', () => {
  const edit = action('c', 'r', { action: { kind: 'EditAction', file_path: '/a', old_string: 'x', new_string: 'y' } })
  const observation = { kind: 'EditObservation', old_content: 'x\n1', new_content: 'y\n1' }
  const planned = describeCall({ action: edit, result: undefined })
  assert.equal(planned.pieces, [{ type: 'diff', before: 'x', after: 'y' }])
  const done = describeCall({ action: edit, result: result(edit, 'c', { observation }) })
  assert.equal(done.pieces, [{ type: 'diff', before: 'x\n1', after: 'y\n1' }])
})

test('a path in the workspace is relative to it; another path and a command are whole', () => {
  const shown = (folder: string, inner: object): string => {
    return subjectIn(folder, describeCall({ action: action('c', 'r', { action: inner }), result: undefined }))
  }
  const read = { kind: 'ReadFileAction', file_path: '/project/a.ts' }
  assert.is(shown('/project', read), 'a.ts')
  assert.is(shown('/other', read), '/project/a.ts')
  assert.is(shown('', read), '/project/a.ts')
  assert.is(shown('/project', { kind: 'TerminalAction', command: '/project/run.sh' }), '/project/run.sh')
})

test.run()
