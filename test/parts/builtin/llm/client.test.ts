/** Which server and which format a model's settings mean. */
import * as assert from 'uvu/assert'
import { createModelClient, wireOf } from '../../../../src/parts/builtin/llm/client.ts'
import { ModelError } from '../../../../src/parts/builtin/llm/model.ts'
import { defaultDeps } from '../../../../src/parts/builtin/llm/wire.ts'
import { llmOf, type LLMOptions } from '../../../support/llm.ts'
import { suite } from '../../../support/suite.ts'
import { withWireServer } from '../../../support/wire-server.ts'
import { user } from './messages.ts'

const test = suite('agents/llm/client')

/** Returns the request to a server at the base URL, as `path model`. */
async function askedOf(settings: LLMOptions, path = ''): Promise<string> {
  let asked = ''
  await withWireServer([{ status: 400, chunks: [] }], async ({ url, requests }) => {
    const client = createModelClient(llmOf({ num_retries: 0, base_url: `${url}${path}`, ...settings }))
    const request = { messages: [user('Hello')], tools: [], signal: new AbortController().signal }
    const error = await client.complete(request).catch((thrown: unknown) => thrown)
    assert.instance(error, ModelError)
    asked = `${requests[0]?.path} ${requests[0]?.body['model']}`
  })
  return asked
}

function refusal(settings: LLMOptions): string {
  try {
    createModelClient(llmOf(settings))
  } catch (error) {
    if (error instanceof ModelError) return `${error.code}: ${error.message}`
    throw error
  }
  return 'no refusal'
}

const asked: readonly (readonly [model: string, path: string, asked: string])[] = [
  ['openai/gpt-4.1', '/v1', '/v1/chat/completions gpt-4.1'],
  ['openai/gpt-5.1', '/v1/', '/v1/chat/completions gpt-5.1'],
  ['gpt-4.1', '/v1', '/v1/chat/completions gpt-4.1'],
  ['o3-mini', '/v1', '/v1/chat/completions o3-mini'],
  ['openrouter/anthropic/claude-x', '/api/v1', '/api/v1/chat/completions anthropic/claude-x'],
  ['ollama/llama3:8b', '', '/v1/chat/completions llama3:8b'],
  ['ollama_chat/llama3', '/v1', '/v1/chat/completions llama3'],
  ['hosted_vllm/meta-llama/Llama-3', '/v1', '/v1/chat/completions meta-llama/Llama-3'],
  ['litellm_proxy/team/model', '', '/chat/completions team/model'],
  ['azure/my-deployment', '/openai/v1', '/openai/v1/chat/completions my-deployment'],
  ['meta-llama/Llama-3', '/v1', '/v1/chat/completions meta-llama/Llama-3'],
  ['my-model', '/v1', '/v1/chat/completions my-model'],
]

for (const [model, path, expected] of asked) {
  test(`asks a server at a base URL that ends in "${path}" for ${model}`, async () => {
    assert.is(await askedOf({ model }, path), expected)
  })
}

test('asks in the format that the settings name', async () => {
  assert.is(await askedOf({ model: 'my-model', api_mode: 'responses' }, '/v1'), '/v1/responses my-model')
  assert.is(await askedOf({ model: 'gpt-5.1', api_mode: 'chat' }, '/v1'), '/v1/chat/completions gpt-5.1')
})

test('speaks the formats of Anthropic and Gemini', async () => {
  assert.is(await askedOf({ model: 'anthropic/claude-x' }), '/v1/messages claude-x')
  assert.is(await askedOf({ model: 'claude-x' }), '/v1/messages claude-x')
  assert.match(await askedOf({ model: 'gemini-x' }), /^\/v1beta\/models\/gemini-x:streamGenerateContent/)
})

