/** The requests to Responses, from messages and settings. */
import * as assert from 'uvu/assert'
import type { ModelMessage, ModelRequest } from '../../../../src/parts/builtin/llm/model.ts'
import { responsesBodyOf } from '../../../../src/parts/builtin/llm/openai-responses-body.ts'
import type { JsonObject } from '../../../../src/base/json.ts'
import { llmOf, type LLMOptions } from '../../../support/llm.ts'
import { suite } from '../../../support/suite.ts'
import { image, sent, text, user } from './messages.ts'

const test = suite('agents/llm/openai-responses-body')

function body(settings: LLMOptions = {}, over: Partial<ModelRequest> = {}, model = 'gpt-5.1'): JsonObject {
  const target = { provider: 'OpenAI', baseUrl: 'https://api.openai.com/v1', model, isOpenAi: true }
  const request = { messages: [user('Hello')], tools: [], signal: new AbortController().signal, ...over }
  return responsesBodyOf(request, target, llmOf({ model: 'unused', ...settings }))
}

const inputFor = (...messages: readonly ModelMessage[]): unknown => body({}, { messages })['input']

const hello = { role: 'user', content: [{ type: 'input_text', text: 'Hello' }] }

test('asks for a stream, for encrypted reasoning, and that nothing is stored', () => {
  assert.equal(body({}, { cacheKey: 'one' }), {
    model: 'gpt-5.1', input: [hello], stream: true, store: false,
    reasoning: { effort: 'high' }, include: ['reasoning.encrypted_content'],
    prompt_cache_key: 'one', prompt_cache_retention: '24h',
  })
})

test('sends what the settings say, as far as the model takes it', () => {
  const settings = {
    max_output_tokens: 9, temperature: 0.5, reasoning_summary: 'auto', reasoning_effort: null,
    enable_encrypted_reasoning: false,
  } as const
  const { max_output_tokens, temperature, reasoning, include } = body(settings)
  assert.equal([max_output_tokens, temperature, reasoning, include], [9, undefined, { summary: 'auto' }, undefined])
  assert.is(body({ reasoning_effort: null })['reasoning'], undefined)
  const plain = body({ temperature: 0.5 }, {}, 'gpt-4.1')
  assert.equal([plain['temperature'], plain['reasoning'], plain['include']], [0.5, undefined, undefined])
  assert.equal(body({ drop_params: false }, {}, 'gpt-4.1')['reasoning'], { effort: 'high' })
})

test('lets the body of the settings win', () => {
  assert.is(body({ litellm_extra_body: { store: true } })['store'], true)
})

test('sends the system message as instructions', () => {
  const messages = [sent({ role: 'system', content: [text('Be good'), text('Today')] }), user('Hello')]
  const { instructions, input } = body({}, { messages })
  assert.is(instructions, 'Be good\n\nToday')
  assert.equal(input, [hello])
})

test('takes only the text of a message that can hold nothing else', () => {
  assert.is(
    body({}, {
      messages: [sent({ role: 'system', content: [text('Be good'), image('data:image/png;base64,AA==')] })],
    })['instructions'],
    'Be good',
  )
})

test('tells of tools as functions whose schema may have optional members', () => {
  const parameters = { type: 'object' }
  assert.equal(body({}, { tools: [{ name: 'glob', description: 'Finds', parameters }] })['tools'],
    [{ type: 'function', name: 'glob', description: 'Finds', parameters, strict: false }])
})

const url = 'data:image/png;base64,AA=='

test('sends images of users and of tools', () => {
  const part = { type: 'input_image', image_url: url, detail: 'auto' }
  assert.equal(
    inputFor(user('What?', url), sent({ role: 'tool', tool_call_id: 'call_1', content: [text('See'), image(url)] })),
    [
      { role: 'user', content: [{ type: 'input_text', text: 'What?' }, part] },
      { type: 'function_call_output', call_id: 'call_1', output: [{ type: 'input_text', text: 'See' }, part] },
    ],
  )
})

const calls = [
  { id: 'call_1', name: 'glob', arguments: '{}', origin: 'responses' },
  { id: 'call_2', name: 'grep', arguments: '{"a":1}', origin: 'responses' },
] as const

const textItem = { role: 'assistant', content: [{ type: 'output_text', text: 'I look', annotations: [] }] }
const callItems = calls.map(({ id, name, arguments: args }) => ({
  type: 'function_call', call_id: id, name, arguments: args,
}))

test('sends text, calls and answers without ids when no reasoning was kept', () => {
  assert.equal(inputFor(
    sent({ role: 'assistant', content: [text('I look')], tool_calls: calls }),
    sent({ role: 'tool', tool_call_id: 'call_1', content: [text('a')] }),
    sent({ role: 'tool', tool_call_id: 'call_2' }),
  ), [
    textItem, ...callItems,
    { type: 'function_call_output', call_id: 'call_1', output: 'a' },
    { type: 'function_call_output', call_id: 'call_2', output: '' },
  ])
})

const thought = (id: string): JsonObject => ({ type: 'reasoning', id, summary: [], encrypted_content: 'c2VhbGVk' })

test('sends reasoning back in its place, with the ids of what stood beside it', () => {
  const items = [
    thought('rs_1'), { type: 'message', id: 'msg_1' }, { type: 'function_call', id: 'fc_1', call_id: 'call_1' },
    thought('rs_2'), { type: 'function_call', id: 'fc_2', call_id: 'call_2' },
  ]
  const message = { role: 'assistant', content: [text('I look')], tool_calls: calls } as const
  assert.equal(inputFor(sent(message, { openai_responses: { items } })), [
    thought('rs_1'),
    { ...textItem, type: 'message', id: 'msg_1', status: 'completed' },
    { ...callItems[0], id: 'fc_1' },
    thought('rs_2'),
    { ...callItems[1], id: 'fc_2' },
  ])
})

test('sends what the message says where it and the kept items differ', () => {
  const items = [
    thought('rs_1'), { type: 'message', id: 'msg_1' }, { type: 'function_call', id: 'fc_9', call_id: 'gone' },
  ]
  assert.equal(inputFor(sent({ role: 'assistant', tool_calls: calls }, { openai_responses: { items } })), [
    thought('rs_1'), ...callItems,
  ])
})

test('takes encrypted reasoning from a message that holds it, and ignores an item without', () => {
  const item = { id: 'rs_1', summary: ['Two and two'], encrypted_content: 'c2VhbGVk' }
  const message = { role: 'assistant', content: [text('I look')] } as const
  assert.equal(inputFor(sent({ ...message, responses_reasoning_item: item })), [
    {
      type: 'reasoning',
      id: 'rs_1',
      summary: [{ type: 'summary_text', text: 'Two and two' }],
      encrypted_content: 'c2VhbGVk',
    },
    textItem,
  ])
  assert.equal(inputFor(sent({ ...message, responses_reasoning_item: { id: 'rs_1', summary: [] } })), [textItem])
})

test.run()
