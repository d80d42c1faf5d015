/**
 * Whether secrets in settings are hidden, sealed, taken back and never lost by accident (contract/settings.md 2.10,
 * decisions 12).
 */
import * as assert from 'uvu/assert'
import { createMasker, secretMark } from '../../src/base/masking.ts'
import { suite } from '../support/suite.ts'
import { modeOf, shows, textOf } from './folder.ts'
import { at, refusal, refuses, withStore, wrong, type Json } from './store-setup.ts'

const test = suite('settings/store: secrets')

// 2.10

test('2.10 reads a redacted, empty or blank secret as unset', () =>
  withStore(async ({ agent, store }) => {
    for (const unset of ['**********', '', '  ', null]) {
      await agent({ llm: { api_key: 'sk-canary-1' } })
      assert.is(at(await agent({ llm: { api_key: unset } }), 'llm', 'api_key'), null)
      assert.is((await store.view('redacted')).llm_api_key_is_set, false)
    }
  }))

test('2.10 erases secrets when a redacted view is sent back, and never saves a mask', () =>
  withStore(async ({ agent, store, path }) => {
    const redacted = await agent({
      llm: { api_key: 'sk-canary-1' }, mcp_config: { a: { command: 'x', env: { A_TOKEN: 'token-canary-1' } } },
    })
    await agent(redacted)
    assert.equal(at(await store.get(), 'agent_settings', 'mcp_config', 'a', 'env'), {})
    assert.is(at(await store.get(), 'agent_settings', 'llm', 'api_key'), null)
    assert.not.ok((await textOf(path)).includes('***'))
  }))

test('2.10 takes back its own tokens, also under another server name', () =>
  withStore(async ({ agent, store }) => {
    await agent({
      llm: { api_key: 'sk-canary-1' }, mcp_config: { a: { command: 'x', env: { A_TOKEN: 'token-canary-1' } } },
    })
    const encrypted = (await store.view('encrypted')).agent_settings
    await agent({ llm: { api_key: null }, mcp_config: null })
    await agent({ llm: encrypted.llm, mcp_config: { renamed: encrypted.mcp_config['a'] } })
    assert.is(at(await store.get(), 'agent_settings', 'llm', 'api_key'), 'sk-canary-1')
    assert.is(at(await store.get(), 'agent_settings', 'mcp_config', 'renamed', 'env', 'A_TOKEN'), 'token-canary-1')
  }))

test('2.10 refuses a token in another field, and one that is damaged', () =>
  withStore(async ({ agent, store }) => {
    await agent({ llm: { api_key: 'sk-canary-1' } })
    const token = String(at(await store.view('encrypted'), 'agent_settings', 'llm', 'api_key'))
    await refuses(agent({ llm: { aws_secret_access_key: token } }))
    await refuses(agent({ llm: { api_key: `${token}A` } }))
    await refuses(agent({ llm: { api_key: 'as1:something' } }))
    assert.is(at(await store.get(), 'agent_settings', 'llm', 'api_key'), 'sk-canary-1')
  }))

// Canaries

const canaries: Json = {
  agent_kind: 'openhands',
  llm: {
    api_key: 'canary "1"/+é', aws_access_key_id: 'canary-key-2', aws_secret_access_key: 'canary-key-3',
    aws_session_token: 'canary-key-4',
    extra_headers: { Authorization: 'canary-key-5' },
  },
  verification: { critic_api_key: 'canary-key-6' },
  agent_context: {
    secrets: {
      A: 'canary-key-7',
      B: { kind: 'StaticSecret', value: 'canary-key-8' },
      C: { kind: 'LookupSecret', url: 'http://x', headers: { Cookie: 'canary-key-9' } },
    },
  },
  mcp_config: {
    a: { command: 'x', env: { A_TOKEN: 'canary-key-10' } },
    b: { url: 'http://x', headers: { 'X-Key': 'canary-key-11' } },
    c: { url: 'http://x', auth: { strategy: 'api_key', value: 'canary-key-12' } },
    d: { url: 'http://x', auth: { strategy: 'bearer', value: 'canary-key-13' } },
    e: { url: 'http://x', auth: { strategy: 'basic', username: 'u', password: 'canary-key-14' } },
    f: { url: 'http://x', auth: { strategy: 'header', headers: { 'X-Key': 'canary-key-15' } } },
    g: {
      url: 'http://x',
      auth: {
        strategy: 'oauth2',
        authentication: { type: 'oauth', client_secret: 'canary-key-16' },
        state: { tokens: { access_token: 'canary-key-17' } },
      },
    },
  },
}
const secretValues = ['canary "1"/+é', ...Array.from({ length: 16 }, (_, index) => `canary-key-${index + 2}`)]

test('no secret shows in a redacted or sealed view, in the file, or unmasked in a text', () =>
  withStore(async ({ agent, store, path, masker, again }) => {
    const response = JSON.stringify(await agent(canaries))
    const texts = [
      response,
      JSON.stringify(await store.view('redacted')),
      JSON.stringify(await store.view('encrypted')),
      await textOf(path),
    ]
    const plain = JSON.stringify(await store.view('plaintext'))
    const fresh = createMasker()
    await again({ masker: fresh }).get()
    for (const secret of secretValues) {
      assert.ok(shows(plain, secret), secret)
      assert.equal(texts.filter((text) => shows(text, secret)), [], secret)
      for (const form of [
        secret, Buffer.from(`x${secret}`).toString('base64'), encodeURIComponent(secret), JSON.stringify(secret),
      ]) {
        assert.ok(masker.mask(form).includes(secretMark), form)
        assert.ok(fresh.mask(form).includes(secretMark), form)
      }
    }
    assert.is(await modeOf(path), '0600')
  }))

test('every secret survives a restart, a merge, and the way through the sealed view', () =>
  withStore(async ({ agent, store, again }) => {
    await agent(canaries)
    const before = await store.get()
    await agent({ enable_sub_agents: true })
    await agent({ enable_sub_agents: false })
    await agent({ ...(await store.view('encrypted')).agent_settings })
    assert.equal(await again().get(), before)
    assert.is(at(before, 'agent_settings', 'agent_context', 'secrets', 'B', 'kind'), 'StaticSecret')
  }))

test('no refusal quotes a secret, whatever is wrong beside it', () =>
  withStore(async ({ agent }) => {
    for (const diff of wrong) {
      const error = await refusal(agent({ ...canaries, agent_kind: 'acp', ...diff }))
      const told = `${error.message} ${error.stack} ${JSON.stringify(error.issues)} ${String(error.cause)}`
      assert.equal(secretValues.filter((secret) => shows(told, secret)), [])
    }
  }))

test('hides no ordinary values of an MCP server in texts', () =>
  withStore(async ({ agent, masker }) => {
    await agent({
      mcp_config: {
        a: {
          command: 'x',
          env: {
            NODE_ENV: 'production', DIR: '/usr/local/bin', BASE: 'https://api.example.com:8080/v1',
            PAT: 'xoxb-12345678',
          },
        },
        b: { url: 'http://x', headers: { Accept: 'application/json' } },
      },
    })
    const text = 'production /usr/local/bin https://api.example.com:8080/v1 application/json'
    assert.is(masker.mask(`${text} xoxb-12345678`), `${text} ${secretMark}`)
  }))

test('masks a replaced key still, because agents that have it run on', () =>
  withStore(async ({ agent, masker }) => {
    await agent({ llm: { api_key: 'first-canary' } })
    await agent({ llm: { api_key: 'second-canary' } })
    assert.is(masker.mask('first-canary second-canary'), `${secretMark} ${secretMark}`)
  }))

test.run()
