import { randomBytes } from 'node:crypto'
import * as assert from 'uvu/assert'
import { suite } from '../../support/suite.ts'
import type { JsonObject } from '../../../src/base/json.ts'
import { createMasker } from '../../../src/base/masking.ts'
import { createAgentVault, type AgentVault } from '../../../src/conversation/agent/vault.ts'
import { isLoaderVariable } from '../../../src/base/loader-variable.ts'
import { parse } from '../../../src/schema/check.ts'
import { StartConversationRequest } from '../../../src/schema/generated/conversations.ts'
import { toLLM, type LLM } from '../../../src/schema/generated/llm.ts'
import type { SecretSource } from '../../../src/schema/generated/secrets.ts'
import { createCipher, isSealed, type Cipher } from '../../../src/settings/cipher.ts'
import { readAgentSettings } from '../../../src/settings/agent-settings.ts'
import { createMaskedValues } from '../../../src/settings/masked-values.ts'
import { freshSettings, type Settings } from '../../../src/settings/patch.ts'
import { builtInProviders } from '../../../src/settings/providers-table.ts'
import { failureOf } from '../../support/conversation.ts'

const test = suite('conversation/agent/vault')

interface Setup {
  readonly vault: AgentVault
  readonly cipher: Cipher
  readonly mask: (text: string) => string
}

function setUp(key = 1): Setup {
  const masker = createMasker()
  const cipher = createCipher({ keys: [Buffer.alloc(32, key)], random: randomBytes })
  const vault = createAgentVault({
    cipher, providers: builtInProviders, setMasked: createMaskedValues(masker), isLoaderVariable,
  })
  return { vault, cipher, mask: (text) => masker.mask(text) }
}

/** The stored settings of the moment, with this agent. */
function settingsWith(agent: JsonObject, { cipher }: Setup): () => Promise<Settings> {
  return async () => ({ ...freshSettings(), agent_settings: readAgentSettings(agent, cipher) })
}

const noSettings = (): Promise<Settings> => Promise.reject(new Error('the settings were read'))
const owner = 'conversation'

function requestOf(body: JsonObject): StartConversationRequest {
  const parsed = parse(StartConversationRequest, body)
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.issues))
  return parsed.value
}

test('an agent of the request is taken with its preset resolved, and the settings are not read', async () => {
  const { vault } = setUp()
  const codex = await vault.sealAgent(
    owner, requestOf({ agent: { kind: 'ACPAgent', acp_server: 'codex', acp_command: [] } }), noSettings,
  )
  assert.equal([codex['acp_command'], codex['acp_model']], [
    ['npx', '-y', '@agentclientprotocol/codex-acp@2.6.0'], 'gpt-5.5',
  ])
  const detected = await vault.sealAgent(
    owner, requestOf({ agent: { kind: 'ACPAgent', acp_command: ['npx', '@google/gemini-cli'] } }), noSettings,
  )
  assert.equal([detected['acp_server'], detected['acp_model']], ['gemini-cli', 'auto'])
  const custom = await vault.sealAgent(
    owner, requestOf({ agent: { kind: 'ACPAgent', acp_command: ['mine', '--acp'], acp_model: 'm' } }), noSettings,
  )
  assert.equal([custom['acp_server'], custom['acp_command'], custom['acp_model']], ['custom', ['mine', '--acp'], 'm'])
})

test('a critic at another provider than the agent, without a key, is refused', async () => {
  const { vault } = setUp()
  const critic = { kind: 'APIBasedCritic', model_name: 'anthropic/claude' } as const
  const request = requestOf({ agent: { kind: 'Agent', llm: { model: 'gpt-5.5', api_key: 'k' }, critic } })
  assert.is(await failureOf(vault.sealAgent(owner, request, noSettings)), 'invalid_input')
  const llm = { model: 'gpt-5.5' }
  const withKey = requestOf({ agent: { kind: 'Agent', llm, critic: { ...critic, api_key: 'c' } } })
  assert.is((await vault.sealAgent(owner, withKey, noSettings))['kind'], 'Agent')
})

test('a custom agent without a command is refused', async () => {
  const { vault } = setUp()
  const request = requestOf({ agent: { kind: 'ACPAgent', acp_server: 'custom', acp_command: [] } })
  assert.is(await failureOf(vault.sealAgent(owner, request, noSettings)), 'invalid_input')
})

