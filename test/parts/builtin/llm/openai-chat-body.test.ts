/** The requests to Chat Completions, from messages and settings. */
import * as assert from 'uvu/assert'
import type { ModelMessage, ModelRequest } from '../../../../src/parts/builtin/llm/model.ts'
import { chatBodyOf } from '../../../../src/parts/builtin/llm/openai-chat-body.ts'
import { headersOf, type OpenAiTarget } from '../../../../src/parts/builtin/llm/openai-target.ts'
import type { JsonObject } from '../../../../src/base/json.ts'
import { llmOf, type LLMOptions } from '../../../support/llm.ts'
import { suite } from '../../../support/suite.ts'
import { image, sent, text, user } from './messages.ts'

const test = suite('agents/llm/openai-chat-body')

const atOpenAi: OpenAiTarget = {
  provider: 'OpenAI', baseUrl: 'https://api.openai.com/v1', model: 'gpt-4.1', isOpenAi: true,
}
const elsewhere: OpenAiTarget = { provider: 'vLLM', baseUrl: 'http://127.0.0.1:9/v1', model: 'llama', isOpenAi: false }

function body(
  settings: LLMOptions = {}, target: OpenAiTarget = atOpenAi, over: Partial<ModelRequest> = {},
): JsonObject {
  const request = { messages: [user('Hello')], tools: [], signal: new AbortController().signal, ...over }
  return chatBodyOf(request, target, llmOf({ model: 'unused', ...settings }))
}

const messagesFor = (...messages: readonly ModelMessage[]): unknown => body({}, elsewhere, { messages })['messages']

test('asks for a stream with usage, and for nothing that is not set', () => {
  assert.equal(body(), {
    model: 'gpt-4.1', messages: [{ role: 'user', content: 'Hello' }], stream: true,
    stream_options: { include_usage: true },
    prompt_cache_retention: '24h',
  })
  assert.equal(body({}, elsewhere), {
    model: 'llama', messages: [{ role: 'user', content: 'Hello' }], stream: true,
    stream_options: { include_usage: true },
  })
})

test('names the limit of tokens as the server does', () => {
  assert.is(body({ max_output_tokens: 9 })['max_completion_tokens'], 9)
  assert.is(body({ max_output_tokens: 9 }, elsewhere)['max_tokens'], 9)
})

test('sends what the settings say of sampling, as far as the model takes it', () => {
  const settings = { temperature: 0, top_p: 0.5, top_k: 3, seed: 7 }
  const sampling = ({ temperature, top_p, top_k, seed }: JsonObject): unknown => [temperature, top_p, top_k, seed]
  const thinking = { ...atOpenAi, model: 'gpt-5.1' }
  assert.equal(sampling(body(settings)), [0, 0.5, undefined, 7])
  assert.equal(sampling(body(settings, elsewhere)), [0, 0.5, 3, 7])
  assert.equal(sampling(body(settings, thinking)), [undefined, undefined, undefined, 7])
  assert.equal(sampling(body({ ...settings, drop_params: false }, thinking)), [0, 0.5, 3, 7])
})

test('sends an effort to models that think, or to all when nothing is to be dropped', () => {
  const effort = (model: string, settings: LLMOptions = {}): unknown =>
    body(settings, { ...elsewhere, model })['reasoning_effort']
  for (const model of ['gpt-5.1', 'o3-mini', 'openai/gpt-oss-120b']) assert.is(effort(model), 'high', model)
  for (const model of ['gpt-4.1', 'gpt-5-chat-latest', 'llama', 'o30b']) assert.is(effort(model), undefined, model)
  assert.is(effort('my-name', { model_canonical_name: 'openai/gpt-5.1', reasoning_effort: 'low' }), 'low')
  assert.is(effort('llama', { drop_params: false }), 'high')
  assert.is(effort('gpt-5.1', { reasoning_effort: null }), undefined)
})

test('names a cache at OpenAI alone, and long keeping to models that know it', () => {
  const caching = (settings: LLMOptions, target: OpenAiTarget): unknown => {
    const { prompt_cache_key, prompt_cache_retention } = body(settings, target, { cacheKey: 'one' })
    return [prompt_cache_key, prompt_cache_retention]
  }
  assert.equal(caching({}, atOpenAi), ['one', '24h'])
  assert.equal(caching({}, { ...atOpenAi, model: 'gpt-4o' }), ['one', undefined])
  assert.equal(caching({ drop_params: false }, { ...atOpenAi, model: 'gpt-4o' }), ['one', '24h'])
  assert.equal(caching({ prompt_cache_retention: null }, atOpenAi), ['one', undefined])
  assert.equal(caching({ caching_prompt: false }, atOpenAi), [undefined, undefined])
  assert.equal(caching({}, elsewhere), [undefined, undefined])
})

