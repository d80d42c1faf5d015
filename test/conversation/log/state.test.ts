import * as assert from 'uvu/assert'
import { UsageLedger } from '../../../src/conversation/log/usage.ts'
import { suite } from '../../support/suite.ts'
import type { JsonValue } from '../../../src/base/json.ts'
import { createStamper } from '../../../src/base/stamp.ts'
import { foldRecord, isPrivateRecord, type PrivateRecord } from '../../../src/conversation/log/records.ts'
import type { Forked } from '../../../src/conversation/log/origins.ts'
import { foldEvent, initialState, type ConversationState } from '../../../src/conversation/log/state.ts'
import { eventKinds, toEvent, type Event, type EventDraft } from '../../../src/schema/generated/events.ts'
import { act, created, observe, say, startMillis } from '../../support/conversation.ts'

const test = suite('conversation/log/state')

/** Makes events with increasing times and folds them. */
class Fold {
  readonly state: ConversationState
  readonly #next = createStamper(() => startMillis, (size) => Buffer.alloc(size))

  constructor(changes: Parameters<typeof created>[0] = {}) {
    this.state = initialState(created(changes))
  }

  event(draft: EventDraft): Event {
    const { id, timestamp, micros } = this.#next()
    const event = toEvent({ ...draft, id, timestamp })
    foldEvent(this.state, event, micros)
    return event
  }

  update(key: string, value: JsonValue): Event {
    return this.event({ kind: 'ConversationStateUpdateEvent', source: 'environment', key, value })
  }
}

const text = { type: 'text', text: 'x' } as const
const tool = { tool_name: 'read', tool_call_id: 'call-1' }
/** One of each kind. */
const drafts: readonly EventDraft[] = [
  { kind: 'Condensation', llm_response_id: 'r' },
  { kind: 'CondensationRequest' },
  { kind: 'CondensationSummaryEvent', summary: 's' },
  { kind: 'ConversationErrorEvent', source: 'environment', code: 'c', detail: 'd' },
  { kind: 'ConversationStateUpdateEvent', key: 'k' },
  { kind: 'LLMCompletionLogEvent', filename: 'f', log_data: '{}' },
  act('call-1'),
  say('hi'),
  { kind: 'AgentErrorEvent', ...tool, error: 'e' },
  observe('call-1', 'action'),
  { kind: 'UserRejectObservation', ...tool, action_id: 'action' },
  { kind: 'SystemPromptEvent', system_prompt: text, tools: [] },
  { kind: 'TokenEvent', source: 'agent', prompt_token_ids: [], response_token_ids: [] },
  { kind: 'PauseEvent' },
]

test('takes every kind of event, and each becomes the head', () => {
  assert.equal(drafts.map((draft) => draft.kind).sort(), [...eventKinds].sort())
  for (const draft of drafts) {
    const fold = new Fold()
    const event = fold.event(draft)
    assert.is(fold.state.leaf_event_id, event.id)
    assert.is(fold.state.last_micros, startMillis * 1000)
    const changed = draft.kind !== 'ConversationStateUpdateEvent'
    assert.is(fold.state.updated_at, changed ? event.timestamp : created().created_at, draft.kind)
  }
})

test('user messages wait until they are served, others never', () => {
  const fold = new Fold()
  const ids = ['a', 'b', 'c'].map((words) => {
    return fold.event({ kind: 'MessageEvent', source: 'user', llm_message: { role: 'user', content: words } }).id
  })
  fold.event(say('hi'))
  assert.equal(fold.state.unserved, ids)
  foldRecord(fold.state, ['served', ids[1] ?? ''])
  assert.equal(fold.state.unserved, ids.slice(2))
  foldRecord(fold.state, ['served', 'unknown'])
  assert.equal(fold.state.unserved, ids.slice(2))
})

test('an action is open until it is answered in any of three ways', () => {
  const answers: readonly EventDraft[] = [
    observe('call-1', 'action'),
    { kind: 'AgentErrorEvent', ...tool, error: 'e' },
    { kind: 'UserRejectObservation', ...tool, action_id: 'action' },
  ]
  for (const answer of answers) {
    const fold = new Fold()
    const { id } = fold.event(act('call-1'))
    fold.event(act('call-2'))
    assert.equal(fold.state.open_actions[0], { action_id: id, tool_call_id: 'call-1', tool_name: 'read' })
    fold.event(answer)
    assert.equal(fold.state.open_actions.map((action) => action.tool_call_id), ['call-2'])
  }
})

test('an action that cannot be executed is never open', () => {
  const fold = new Fold()
  fold.event({ ...act('call-1'), action: null })
  assert.equal(fold.state.open_actions, [])
})

test('skills that messages activate are listed once', () => {
  const fold = new Fold()
  const message = (skills: string[]): EventDraft => ({
    kind: 'MessageEvent', source: 'user', llm_message: { role: 'user' }, activated_skills: skills,
  })
  fold.event(message(['a', 'b']))
  fold.event(message(['b', 'c']))
  assert.equal(fold.state.activated_knowledge_skills, ['a', 'b', 'c'])
})