test('without an agent the settings of the request decide, and without those the stored ones', async () => {
  const setup = setUp()
  const { vault } = setup
  const stored = settingsWith({ agent_kind: 'acp', acp_server: 'custom', acp_command: ['stored'] }, setup)
  const given = await vault.sealAgent(
    owner, requestOf({ agent_settings: { agent_kind: 'acp', acp_server: 'claude-code' } }), stored,
  )
  assert.equal([given['kind'], given['acp_server'], given['acp_model']], ['ACPAgent', 'claude-code', 'opus[1m]'])
  const taken = await vault.sealAgent(owner, requestOf({}), stored)
  assert.equal([taken['kind'], taken['acp_command']], ['ACPAgent', ['stored']])
})

test('a critic of the settings becomes one of the agent, its key sealed; without one there is none', async () => {
  const setup = setUp()
  const { vault, mask } = setup
  const verification = {
    critic_enabled: true, critic_server_url: 'http://critic', critic_model_name: 'm',
    critic_api_key: 'key-of-the-critic',
  }
  const sealAs = async (changes: JsonObject): Promise<JsonObject> => {
    return vault.sealAgent(
      owner,
      requestOf({
        agent_settings: { agent_kind: 'openhands', llm: { model: 'a' }, verification: { ...verification, ...changes } },
      }),
      noSettings,
    )
  }
  const sealed = await sealAs({
    critic_threshold: 0.5, enable_iterative_refinement: true, max_refinement_iterations: 2, critic_mode: 'all_actions',
  })
  assert.not(JSON.stringify(sealed).includes('key-of-the-critic'))
  assert.is(mask('key-of-the-critic'), '<secret-hidden>')
  const opened = vault.openAgent(owner, sealed)
  assert.equal(opened.kind === 'Agent' && opened.critic, {
    kind: 'APIBasedCritic', mode: 'all_actions', server_url: 'http://critic', model_name: 'm',
    api_key: 'key-of-the-critic',
    iterative_refinement: { success_threshold: 0.5, max_iterations: 2 },
  })
  assert.is(Object((await sealAs({}))['critic']).iterative_refinement, null)
  assert.is((await sealAs({ critic_enabled: false }))['critic'], null)
})

test('settings in a request name their model; stored settings have one', async () => {
  const { vault } = setUp()
  const started = (agent_settings: JsonObject): Promise<string> =>
    failureOf(vault.sealAgent(owner, requestOf({ agent_settings }), noSettings))
  for (const settings of [
    {}, { llm: {} }, { llm: { temperature: 0.2 } }, { llm: { model: null } }, { llm: { model: '' } },
  ]) {
    assert.is(await started({ agent_kind: 'openhands', ...settings }), 'invalid_input', JSON.stringify(settings))
  }
  assert.is(await started({ agent_kind: 'openhands', llm: { model: 'a' } }), 'done')
  assert.is(await started({ agent_kind: 'acp', acp_server: 'codex' }), 'done')
})

test('the built-in agent gets the usual tools unless the settings name some', async () => {
  const setup = setUp()
  const toolsOf = async (settings: JsonObject): Promise<string> => {
    const agent = await setup.vault.sealAgent(
      owner, requestOf({ agent_settings: { agent_kind: 'openhands', llm: { model: 'a' }, ...settings } }), noSettings,
    )
    assert.is(agent['kind'], 'Agent')
    return JSON.stringify(agent['tools'])
  }
  assert.is(
    await toolsOf({}),
    '[{"name":"terminal","params":{}},{"name":"file_editor","params":{}},{"name":"task_tracker","params":{}}]',
  )
  assert.is(await toolsOf({ tools: [{ name: 'terminal' }] }), '[{"name":"terminal","params":{}}]')
})

test('a session mode that is more open than the policy is refused', async () => {
  const { vault } = setUp()
  const sealed = (policy: string, mode: string): Promise<string> => failureOf(vault.sealAgent(owner, requestOf({
    agent: { kind: 'ACPAgent', acp_server: 'claude-code', acp_command: [], acp_session_mode: mode },
    confirmation_policy: { kind: policy },
  }), noSettings))
  assert.is(await sealed('AlwaysConfirm', 'bypassPermissions'), 'invalid_input')
  assert.is(await sealed('AlwaysConfirm', 'default'), 'done')
  assert.is(await sealed('NeverConfirm', 'bypassPermissions'), 'done')
})