test('lets the body of the settings win', () => {
  const { stream, return_token_ids } = body({ litellm_extra_body: { stream: false, return_token_ids: true } })
  assert.equal([stream, return_token_ids], [false, true])
})

test('tells of tools as functions', () => {
  const parameters = { type: 'object' }
  assert.equal(body({}, atOpenAi, { tools: [{ name: 'glob', description: 'Finds', parameters }] })['tools'],
    [{ type: 'function', function: { name: 'glob', description: 'Finds', parameters } }])
})

test('sends a system message and text as plain strings', () => {
  assert.equal(messagesFor(sent({ role: 'system', content: [text('Be good'), text('Today is today')] }), user('Hello')),
    [{ role: 'system', content: 'Be good\n\nToday is today' }, { role: 'user', content: 'Hello' }])
})

test('sends images beside text as parts', () => {
  assert.equal(messagesFor(user('What?', 'data:image/png;base64,AA==', 'https://example.org/b.png')), [{
    role: 'user',
    content: [
      { type: 'text', text: 'What?' },
      { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } },
      { type: 'image_url', image_url: { url: 'https://example.org/b.png' } },
    ],
  }])
})

const calls = [
  { id: 'call_1', name: 'glob', arguments: '{}', origin: 'completion' },
  { id: 'call_2', name: 'grep', arguments: '{"a":1}', origin: 'completion' },
] as const

test('sends calls and their answers back', () => {
  assert.equal(messagesFor(
    sent({ role: 'assistant', tool_calls: calls }),
    sent({ role: 'tool', tool_call_id: 'call_1', content: [text('a'), text('b')] }),
    sent({ role: 'tool', tool_call_id: 'call_2' }),
    sent({ role: 'assistant', content: [text('Done')] }),
  ), [
    {
      role: 'assistant', content: null,
      tool_calls: [
        { id: 'call_1', type: 'function', function: { name: 'glob', arguments: '{}' } },
        { id: 'call_2', type: 'function', function: { name: 'grep', arguments: '{"a":1}' } },
      ],
    },
    { role: 'tool', tool_call_id: 'call_1', content: 'a\n\nb' },
    { role: 'tool', tool_call_id: 'call_2', content: '' },
    { role: 'assistant', content: 'Done' },
  ])
})

test('sends images of tools behind the answers of the whole batch', () => {
  const part = { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } }
  const seen = image('data:image/png;base64,AA==')
  const answers = calls.map(({ id }) => sent({ role: 'tool', tool_call_id: id, content: [text('See'), seen] }))
  assert.equal(messagesFor(...answers, user('And?')), [
    { role: 'tool', tool_call_id: 'call_1', content: 'See' },
    { role: 'tool', tool_call_id: 'call_2', content: 'See' },
    { role: 'user', content: [part, part] },
    { role: 'user', content: 'And?' },
  ])
  assert.equal(messagesFor(...answers.slice(0, 1)), [
    { role: 'tool', tool_call_id: 'call_1', content: 'See' },
    { role: 'user', content: [part] },
  ])
})

test('sends reasoning back under the name it came by, and only then', () => {
  const message = { role: 'assistant', content: [text('4')], reasoning_content: 'Two and two' } as const
  const details = [{ type: 'reasoning.encrypted', data: 'x' }]
  assert.equal(messagesFor(sent(message)), [{ role: 'assistant', content: '4' }])
  assert.equal(messagesFor(sent(message, { another_provider: {} })), [{ role: 'assistant', content: '4' }])
  assert.equal(messagesFor(sent(message, { openai_chat: { reasoning_name: 'reasoning', reasoning_details: details } })),
    [{ role: 'assistant', content: '4', reasoning: 'Two and two', reasoning_details: details }])
})

test('sends key, application and own headers', () => {
  const settings = {
    api_key: 'k', openrouter_site_url: 'https://a.example', openrouter_app_name: 'A', extra_headers: { 'x-b': 'c' },
  }
  assert.equal(headersOf(llmOf(settings)), {
    authorization: 'Bearer k', 'http-referer': 'https://a.example', 'x-title': 'A', 'x-b': 'c',
  })
  assert.equal(headersOf(llmOf({})), {})
  assert.equal(headersOf(llmOf({ api_key: '' })), {})
})

test.run()
