/** When and as what the reports of an agent enter the history (decisions, 3). */
import * as assert from 'uvu/assert'
import { TurnEvents, type TurnEventsOptions } from '../../../src/agents/acp/turn-events.ts'
import type { EventDraft } from '../../../src/schema/generated/events.ts'
import { suite } from '../../support/suite.ts'
import { manualTimers } from './manual-timers.ts'

const test = suite('acp turn events')

interface Watched {
  readonly events: TurnEvents
  readonly drafts: EventDraft[]
  readonly deltas: object[]
  readonly saved: string[]
  readonly timers: ReturnType<typeof manualTimers>
  /** The kinds so far. */
  kinds(): string[]
  text(words: string, messageId?: string): void
  thought(words: string, messageId?: string): void
  call(fields: object): void
}

function watch(changes: Partial<TurnEventsOptions> = {}): Watched {
  const timers = manualTimers()
  const drafts: EventDraft[] = []
  const deltas: object[] = []
  const saved: string[] = []
  const events = new TurnEvents({
    turnId: 'turn',
    workingDir: '/work',
    titleIsCommand: false,
    observationsDir: '/observations',
    record: (draft) => ({ id: `e${drafts.push(draft)}`, durable: async () => undefined }),
    delta: (piece) => void deltas.push(piece),
    mask: (text) => text.replaceAll('hunter22', '***'),
    maskDelta: (text) => text.replaceAll('session-id', '<session>'),
    saveOutput: (text) => `file${saved.push(text)}`,
    timers,
    ...changes,
  })
  const chunk = (sessionUpdate: string, words: string, messageId?: string): void => {
    events.update({ sessionUpdate, content: { type: 'text', text: words }, ...(messageId === undefined ? {} : { messageId }) })
  }
  return {
    events,
    drafts,
    deltas,
    saved,
    timers,
    kinds: () => drafts.map(({ kind }) => kind),
    text: (words, id) => chunk('agent_message_chunk', words, id),
    thought: (words, id) => chunk('agent_thought_chunk', words, id),
    call: (fields) => events.update({ sessionUpdate: 'tool_call_update', toolCallId: 't1', ...fields }),
  }
}

const announced = { title: 'Terminal', kind: 'execute', status: 'pending', rawInput: {} }
const filled = { title: 'ls -l', rawInput: { command: 'ls -l' } }

function json(value: unknown): string {
  return JSON.stringify(value)
}

test('waits with an action that is only announced', () => {
  const turn = watch()
  turn.call(announced)
  turn.timers.advanceTo(499)
  assert.equal(turn.kinds(), [])
})

const occasions: readonly (readonly [name: string, happen: (turn: Watched) => void])[] = [
  ['permission is asked', ({ events }) => void events.asks({ toolCallId: 't1' })],
  ['it is in progress', ({ call }) => call({ status: 'in_progress' })],
  ['it has completed', ({ call }) => call({ status: 'completed' })],
  ['it has failed', ({ call }) => call({ status: 'failed' })],
  ['raw output comes', ({ call }) => call({ rawOutput: 'x' })],
  ['terminal output comes', ({ call }) => call({ _meta: { terminal_output_delta: { data: 'x' } } })],
  ['text comes', ({ text }) => text('so')],
  ['a thought comes', ({ thought }) => thought('so')],
  ['another call is announced', ({ call }) => call({ ...announced, toolCallId: 't2' })],
  ['a plan comes', ({ events }) => events.update({ sessionUpdate: 'plan', entries: [{ content: 'a' }] })],
  ['nothing comes for 500 ms', ({ timers }) => timers.advanceTo(500)],
  ['the turn ends', ({ events }) => events.close('over')],
]

for (const [name, happen] of occasions) {
  test(`records an announced action with its newest title and input when ${name}`, () => {
    const turn = watch()
    turn.call(announced)
    turn.call(filled)
    happen(turn)
    const [first] = turn.drafts
    assert.match(json(first), /"kind":"ActionEvent".*"TerminalAction","command":"ls -l".*"summary":"ls -l"/)
    turn.events.close('over')
    assert.is(turn.timers.waiting, 0)
  })
}

