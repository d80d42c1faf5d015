/** Whether a stored key goes only to the provider or host that it was given for (DECISIONS.md, section 44). */
import * as assert from 'uvu/assert'
import { toLLM } from '../../src/schema/generated/llm.ts'
import { isSamePlace, problemWithCritic } from '../../src/settings/model-home.ts'
import { suite } from '../support/suite.ts'
import { at, refusal, withStore, type Json } from './store-setup.ts'

const test = suite('settings/model-home')
const llm = (model: string, base_url: string | null = null, ollama_base_url: string | null = null) => {
  return toLLM({ model, base_url, ollama_base_url })
}

test('the place of a model is its address, else its provider', () => {
  const same = [
    [llm('gpt-5.5'), llm('openai/o3')], [llm('claude-opus-5'), llm('Anthropic/x')], [llm('google/a'), llm('gemini-3')],
    [llm('openai/a', 'https://x.example/v1'), llm('anthropic/b', 'https://x.example/other')],
    [llm('ollama/a', null, 'http://h:1'), llm('ollama_chat/b', null, 'http://h:1/')], [llm('mine'), llm('mine')],
  ] as const
  for (const [one, other] of same) assert.is(isSamePlace(one, other), true, `${one.model} ${other.model}`)
  const different = [
    [llm('gpt-5.5'), llm('claude-opus-5')], [llm('openai/a'), llm('openai/a', 'https://x.example')],
    [llm('openai/a', 'https://x.example'), llm('openai/a', 'https://x.example:444')], [llm('mine'), llm('other')],
    [llm('ollama/a', null, 'http://h:1'), llm('ollama/a')], [llm('openrouter/openai/a'), llm('openai/a')],
  ] as const
  for (const [one, other] of different) assert.is(isSamePlace(one, other), false, `${one.model} ${other.model}`)
})

/** Each change with the key after it; the key before it is `sk-canary-1`, of OpenAI. */
const changes: readonly (readonly [change: Json, key: string | null])[] = [
  [{ model: 'openai/gpt-5.6' }, '**********'],
  [{ temperature: 0.5 }, '**********'],
  [{ model: 'anthropic/claude' }, null],
  [{ base_url: 'https://proxy.example/v1' }, null],
  [{ model: 'anthropic/claude', api_key: 'sk-canary-2' }, '**********'],
  [{ base_url: 'https://proxy.example/v1', api_key: 'sk-canary-2' }, '**********'],
]
for (const [change, key] of changes) {
  test(`a patch of ${JSON.stringify(change)} ${key === null ? 'unsets' : 'keeps or sets'} the key`, () =>
    withStore(async ({ agent, store }) => {
      const extra_headers = { 'X-Team': 'canary-header' }
      await agent({ agent_kind: 'openhands', llm: { model: 'gpt-5.5', api_key: 'sk-canary-1', extra_headers } })
      assert.is(at(await agent({ llm: change }), 'llm', 'api_key'), key)
      const { agent_settings: { llm: after } } = await store.get()
      assert.is(after.model, change['model'] ?? 'gpt-5.5')
      assert.is(after.base_url, change['base_url'] ?? null)
      const isMoved = !('temperature' in change || change['model'] === 'openai/gpt-5.6')
      assert.is(JSON.stringify(after).includes('sk-canary-1'), !isMoved)
    }))
}

test('the key of a critic stays with its server', () =>
  withStore(async ({ agent }) => {
    const verification = { critic_server_url: 'https://one.example', critic_api_key: 'canary-c-1' }
    await agent({ agent_kind: 'openhands', llm: { model: 'gpt-5.5', api_key: 'sk-canary-1' }, verification })
    const key = async (diff: Json): Promise<unknown> => {
      return at(await agent({ verification: diff }), 'verification', 'critic_api_key')
    }
    assert.is(await key({ critic_model_name: 'openai/x' }), '**********')
    assert.is(await key({ critic_server_url: 'https://two.example' }), null)
    assert.is(await key({ critic_server_url: 'https://one.example', critic_api_key: 'canary-c-2' }), '**********')
  }))

test('a profile that becomes active unsets the key of a critic that would be asked at the place of the profile', () =>
  withStore(async ({ agent, store }) => {
    const own = { agent_kind: 'openhands', llm: { model: 'fast-model', base_url: 'https://one.example' } }
    const keyAfter = async (verification: Json, diff?: Json): Promise<unknown> => {
      await agent({ ...own, verification })
      await store.patch({ active_profile: 'fast', ...(diff === undefined ? {} : { agent_settings_diff: diff }) })
      const { agent_settings: settings } = await store.get()
      assert.is(settings.llm.base_url, null)
      return at(settings, 'verification', 'critic_api_key')
    }
    const critic_api_key = 'canary-c-1'
    assert.is(await keyAfter({ critic_server_url: null, critic_api_key }), null)
    assert.is(await keyAfter({ critic_api_key }, { tool_concurrency_limit: 2 }), null)
    assert.is(await keyAfter({ critic_api_key }, { verification: { critic_api_key: 'canary-c-2' } }), 'canary-c-2')
    assert.is(await keyAfter({ critic_server_url: 'https://c.example', critic_api_key }), critic_api_key)
  }))

test('a critic at another provider without a key of its own is refused', async () => {
  const critic = { server_url: null, model_name: 'anthropic/claude', api_key: null }
  assert.match(String(problemWithCritic(critic, llm('gpt-5.5'))), 'has no key of its own')
  for (const fine of [
    { ...critic, api_key: 'k' }, { ...critic, server_url: 'https://c.example' }, { ...critic, model_name: 'ollama/x' },
    { ...critic, model_name: null }, { ...critic, model_name: 'openai/o3' },
  ]) assert.is(problemWithCritic(fine, llm('gpt-5.5')), undefined)
  assert.is(problemWithCritic(critic, llm('gpt-5.5', 'https://proxy.example')), undefined)
  await withStore(async ({ agent }) => {
    await agent({ agent_kind: 'openhands', llm: { model: 'gpt-5.5', api_key: 'sk-canary-1' } })
    const verification = { critic_enabled: true, critic_model_name: 'anthropic/claude' }
    const refused = await refusal(agent({ verification }))
    assert.is(refused.code, 'invalid_input')
    assert.match(refused.message, 'has no key of its own')
    await agent({ verification: { ...verification, critic_enabled: false } })
    assert.is(at(await agent({ verification: { ...verification, critic_api_key: 'canary-c' } }), 'verification',
      'critic_api_key'), '**********')
  })
})

test.run()