const secretAgent = {
  kind: 'ACPAgent',
  acp_command: ['mine'],
  acp_resume_session_id: 'resume-canary-1',
  mcp_config: { a: { command: 'x', env: { API_KEY: 'mcp-canary-2' } } },
}

test('the secrets of an agent are sealed, masked from then on, and open again', async () => {
  const setup = setUp()
  const sealed = await setup.vault.sealAgent(owner, requestOf({ agent: secretAgent }), noSettings)
  assert.not.match(JSON.stringify(sealed), 'canary')
  assert.is(setup.mask('a resume-canary-1 b mcp-canary-2'), 'a <secret-hidden> b <secret-hidden>')
  const later = setUp()
  const opened = later.vault.openAgent(owner, sealed)
  assert.match(JSON.stringify(opened), 'resume-canary-1')
  assert.match(JSON.stringify(opened), 'mcp-canary-2')
  assert.is(later.mask('resume-canary-1'), '<secret-hidden>')
})

test('a secret that no key opens any more is left out', async () => {
  const sealed = await setUp(1).vault.sealAgent(owner, requestOf({ agent: secretAgent }), noSettings)
  const opened = setUp(2).vault.openAgent(owner, sealed)
  assert.is(opened.kind, 'ACPAgent')
  assert.not.match(JSON.stringify(opened), /canary|as1:/)
})

test('a stored built-in agent opens as it is, and what is no agent is a mistake of ours', async () => {
  const { vault } = setUp()
  const sealed = await vault.sealAgent(
    owner, requestOf({ agent: { kind: 'Agent', llm: { model: 'm', api_key: 'llm-canary-1' } } }), noSettings,
  )
  const opened = vault.openAgent(owner, sealed)
  assert.is(opened.kind, 'Agent')
  assert.match(JSON.stringify(opened), 'llm-canary-1')
  assert.throws(() => vault.openAgent(owner, { kind: 'Other' }), /does not fit its schema/)
})

const lookup: SecretSource = {
  kind: 'LookupSecret', url: 'https://a', headers: { Authorization: 'lookup-canary-2', accept: 'text/plain' },
}
const sources: Record<string, SecretSource> = {
  PLAIN: { kind: 'StaticSecret', value: 'static-canary-1', description: 'for tests' },
  NOTHING: { kind: 'StaticSecret' },
  REDACTED: { kind: 'StaticSecret', value: '**********' },
  LOOKED_UP: lookup,
}

test('secrets of a conversation are sealed, masked, and open again', () => {
  const { vault, mask } = setUp()
  const sealed = vault.sealSources(owner, sources, false)
  assert.not.match(JSON.stringify(sealed), 'canary')
  assert.match(JSON.stringify(sealed), 'text/plain')
  assert.is(mask('static-canary-1 lookup-canary-2'), '<secret-hidden> <secret-hidden>')
  const opened = vault.openSources(owner, sealed)
  assert.equal(opened.get('PLAIN'), sources['PLAIN'])
  assert.equal(opened.get('LOOKED_UP'), lookup)
  assert.equal([opened.get('NOTHING'), opened.get('REDACTED')], [{ kind: 'StaticSecret' }, { kind: 'StaticSecret' }])
})

test('a token opens under its own name alone, whether it was sealed by us or came with the request', () => {
  const { vault, cipher } = setUp()
  const given = (name: string): Record<string, SecretSource> => ({
    [name]: { kind: 'StaticSecret', value: cipher.seal('token-canary-1', 'A') },
  })
  const sealed = vault.sealSources(owner, given('A'), true)
  assert.equal(vault.openSources(owner, sealed).get('A'), { kind: 'StaticSecret', value: 'token-canary-1' })
  assert.throws(() => vault.sealSources(owner, given('B'), true), /Cannot open the encrypted secret "B"/)
  const { A: moved = {} } = sealed
  assert.throws(() => vault.openSources(owner, { B: moved }), /Cannot open/)
  assert.throws(() => vault.openSources(owner, { A: { kind: 'Other' } }), /does not fit its schema/)
})

test('a plain value may come where tokens are expected', () => {
  const { vault } = setUp()
  const sealed = vault.sealSources(owner, { A: { kind: 'StaticSecret', value: 'plain-canary-1' } }, true)
  assert.ok(isSealed(String(sealed['A']?.['value'])))
})

