/** When the words and plans of an agent enter the history, and as which events (decisions, 3). */
import * as assert from 'uvu/assert'
import { createMasker } from '../../../src/base/masking.ts'
import { suite } from '../../support/suite.ts'
import { turnsDuring } from '../../support/turns.ts'
import { announced, filled, json, watch } from './watched-turn.ts'

const test = suite('acp turn events')

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
  turn.events.update({
    sessionUpdate: 'agent_message_chunk', content: { type: 'image', data: 'AAAA', mimeType: 'image/gif' },
  })
  turn.events.update({
    sessionUpdate: 'agent_message_chunk', content: { type: 'resource_link', uri: 'file:///x', name: 'x' },
  })
  turn.events.update({
    sessionUpdate: 'agent_message_chunk', content: { type: 'resource', resource: { uri: 'file:///y', text: ' y' } },
  })
  turn.events.close('over')
  assert.match(json(turn.drafts[0]), /"see ".*"image_urls":\["data:image\/gif;base64,AAAA"\].*"file:\/\/\/x y"/)
})

test('records images of four types in base64 only, and says what it left out', () => {
  const shown = (fields: object): string => {
    const turn = watch()
    turn.events.update({ sessionUpdate: 'agent_message_chunk', content: { type: 'image', data: 'AAAA', ...fields } })
    turn.events.close('over')
    return json(turn.drafts)
  }
  for (const mimeType of ['image/png', 'image/jpeg', 'image/gif', 'image/webp']) {
    assert.match(shown({ mimeType }), `data:${mimeType};base64,AAAA`)
  }
  for (const odd of [
    { mimeType: 'image/svg+xml' }, { mimeType: 'text/html,<b>' }, { mimeType: 7 },
    { mimeType: 'image/png', data: 'AA"A' }, { mimeType: 'image/png', data: '<svg>' },
  ]) {
    assert.not.match(shown(odd), /data:/)
    assert.match(shown(odd), /An image was left out here/)
  }
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
  const plan = (status: string): void => void turn.events.update({
    sessionUpdate: 'plan',
    entries: [{ content: 'one', priority: 'high', status: 'completed' }, { content: 'two', priority: 'low', status }],
  })
  turn.thought('a plan helps')
  plan('pending')
  plan('pending')
  plan('in_progress')
  turn.events.update({ sessionUpdate: 'plan', entries: null })
  assert.equal(turn.kinds(), [
    'ActionEvent', 'ObservationEvent', 'ActionEvent', 'ObservationEvent', 'ActionEvent', 'ObservationEvent',
  ])
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
  const call = {
    toolCallId: 'hunter22',
    title: 'echo hunter22',
    kind: 'execute',
    rawInput: { command: 'echo hunter22', hunter22: ['hunter22'] },
  }
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
  assert.match(
    json(turn.drafts[1]),
    /"text":"a+\\n\[\.\.\. 600 characters in all; the complete output is in observations\/file1 \.\.\.\]\\nb+"/,
  )
  assert.match(json(turn.drafts[1]), /"full_output_save_dir":"\/observations"/)
})

const longWords = `${'word '.repeat(40_000)}hunter22`

test('masks a long output in several turns, joined first, and records it then', async () => {
  const masker = createMasker()
  masker.register(['hunter22'])
  const turn = watch({ mask: (text) => masker.mask(text), stream: () => masker.stream(), outputLimitChars: 1_000_000 })
  turn.call({ ...announced, ...filled })
  turn.call({ _meta: { terminal_output_delta: { data: longWords.slice(0, -3) } } })
  const done = turn.events.update({
    sessionUpdate: 'tool_call_update',
    toolCallId: 't1',
    status: 'completed',
    _meta: { terminal_output_delta: { data: longWords.slice(-3) } },
  })
  assert.equal(turn.kinds(), ['ActionEvent'])
  assert.ok(await turnsDuring(Promise.resolve(done)) >= 2)
  assert.equal(turn.kinds(), ['ActionEvent', 'ObservationEvent'])
  assert.match(json(turn.drafts[1]), /word <secret-hidden>/)
})

test('keeps a million characters of an output, whole or in pieces, and says that more came', async () => {
  const length = 1_000_000
  for (const news of [
    { rawOutput: 'x'.repeat(length + 1) }, { _meta: { terminal_output_delta: { data: 'x'.repeat(length + 1) } } },
  ]) {
    const turn = watch()
    turn.call({ ...announced, ...filled })
    turn.call(news)
    await turn.events.update({ sessionUpdate: 'tool_call_update', toolCallId: 't1', status: 'completed' })
    assert.match(turn.saved[0]?.slice(-60) ?? '', /x\n\[The rest of the output was too long to keep\]\n$/)
    assert.ok((turn.saved[0]?.length ?? 0) < length + 200)
  }
})

test('a call that is given up while its output is masked has one answer', async () => {
  const turn = watch()
  turn.call({ ...announced, ...filled })
  const done = turn.events.update({
    sessionUpdate: 'tool_call_update', toolCallId: 't1', status: 'completed', rawOutput: longWords,
  })
  turn.events.close('over')
  await done
  assert.equal(turn.kinds(), ['ActionEvent', 'AgentErrorEvent'])
})

test('records an error that the agent reports of itself, masked, in its place, and leaves remarks out', () => {
  const turn = watch()
  turn.text('before')
  turn.events.update({ sessionUpdate: 'notice', severity: 'info', title: 'By the way' })
  turn.events.update({ sessionUpdate: 'notice', severity: 'error', title: 'No space', description: 'with hunter22' })
  assert.equal(turn.kinds(), ['MessageEvent', 'MessageEvent'])
  assert.match(json(turn.drafts[1]), /"source":"environment".*\[The agent reports an error\] No space: with \*\*\*/)
})

test('says of a call which sub-agent makes it', () => {
  const turn = watch()
  turn.call({ ...announced, ...filled, status: 'completed', _meta: { claudeCode: { parentToolUseId: 'task-1' } } })
  assert.match(json(turn.drafts[0]), /"summary":"ls -l \[by the sub-agent of task-1\]"/)
})

test.run()
