/** Whether secrets are found where the schema says they are, in values that fit it and in values that do not. */
import * as assert from 'uvu/assert'
import { mapSecrets, secretsToMask } from '../../src/settings/secret-fields.ts'
import { isWorthMasking } from '../../src/settings/secret-values.ts'
import { suite } from '../support/suite.ts'

const test = suite('settings/secret-fields')

/** Every secret becomes its path. */
const show = (type: string, value: unknown): unknown => mapSecrets(type, value, (_secret, path) => `<${path}>`)

test('names a secret by its members, without the names of servers', () => {
  assert.equal(
    show('AgentSettings', {
      llm: { api_key: 's', model: 'm' }, mcp_config: { any: { env: { A: 's' }, command: 'c' } },
    }),
    {
      llm: { api_key: '<llm.api_key>', model: 'm' },
      mcp_config: { any: { env: { A: '<mcp_config.*.env.A>' }, command: 'c' } },
    },
  )
})

test('follows the kind to the variant, and a missing kind to the built-in agent', () => {
  for (const kind of [{}, { agent_kind: null }, { agent_kind: 'openhands' }]) {
    assert.equal(show('AgentSettings', { ...kind, verification: { critic_api_key: 's' } }), {
      ...kind, verification: { critic_api_key: '<verification.critic_api_key>' },
    })
  }
  const acp = { agent_kind: 'acp', agent_context: { secrets: { A: 's' } }, verification: { critic_api_key: 's' } }
  assert.equal(show('AgentSettings', acp), { ...acp, agent_context: { secrets: { A: '<agent_context.secrets.A>' } } })
})

test('follows what tells variants apart without a tag', () => {
  assert.equal(show('Content', { image_urls: ['u'] }), { image_urls: ['u'] })
  assert.equal(show('Content', { text: 't' }), { text: 't' })
})

test('takes every string under a secret member, however deep, and leaves the rest', () => {
  const state = { tokens: { access_token: 's', list: ['s', 's'] }, token_expires_at: 5, none: null }
  assert.equal(show('McpAuth', { strategy: 'oauth2', state }), {
    strategy: 'oauth2',
    state: {
      tokens: { access_token: '<state.tokens.access_token>', list: ['<state.tokens.list>', '<state.tokens.list>'] },
      token_expires_at: 5,
      none: null,
    },
  })
})

test('finds a secret inside a type that is one of several', () => {
  const authentication = { type: 'oauth', client_secret: 's', scopes: ['a', 'b'] }
  assert.equal(show('McpAuth', { strategy: 'oauth2', authentication }), {
    strategy: 'oauth2',
    authentication: { ...authentication, client_secret: '<authentication.client_secret>' },
  })
})

test('asks a source of a secret which of its parts are secret', () => {
  const secrets = {
    A: { kind: 'StaticSecret', value: 's', description: 'd' },
    B: { kind: 'LookupSecret', url: 'u', headers: { Cookie: 's' } },
  }
  assert.equal(show('AgentContext', { secrets }), {
    secrets: {
      A: { kind: 'StaticSecret', value: '<secrets.A.value>', description: 'd' },
      B: { kind: 'LookupSecret', url: 'u', headers: { Cookie: '<secrets.B.headers.Cookie>' } },
    },
  })
})

test('leaves out what becomes nothing', () => {
  const gone = mapSecrets('LLM', { api_key: 's', extra_headers: { A: 's' }, model: 'm' }, () => undefined)
  assert.equal(gone, { extra_headers: {}, model: 'm' })
  assert.equal(mapSecrets('McpAuth', { strategy: 'oauth2', state: { list: ['s'] } }, () => undefined), {
    strategy: 'oauth2', state: { list: [] },
  })
})

for (const value of [
  null, 'text', 5, [], { llm: 'x', mcp_config: [] }, { agent_kind: 'other', llm: { api_key: 's' } },
  { tools: 'x', agent_context: null },
]) {
  test(`passes on ${JSON.stringify(value)}, which does not fit`, () => {
    assert.equal(show('AgentSettings', value), value)
  })
}

test('keeps hostile names as ordinary members', () => {
  const value: unknown = JSON.parse(
    '{"__proto__":{"api_key":"s"},"constructor":"c","llm":{"__proto__":"s","api_key":"s"}}',
  )
  assert.is(
    JSON.stringify(show('AgentSettings', value)),
    '{"__proto__":{"api_key":"s"},"constructor":"c","llm":{"__proto__":"s","api_key":"<llm.api_key>"}}',
  )
})

test('refuses a type that does not exist', () => {
  assert.throws(() => show('Nothing', {}), /No schema is named "Nothing"/)
})

test('gives each secret to mask once', () => {
  assert.equal(
    secretsToMask('LLM', { api_key: 'same', aws_session_token: 'same', extra_headers: { A: 'xyz1', B: 'words only' } }),
    ['same', 'xyz1'],
  )
  assert.equal(secretsToMask('McpAuth', { strategy: 'bearer', value: 'words' }), ['words'])
})

const values: readonly (readonly [string, string, boolean])[] = [
  ['NODE_ENV', 'production', false],
  ['LANG', 'en_US', false],
  ['Accept', 'application/vnd.api+json', false],
  ['HOME', '/home/user/.config', false],
  ['HOME', '~/x', false],
  ['BASE', 'https://api.example.com:8080/v1', false],
  ['BASE', 'https://user:pass@api.example.com/', true],
  ['BASE', 'https://api.example.com/?key=x', true],
  ['PAT', 'ghp_16C7e42F292c', true],
  ['PAT', 'AKIAIOSFODNN7EXAMPLE', true],
  ['PHRASE', 'correct horse battery staple', true],
  ['X-Pass', 'correct-horse-battery-staple', true],
  ['PORT', '8080', false],
  ['PIN_OF_IT', 'x4711', true],
  ['API_KEY', 'production', true],
  ['Authorization', 'words', true],
]
for (const [name, value, expected] of values) {
  test(`${name}=${value} is ${expected ? '' : 'not '}hidden in texts`, () => {
    assert.is(isWorthMasking(name, value), expected)
  })
}

test('judges a long value in time that grows with its length', () => {
  assert.ok(isWorthMasking('A', `${'a'.repeat(100_000)}!`))
  assert.ok(isWorthMasking('A', `/${'a/'.repeat(100_000)}!`))
})

test.run()