const refused: readonly (readonly [name: string, value: string, why: RegExp])[] = [
  ['NODE_OPTIONS', 'a long value', /decides which code programs load/],
  ['ld_preload', 'a long value', /decides which code programs load/],
  ['', 'a long value', /without "=" or NUL/],
  ['A=B', 'a long value', /without "=" or NUL/],
  ['A\0B', 'a long value', /without "=" or NUL/],
  ['A', 'a\0b', /without NUL/],
]
for (const [name, value, why] of refused) {
  test(`refuses a secret called ${JSON.stringify(name)} with ${value.length} characters`, () => {
    const { vault } = setUp()
    assert.throws(() => vault.sealSources(owner, { [name]: { kind: 'StaticSecret', value } }, false), why)
  })
}

test('values that were fetched are masked until some time after their conversation is closed', () => {
  const { vault, mask } = setUp()
  vault.hide(owner, new Map([['A', 'fetched-canary-1'], ['B', 'fetched-canary-2']]))
  assert.is(mask('fetched-canary-1 fetched-canary-2'), '<secret-hidden> <secret-hidden>')
  vault.forget(owner)
  vault.forget(owner)
  assert.is(mask('fetched-canary-2'), '<secret-hidden>')
  // As many values as are remembered after they were replaced.
  for (let number = 0; number < 102; number++) vault.hide('another', new Map([['A', `another value ${number}`]]))
  assert.is(mask('fetched-canary-1 fetched-canary-2'), 'fetched-canary-1 fetched-canary-2')
})

test('a renewed secret is sealed in the place of the conversation\'s own, as long as that is the lent one', () => {
  const { vault, mask } = setUp()
  const lookup: SecretSource = { kind: 'LookupSecret', url: '/api/settings/secrets/FAR', headers: {} }
  const sealed = vault.sealSources(
    owner, { OWN: { kind: 'StaticSecret', value: 'the old value', description: 'mine' }, FAR: lookup }, false,
  )
  const change = { name: 'OWN', lent: 'the old value', current: '{"token":"the-new-token"}' }
  assert.is(vault.replaceSource(owner, sealed, { ...change, lent: 'another value' }), undefined)
  assert.is(vault.replaceSource(owner, sealed, { ...change, name: 'FAR' }), undefined)
  const replaced = vault.replaceSource(owner, sealed, change) ?? {}
  assert.not.match(JSON.stringify(replaced), 'the-new-token')
  assert.equal(vault.openSources(owner, replaced).get('OWN'), {
    kind: 'StaticSecret', value: change.current, description: 'mine',
  })
  assert.is(mask('the-new-token'), '<secret-hidden>')
})

const builtInWith = (agent: JsonObject): StartConversationRequest =>
  requestOf({ agent: { kind: 'Agent', llm: { model: 'a', api_key: 'key-of-a-1234' }, ...agent } })

test('another model is sealed in the place of the one before, and both keys are masked', async () => {
  const { vault, mask } = setUp()
  const stored = await vault.sealAgent(owner, builtInWith({}), noSettings)
  const next = vault.sealLlm(owner, stored, toLLM({ model: 'b', api_key: 'key-of-b-1234', usage_id: 'mine' }))
  assert.not.match(JSON.stringify(next), 'key-of-')
  const opened = vault.openAgent(owner, next)
  assert.equal([opened.llm.model, opened.llm.api_key, opened.llm.usage_id], ['b', 'key-of-b-1234', 'mine'])
  assert.is(mask('key-of-a-1234 key-of-b-1234'), '<secret-hidden> <secret-hidden>')
})

test(
  'a condenser with a copy of the model before is switched with it, under its own usage id, also to a token; another stays',
  async () => {
    const { vault, cipher } = setUp()
    const copy = { model: 'a', api_key: 'key-of-a-1234', usage_id: 'mine' }
    const next = toLLM({ model: 'b', api_key: cipher.seal('key-of-b-1234', 'llm.api_key') })
    for (const [llm, model, key] of [
      [copy, 'b', 'key-of-b-1234'], [{ ...copy, model: 'c' }, 'c', 'key-of-a-1234'],
      [{ ...copy, api_key: 'key-of-c-1234' }, 'a', 'key-of-c-1234'],
      [{ ...copy, base_url: 'http://127.0.0.1:1' }, 'a', 'key-of-a-1234'],
    ] as const) {
      const stored = await vault.sealAgent(owner, builtInWith({ condenser: { llm } }), noSettings)
      const agent = vault.openAgent(owner, vault.sealLlm(owner, stored, next))
      const condenser = agent.kind === 'Agent' && agent.condenser?.kind === 'LLMSummarizingCondenser'
        ? agent.condenser.llm
        : null
      assert.equal([condenser?.model, condenser?.api_key, condenser?.usage_id], [model, key, 'mine'])
    }
  },
)

