/** The events that only Anthropic's streams have (the rest: anthropic.test.ts). */
import * as assert from 'uvu/assert'
import { anthropicBody } from '../../../../src/parts/builtin/llm/anthropic-request.ts'
import { foldAnthropic } from '../../../../src/parts/builtin/llm/anthropic-stream.ts'
import { objectOf, objectsOf } from '../../../../src/base/fields.ts'
import type { JsonObject } from '../../../../src/base/json.ts'
import { llmOf } from '../../../support/llm.ts'
import { suite } from '../../../support/suite.ts'
import { answerOf, folded, vector } from './folding.ts'

const test = suite('agents/llm/anthropic-stream')

const start = (usage: JsonObject = {}): JsonObject => ({ type: 'message_start', message: { id: 'msg_1', usage } })
const end = (stop_reason: string | null = 'end_turn', usage: JsonObject | null = null): JsonObject[] =>
  [{ type: 'message_delta', delta: { stop_reason }, usage }, { type: 'message_stop' }]
const begin = (index: number, content_block: JsonObject): JsonObject => ({
  type: 'content_block_start', index, content_block,
})
const grow = (index: number, delta: JsonObject): JsonObject => ({ type: 'content_block_delta', index, delta })

test('keeps thinking with its signatures, and the order of blocks that is not the usual one', () => {
  const { message, state, stop } = answerOf(foldAnthropic, vector('anthropic/interleaved'))
  assert.equal(message.thinking_blocks, [
    { type: 'thinking', thinking: 'First I look.', signature: 'c2lnbmF0dXJlLTI=' },
    { type: 'redacted_thinking', data: 'cmVkYWN0ZWQ=' },
    { type: 'thinking', thinking: 'Then I read.', signature: 'c2lnbmF0dXJlLTM=' },
  ])
  assert.is(message.reasoning_content, 'First I look.Then I read.')
  assert.equal(message.content, [{ cache_prompt: false, type: 'text', text: 'Looking.' }])
  assert.equal(message.tool_calls, [
    { id: 'toolu_04', name: 'terminal', arguments: '{"command":"pwd"}', origin: 'completion' },
  ])
  assert.equal(state, { anthropic: { order: ['thinking', 'text', 'thinking', 'thinking', 'tool_use'] } })
  assert.is(stop, 'tool_calls')
})

test('sends an answer back block by block as it came', () => {
  const { message, state } = answerOf(foldAnthropic, vector('anthropic/interleaved'))
  const request = { messages: [{ message, ...(state && { state }) }], tools: [], signal: new AbortController().signal }
  const { messages } = anthropicBody(request, 'claude-opus-4-6', llmOf({ caching_prompt: false }))
  assert.equal(messages, [{
    role: 'assistant',
    content: [
      { type: 'thinking', thinking: 'First I look.', signature: 'c2lnbmF0dXJlLTI=' },
      { type: 'text', text: 'Looking.' },
      { type: 'redacted_thinking', data: 'cmVkYWN0ZWQ=' },
      { type: 'thinking', thinking: 'Then I read.', signature: 'c2lnbmF0dXJlLTM=' },
      { type: 'tool_use', id: 'toolu_04', name: 'terminal', input: { command: 'pwd' } },
    ],
  }])
})

test('keeps no state for the usual order', () => {
  for (const name of ['text', 'tool-call', 'parallel-calls', 'reasoning', 'empty']) {
    assert.is(answerOf(foldAnthropic, vector(`anthropic/${name}`)).state, undefined, name)
  }
})

test('reads a whole message like its stream', () => {
  const { response, ...streamed } = answerOf(foldAnthropic, vector('anthropic/interleaved'))
  const whole = objectOf(response)
  const content = objectsOf(whole['content'])
  const input = { command: 'pwd' }
  const blocks = content.map((block) => block['type'] === 'tool_use' ? { ...block, input } : block)
  const message = { ...whole, content: blocks }
  const { answer, pieces } = folded(foldAnthropic, [message])
  assert.equal(answer, { ...streamed, response })
  assert.equal(pieces, [{ content: 'Looking.', reasoning_content: 'First I look.Then I read.' }])
})

test('keeps a signature without its thinking, and thinking without a signature', () => {
  const { message } = answerOf(foldAnthropic, [
    start(),
    begin(0, { type: 'thinking', thinking: '' }),
    grow(0, { type: 'signature_delta', signature: 'sig' }),
    begin(1, { type: 'thinking', thinking: 'Hm' }),
    begin(2, { type: 'redacted_thinking' }),
    grow(2, { type: 'thinking_delta', thinking: 'lost' }),
    ...end(),
  ])
  assert.equal(message.thinking_blocks, [
    { type: 'thinking', thinking: '', signature: 'sig' },
    { type: 'thinking', thinking: 'Hm' },
    { type: 'redacted_thinking', data: '' },
  ])
})

test('passes over blocks, deltas and events that it does not know', () => {
  const { answer, pieces } = folded(foldAnthropic, [
    {}, start(), begin(0, { type: 'novel' }), grow(0, { type: 'text_delta', text: 'lost' }), grow(9, { type: 'novel' }),
    { type: 'content_block_start', content_block: { type: 'text', text: '' } },
    begin(1, { type: 'text' }), grow(1, { type: 'thinking_delta' }), { type: 'content_block_delta' },
    begin(2, { type: 'text', text: '\n' }),
    ...end(),
  ])
  assert.equal(answer?.message, { role: 'assistant', content: [], thinking_blocks: [] })
  assert.is(pieces.length, 12)
})

test('makes ids that a compatible server has left out, and empty arguments an object', () => {
  const { id, message } = answerOf(foldAnthropic, [begin(0, { type: 'tool_use' }), ...end('tool_use')])
  assert.is(id, 'made-2')
  assert.equal(message.tool_calls, [{ id: 'made-1', name: '', arguments: '{}', origin: 'completion' }])
})

for (const [reason, stop] of [
  ['end_turn', 'end'], ['stop_sequence', 'end'], ['pause_turn', 'end'], ['novel', 'end'], [null, 'end'],
  ['max_tokens', 'length'], ['model_context_window_exceeded', 'length'], ['refusal', 'refusal'],
] as const) {
  test(`takes the stop reason ${reason} for ${stop}`, () => {
    assert.is(answerOf(foldAnthropic, [start(), ...end(reason)]).stop, stop)
  })
}

test('counts the whole input, and leaves unknown what is not told', () => {
  const input = { input_tokens: 7, cache_read_input_tokens: 2, cache_creation_input_tokens: null }
  assert.equal(
    answerOf(foldAnthropic, [start(input), ...end('end_turn', { input_tokens: null, output_tokens: 3 })]).usage,
    {
      promptTokens: 9, completionTokens: 3, cacheReadTokens: 2,
    },
  )
  const written = { input_tokens: 7, cache_creation_input_tokens: 2 }
  assert.equal(answerOf(foldAnthropic, [start(written), ...end()]).usage, { promptTokens: 9, cacheWriteTokens: 2 })
  assert.equal(answerOf(foldAnthropic, [start(), ...end()]).usage, {})
  assert.equal(answerOf(foldAnthropic, [{ type: 'message' }]).usage, {})
})

test('has no answer before the last event', () => {
  assert.is(folded(foldAnthropic, [start(), begin(0, { type: 'text', text: 'Hello' })]).answer, undefined)
})

test('fails with what an error event tells', () => {
  assert.throws(() => folded(foldAnthropic, vector('anthropic/overloaded')), /overloaded_error/)
})

test.run()
