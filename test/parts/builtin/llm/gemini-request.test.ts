/** The requests to Gemini: contents, calls and results, images, thinking. */
import * as assert from 'uvu/assert'
import { geminiBody } from '../../../../src/parts/builtin/llm/gemini-request.ts'
import type { ModelMessage, ModelTool } from '../../../../src/parts/builtin/llm/model.ts'
import type { JsonObject } from '../../../../src/base/json.ts'
import { llmOf, type LLMOptions } from '../../../support/llm.ts'
import type { MessageToolCall } from '../../../../src/schema/generated/values.ts'
import { suite } from '../../../support/suite.ts'
import { image, sent, text, user } from './messages.ts'

const test = suite('agents/llm/gemini-request')

interface Options {
  readonly settings?: LLMOptions
  readonly tools?: readonly ModelTool[]
  readonly model?: string
}

function bodyOf(
  messages: readonly ModelMessage[], { settings = {}, tools = [], model = 'gemini-2.5-pro' }: Options = {},
): JsonObject {
  return geminiBody({ messages, tools, signal: new AbortController().signal }, model, llmOf(settings))
}

const call = (id: string, name = 'terminal'): MessageToolCall => ({
  id, name, arguments: '{"n":1}', origin: 'completion',
})
const functionCall = (id: string, name = 'terminal'): JsonObject => ({ id, name, args: { n: 1 } })

test('sends the system apart from the contents, and asks for thoughts', () => {
  assert.equal(bodyOf([sent({ role: 'system', content: [text('Be brief.'), text('')] }), user('Hello')]), {
    contents: [{ role: 'user', parts: [{ text: 'Hello' }] }],
    systemInstruction: { parts: [{ text: 'Be brief.' }] },
    generationConfig: { thinkingConfig: { includeThoughts: true, thinkingBudget: -1 } },
  })
})

test('describes tools by their JSON Schema', () => {
  const parameters = { type: 'object', properties: {} }
  const { tools } = bodyOf([user('Hello')], { tools: [{ name: 'think', description: 'Thinks', parameters }] })
  assert.equal(tools, [
    { functionDeclarations: [{ name: 'think', description: 'Thinks', parametersJsonSchema: parameters }] },
  ])
})

test('sends what the settings say of sampling, and lets what they add to the body win', () => {
  const settings = {
    temperature: 0.5, top_p: 0.9, top_k: 40, max_output_tokens: 100, seed: 7,
    litellm_extra_body: { safetySettings: [] },
  }
  const body = bodyOf([user('Hello')], { settings, model: 'gemini-2.0-flash' })
  assert.equal(body['generationConfig'], { temperature: 0.5, topP: 0.9, topK: 40, maxOutputTokens: 100, seed: 7 })
  assert.equal(body['safetySettings'], [])
})

test('names each result after its call and puts all of them first in one content', () => {
  const { contents } = bodyOf([
    user('Go'),
    sent({ role: 'assistant', content: [text('I look.')], tool_calls: [call('a'), call('b', 'glob')] }),
    user('Hurry'),
    sent({ role: 'tool', tool_call_id: 'a', content: [text('one'), text('two'), image('data:image/png;base64,AAAA')] }),
    sent({ role: 'tool', tool_call_id: 'b', name: 'glob_renamed' }),
    sent({ role: 'tool', content: [text('of nobody')] }),
  ])
  assert.equal(contents, [
    { role: 'user', parts: [{ text: 'Go' }] },
    {
      role: 'model',
      parts: [{ text: 'I look.' }, { functionCall: functionCall('a') }, { functionCall: functionCall('b', 'glob') }],
    },
    {
      role: 'user',
      parts: [
        { functionResponse: { id: 'a', name: 'terminal', response: { output: 'one\ntwo' } } },
        { functionResponse: { id: 'b', name: 'glob_renamed', response: { output: '' } } },
        { functionResponse: { id: '', name: 'unknown', response: { output: 'of nobody' } } },
        { text: 'Hurry' },
        { inlineData: { mimeType: 'image/png', data: 'AAAA' } },
      ],
    },
  ])
})

