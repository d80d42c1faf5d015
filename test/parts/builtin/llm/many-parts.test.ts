/** Answers in very many parts: each part costs the same however many there are, and too many are no answer. */
import * as assert from 'uvu/assert'
import { foldAnthropic } from '../../../../src/parts/builtin/llm/anthropic-stream.ts'
import { createModelClient } from '../../../../src/parts/builtin/llm/client.ts'
import { foldGemini } from '../../../../src/parts/builtin/llm/gemini-stream.ts'
import { ModelError } from '../../../../src/parts/builtin/llm/model.ts'
import { foldChat } from '../../../../src/parts/builtin/llm/openai-chat-answer.ts'
import { foldResponse } from '../../../../src/parts/builtin/llm/openai-responses-answer.ts'
import type { AnswerFold, FoldContext } from '../../../../src/parts/builtin/llm/wire.ts'
import type { JsonObject } from '../../../../src/base/json.ts'
import { toLLM } from '../../../../src/schema/generated/llm.ts'
import { suite } from '../../../support/suite.ts'
import { withWireServer } from '../../../support/wire-server.ts'
import { answerOf } from './folding.ts'

const test = suite('agents/llm/many-parts')

/** To copy all earlier text with every part would take minutes for so many parts. */
const many = 100_000

function times<T>(count: number, make: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => make(index))
}

test('Anthropic: blocks and pieces of one', () => {
  const blocks = times(many, (index) => ({
    type: 'content_block_start', index, content_block: { type: 'text', text: 'a' },
  }))
  const end = [{ type: 'message_delta', delta: { stop_reason: 'end_turn' } }, { type: 'message_stop' }]
  assert.is(answerOf(foldAnthropic, [...blocks, ...end]).message.content.length, many)
  const start = {
    type: 'content_block_start', index: 0, content_block: { type: 'tool_use', id: 't', name: 'n', input: {} },
  }
  const pieces = times(many, () => ({
    type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: '12345' },
  }))
  assert.is(answerOf(foldAnthropic, [start, ...pieces, ...end]).message.tool_calls?.[0]?.arguments.length, 5 * many)
})

test('Chat Completions: calls, and pieces of the first of many', () => {
  const call = (index: number, more: object): JsonObject => ({
    choices: [{ delta: { tool_calls: [{ index, ...more }] } }],
  })
  const calls = times(many, (index) => call(index, { id: `c${index}`, function: { name: 'n', arguments: '' } }))
  const pieces = times(many, (index) => call(many - 1 - index, { function: { arguments: '{}' } }))
  const end = { choices: [{ delta: {}, finish_reason: 'tool_calls' }] }
  const found = answerOf(foldChat, [...calls, ...pieces, end]).message.tool_calls
  assert.is(found?.length, many)
  assert.is(found?.at(-1)?.arguments, '{}')
})

test('Gemini: signed parts', () => {
  const part = { candidates: [{ content: { parts: [{ text: 'a', thoughtSignature: 's' }] } }] }
  const { response } = answerOf(foldGemini, [...times(many, () => part), { candidates: [{ finishReason: 'STOP' }] }])
  assert.is(JSON.stringify(response).split('"text"').length - 1, many)
})

test('figures of a stream that has too many names keep what was known', () => {
  const figures = times(many, (index) => ({ usageMetadata: { [`f${index}`]: 1 } }))
  const { response } = answerOf(foldGemini, [
    { usageMetadata: { promptTokenCount: 7 } }, ...figures, { candidates: [{ finishReason: 'STOP' }] },
  ])
  assert.ok(JSON.stringify(response).includes('"promptTokenCount":7'))
  assert.is(JSON.stringify(response).split('"f').length - 1 < 101, true)
})

test('an answer with more than 1,000 calls, or longer than its limit in pieces, is none', async () => {
  const call = (index: number): object => ({
    id: `c${index}`, type: 'function', function: { name: 'n', arguments: '{}' },
  })
  const answer = (count: number): string =>
    JSON.stringify({ choices: [{ message: { tool_calls: times(count, call) }, finish_reason: 'tool_calls' }] })
  const headers = { 'content-type': 'application/json' }
  assert.is(await failure({ headers, chunks: [answer(1000)] }), '1000 calls')
  assert.is(
    await failure({ headers, chunks: [answer(1001)] }),
    'LLMBrokenStreamError: Could not read the answer of OpenAI: it has more than 1000 parts',
  )
  const piece = `data: ${JSON.stringify({ choices: [{ delta: { content: 'x'.repeat(1_000_000) } }] })}\n\n`
  const chunks = [...times(5, () => piece), 'data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\n']
  assert.is(
    await failure({ chunks }),
    'LLMBrokenStreamError: Could not read the answer of OpenAI: it has more than 4000000 characters',
  )
})

test('an answer of Gemini with more than 1,000 parts is none, also when they are no calls', async () => {
  const event = (candidate: object): string => `data: ${JSON.stringify({ candidates: [candidate] })}\n\n`
  const signed = event({ content: { parts: [{ text: 'a', thoughtSignature: 's' }] } })
  const chunks = (count: number): string[] => [signed.repeat(count), event({ finishReason: 'STOP' })]
  assert.is(await failure({ chunks: chunks(1000) }, 'gemini/gemini-2.5-pro'), 'undefined calls')
  const refusal = 'LLMBrokenStreamError: Could not read the answer of Gemini: it has more than 1000 parts'
  assert.is(await failure({ chunks: chunks(1001) }, 'gemini/gemini-2.5-pro'), refusal)
})

test('parts are counted while they come: an answer that has too many is not gathered to its end', () => {
  const streams: readonly (readonly [(context: FoldContext) => AnswerFold, (index: number) => JsonObject])[] = [
    [foldAnthropic, (index) => ({ type: 'content_block_start', index, content_block: { type: 'text', text: 'a' } })],
    [
      foldChat,
      (index) => ({
        choices: [{ delta: { tool_calls: [{ index, id: `c${index}`, function: { name: 'n', arguments: '' } }] } }],
      }),
    ],
    [foldResponse, () => ({ type: 'response.output_item.done', item: { type: 'reasoning', encrypted_content: 'e' } })],
    [foldGemini, () => ({ candidates: [{ content: { parts: [{ text: 'a', thoughtSignature: 's' }] } }] })],
  ]
  for (const [start, part] of streams) {
    const counts: number[] = []
    const fold = start({
      newId: () => 'i',
      failureOf: () => new ModelError('LLMServiceUnavailableError', ''),
      limitParts: (count) => void counts.push(count),
    })
    for (let index = 0; index < 3; index++) fold.push(part(index))
    assert.equal(counts, [1, 2, 3], start.name)
  }
})

/** Why the call failed, or how many calls came. */
async function failure(reply: Parameters<typeof withWireServer>[0][number], model = 'openai/gpt-4.1'): Promise<string> {
  let told = ''
  await withWireServer([reply], async ({ url }) => {
    const client = createModelClient(toLLM({ model, base_url: url, num_retries: 0 }))
    told = await client.complete({ messages: [], tools: [], signal: new AbortController().signal }).then(
      ({ message }) => `${message.tool_calls?.length} calls`,
      (error: unknown) => (error instanceof ModelError ? `${error.code}: ${error.message}` : String(error)),
    )
  })
  return told
}

test.run()