const updates: readonly (readonly [key: keyof ConversationState, value: JsonValue, folded: unknown])[] = [
  ['execution_status', 'running', 'running'],
  ['execution_status', 'unheard of', 'idle'],
  ['last_user_message_id', 'id', 'id'],
  ['last_user_message_id', 5, null],
  ['confirmation_policy', { kind: 'AlwaysConfirm' }, { kind: 'AlwaysConfirm' }],
  ['confirmation_policy', null, { kind: 'NeverConfirm' }],
  ['security_analyzer', { kind: 'LLMSecurityAnalyzer' }, { kind: 'LLMSecurityAnalyzer' }],
  ['security_analyzer', null, null],
  ['stats', { usage_to_metrics: { a: {} } }, { usage_to_metrics: { a: {} } }],
  ['agent_state', { a: 1 }, { a: 1 }],
  ['tags', { a: 'x', b: 1 }, { a: 'x' }],
  ['tags', 'x', {}],
  ['pending_confirmations', [{ id: 'q' }], [{ id: 'q' }]],
  ['pending_confirmations', 'x', []],
  ['working_dir', '/etc', '/workspace'],
]
for (const [key, value, folded] of updates) {
  test(`an update of ${key} with ${JSON.stringify(value)} gives ${JSON.stringify(folded)}`, () => {
    const fold = new Fold()
    fold.update(key, value)
    assert.equal(fold.state[key], folded)
  })
}

const fork: Forked = {
  id: 'f', created_at: '2026-12-01T00:00:00.000000Z', from_conversation_id: created().id, from_event_id: 'e',
  leaf_event_id: 'e', title: 'T',
  tags: { a: '1' }, reset_metrics: true,
}

test(
  'a fork is a conversation of its own: idle, with nothing open, and with the agent and secrets of the other',
  () => {
    const fold = new Fold({ secrets: { A: { kind: 'StaticSecret' } }, tags: { b: '2' } })
    fold.event({ kind: 'MessageEvent', source: 'user', llm_message: { role: 'user' } })
    fold.event(act('call-1'))
    fold.update('execution_status', 'running')
    fold.update('stats', { usage_to_metrics: { a: {} } })
    fold.update('last_user_message_id', 'm')
    foldRecord(fold.state, ['kept', { key: 'session', value: { id: 's' } }])
    foldRecord(fold.state, ['forked', fork])
    const { state } = fold
    assert.equal([state.id, state.created_at, state.updated_at], ['f', fork.created_at, fork.created_at])
    assert.equal([state.execution_status, state.unserved, state.open_actions, state.kept], ['idle', [], [], {}])
    assert.equal([state.title, state.tags, state.leaf_event_id, state.last_user_message_id], [
      'T', { a: '1' }, 'e', null,
    ])
    assert.equal([state.forked_from_conversation_id, state.forked_from_event_id], [created().id, 'e'])
    assert.equal(state.stats, { usage_to_metrics: {} })
    assert.equal(Object.keys(state.secrets), ['A'])
    assert.equal(state.agent, created().agent)
  },
)

test('a fork keeps the figures if it is asked to', () => {
  const fold = new Fold()
  fold.update('stats', { usage_to_metrics: { a: {} } })
  foldRecord(fold.state, ['forked', { ...fork, reset_metrics: false }])
  assert.equal(fold.state.stats, { usage_to_metrics: { a: {} } })
})

test('stats count the usage of each step, and that of an older log, which had an update of stats too, once', () => {
  const report = { usageId: 'a', model: 'm', cost: 1 }
  const [newer, older] = [new Fold(), new Fold()]
  foldRecord(newer.state, ['spent', report])
  assert.is(newer.state.has_new_stats, true)
  older.update('stats', new UsageLedger({}).add(report))
  foldRecord(older.state, ['usage', report])
  assert.is(older.state.has_new_stats, false)
  assert.equal([newer.state.stats, newer.state.agent_state], [older.state.stats, older.state.agent_state])
  newer.update('stats', newer.state.stats)
  assert.is(newer.state.has_new_stats, false)
  foldRecord(newer.state, ['spent', { usageId: 'a', model: 'm' }])
  assert.equal([newer.state.stats, newer.state.has_new_stats], [older.state.stats, false])
})

test('other records change what they name', () => {
  const { state } = new Fold()
  foldRecord(state, ['patched', { at: '2026-12-02' }])
  assert.equal([state.updated_at, state.title], ['2026-12-02', null])
  foldRecord(state, ['patched', { at: '2026-12-03', title: 'T' }])
  foldRecord(state, ['head', 'e'])
  foldRecord(state, ['agent', { kind: 'Agent' }])
  foldRecord(state, ['kept', { key: 'usage', value: { cost: 1 } }])
  assert.equal([state.title, state.leaf_event_id, state.agent, state.kept], [
    'T', 'e', { kind: 'Agent' }, { usage: { cost: 1 } },
  ])
  foldRecord(state, ['created', created({ id: 'other' })])
  assert.equal(state, initialState(created({ id: 'other' })))
})

test('the same lines give the same state, and it is plain JSON at every point', () => {
  const records: readonly PrivateRecord[] = [
    ['patched', { at: 'x', title: 'T' }], ['secrets', { A: { kind: 'StaticSecret' } }], ['head', null],
  ]
  const folds = [new Fold(), new Fold()]
  for (const draft of drafts) {
    for (const fold of folds) {
      fold.event(draft)
      for (const record of records) foldRecord(fold.state, record)
    }
    const [first, second] = folds.map(({ state }) => JSON.stringify(state))
    assert.is(first, second)
    assert.equal(JSON.parse(first ?? ''), folds[0]?.state)
  }
})

test('tells our records from anything else', () => {
  for (const record of [['created', {}], ['served', 'x'], ['head', null]]) assert.ok(isPrivateRecord(record))
  for (const other of [['unknown', {}], ['created'], ['created', {}, {}], { 0: 'created' }, 'created', null, [1, 2]]) {
    assert.not.ok(isPrivateRecord(other))
  }
})

test.run()