const homes: readonly (readonly [settings: LLMOptions, provider: string, url: string])[] = [
  [{ model: 'openai/gpt-4.1' }, 'OpenAI', 'https://api.openai.com/v1/chat/completions'],
  [{ model: 'openai/gpt-5.1' }, 'OpenAI', 'https://api.openai.com/v1/responses'],
  [{ model: 'gpt-5-chat-latest' }, 'OpenAI', 'https://api.openai.com/v1/chat/completions'],
  [{ model: 'gpt-5.5', base_url: 'https://eu.api.openai.com/v1' }, 'OpenAI', 'https://eu.api.openai.com/v1/responses'],
  [{ model: 'gpt-5.5', base_url: 'https://api.openai.com.example/v1' }, 'OpenAI',
    'https://api.openai.com.example/v1/chat/completions'],
  [{ model: 'anthropic/claude-x' }, 'Anthropic', 'https://api.anthropic.com/v1/messages'],
  [{ model: 'gemini/gemini-x' }, 'Gemini',
    'https://generativelanguage.googleapis.com/v1beta/models/gemini-x:streamGenerateContent?alt=sse'],
  [{ model: 'openrouter/x' }, 'OpenRouter', 'https://openrouter.ai/api/v1/chat/completions'],
  [{ model: 'ollama/x' }, 'Ollama', 'http://127.0.0.1:11434/v1/chat/completions'],
  [{ model: 'x', base_url: 'not an address' }, 'The model server', 'not an address/chat/completions'],
]

for (const [settings, provider, url] of homes) {
  test(`calls ${url} for ${JSON.stringify(settings)}`, () => {
    const wire = wireOf(llmOf(settings))
    assert.is(wire.provider, provider)
    assert.is(wire.url, url)
  })
}

test('finds Ollama where its own setting says, and the base URL comes first', async () => {
  await withWireServer([{ status: 400, chunks: [] }], async ({ url, requests }) => {
    for (const settings of [{ ollama_base_url: url }, { ollama_base_url: 'http://127.0.0.1:9', base_url: url }]) {
      const client = createModelClient(llmOf({ model: 'ollama/x', num_retries: 0, ...settings }))
      await client.complete({ messages: [], tools: [], signal: new AbortController().signal }).catch(() => undefined)
    }
    assert.is(requests.length, 2)
  })
})

test('says what the settings know of the model', () => {
  const known = createModelClient(llmOf({ model: 'gpt-4.1', max_input_tokens: 1000, disable_vision: true }))
  assert.is(known.contextWindow, 1000)
  assert.is(known.takesImages, false)
  assert.is(createModelClient(llmOf({ model: 'gpt-4.1' })).takesImages, undefined)
})

const windows: readonly (readonly [model: string, tokens: number | undefined])[] = [
  ['gpt-4.1', 1_047_576], ['openai/gpt-4.1-2025-04-14', 1_047_576], ['anthropic/claude-sonnet-4-5-20250929', 200_000],
  ['claude-opus-5', 1_000_000], ['gemini/gemini-2.5-pro', 1_048_576], ['openai/unheard-of', undefined],
  ['ollama/gpt-4.1', undefined], ['openrouter/anthropic/claude-opus-5', undefined],
]
for (const [model, tokens] of windows) {
  test(`the context window of ${model} is ${tokens ?? 'unknown'}`, () => {
    assert.is(createModelClient(llmOf({ model })).contextWindow, tokens)
  })
}

const expected = 'expected a base URL or one of openai/, anthropic/, gemini/, openrouter/, ollama/, ollama_chat/, ' +
  'vllm/, hosted_vllm/, litellm_proxy/, azure/ before the name'

test('refuses a name that says nothing, and says what is missing', () => {
  for (const model of ['my-model', 'bedrock/x', '', 'openai/', '/x']) {
    assert.is(refusal({ model }), `LLMBadRequestError: Cannot call the model "${model}": ${expected}`)
  }
  assert.is(
    refusal({ model: 'openai/', base_url: 'http://127.0.0.1:9' }),
    `LLMBadRequestError: Cannot call the model "openai/": ${expected}`,
  )
  assert.is(
    refusal({ model: 'hosted_vllm/x' }),
    'LLMBadRequestError: Cannot call the model "hosted_vllm/x": expected the base URL of vLLM',
  )
})

test('refuses a sign-in that is no key', () => {
  assert.is(
    refusal({ auth_type: 'subscription' }),
    'LLMBadRequestError: Cannot call the model "gpt-5.5": expected the sign-in "api_key"',
  )
})

test('sends nothing to an address that is refused', async () => {
  const client = createModelClient(llmOf({ model: 'ollama/x' }), { ...defaultDeps, allowAddress: () => false })
  const error = await client.complete({ messages: [], tools: [], signal: new AbortController().signal }).catch((
    thrown: unknown,
  ) => thrown)
  assert.ok(error instanceof ModelError && error.code === 'LLMBadRequestError', String(error))
})

test.run()
