/**
 * A conversation that has gone from provider to provider: each gets back the data that it has signed itself, and
 * nothing of the others.
 */
import * as assert from 'uvu/assert'
import { anthropicBody } from '../../../../src/parts/builtin/llm/anthropic-request.ts'
import { geminiBody } from '../../../../src/parts/builtin/llm/gemini-request.ts'
import type { ModelMessage, ModelRequest } from '../../../../src/parts/builtin/llm/model.ts'
import { chatBodyOf } from '../../../../src/parts/builtin/llm/openai-chat-body.ts'
import { responsesBodyOf } from '../../../../src/parts/builtin/llm/openai-responses-body.ts'
import type { JsonObject } from '../../../../src/base/json.ts'
import { llmOf } from '../../../support/llm.ts'
import { suite } from '../../../support/suite.ts'
import { sent, text, user } from './messages.ts'

const test = suite('agents/llm/switching')

const settings = llmOf({})
const target = { provider: 'OpenAI', baseUrl: 'https://api.openai.com/v1', model: 'gpt-5.5', isOpenAi: true }

/** An answer with a call, its result, and the next message of the user. */
function turn(name: string, answer: Partial<ModelMessage['message']>, state?: JsonObject): ModelMessage[] {
  const call = { id: `call_${name}`, name: 'terminal', arguments: '{"command":"ls"}', origin: 'completion' as const }
  return [
    sent({ role: 'assistant', content: [text(`Words of ${name}.`)], tool_calls: [call], ...answer }, state),
    sent({ role: 'tool', content: [text('one file')], tool_call_id: call.id, name: 'terminal' }),
    user(`After ${name}`),
  ]
}

const history: readonly ModelMessage[] = [
  user('Go'),
  ...turn('anthropic', {
    reasoning_content: 'Thoughts of anthropic',
    thinking_blocks: [
      { type: 'thinking', thinking: 'T', signature: 'signed-by-anthropic' },
      { type: 'redacted_thinking', data: 'sealed-by-anthropic' },
    ],
  }, { anthropic: { order: ['text', 'thinking', 'thinking', 'tool_use'] } }),
  ...turn('responses', {
    responses_reasoning_item: { id: 'rs_responses', summary: [], encrypted_content: 'sealed-by-responses' },
  }, { openai_responses: { items: [
    { type: 'reasoning', id: 'rs_responses', summary: [], encrypted_content: 'sealed-by-responses' },
    { type: 'function_call', id: 'fc_of-responses', call_id: 'call_responses' },
  ] } }),
  ...turn('gemini', {}, { gemini: { parts: [
    { kind: 'text', chars: 'Words of gemini.'.length, signature: 'signed-by-gemini' },
    { kind: 'call', signature: 'signed-call-by-gemini' },
  ] } }),
  ...turn('chat', { reasoning_content: 'Thoughts' }, {
    openai_chat: { reasoning_name: 'reasoning', reasoning_details: ['details-by-chat'] },
  }),
]
const request: ModelRequest = { messages: history, tools: [], signal: new AbortController().signal }

const bodies: Readonly<Record<string, () => JsonObject>> = {
  anthropic: () => anthropicBody(request, 'claude-sonnet-4-6', settings),
  responses: () => responsesBodyOf(request, target, settings),
  gemini: () => geminiBody(request, 'gemini-3-pro', settings),
  chat: () => chatBodyOf(request, { ...target, isOpenAi: false }, settings),
}

for (const [name, body] of Object.entries(bodies)) {
  test(`${name} gets its own signatures and sealed thoughts, and none of the others`, () => {
    const told = JSON.stringify(body())
    const marks = [...told.matchAll(/[a-z-]+-by-(\w+)|(?:rs_|fc_of-)(\w+)/g)].map((match) => match[1] ?? match[2])
    assert.equal([...new Set(marks)], [name])
    for (const other of Object.keys(bodies)) {
      assert.ok(told.includes(`Words of ${other}.`))
      assert.ok(told.includes(`After ${other}`))
    }
  })
}

test('a call that another model has made goes to Gemini with the mark that stands for a foreign one', () => {
  const signatures = JSON.stringify(bodies['gemini']?.()).match(/"thoughtSignature":"[^"]+"/g) ?? []
  assert.is(signatures.filter((signature) => signature.includes('skip_thought_signature_validator')).length, 3)
})

test('Claude begins a turn without thinking in which another model has called a tool before it', () => {
  const answered = { ...request, messages: history.slice(0, -1) }
  assert.is(anthropicBody(answered, 'claude-opus-4-5', settings)['thinking'], undefined)
  assert.is.not(anthropicBody(request, 'claude-opus-4-5', settings)['thinking'], undefined)
})

test.run()