test('begins the 500 ms again with every change', () => {
  const turn = watch()
  turn.call(announced)
  turn.timers.advanceTo(400)
  turn.call(filled)
  turn.timers.advanceTo(800)
  assert.equal(turn.kinds(), [])
  turn.timers.advanceTo(900)
  assert.equal(turn.kinds(), ['ActionEvent'])
})

test('does not take news about figures for news about something else', () => {
  const turn = watch()
  turn.call(announced)
  for (const sessionUpdate of ['usage_update', 'session_info_update', 'available_commands_update', 'current_mode_update', 'user_message_chunk', 'anything_new']) {
    turn.events.update({ sessionUpdate })
  }
  assert.equal(turn.kinds(), [])
})

test('waits for the input of a call that runs before it tells it', () => {
  const turn = watch()
  turn.call({ ...announced, status: 'in_progress' })
  assert.equal(turn.kinds(), [])
  turn.call(filled)
  assert.equal(turn.kinds(), ['ActionEvent'])
})

test('gives each call one action and one answer, whatever comes twice', () => {
  const turn = watch()
  turn.call({ ...announced, ...filled, status: 'in_progress' })
  turn.events.asks({ toolCallId: 't1', status: 'pending' })
  turn.call({ status: 'completed', rawOutput: 'a file' })
  turn.call({ status: 'failed', rawOutput: 'no' })
  turn.call({ _meta: { terminal_exit: { exit_code: 1 } } })
  turn.events.close('over')
  assert.equal(turn.kinds(), ['ActionEvent', 'ObservationEvent'])
  assert.match(json(turn.drafts[1]), /"a file".*"is_error":false.*"action_id":"e1"/)
})

test('answers a call that was refused at once and ignores how the agent ends it', () => {
  const turn = watch()
  const asked = turn.events.asks({ toolCallId: 't1', ...filled, kind: 'execute' })
  assert.is(asked?.id, 't1')
  assert.is(asked?.title, 'ls -l')
  turn.events.rejects('t1', 'not now')
  turn.call({ status: 'failed', rawOutput: 'refused' })
  turn.events.rejects('t1', 'twice')
  turn.events.close('over')
  assert.equal(turn.kinds(), ['ActionEvent', 'UserRejectObservation'])
  assert.match(json(turn.drafts[1]), /"rejection_reason":"not now"/)
})

test('gives a call that asks again after its end an action of its own', () => {
  const turn = watch()
  turn.events.asks({ toolCallId: 't1', ...filled })
  turn.events.rejects('t1', 'no')
  const again = turn.events.asks({ toolCallId: 't1', ...filled })
  assert.is(again?.id, 't1~1')
  turn.call({ status: 'completed' })
  assert.equal(turn.kinds(), ['ActionEvent', 'UserRejectObservation', 'ActionEvent', 'ObservationEvent'])
  assert.is(turn.events.asks({ toolCallId: 't1', ...filled })?.id, 't1~2')
  assert.match(json(turn.drafts[3]), /"tool_call_id":"t1~1".*"action_id":"e3"/)
})

test('begins no call with an update that describes none, or without an id', () => {
  const turn = watch()
  turn.call({ _meta: { terminal_exit: { exit_code: 0 } } })
  turn.events.update({ sessionUpdate: 'tool_call', title: 'no id' })
  assert.is(turn.events.asks({ title: 'no id' }), undefined)
  turn.events.close('over')
  assert.equal(turn.kinds(), [])
})

