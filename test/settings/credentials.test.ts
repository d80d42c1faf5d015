/**
 * The rules of the spec's "Credentials of external agents": for each provider a table of login x key x base URL
 * (x config directory for provider A), every cell written out.
 */
import * as assert from 'uvu/assert'
import { planCredentials } from '../../src/settings/credentials.ts'
import type { LoginState } from '../../src/settings/login.ts'
import type { Provider } from '../../src/settings/provider.ts'
import { builtInProviders } from '../../src/settings/providers-table.ts'
import { suite } from '../support/suite.ts'

const test = suite('settings/credentials')

const url = 'http://127.0.0.1:8102/v1'
const ownProvider = JSON.stringify({
  model_provider: 'agent_server',
  model_providers: {
    agent_server: { name: 'Agent server', base_url: url, wire_api: 'responses', env_key: 'OPENAI_API_KEY' },
  },
})
const withKey = `CODEX_CONFIG=${ownProvider} MODEL_PROVIDER=agent_server`
const withKeyOnly = withKey.replace(url, 'https://api.openai.com/v1')
const withoutKey = `CODEX_CONFIG=${JSON.stringify({ openai_base_url: url })}`
const gatewayMeta = JSON.stringify({ gateway: { baseUrl: url } })
const gatewayMetaKey = JSON.stringify({ gateway: { baseUrl: url }, 'api-key': 'the-key' })

/**
 * The login, then the variables that are set: k(ey), u(rl), d(irectory); then those that are removed, added and
 * authenticated, and an own home.
 */
type Row = readonly [LoginState, string, string, string, string, 'own home' | '']
const tables: Readonly<Record<string, readonly Row[]>> = {
  'claude-code': [
    ['no', '', '', '', '', ''],
    ['no', 'k', '', '', '', ''],
    ['no', 'u', '', '', '', ''],
    ['no', 'ku', '', '', '', ''],
    ['unknown', '', '', '', '', ''],
    ['unknown', 'k', '', '', '', ''],
    ['unknown', 'u', '', '', '', ''],
    ['unknown', 'ku', '', '', '', ''],
    ['yes', '', '', '', '', ''],
    ['yes', 'k', 'ANTHROPIC_API_KEY', '', '', ''],
    ['yes', 'u', '', '', '', ''],
    ['yes', 'ku', 'ANTHROPIC_API_KEY', '', '', ''],
    ['no', 'd', '', '', '', ''],
    ['no', 'kd', 'ANTHROPIC_API_KEY', '', '', ''],
    ['no', 'ud', 'ANTHROPIC_BASE_URL', '', '', ''],
    ['no', 'kud', 'ANTHROPIC_API_KEY ANTHROPIC_BASE_URL', '', '', ''],
    ['unknown', 'd', '', '', '', ''],
    ['unknown', 'kd', 'ANTHROPIC_API_KEY', '', '', ''],
    ['unknown', 'ud', 'ANTHROPIC_BASE_URL', '', '', ''],
    ['unknown', 'kud', 'ANTHROPIC_API_KEY ANTHROPIC_BASE_URL', '', '', ''],
    ['yes', 'd', '', '', '', ''],
    ['yes', 'kd', 'ANTHROPIC_API_KEY', '', '', ''],
    ['yes', 'ud', 'ANTHROPIC_BASE_URL', '', '', ''],
    ['yes', 'kud', 'ANTHROPIC_API_KEY ANTHROPIC_BASE_URL', '', '', ''],
  ],
  codex: [
    ['no', '', '', '', '', ''],
    ['no', 'k', '', withKeyOnly, '', ''],
    ['no', 'u', '', withoutKey, '', ''],
    ['no', 'ku', '', withKey, '', ''],
    ['no', 'kud', '', withKey, '', ''],
    ['unknown', '', '', '', '', ''],
    ['unknown', 'k', '', withKeyOnly, '', ''],
    ['unknown', 'u', '', withoutKey, '', ''],
    ['unknown', 'ku', '', withKey, '', ''],
    ['yes', '', '', '', 'chat-gpt', ''],
    ['yes', 'k', 'OPENAI_API_KEY', '', 'chat-gpt', ''],
    ['yes', 'u', '', withoutKey, 'chat-gpt', ''],
    ['yes', 'ku', 'OPENAI_API_KEY', withoutKey, 'chat-gpt', ''],
    ['yes', 'kud', 'OPENAI_API_KEY', withoutKey, 'chat-gpt', ''],
  ],
  'gemini-cli': [
    ['no', '', '', '', '', ''],
    ['no', 'k', '', '', '', ''],
    ['no', 'u', '', '', `gateway ${gatewayMeta}`, 'own home'],
    ['no', 'ku', '', '', `gateway ${gatewayMetaKey}`, 'own home'],
    ['unknown', '', '', '', '', ''],
    ['unknown', 'k', '', '', '', ''],
    ['unknown', 'u', '', '', `gateway ${gatewayMeta}`, 'own home'],
    ['unknown', 'ku', '', '', `gateway ${gatewayMetaKey}`, 'own home'],
    ['yes', '', '', '', '', ''],
    ['yes', 'k', 'GEMINI_API_KEY', '', '', ''],
    ['yes', 'u', '', '', `gateway ${gatewayMeta}`, 'own home'],
    ['yes', 'ku', 'GEMINI_API_KEY', '', `gateway ${gatewayMeta}`, 'own home'],
    ['yes', 'kud', 'GEMINI_API_KEY', '', `gateway ${gatewayMeta}`, 'own home'],
  ],
}

