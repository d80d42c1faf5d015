/** The client for Gemini: the contract suite, its address and headers, and a turn with the stand-in. */
import * as assert from 'uvu/assert'
import { createModelClient } from '../../../../src/parts/builtin/llm/client.ts'
import { llmOf, type LLMOptions } from '../../../support/llm.ts'
import { startGeminiModel } from '../../../fixtures/gemini-model.ts'
import { suite } from '../../../support/suite.ts'
import { asking } from './asking.ts'
import { contract, contractKey } from './contract.ts'
import { sent, text, user } from './messages.ts'

const test = suite('agents/llm/gemini')

contract(test, {
  vectors: 'gemini',
  settings: (url) => ({ model: 'gemini/gemini-2.5-pro', base_url: url }),
  create: createModelClient,
  keyHeader: ['x-goog-api-key', contractKey],
  usage: { promptTokens: 100, completionTokens: 20, cacheReadTokens: 30, reasoningTokens: 5 },
  origin: 'completion',
})

const { complete, requestTo } = asking({ model: 'gemini/gemini-2.5-pro', vector: 'gemini/text' })

test('asks the same address whether or not the base URL ends in the version', async () => {
  for (const base of ['', '/', '/v1beta', '/v1beta/', '/gateway']) {
    const expected = `${base === '/gateway' ? base : ''}/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse`
    assert.is((await requestTo(base))?.path, expected)
  }
})

test('sends no key where there is none, and never in the address', async () => {
  for (const api_key of [null, '', 'the-key']) {
    const { headers, path } = await requestTo('', { api_key }) ?? {}
    assert.is(headers?.['x-goog-api-key'], api_key || undefined)
    assert.not.ok(path?.includes('the-key'))
  }
})

test('lets no name of a model change the address', async () => {
  const { path } = await requestTo('', { model: 'gemini/../secrets?x=' }) ?? {}
  assert.is(path, '/v1beta/models/..%2Fsecrets%3Fx%3D:streamGenerateContent?alt=sse')
})

test('knows that a Gemini takes images, by the canonical name too, and nothing of others', () => {
  const takesImages = (settings: LLMOptions): boolean | undefined => createModelClient(llmOf(settings)).takesImages
  assert.is(takesImages({ model: 'gemini-2.5-pro' }), true)
  assert.is(takesImages({ model: 'gemini/ours', model_canonical_name: 'gemini-2.5-pro' }), true)
  assert.is(takesImages({ model: 'gemini/gemma-3' }), undefined)
})

test('goes through a turn with thoughts and a tool, and shows its signatures in no log', async () => {
  const server = await startGeminiModel({
    script: () => [
      { thought: 'I look first.', toolCall: { name: 'terminal', input: { command: 'ls' } } }, { text: 'One file.' },
    ],
  })
  try {
    const settings = { base_url: server.url, log_completions: true }
    const first = await complete(settings, [user('What is here?')])
    const [call] = first.message.tool_calls ?? []
    assert.is(first.message.reasoning_content, 'I look first.')
    const result = sent({ role: 'tool', tool_call_id: call?.id ?? '', content: [text('a.txt')] })
    const { message, state } = first
    const second = await complete(settings, [user('What is here?'), { message, ...(state && { state }) }, result])
    assert.equal(second.message.content, [text('One file.')])
    assert.ok(JSON.stringify(server.requests[1]?.body).includes('"thoughtSignature":"c2lnbmF0dXJl"'))
    for (const { exchange } of [first, second]) {
      assert.ok(JSON.stringify(exchange).includes('terminal'))
      assert.not.ok(JSON.stringify(exchange).includes('c2lnbmF0dXJl'))
    }
  } finally {
    await server.close()
  }
})

test.run()
