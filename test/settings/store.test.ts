/** Whether settings are kept, patched and shown as contract/settings.md 1 to 3 and decisions 11, 21 say. */
import { randomBytes } from 'node:crypto'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import * as assert from 'uvu/assert'
import { secretMark } from '../../src/base/masking.ts'
import { isSettingsPatch } from '../../src/schema/generated/settings.ts'
import { createCipher } from '../../src/settings/cipher.ts'
import { parseExposeMode } from '../../src/settings/expose.ts'
import { builtInProviders } from '../../src/settings/providers-table.ts'
import { createSettingsStore } from '../../src/settings/store.ts'
import { suite } from '../support/suite.ts'
import { shows, textOf } from './folder.ts'
import { agentOf, at, pick, refusal, refuses, withStore, wrong, type Json } from './store-setup.ts'

const test = suite('settings/store')

// 1: views

test('shows the demo agent and the defaults on a fresh server, nulls included', () =>
  withStore(async ({ store }) => {
    const view = await store.view('redacted')
    assert.equal(pick(agentOf(view), 'agent_kind', 'acp_server', 'acp_command', 'acp_model'), [
      'acp', 'custom', ['agent-server-demo-agent'], null,
    ])
    assert.is(at(view, 'agent_settings', 'llm', 'api_key'), null)
    assert.equal({ ...view, agent_settings: {} }, {
      agent_settings: {},
      conversation_settings: {
        schema_version: 1, max_iterations: 500, confirmation_mode: false, security_analyzer: 'llm',
      },
      llm_api_key_is_set: false,
      active_profile: null,
      active_agent_profile_id: null,
      misc_settings: {},
    })
    assert.equal(await store.view('encrypted'), view)
    assert.equal(await store.view('plaintext'), view)
  }))

test('shows a secret redacted, as a token, or as it is', () =>
  withStore(async ({ store, agent }) => {
    await agent({ agent_kind: 'openhands', llm: { api_key: 'sk-canary-1' } })
    assert.is(at(await store.view('redacted'), 'agent_settings', 'llm', 'api_key'), '**********')
    assert.match(String(at(await store.view('encrypted'), 'agent_settings', 'llm', 'api_key')), /^as1:/)
    assert.is(at(await store.view('plaintext'), 'agent_settings', 'llm', 'api_key'), 'sk-canary-1')
    assert.is((await store.view('redacted')).llm_api_key_is_set, true)
    assert.is(at(await store.get(), 'agent_settings', 'llm', 'api_key'), 'sk-canary-1')
  }))

for (const [header, mode] of [
  [undefined, 'redacted'], ['encrypted', 'encrypted'], [' Encrypted ', 'encrypted'], ['TRUE', 'encrypted'],
  ['plaintext', 'plaintext'],
] as const) {
  test(`reads the header ${JSON.stringify(header)} as ${mode}`, () => assert.is(parseExposeMode(header), mode))
}
for (const header of ['', 'false', 'redacted', 'plain']) {
  test(`refuses the header ${JSON.stringify(header)}`, () => {
    assert.throws(() => parseExposeMode(header), /X-Expose-Secrets/)
  })
}

test('shows the command of a preset resolved and stores it empty', () =>
  withStore(async ({ agent, store }) => {
    const settings = await agent({ acp_server: 'codex' })
    assert.equal(pick(settings, 'acp_server', 'acp_command', 'acp_model'), [
      'codex', ['npx', '-y', '@agentclientprotocol/codex-acp@2.6.0'], 'gpt-5.5',
    ])
    assert.equal(at(await store.get(), 'agent_settings', 'acp_command'), [])
  }))

// 2.1, 2.2, 2.3

for (const request of [
  {}, { agent_settings_diff: null }, { conversation_settings_diff: null, misc_settings_diff: null },
]) {
  test(`2.2 refuses ${JSON.stringify(request)} as nothing to update`, () =>
    withStore(async ({ store }) => {
      assert.ok(isSettingsPatch(request))
      assert.is((await refusal(store.patch(request))).code, 'bad_request')
    }))
}

