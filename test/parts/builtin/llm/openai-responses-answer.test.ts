/** Answers of Responses beyond the answers that every provider gives. */
import * as assert from 'uvu/assert'
import { failureOf } from '../../../../src/parts/builtin/llm/failures.ts'
import { ModelError } from '../../../../src/parts/builtin/llm/model.ts'
import { foldResponse } from '../../../../src/parts/builtin/llm/openai-responses-answer.ts'
import type { AnswerPiece } from '../../../../src/parts/builtin/llm/partial-answer.ts'
import type { FoldedAnswer } from '../../../../src/parts/builtin/llm/wire.ts'
import type { JsonObject } from '../../../../src/base/json.ts'
import { suite } from '../../../support/suite.ts'
import { text } from './messages.ts'

const test = suite('agents/llm/openai-responses-answer')

function startFold(): ReturnType<typeof foldResponse> {
  let made = 0
  return foldResponse({
    newId: () => `made-${++made}`,
    failureOf: (body) => failureOf({ provider: 'OpenAI', body, secrets: [], now: () => 0 }),
    limitParts: () => undefined,
  })
}

function read(...events: readonly JsonObject[]): FoldedAnswer | undefined {
  const fold = startFold()
  for (const event of events) fold.push(event)
  return fold.finish()
}

function piecesOf(...events: readonly JsonObject[]): AnswerPiece[] {
  const fold = startFold()
  return events.map((event) => fold.push(event))
}

const completed = (output: JsonObject[], over: JsonObject = {}): JsonObject =>
  ({ type: 'response.completed', response: { id: 'r1', status: 'completed', output, ...over } })

const said = { type: 'message', id: 'msg_1', content: [{ type: 'output_text', text: 'I look.' }] }
const called = { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'glob', arguments: '{}' }
const thought = {
  type: 'reasoning', id: 'rs_1', status: 'completed', encrypted_content: 'c2VhbGVk',
  summary: [{ type: 'summary_text', text: 'One.' }, { type: 'summary_text', text: 'Two.' }],
}

test('keeps encrypted reasoning in the state, with its place, and out of the message', () => {
  const answer = read(completed([thought, said, called, { type: 'web_search_call', id: 'ws_1' }]))
  assert.equal(answer?.message, {
    role: 'assistant', content: [text('I look.')], reasoning_content: 'One.\n\nTwo.', thinking_blocks: [],
    tool_calls: [{ id: 'call_1', name: 'glob', arguments: '{}', origin: 'responses' }],
    responses_reasoning_item: { id: 'rs_1', summary: ['One.', 'Two.'], status: 'completed' },
  })
  assert.equal(answer?.state, {
    openai_responses: {
      items: [
        { type: 'reasoning', id: 'rs_1', summary: thought.summary, encrypted_content: 'c2VhbGVk' },
        { type: 'message', id: 'msg_1' },
        { type: 'function_call', id: 'fc_1', call_id: 'call_1' },
      ],
    },
  })
})

test('keeps no state of reasoning that is not encrypted', () => {
  const open = { type: 'reasoning', content: [{ type: 'reasoning_text', text: 'All of it' }] }
  const answer = read(completed([open, called]))
  assert.is(answer?.state, undefined)
  assert.is(answer?.message.reasoning_content, 'All of it')
  assert.equal(answer?.message.responses_reasoning_item, { summary: [], content: ['All of it'] })
})

test('leaves out parts of a kind to come', () => {
  const answer = read(completed([
    { type: 'reasoning', summary: [{ type: 'summary_image' }] },
    { type: 'message', content: [{ type: 'output_image' }] }, said,
    { type: 'reasoning', encrypted_content: 'c2VhbGVk' },
  ]))
  assert.equal(answer?.message.content, [text('I look.')])
  assert.is(answer?.message.reasoning_content, undefined)
  assert.equal(answer?.state, {
    openai_responses: {
      items: [
        { type: 'message' }, { type: 'message', id: 'msg_1' },
        { type: 'reasoning', summary: [], encrypted_content: 'c2VhbGVk' },
      ],
    },
  })
})

test('has no answer before the provider has ended it', () => {
  assert.is(read(), undefined)
  assert.is(read({ type: 'response.created', response: { id: 'r1', object: 'response' } }), undefined)
  assert.is(read({ type: 'response.output_item.done', item: said }), undefined)
})

