/** Addresses that carry credentials are kept and shown like secrets, all others as they are. */
import { readFile } from 'node:fs/promises'
import * as assert from 'uvu/assert'
import { createMasker } from '../../src/base/masking.ts'
import { mapSecrets } from '../../src/settings/secret-fields.ts'
import { mapSourceSecrets, withoutUnset } from '../../src/settings/secret-source.ts'
import { testCipher } from '../support/cipher.ts'
import { suite } from '../support/suite.ts'
import { at, refuses, withStore } from './store-setup.ts'

const test = suite('settings/addresses')
const password = 'canary-password-1'
const token = 'canary-token-1'
const secretUrl = `https://me:${password}@models.example/v1`
const mcpUrl = `https://mcp.example/mcp?limit=10&access_token=${token}`
const diff = {
  agent_kind: 'openhands',
  llm: { model: 'a/b', base_url: secretUrl, ollama_base_url: 'http://localhost:11434' },
  mcp_config: { open: { url: 'https://mcp.example/mcp?limit=10' }, closed: { url: mcpUrl } },
}
const places = [
  ['llm', 'base_url'], ['llm', 'ollama_base_url'], ['mcp_config', 'open', 'url'], ['mcp_config', 'closed', 'url'],
]
const addresses = (settings: unknown): unknown[] => places.map((path) => at(settings, ...path))

test('seals what carries credentials, and shows it redacted, as a token or as it is', () =>
  withStore(async ({ store, agent, path, masker, again }) => {
    const hidden = ['**********', 'http://localhost:11434', 'https://mcp.example/mcp?limit=10', '**********']
    assert.equal(addresses(await agent(diff)), hidden)
    const file = await readFile(path, 'utf8')
    for (const secret of [password, token]) assert.not.match(file, secret)
    assert.match(file, 'http://localhost:11434')
    const [base = '', , , mcp = ''] = addresses((await store.view('encrypted')).agent_settings).map(String)
    assert.match(base, /^as1:/)
    assert.match(mcp, /^as1:/)
    assert.equal(addresses((await store.view('plaintext')).agent_settings), [secretUrl, ...hidden.slice(1, 3), mcpUrl])
    assert.is(
      masker.mask(`${password} ${token} ${secretUrl} of me at models.example`),
      '<secret-hidden> <secret-hidden> <secret-hidden> of me at models.example',
    )
    const next = createMasker()
    assert.equal(addresses((await again({ masker: next }).get()).agent_settings), [
      secretUrl, ...hidden.slice(1, 3), mcpUrl,
    ])
    assert.is(next.mask(token), '<secret-hidden>')
  }))

test('takes back tokens of its own, and never saves what a view shows', () =>
  withStore(async ({ store, agent }) => {
    await agent(diff)
    const { agent_settings: sealed } = await store.view('encrypted')
    await store.patch({
      agent_settings_diff: {
        llm: { base_url: String(at(sealed, 'llm', 'base_url')) },
        mcp_config: { closed: { url: String(at(sealed, 'mcp_config', 'closed', 'url')) } },
      },
    })
    assert.is(at((await store.get()).agent_settings, 'llm', 'base_url'), secretUrl)
    await refuses(agent({ mcp_config: { closed: { url: '**********' } } }))
    assert.is(at((await store.get()).agent_settings, 'mcp_config', 'closed', 'url'), mcpUrl)
    await agent({ llm: { base_url: '**********' } })
    assert.is(at((await store.get()).agent_settings, 'llm', 'base_url'), null)
  }))

test('an address that does not open with this key is no address, and not the usual one', () => {
  const sealed = mapSecrets('AgentSettings', diff, (value, path) => testCipher(1).seal(value, path))
  const opened = mapSecrets('AgentSettings', sealed, (value, path) => testCipher(2).open(value, path))
  const [base, , , mcp] = addresses(opened)
  for (const address of [base, mcp]) assert.is(new URL(String(address)).protocol, 'as1:')
})

test('an address of a lookup is sealed with its headers, and opened again', () => {
  const cipher = testCipher()
  const source = { kind: 'LookupSecret', url: `https://vault.example/?token=${token}`, headers: {} } as const
  const sealed = mapSourceSecrets(source, (value, path) => cipher.seal(value, path))
  assert.not.match(JSON.stringify(sealed), token)
  assert.equal(mapSourceSecrets(sealed, (value, path) => cipher.open(value, path)), source)
  const open = { ...source, url: 'https://vault.example/' }
  assert.equal(mapSourceSecrets(open, () => 'never'), open)
  assert.equal(withoutUnset({ ...source, url: '**********' }), { ...source, url: '' })
})

test.run()