for (const request of [
  { active_profile: null }, { active_agent_profile_id: null }, { agent_settings_diff: {} }, { misc_settings_diff: {} },
]) {
  test(`2.2 accepts ${JSON.stringify(request)} as an update`, () =>
    withStore(async ({ store }) => {
      const before = await store.view('redacted')
      assert.equal(await store.patch(request), before)
    }))
}

test('2.3 answers with the redacted view', () =>
  withStore(async ({ store }) => {
    const response = await store.patch({ agent_settings_diff: { llm: { api_key: 'sk-canary-1' } } })
    assert.equal(response, await store.view('redacted'))
    assert.not.ok(JSON.stringify(response).includes('canary'))
  }))

// 2.4

test('2.4 merges objects, replaces arrays, and resets with null at any depth', () =>
  withStore(async ({ agent }) => {
    await agent({
      agent_kind: 'openhands',
      llm: { model: 'm1', temperature: 0.5 },
      condenser: { max_size: 50 },
      tools: [{ name: 'terminal' }, { name: 'grep' }],
    })
    const merged = await agent({ llm: { temperature: 1 }, tools: [{ name: 'glob' }] })
    assert.equal([at(merged, 'llm', 'model'), at(merged, 'llm', 'temperature')], ['m1', 1])
    assert.equal(merged['tools'], [{ name: 'glob', params: {} }])
    const reset = await agent({ llm: { temperature: null }, condenser: null, tools: null })
    assert.equal(
      [at(reset, 'llm', 'model'), at(reset, 'llm', 'temperature'), at(reset, 'condenser', 'max_size'), reset['tools']],
      ['m1', null, 240, null],
    )
    // The model alone has no default for requests: the history would go to another provider.
    for (const model of [null, '']) await refuses(agent({ llm: { model } }))
    assert.is(at(await agent({ llm: null }), 'llm', 'model'), 'gpt-5.5')
  }))

test('2.4 takes a new nested object as given and validates its nulls', () =>
  withStore(async ({ agent }) => {
    const settings = await agent({ mcp_config: { files: { command: 'mcp-files', url: null } } })
    assert.equal(settings['mcp_config'], { files: { command: 'mcp-files', enabled: true } })
    await refuses(agent({ mcp_config: { other: { command: 'x', env: { A: null } } } }))
    assert.equal((await agent({ mcp_config: { files: null } }))['mcp_config'], {})
  }))

// 2.5

test('2.5 starts from the defaults of another kind: shared fields are lost unless restated', () =>
  withStore(async ({ agent }) => {
    await agent({ mcp_config: { files: { command: 'mcp-files' } }, llm: { api_key: 'sk-canary-1', model: 'm1' } })
    const builtIn = await agent({ agent_kind: 'openhands', llm: { model: 'm2' } })
    assert.equal(pick(builtIn, 'agent_kind', 'mcp_config'), ['openhands', {}])
    assert.equal([at(builtIn, 'llm', 'api_key'), at(builtIn, 'llm', 'model')], [null, 'm2'])
    const merged = await agent({ agent_kind: 'openhands', enable_sub_agents: true })
    assert.is(at(merged, 'llm', 'model'), 'm2')
    const acp = await agent({ agent_kind: 'acp' })
    assert.equal(pick(acp, 'agent_kind', 'acp_server', 'acp_model'), ['acp', 'claude-code', 'opus[1m]'])
    assert.is(at(acp, 'llm', 'model'), 'gpt-5.5')
  }))

test('2.5 merges a diff without a kind into the stored kind', () =>
  withStore(async ({ agent }) => {
    await agent({ acp_server: 'codex', acp_session_mode: 'read-only' })
    assert.equal(
      pick(await agent({ acp_model: 'gpt-5.4' }), 'agent_kind', 'acp_server', 'acp_session_mode', 'acp_model'),
      ['acp', 'codex', 'read-only', 'gpt-5.4'],
    )
  }))

test('2.5 reads the older kind "llm" and null as the built-in agent', () =>
  withStore(async ({ agent }) => {
    assert.is((await agent({ agent_kind: null }))['agent_kind'], 'openhands')
    await agent({ enable_sub_agents: true })
    assert.is((await agent({ agent_kind: null }))['enable_sub_agents'], true)
    assert.equal(pick(await agent({ agent_kind: 'llm' }), 'agent_kind', 'enable_sub_agents'), ['openhands', false])
  }))