test('a switch of the model unsets the key of a critic that would be asked at the new place', async () => {
  const { vault } = setUp()
  for (const [critic, key] of [
    [{ model_name: 'c' }, null], [{ model_name: 'c', server_url: 'https://c.example' }, 'key-of-c-1234'],
  ] as const) {
    const chosen = { kind: 'APIBasedCritic', api_key: 'key-of-c-1234', ...critic }
    const stored = await vault.sealAgent(owner, builtInWith({ critic: chosen }), noSettings)
    const keyAfter = (llm: LLM): string | null | undefined => {
      const agent = vault.openAgent(owner, vault.sealLlm(owner, stored, llm))
      return agent.kind === 'Agent' && agent.critic?.kind === 'APIBasedCritic' ? agent.critic.api_key : undefined
    }
    assert.is(keyAfter(toLLM({ model: 'a', temperature: 1 })), 'key-of-c-1234')
    assert.is(keyAfter(toLLM({ model: 'a', base_url: 'https://other.example/v1' })), key)
  }
})

test('the same model leaves the stored agent as it is, a mask is no key, and a token has to be ours', async () => {
  const { vault } = setUp()
  const stored = await vault.sealAgent(owner, builtInWith({}), noSettings)
  const { llm } = vault.openAgent(owner, stored)
  assert.is(vault.sealLlm(owner, stored, llm), stored)
  assert.is(vault.openAgent(owner, vault.sealLlm(owner, stored, { ...llm, api_key: '**********' })).llm.api_key, null)
  assert.throws(
    () => vault.sealLlm(owner, stored, { ...llm, api_key: 'as1:00000000:AAAA' }),
    /Cannot open the encrypted secret "llm.api_key"/,
  )
  assert.is(
    await failureOf(
      vault.sealAgent(owner, builtInWith({ llm: { model: 'a', api_key: 'as1:00000000:AAAA' } }), noSettings),
    ),
    'invalid_input',
  )
})

test('an agent of the request may hold tokens instead of its secrets', async () => {
  const { vault, cipher } = setUp()
  const stored = await vault.sealAgent(owner, builtInWith({
    llm: { model: 'a', api_key: cipher.seal('key-of-c-1234', 'llm.api_key') },
    mcp_config: { files: { command: 'x', env: { KEY: cipher.seal('key-of-env-1234', 'mcp_config.*.env.KEY') } } },
  }), noSettings)
  const opened = vault.openAgent(owner, stored)
  assert.equal([opened.llm.api_key, opened.mcp_config['files']?.env], ['key-of-c-1234', { KEY: 'key-of-env-1234' }])
})

test('the secrets of an agent\'s context become secrets of the conversation', async () => {
  const { vault, cipher, mask } = setUp()
  const secrets = {
    PLAIN: 'value-plain-1',
    MORE: {
      kind: 'StaticSecret', value: cipher.seal('value-more-1', 'agent_context.secrets.MORE.value'), description: 'more',
    },
  }
  const stored = await vault.sealAgent(owner, builtInWith({ agent_context: { secrets } }), noSettings)
  assert.not.match(JSON.stringify(stored), 'value-')
  const own = vault.sealContextSecrets(owner, stored)
  assert.not.match(JSON.stringify(own), 'value-')
  assert.equal([...vault.openSources(owner, own)], [
    ['PLAIN', { kind: 'StaticSecret', value: 'value-plain-1' }],
    ['MORE', { kind: 'StaticSecret', value: 'value-more-1', description: 'more' }],
  ])
  assert.is(mask('value-plain-1 value-more-1'), '<secret-hidden> <secret-hidden>')
})

test('a secret of an agent\'s context that is none, or that no program may have, is refused', async () => {
  const { vault } = setUp()
  for (const secrets of [{ A: 7 }, { A: {} }, { LD_PRELOAD: 'value-plain-1' }]) {
    const stored = await vault.sealAgent(owner, builtInWith({ agent_context: { secrets } }), noSettings)
    assert.throws(() => vault.sealContextSecrets(owner, stored), /Cannot use the secret "(?:A|LD_PRELOAD)"/)
  }
})

test.run()