test('takes the items that came one by one when the last event has none', () => {
  const done = (item: JsonObject): JsonObject => ({ type: 'response.output_item.done', item })
  const answer = read(done(said), { type: 'response.output_item.done' }, done(called), completed([]))
  assert.equal(answer?.message.content, [text('I look.')])
  assert.is(answer?.message.tool_calls?.length, 1)
  assert.is(answer?.stop, 'tool_calls')
})

test('hands on text, refusals and reasoning, the parts of a summary apart', () => {
  const part = { type: 'response.reasoning_summary_part.added' }
  const summary = (delta: string): JsonObject => ({ type: 'response.reasoning_summary_text.delta', delta })
  assert.equal(piecesOf(
    part, summary('One.'), part, summary('Two.'),
    { type: 'response.reasoning_text.delta', delta: 'raw' },
    { type: 'response.output_text.delta', delta: 'a' }, { type: 'response.output_text.delta', delta: '' },
    { type: 'response.refusal.delta', delta: 'No' },
    { type: 'response.of_a_kind_to_come' },
  ), [
    {}, { reasoning_content: 'One.' }, { reasoning_content: '\n\n' }, { reasoning_content: 'Two.' },
    { reasoning_content: 'raw' }, { content: 'a' }, {}, { content: 'No' }, {},
  ])
})

test('reads a whole response of a server that does not stream', () => {
  const whole = { object: 'response', id: 'r1', status: 'completed', output: [thought, said], error: null }
  assert.equal(piecesOf(whole), [{ content: 'I look.', reasoning_content: 'One.\n\nTwo.' }])
  assert.equal(piecesOf({ ...whole, output: [called] }), [{}])
  assert.is(read(whole)?.id, 'r1')
})

test('gives a response and a call an id where the server gave none', () => {
  const answer = read({
    type: 'response.completed',
    response: { output: [{ type: 'function_call' }, { type: 'function_call', id: 'fc_1' }] },
  })
  assert.is(answer?.id, 'made-2')
  assert.equal(answer?.message.tool_calls, [
    { id: 'made-1', name: '', arguments: '', origin: 'responses' },
    { id: 'fc_1', name: '', arguments: '', origin: 'responses' },
  ])
})

test('tells a filter from a limit', () => {
  const incomplete = (reason: string): JsonObject =>
    ({
      type: 'response.incomplete', response: { status: 'incomplete', incomplete_details: { reason }, output: [said] },
    })
  assert.is(read(incomplete('content_filter'))?.stop, 'refusal')
  assert.is(read(incomplete('max_output_tokens'))?.stop, 'length')
})

test('reads usage, and knows no figure that was not given', () => {
  const usage = { input_tokens: 3, output_tokens: 2, output_tokens_details: { reasoning_tokens: 1 } }
  assert.equal(read(completed([said], { usage }))?.usage, { promptTokens: 3, completionTokens: 2, reasoningTokens: 1 })
  assert.equal(read(completed([said], { usage: null }))?.usage, {})
})

const failures: readonly (readonly [event: JsonObject, message: RegExp])[] = [
  [{ type: 'error', code: 'rate_limit_exceeded', message: 'Slow down', param: null },
    /too many requests \(rate_limit_exceeded\): Slow down$/],
  [{ type: 'error', message: 'Gone' }, /^OpenAI cannot answer now: Gone$/],
  [{ type: 'error', error: { type: 'server_error', message: 'Gone' } }, /cannot answer now \(server_error\): Gone$/],
  [{ error: { message: 'Gone' } }, /^OpenAI cannot answer now: Gone$/],
  [{ type: 'response.failed', response: { error: { code: 'context_length_exceeded', message: 'Long' } } },
    /too long for the model/],
  [{ object: 'response', status: 'failed', error: { code: 'server_error', message: 'Gone' } }, /Gone$/],
  [{ object: 'response', status: 'failed', error: null }, /^OpenAI cannot answer now$/],
  [{ object: 'response', status: 'cancelled', output: [] }, /cancelled at the provider/],
]

for (const [event, message] of failures) {
  test(`throws what ${JSON.stringify(event)} says`, () => {
    assert.throws(() => read(event), (error: unknown) => error instanceof ModelError && message.test(error.message))
  })
}

test.run()