for (const kind of ['unknown', 5, '', {}]) {
  test(`2.5 refuses the kind ${JSON.stringify(kind)}`, () => {
    return withStore(async ({ agent }) => refuses(agent({ agent_kind: kind })))
  })
}

// 2.6

test('2.6 merges conversation settings and refuses null for a scalar', () =>
  withStore(async ({ store }) => {
    const patched = await store.patch({
      conversation_settings_diff: { confirmation_mode: true, security_analyzer: null, unknown: 1 },
    })
    assert.equal(patched.conversation_settings, {
      schema_version: 1, max_iterations: 500, confirmation_mode: true, security_analyzer: null,
    })
    await refuses(store.patch({ conversation_settings_diff: { confirmation_mode: null } }))
    await refuses(store.patch({ conversation_settings_diff: { max_iterations: 0 } }))
    const newer = ': "schema_version" is 2, newer than 1, the newest that this server knows'
    await refuses(store.patch({ conversation_settings_diff: { schema_version: 2 } }), newer)
  }))

test('2.6 merges misc settings of any shape: null is a value outside and deletes inside', () =>
  withStore(async ({ store, again }) => {
    await store.patch({ misc_settings_diff: { prefs: { theme: 'dark', list: [1, 2] }, fresh: { a: null } } })
    await store.patch({ misc_settings_diff: { prefs: { theme: null, list: [3] }, note: null } })
    assert.equal((await again().view('redacted')).misc_settings, {
      prefs: { list: [3] }, fresh: { a: null }, note: null,
    })
  }))

test('2.6 keeps hostile names as ordinary members', () =>
  withStore(async ({ store, again }) => {
    const misc: Json = JSON.parse('{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}')
    const agent: Json = JSON.parse('{"__proto__":{"agent_kind":"openhands"},"llm":{"__proto__":{"api_key":"x"}},"mcp_config":{"__proto__":{"command":"x"}}}')
    await store.patch({ misc_settings_diff: misc, agent_settings_diff: agent })
    const view = await again().view('plaintext')
    assert.is(JSON.stringify(view.misc_settings), JSON.stringify(misc))
    assert.is(view.agent_settings.agent_kind, 'acp')
    assert.is(view.agent_settings.llm.api_key, null)
    assert.equal(Object.keys(view.agent_settings.mcp_config), ['__proto__'])
    assert.not.ok('polluted' in {})
  }))

// 2.7

test('2.7 takes the LLM of a profile, unless the request has one', () =>
  withStore(async ({ store, masker }) => {
    const applied = await store.patch({ active_profile: 'fast' })
    assert.equal([applied.active_profile, at(applied, 'agent_settings', 'llm', 'model')], ['fast', 'fast-model'])
    assert.is(masker.mask('profile-canary-1'), secretMark)
    const explicit = await store.patch({ active_profile: 'fast', agent_settings_diff: { llm: { model: 'mine' } } })
    assert.is(at(explicit, 'agent_settings', 'llm', 'model'), 'mine')
    const cleared = await store.patch({ active_profile: null })
    assert.equal([cleared.active_profile, at(cleared, 'agent_settings', 'llm', 'model')], [null, 'mine'])
  }))

test('2.7 refuses an unknown profile and changes nothing', () =>
  withStore(async ({ store }) => {
    const error = await refusal(store.patch({ active_profile: 'slow', misc_settings_diff: { a: 1 } }))
    assert.equal([error.code, error.message], ['not_found', 'Profile "slow" not found'])
    assert.equal((await store.view('redacted')).misc_settings, {})
  }))

test('2.7 keeps the pointer to an agent profile by itself', () =>
  withStore(async ({ store }) => {
    const id = '0f8fad5b-d9cb-469f-a165-70867728950e'
    assert.is((await store.patch({ active_agent_profile_id: id })).active_agent_profile_id, id)
    assert.is((await store.patch({ misc_settings_diff: {} })).active_agent_profile_id, id)
    assert.is((await store.patch({ active_agent_profile_id: null })).active_agent_profile_id, null)
  }))