test('answers every open call with an error when it is not waited for any more', () => {
  const turn = watch()
  turn.call({ ...announced, ...filled, status: 'in_progress' })
  turn.call({ ...announced, toolCallId: 't2' })
  assert.is(turn.events.hasOpenCalls, true)
  turn.events.abandonCalls('stopped')
  assert.is(turn.events.hasOpenCalls, false)
  assert.equal(turn.kinds(), ['ActionEvent', 'ActionEvent', 'AgentErrorEvent', 'AgentErrorEvent'])
})

test('gives up on calls when too many are open', () => {
  const turn = watch()
  for (let index = 0; index <= 1000; index++) turn.call({ ...announced, toolCallId: `t${index}` })
  assert.is(turn.kinds().filter((kind) => kind === 'AgentErrorEvent').length, 1000)
})

test('takes nothing after the end', () => {
  const turn = watch()
  turn.events.close('over')
  turn.events.close('over')
  turn.text('late')
  turn.call({ status: 'completed' })
  assert.is(turn.events.asks({ toolCallId: 't1' }), undefined)
  assert.equal(turn.kinds(), [])
})

test('makes one message of the chunks between two other things, with the thoughts before it', () => {
  const turn = watch()
  turn.thought('\n\nhm')
  turn.thought(', so')
  turn.text('I ')
  turn.text('will')
  turn.call({ ...announced, ...filled, status: 'completed' })
  turn.text('Done')
  turn.events.close('over')
  assert.equal(turn.kinds(), ['MessageEvent', 'ActionEvent', 'ObservationEvent', 'MessageEvent'])
  assert.match(json(turn.drafts[0]), /"text":"I will".*"reasoning_content":"hm, so"/)
  assert.is(turn.events.lastText, 'Done')
})

test('begins a message when its id changes, and where there are no ids, when a thought follows text', () => {
  const withIds = watch()
  withIds.thought('t', 'r1')
  withIds.text('a', 'm1')
  withIds.thought('u', 'm1')
  withIds.text('b', 'm1')
  withIds.text('c', 'm2')
  withIds.thought('v', 'r2')
  withIds.events.close('over')
  assert.equal(withIds.kinds(), ['MessageEvent', 'MessageEvent', 'MessageEvent'])
  assert.match(json(withIds.drafts[0]), /"ab".*"tu"/)
  const without = watch()
  without.thought('t')
  without.text('a')
  without.thought('u')
  without.text('b')
  without.events.close('over')
  assert.equal(without.kinds(), ['MessageEvent', 'MessageEvent'])
})

test('gives thoughts that lead to a call and to no text to the action', () => {
  const turn = watch()
  turn.thought('I should look')
  turn.call({ ...announced, ...filled, status: 'completed' })
  turn.thought('I am done')
  turn.events.close('over')
  assert.equal(turn.kinds(), ['ActionEvent', 'ObservationEvent', 'MessageEvent'])
  assert.match(json(turn.drafts[0]), /"reasoning_content":"I should look"/)
  assert.match(json(turn.drafts[2]), /"content":\[\],"reasoning_content":"I am done"/)
})

test('records no message for blank text', () => {
  const turn = watch()
  turn.text(' \n')
  turn.thought('\n\n')
  turn.events.update({ sessionUpdate: 'agent_message_chunk', content: null })
  turn.events.close('over')
  assert.equal(turn.kinds(), [])
})

test('goes on in another event when a message grows over its limit', () => {
  const turn = watch({ messageLimitChars: 10 })
  for (const words of ['0123456789', 'abc', 'def']) turn.text(words, 'm1')
  turn.events.close('over')
  assert.match(json(turn.drafts), /"0123456789".*"abcdef"/)
})

test('keeps images of a message and gives links by their address', () => {
  const turn = watch()
  turn.text('see ')
  turn.events.update({ sessionUpdate: 'agent_message_chunk', content: { type: 'image', data: 'AAAA', mimeType: 'image/gif' } })
  turn.events.update({ sessionUpdate: 'agent_message_chunk', content: { type: 'resource_link', uri: 'file:///x', name: 'x' } })
  turn.events.update({ sessionUpdate: 'agent_message_chunk', content: { type: 'resource', resource: { uri: 'file:///y', text: ' y' } } })
  turn.events.close('over')
  assert.match(json(turn.drafts[0]), /"see ".*"image_urls":\["data:image\/gif;base64,AAAA"\].*"file:\/\/\/x y"/)
})