test('sends an image that has only an address as that address', () => {
  const urls = ['https://example.org/a.PNG?size=2#top', 'https://example.org/b', 'https://example.org/c.constructor']
  const { contents } = bodyOf([user('Look', ...urls)])
  assert.equal(contents, [{
    role: 'user',
    parts: [
      { text: 'Look' },
      { fileData: { fileUri: 'https://example.org/a.PNG?size=2#top', mimeType: 'image/png' } },
      { fileData: { fileUri: 'https://example.org/b' } },
      { fileData: { fileUri: 'https://example.org/c.constructor' } },
    ],
  }])
})

test('leaves out an answer that has nothing to send', () => {
  const empty = sent({
    role: 'assistant', content: [text(''), image('https://example.org/a.png')], reasoning_content: 'Hm',
  })
  assert.equal(bodyOf([user('One'), empty, user('Two')])['contents'], [
    { role: 'user', parts: [{ text: 'One' }, { text: 'Two' }] },
  ])
})

const foreign = sent({ role: 'assistant', tool_calls: [call('a'), call('b')] }, { anthropic: { order: [] } })

test('signs the first call of another model with what is documented for it, where the model insists on one', () => {
  const bare = [{ functionCall: functionCall('a') }, { functionCall: functionCall('b') }]
  const signed = [{ ...bare[0], thoughtSignature: 'skip_thought_signature_validator' }, bare[1]]
  assert.equal(bodyOf([foreign])['contents'], [{ role: 'model', parts: bare }])
  assert.equal(bodyOf([foreign], { model: 'gemini-3.1-pro-preview' })['contents'], [{ role: 'model', parts: signed }])
  assert.equal(bodyOf([foreign], { model: 'gemini-flash-latest' })['contents'], [{ role: 'model', parts: signed }])
})

test('signs the first call of an older model too, which signed its text alone', () => {
  const state = { gemini: { parts: [{ kind: 'text', chars: 2, signature: 's' }, { kind: 'call' }] } }
  const older = sent({ role: 'assistant', content: [text('Hm')], tool_calls: [call('a')] }, state)
  assert.equal(bodyOf([older], { model: 'gemini-3-pro' })['contents'], [{
    role: 'model',
    parts: [
      { text: 'Hm', thoughtSignature: 's' },
      { functionCall: functionCall('a'), thoughtSignature: 'skip_thought_signature_validator' },
    ],
  }])
})

test('rebuilds an answer from a state that lacks members', () => {
  const state = {
    gemini: { parts: [{ kind: 'thought' }, { kind: 'text' }, { kind: 'call' }, { kind: 'call', signature: 's' }] },
  }
  const { contents } = bodyOf([sent({ role: 'assistant', tool_calls: [call('a'), call('b')] }, state)])
  assert.equal(contents, [{
    role: 'model',
    parts: [
      { text: '', thought: true }, { text: '' },
      { functionCall: functionCall('a') }, { functionCall: functionCall('b'), thoughtSignature: 's' },
    ],
  }])
})

for (const [model, effort, expected] of [
  ['gemini-1.5-pro', 'high', undefined],
  ['gemma-3', 'high', undefined],
  ['gemini-2.5-pro', 'none', { includeThoughts: true, thinkingBudget: 128 }],
  ['gemini-2.5-flash', 'none', { includeThoughts: true, thinkingBudget: 0 }],
  ['gemini-2.5-flash', 'minimal', { includeThoughts: true, thinkingBudget: 1_024 }],
  ['gemini-2.5-flash', 'low', { includeThoughts: true, thinkingBudget: 1_024 }],
  ['gemini-2.5-flash', 'medium', { includeThoughts: true, thinkingBudget: 8_192 }],
  ['gemini-2.5-pro', null, { includeThoughts: true }],
  ['gemini-3-flash-preview', 'none', { includeThoughts: true, thinkingLevel: 'low' }],
  ['gemini-3.1-pro-preview', 'xhigh', { includeThoughts: true, thinkingLevel: 'high' }],
  ['gemini-3.1-pro-preview', null, { includeThoughts: true }],
  ['gemini-pro-latest', 'high', { includeThoughts: true }],
] as const) {
  test(`${model} with the effort ${effort} gets ${JSON.stringify(expected)}`, () => {
    const { generationConfig } = bodyOf([user('Hello')], { model, settings: { reasoning_effort: effort } })
    assert.equal(generationConfig, expected === undefined ? {} : { thinkingConfig: expected })
  })
}

test.run()