test('knows no profile when there is no store of them', () =>
  withStore(async ({ path, masker }) => {
    const cipher = createCipher({ keys: [Buffer.alloc(32)], random: randomBytes })
    const store = createSettingsStore({ path, masker, cipher, providers: builtInProviders })
    assert.is((await refusal(store.patch({ active_profile: 'fast' }))).code, 'not_found')
  }))

// 2.8

test('2.8 applies a patch whole or not at all', () =>
  withStore(async ({ store, path }) => {
    await refuses(
      store.patch({
        misc_settings_diff: { a: 1 },
        agent_settings_diff: { acp_model: 'x' },
        conversation_settings_diff: { max_iterations: 'x' },
      }),
    )
    assert.equal((await store.view('redacted')).misc_settings, {})
    await textOf(path).then(() => assert.unreachable(), () => undefined)
  }))

test('2.8 loses nothing of many patches at once', () =>
  withStore(async ({ store, again }) => {
    await Promise.all(
      Array.from({ length: 40 }, (_, index) => store.patch({ misc_settings_diff: { [`key${index}`]: index } })),
    )
    assert.is(Object.keys((await again().view('redacted')).misc_settings).length, 40)
  }))

test('2.8 shows the old settings when the new ones could not be written', () =>
  withStore(async ({ store, folder }) => {
    await rm(folder, { recursive: true })
    assert.is((await refusal(store.patch({ misc_settings_diff: { a: 1 } }))).code, 'storage_failed')
    assert.equal((await store.view('redacted')).misc_settings, {})
    await mkdir(folder)
  }))

test('refuses settings beyond the limit', () =>
  withStore(async ({ store }) => {
    const error = await refusal(store.patch({ misc_settings_diff: { a: 'x'.repeat(50_000) } }))
    assert.is(error.code, 'invalid_input')
    assert.equal((await store.view('redacted')).misc_settings, {})
  }))

test('writes nothing for a change that changes nothing', () =>
  withStore(async ({ store, path }) => {
    await store.update((current) => current)
    await textOf(path).then(() => assert.unreachable(), () => undefined)
  }))

// 2.9

for (const diff of wrong) {
  test(`2.9 refuses ${JSON.stringify(diff)} without quoting it`, () => {
    return withStore(async ({ agent }) => refuses(agent(diff)))
  })
}

test('2.9 refuses a command line with an open quote', () =>
  withStore(async ({ agent }) => {
    const error = await refusal(agent({ acp_command: "agent 'canary" }))
    assert.is(error.code, 'invalid_input')
    assert.not.ok(error.message.includes('canary'))
  }))

const sound: readonly Json[] = [
  { a: { command: 'x' } },
  { a: { url: 'http://x' } },
  { a: { url: 'http://x', transport: 'sse', headers: { Authorization: 'Bearer x' }, auth: { strategy: 'none' } } },
  { a: { url: 'http://x', headers: { Accept: 'y' }, auth: { strategy: 'basic', username: 'u', password: 'p' } } },
]
for (const mcp_config of sound) {
  test(`accepts the MCP servers ${JSON.stringify(mcp_config)}`, () =>
    withStore(async ({ agent }) => {
      assert.equal(Object.keys(Object((await agent({ mcp_config }))['mcp_config'])), ['a'])
    }))
}

for (const [name, text] of [
  ['broken', '{"version":1,"agent_settings":{"llm":{"api_key":"canary'],
  ['newer', '{"version":2,"agent_settings":{}}'],
  ['of a newer schema', '{"version":1,"agent_settings":{"schema_version":6}}'],
  ['without agent settings', '{"version":1}'],
  ['with a wrong pointer', '{"version":1,"agent_settings":{},"active_profile":"../x"}'],
  ['of newer conversation settings', '{"version":1,"agent_settings":{},"conversation_settings":{"schema_version":2}}'],
] as const) {
  test(`2.9 refuses a file that is ${name}, for reading too, and leaves it`, () =>
    withStore(async ({ store, path }) => {
      await writeFile(path, text)
      for (const use of [
        () => store.get(), () => store.view('redacted'), () => store.patch({ misc_settings_diff: { a: 1 } }),
      ]) {
        const error = await refusal(use())
        assert.is(error.code, 'settings_unreadable')
        assert.not.ok(error.message.includes('canary'))
      }
      assert.is(await textOf(path), text)
    }))
}