for (const [name, rows] of Object.entries(tables)) {
  for (const [login, set, remove, add, authenticate, ownHome] of rows) {
    test(`${name}: login ${login}, set: ${set || 'nothing'}`, () => {
      const provider = providerNamed(name)
      const plan = planCredentials({ provider, environment: environmentOf(provider, set), login })
      assert.is(plan.remove.join(' '), remove)
      assert.is(Object.entries(plan.add).map(([variable, value]) => `${variable}=${value}`).join(' '), add)
      assert.is(shown(plan.authenticate), authenticate)
      assert.is(plan.ownHome, ownHome !== '')
    })
  }
}

test('treats a blank variable as not set, but takes a blank key away too', () => {
  const provider = providerNamed('codex')
  const environment = { OPENAI_API_KEY: ' ', OPENAI_BASE_URL: '' }
  assert.equal(planCredentials({ provider, environment, login: 'no' }), {
    remove: [], add: {}, authenticate: undefined, ownHome: false,
  })
  assert.equal(planCredentials({ provider, environment, login: 'yes' }).remove, ['OPENAI_API_KEY'])
})

test('knows both key variables of Codex, and prefers the one it reads first', () => {
  const provider = providerNamed('codex')
  const environment = { OPENAI_API_KEY: 'a', CODEX_API_KEY: 'b', OPENAI_BASE_URL: url }
  const config = planCredentials({ provider, environment, login: 'no' }).add['CODEX_CONFIG'] ?? ''
  assert.ok(config.includes('"env_key":"CODEX_API_KEY"'), config)
  assert.equal(planCredentials({ provider, environment, login: 'yes' }).remove, ['CODEX_API_KEY', 'OPENAI_API_KEY'])
})

test('leaves a CODEX_CONFIG that the user has set alone', () => {
  const provider = providerNamed('codex')
  const environment = { OPENAI_API_KEY: 'a', OPENAI_BASE_URL: url, CODEX_CONFIG: '{"x":1}' }
  const plan = planCredentials({ provider, environment, login: 'no' })
  assert.equal([plan.add, plan.authenticate], [{}, { methodId: 'api-key' }])
})

test('never puts a key into the environment a second time', () => {
  for (const provider of builtInProviders) {
    for (const login of ['yes', 'no', 'unknown'] as const) {
      const plan = planCredentials({ provider, environment: environmentOf(provider, 'kud'), login })
      assert.not.ok(JSON.stringify(plan.add).includes('the-key'))
    }
  }
})

function providerNamed(name: string): Provider {
  const provider = builtInProviders.find((entry) => entry.name === name)
  if (provider === undefined) throw new RangeError(`Expected a provider "${name}"`)
  return provider
}

function environmentOf(provider: Provider, set: string): Record<string, string> {
  return {
    PATH: '/bin',
    ...(set.includes('k') ? { [provider.apiKeyVariable]: 'the-key' } : {}),
    ...(set.includes('u') ? { [provider.baseUrlVariable]: url } : {}),
    ...(set.includes('d') ? { [provider.configDirVariable]: '/config' } : {}),
  }
}

function shown(authentication: ReturnType<typeof planCredentials>['authenticate']): string {
  if (authentication === undefined) return ''
  const { methodId, _meta } = authentication
  return _meta === undefined ? methodId : `${methodId} ${JSON.stringify(_meta)}`
}

test.run()
