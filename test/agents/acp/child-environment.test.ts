/**
 * The spec's "Credentials of external agents" on programs that really run: for each provider a table of login x key x
 * base URL (x config directory for provider A), each cell on the finished environment of the child and its
 * `authenticate`.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import * as assert from 'uvu/assert'
import { isObject } from '../../../src/base/json.ts'
import type { Provider } from '../../../src/settings/provider.ts'
import { builtInProviders } from '../../../src/settings/providers-table.ts'
import { suite } from '../../support/suite.ts'
import { withAgent, type Changes, type Running } from './with-agent.ts'
import type { MemoryHost } from './memory-host.ts'

const test = suite('acp child environment')

const program = fileURLToPath(new URL('../../fixtures/credential-agent.js', import.meta.url))
const key = 'key-of-the-table'
const url = 'http://127.0.0.1:8102/v1'

/** The login file of each provider, as its program leaves it. */
const logins: Readonly<Record<string, readonly [string, unknown]>> = {
  'claude-code': ['.claude/.credentials.json', { claudeAiOauth: { refreshToken: 'r-of-the-table' } }],
  codex: ['.codex/auth.json', { tokens: { refresh_token: 'r-of-the-table' } }],
  'gemini-cli': ['.gemini/oauth_creds.json', { refresh_token: 'r-of-the-table' }],
}

/**
 * The login (? for a keychain that cannot be seen); the variables that are set: k(ey), u(rl), d(irectory); the
 * variables that the child has; the configuration of Codex: the address, `own` where its key is read without
 * `authenticate`; the `authenticate` that it got.
 */
type Row = readonly [login: 'yes' | 'no' | '?', set: string, has: string, config: string, authenticate: string]
const publicUrl = 'https://api.openai.com/v1'
const tables: Readonly<Record<string, readonly Row[]>> = {
  'claude-code': [
    ['no', '', '', '', ''], ['no', 'k', 'k', '', ''], ['no', 'u', 'u', '', ''], ['no', 'ku', 'ku', '', ''],
    ['yes', '', '', '', ''], ['yes', 'k', '', '', ''], ['yes', 'u', 'u', '', ''], ['yes', 'ku', 'u', '', ''],
    ['?', '', '', '', ''], ['?', 'k', 'k', '', ''], ['?', 'u', 'u', '', ''], ['?', 'ku', 'ku', '', ''],
    ['no', 'd', 'd', '', ''], ['no', 'kd', 'd', '', ''], ['no', 'ud', 'd', '', ''], ['no', 'kud', 'd', '', ''],
    ['yes', 'd', 'd', '', ''], ['yes', 'kd', 'd', '', ''], ['yes', 'ud', 'd', '', ''], ['yes', 'kud', 'd', '', ''],
    ['?', 'd', 'd', '', ''], ['?', 'kd', 'd', '', ''], ['?', 'ud', 'd', '', ''], ['?', 'kud', 'd', '', ''],
  ],
  codex: [
    ['no', '', '', '', ''], ['no', 'k', 'k', `own ${publicUrl}`, ''], ['no', 'u', 'u', url, ''],
    ['no', 'ku', 'ku', `own ${url}`, ''],
    ['yes', '', '', '', 'chat-gpt'], ['yes', 'k', '', '', 'chat-gpt'], ['yes', 'u', 'u', url, 'chat-gpt'],
    ['yes', 'ku', 'u', url, 'chat-gpt'],
  ],
  'gemini-cli': [
    ['no', '', '', '', ''], ['no', 'k', 'k', '', ''], ['no', 'u', 'u', '', `gateway ${url}`],
    ['no', 'ku', 'ku', '', `gateway ${url} ${key}`],
    ['yes', '', '', '', ''], ['yes', 'k', '', '', ''], ['yes', 'u', 'u', '', `gateway ${url}`],
    ['yes', 'ku', 'u', '', `gateway ${url}`],
  ],
}

for (const [name, rows] of Object.entries(tables)) {
  for (const [login, set, has, config, authenticate] of rows) {
    test(`${name}: login ${login}, set: ${set || 'nothing'}`, () => withAgent('', async ({ host, folder, again }) => {
      const provider = providerNamed(name)
      if (login === 'yes') signIn(provider, folder)
      for (const [variable, value] of variablesOf(provider, set, folder)) host.environment.set(variable, value)
      const child = await shown(host, again, {
        settings: { acp_server: name }, options: { platform: login === '?' ? 'darwin' : 'linux' },
      })
      const given = variablesOf(provider, 'kud', folder).map(([variable, value]) => child.env[variable] === value)
      assert.equal(given, [has.includes('k'), has.includes('u'), has.includes('d')])
      assert.is(configOf(child.env), config)
      assert.is(callOf(child.authenticate), authenticate)
      assert.is(host.states['acp_login'], login === '?' ? 'unknown' : login)
      const hasOwnHome = child.env['GEMINI_CLI_HOME'] !== undefined
      assert.is(hasOwnHome, name === 'gemini-cli' && set.includes('u'))
      assert.is(child.env['HOME'], folder)
    }))
  }
}