test('2.9 refuses a file that was sealed with another key, and leaves it', () =>
  withStore(async ({ agent, path, again }) => {
    await agent({ llm: { api_key: 'sk-canary-1' } })
    const before = await textOf(path)
    assert.is((await refusal(again({ key: 2 }).view('redacted'))).code, 'settings_unreadable')
    assert.is((await refusal(again({ key: 2 }).patch({ misc_settings_diff: {} }))).code, 'settings_unreadable')
    assert.is(await textOf(path), before)
  }))

// 2.12 and 3.1

test('2.12 ignores unknown members and does not store them', () =>
  withStore(async ({ agent, path }) => {
    await agent({ unknown_member: 1, llm: { unknown_too: 2 } })
    assert.not.ok((await textOf(path)).includes('unknown'))
  }))

test('3.1 migrates the older spelling of a transport where the kind changes, and not otherwise', () =>
  withStore(async ({ agent }) => {
    const settings = await agent({
      agent_kind: 'openhands',
      mcp_config: { a: { url: 'http://x', type: 'shttp' }, b: { command: 'x', type: 'stdio' } },
    })
    assert.equal([at(settings, 'mcp_config', 'a', 'transport'), at(settings, 'mcp_config', 'b', 'transport')], [
      'http', 'stdio',
    ])
    await refuses(
      agent({ agent_kind: 'acp', schema_version: 5, mcp_config: { a: { url: 'http://x', type: 'shttp' } } }),
    )
  }))

test('3.1 reads a file of an older schema and writes it in the current form, sealed', () =>
  withStore(async ({ store, path }) => {
    const old = {
      llm: { api_key: 'sk-canary-1' },
      mcp_config: { a: { url: 'http://x', transport: 'shttp' }, b: { url: 'http://y' } },
    }
    await writeFile(path, JSON.stringify({ version: 1, agent_settings: old }))
    assert.equal(pick(agentOf(await store.view('redacted')), 'agent_kind', 'schema_version'), ['openhands', 5])
    await store.patch({ misc_settings_diff: { a: 1 } })
    const text = await textOf(path)
    assert.not.ok(shows(text, 'sk-canary-1'))
    const servers = at(JSON.parse(text), 'agent_settings', 'mcp_config')
    assert.equal([at(servers, 'a', 'transport'), at(servers, 'b', 'transport')], ['http', undefined])
  }))

test('refuses an older file whose servers are no objects', () =>
  withStore(async ({ store, path }) => {
    for (const mcp_config of [{ a: 'x' }, [], 'x']) {
      await writeFile(path, JSON.stringify({ version: 1, agent_settings: { mcp_config } }))
      assert.is((await refusal(store.get())).code, 'settings_unreadable')
    }
  }))

// 3.3

test('3.3 splits a command line, finds its provider and fills its model', () =>
  withStore(async ({ agent }) => {
    const settings = await agent({ acp_command: "npx -y '@agentclientprotocol/codex-acp@9' --flag \"a b\"" })
    assert.equal(pick(settings, 'acp_server', 'acp_command', 'acp_model'), [
      'codex', ['npx', '-y', '@agentclientprotocol/codex-acp@9', '--flag', 'a b'], 'gpt-5.5',
    ])
    assert.equal(pick(await agent({ acp_command: 'my-agent' }), 'acp_server', 'acp_model'), ['custom', null])
  }))

test('3.3 takes what the onboarding of a published client sends', () =>
  withStore(async ({ agent }) => {
    const settings = await agent({
      agent_kind: 'acp', acp_server: 'claude-code', acp_command: [], acp_args: [], acp_model: 'opus[1m]',
    })
    assert.equal(pick(settings, 'acp_server', 'acp_command', 'acp_args', 'acp_model'), [
      'claude-code', ['npx', '-y', '@agentclientprotocol/claude-agent-acp@0.100.0'], [], 'opus[1m]',
    ])
  }))

test.run()