test('gives the parts of one response one id and those after an answer another', () => {
  const turn = watch()
  turn.text('first')
  turn.call({ ...announced, toolCallId: 'a' })
  turn.call({ ...announced, toolCallId: 'b' })
  turn.call({ toolCallId: 'a', status: 'completed' })
  turn.call({ toolCallId: 'b', status: 'completed' })
  turn.call({ ...announced, toolCallId: 'c', status: 'completed' })
  turn.text('last')
  turn.events.close('over')
  const ids = turn.drafts.flatMap((draft) => ('llm_response_id' in draft ? [draft.llm_response_id] : []))
  assert.equal(ids, ['turn-1', 'turn-1', 'turn-1', 'turn-2', 'turn-3'])
})

test('records a plan and its answer for every plan that differs from the last', () => {
  const turn = watch()
  const plan = (status: string): void => turn.events.update({
    sessionUpdate: 'plan',
    entries: [{ content: 'one', priority: 'high', status: 'completed' }, { content: 'two', priority: 'low', status }],
  })
  turn.thought('a plan helps')
  plan('pending')
  plan('pending')
  plan('in_progress')
  turn.events.update({ sessionUpdate: 'plan', entries: null })
  assert.equal(turn.kinds(), ['ActionEvent', 'ObservationEvent', 'ActionEvent', 'ObservationEvent', 'ActionEvent', 'ObservationEvent'])
  assert.match(json(turn.drafts[0]), /"reasoning_content":"a plan helps".*"title":"one","status":"done".*"title":"two","status":"todo".*"tool_name":"task_tracker".*\\"priority\\":\\"high\\"/)
  assert.match(json(turn.drafts[3]), /"text":"2 tasks: 1 done, 1 in progress, 0 to do"/)
  assert.match(json(turn.drafts[5]), /"text":"0 tasks/)
})

test('masks secrets in every text, joined first', () => {
  const turn = watch()
  turn.thought('hun')
  turn.thought('ter22')
  turn.text('hunt')
  turn.text('er22')
  turn.events.update({ sessionUpdate: 'plan', entries: [{ content: 'use hunter22' }] })
  const call = { toolCallId: 'hunter22', title: 'echo hunter22', kind: 'execute', rawInput: { command: 'echo hunter22', hunter22: ['hunter22'] } }
  turn.events.asks(call)
  turn.call({ toolCallId: 'hunter22', _meta: { terminal_output_delta: { data: 'hunte' } } })
  turn.call({ toolCallId: 'hunter22', _meta: { terminal_output_delta: { data: 'r22' } }, status: 'completed' })
  turn.events.close('over')
  assert.not.match(json(turn.drafts), /hunter22/)
  assert.is(turn.drafts.length, 5)
})

test('sends what is written to those who read along', () => {
  const turn = watch()
  turn.thought('hm')
  turn.text('so')
  turn.text('it is session-id')
  assert.equal(turn.deltas, [{ reasoning_content: 'hm' }, { content: 'so' }, { content: 'it is <session>' }])
})

test('cuts a long output in its middle and keeps all of it elsewhere', () => {
  const turn = watch({ outputLimitChars: 200 })
  turn.call({ ...announced, ...filled, status: 'completed', rawOutput: `${'a'.repeat(300)}${'b'.repeat(300)}` })
  assert.is(turn.saved[0]?.length, 600)
  assert.match(json(turn.drafts[1]), /"text":"a+\\n\[\.\.\. 600 characters in all; the complete output is in observations\/file1 \.\.\.\]\\nb+"/)
  assert.match(json(turn.drafts[1]), /"full_output_save_dir":"\/observations"/)
})

test.run()
