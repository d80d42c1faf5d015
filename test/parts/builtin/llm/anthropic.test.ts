/** The client for Anthropic: the contract suite, its address and headers, and a turn with the stand-in. */
import * as assert from 'uvu/assert'
import { createModelClient } from '../../../../src/parts/builtin/llm/client.ts'
import { ModelError } from '../../../../src/parts/builtin/llm/model.ts'
import { llmOf, type LLMOptions } from '../../../support/llm.ts'
import { startAnthropicModel } from '../../../fixtures/anthropic-model.ts'
import { suite } from '../../../support/suite.ts'
import { withWireServer } from '../../../support/wire-server.ts'
import { asking } from './asking.ts'
import { contract, contractKey } from './contract.ts'
import { sent, text, user } from './messages.ts'

const test = suite('agents/llm/anthropic')

contract(test, {
  vectors: 'anthropic',
  settings: (url) => ({ model: 'anthropic/claude-sonnet-4-5', base_url: url }),
  create: createModelClient,
  keyHeader: ['x-api-key', contractKey],
  usage: { promptTokens: 100, completionTokens: 20, cacheReadTokens: 30, cacheWriteTokens: 10, reasoningTokens: 5 },
  origin: 'completion',
})

const { complete, requestTo } = asking({ model: 'anthropic/claude-sonnet-4-5', vector: 'anthropic/text' })

test('asks the same address whether or not the base URL ends in the version', async () => {
  for (const base of ['', '/', '/v1', '/v1/', '/gateway']) {
    const expected = `${base === '/gateway' ? base : ''}/v1/messages`
    assert.is((await requestTo(base))?.path, expected)
  }
})

test('names the version of the API, and no key where there is none', async () => {
  for (const api_key of [null, '']) {
    const { headers } = await requestTo('', { api_key, extra_headers: { Authorization: 'Bearer gateway' } }) ?? {}
    assert.is(headers?.['anthropic-version'], '2023-06-01')
    assert.is(headers?.['x-api-key'], undefined)
    assert.is(headers?.['authorization'], 'Bearer gateway')
  }
})

test('knows that a Claude takes images, by the canonical name too, and nothing of others', () => {
  const takesImages = (settings: LLMOptions): boolean | undefined => createModelClient(llmOf(settings)).takesImages
  assert.is(takesImages({ model: 'claude-opus-4-6' }), true)
  assert.is(takesImages({ model: 'anthropic/ours', model_canonical_name: 'claude-opus-4-6' }), true)
  assert.is(takesImages({ model: 'anthropic/kimi-k2' }), undefined)
})

test('goes through a turn with thinking and a tool, and shows its signatures in no log', async () => {
  const server = await startAnthropicModel({
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
    const second = await complete(settings, [user('What is here?'), { message: first.message }, result])
    assert.equal(second.message.content, [text('One file.')])
    assert.ok(JSON.stringify(server.requests[1]?.body).includes('"signature":"c2lnbmF0dXJl"'))
    for (const { exchange } of [first, second]) {
      assert.ok(JSON.stringify(exchange).includes('I look first.'))
      assert.not.ok(JSON.stringify(exchange).includes('c2lnbmF0dXJl'))
    }
  } finally {
    await server.close()
  }
})

for (const [status, type, code] of [
  [402, 'billing_error', 'LLMQuotaExceededError'],
  [413, 'request_too_large', 'LLMContextWindowExceedError'],
] as const) {
  test(`takes the error ${type} for ${code}`, () => {
    const body = JSON.stringify({ type: 'error', error: { type, message: 'It cannot be done.' } })
    return withWireServer([{ status, headers: { 'content-type': 'application/json' }, chunks: [body] }], async (
      { url },
    ) => {
      const error = await complete({ base_url: url }, [user('Hello')]).catch((reason: unknown) => reason)
      assert.ok(error instanceof ModelError && error.code === code, String(error))
    })
  })
}

test.run()