const base = ['HOME', 'LANG', 'LC_ALL', 'PATH', 'TZ']
const ofCodex = ['CODEX_CONFIG', 'MODEL_PROVIDER', 'NO_BROWSER', 'OPENAI_API_KEY']

test(
  'of a server\'s environment with 200 other variables and its keys, only what is documented or named reaches a child',
  () =>
    withAgent('', async ({ host, again, folder }) => {
      const canaries = Array.from({ length: 200 }, (_, index) => [`CANARY_${index}`, `canary-value-${index}`] as const)
      const environment = {
        ...Object.fromEntries(canaries),
        ...Object.fromEntries(base.map((name) => [name, name === 'HOME' ? folder : process.env[name] ?? 'C'])),
        OPENAI_API_KEY: key, ANTHROPIC_API_KEY: 'of-another-provider', GEMINI_API_KEY: 'of-another-provider',
        CLAUDECODE: '1',
        npm_config_registry: 'x', NPM_TOKEN: 'x', INIT_CWD: '/', NODE_OPTIONS: '--no-warnings', LD_PRELOAD: '',
        SESSION_API_KEY: 'server-key', AGENT_SERVER_SECRET_KEY: 'server-key', OH_SECRET_KEY: 'server-key',
      }
      host.environment.set('OF_THE_USER', 'a-secret')
      const passEnvironment = ['CANARY_7', 'SESSION_API_KEY', 'AGENT_SERVER_SECRET_KEY', 'OH_SECRET_KEY']
      const { env } = await shown(host, again, {
        settings: { acp_server: 'codex' }, options: { environment, passEnvironment },
      })
      const expected = [...base, ...ofCodex, 'AGENT_SERVER_CHILD', 'CANARY_7', 'OF_THE_USER'].sort()
      // Node itself hands this one on to every child while coverage is measured.
      assert.equal(Object.keys(env).filter((name) => name !== 'NODE_V8_COVERAGE').sort(), expected)
      assert.not.match(JSON.stringify(env), /server-key|of-another-provider/)
    }),
)

interface Child {
  readonly env: Readonly<Record<string, unknown>>
  readonly authenticate: unknown
}

/** Starts a child with these settings and returns its report. */
async function shown(host: MemoryHost, again: Running['again'], changes: Changes): Promise<Child> {
  const settings = { ...changes.settings, acp_command: [process.execPath, program], acp_args: [], acp_model: null }
  const end = await again({ ...changes, settings }).runTurn(host.turn('show'))
  assert.equal(end, { outcome: 'finished', served: true })
  const child: unknown = JSON.parse(host.deltas.join(''))
  if (!isObject(child) || !isObject(child['env'])) throw new TypeError('Expected an environment')
  return { env: child['env'], authenticate: child['authenticate'] }
}

function providerNamed(name: string): Provider {
  const provider = builtInProviders.find((entry) => entry.name === name)
  if (provider === undefined) throw new RangeError(`Expected a provider "${name}"`)
  return provider
}

function signIn({ name }: Provider, folder: string): void {
  const [path, content] = logins[name] ?? ['', {}]
  mkdirSync(dirname(join(folder, path)), { recursive: true })
  writeFileSync(join(folder, path), JSON.stringify(content))
}

/** Only provider A has a config directory that is not the login's or the home. */
function variablesOf(provider: Provider, set: string, folder: string): (readonly [string, string])[] {
  const configDir = provider.configDirStripsKey ? provider.configDirVariable : 'NO_CONFIG_DIR'
  const all = [
    ['k', provider.apiKeyVariable, key], ['u', provider.baseUrlVariable, url], ['d', configDir, join(folder, 'config')],
  ] as const
  return all.flatMap(([letter, variable, value]) => (set.includes(letter) ? [[variable, value] as const] : []))
}

function configOf({ CODEX_CONFIG, MODEL_PROVIDER }: Child['env']): string {
  if (CODEX_CONFIG === undefined) return ''
  const config: unknown = JSON.parse(String(CODEX_CONFIG))
  const text = JSON.stringify(config)
  assert.not.match(text, key)
  const [, address = ''] = /"(?:base_url|openai_base_url)":"([^"]+)"/.exec(text) ?? []
  return MODEL_PROVIDER === 'agent_server' && text.includes('"env_key":"OPENAI_API_KEY"') ? `own ${address}` : address
}

function callOf(authenticate: unknown): string {
  if (!isObject(authenticate)) return ''
  const meta = isObject(authenticate['_meta']) ? authenticate['_meta'] : {}
  const gateway = isObject(meta['gateway']) ? [meta['gateway']['baseUrl']] : []
  return [authenticate['methodId'], ...gateway, ...('api-key' in meta ? [meta['api-key']] : [])].join(' ')
}

test.run()
