/** Whether a login is recognised from the provider's own files, with the tokens left where they are. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import * as assert from 'uvu/assert'
import { detectLogin, type LoginState } from '../../src/settings/login.ts'
import { builtInProviders } from '../../src/settings/providers-table.ts'
import { suite } from '../support/suite.ts'

const test = suite('settings/login')

const now = 1_800_000_000_000
const oauth = (member: object): string => JSON.stringify({ claudeAiOauth: member })
const chosen = (selectedType: string): string => JSON.stringify({ security: { auth: { selectedType } } })

interface Case {
  readonly name: string
  readonly provider: string
  /** Files under the home directory. */
  readonly files?: Readonly<Record<string, string>>
  readonly environment?: Readonly<Record<string, string>>
  readonly platform?: NodeJS.Platform
  readonly login: LoginState
}

const cases: readonly Case[] = [
  { name: 'A without a file', provider: 'claude-code', login: 'no' },
  {
    name: 'A without a file on macOS: the keychain is not read', provider: 'claude-code', platform: 'darwin',
    login: 'unknown',
  },
  { name: 'A with a token that can be renewed', provider: 'claude-code', login: 'yes',
    files: { '.claude/.credentials.json': oauth({ accessToken: 't', refreshToken: 'r', expiresAt: now - 1 }) } },
  { name: 'A with a valid token', provider: 'claude-code', login: 'yes',
    files: { '.claude/.credentials.json': oauth({ accessToken: 't', expiresAt: now + 1 }) } },
  { name: 'A with an expired token', provider: 'claude-code', login: 'no',
    files: { '.claude/.credentials.json': oauth({ accessToken: 't', expiresAt: now }) } },
  { name: 'A with a token of no known end', provider: 'claude-code', login: 'yes',
    files: { '.claude/.credentials.json': oauth({ accessToken: 't' }) } },
  { name: 'A with empty tokens', provider: 'claude-code', login: 'no',
    files: { '.claude/.credentials.json': oauth({ accessToken: '', refreshToken: ' ' }) } },
  {
    name: 'A with a broken file',
    provider: 'claude-code',
    login: 'no',
    files: { '.claude/.credentials.json': '{"claudeAi' },
  },
  {
    name: 'A with a file of another shape',
    provider: 'claude-code',
    login: 'no',
    files: { '.claude/.credentials.json': '[1]' },
  },
  { name: 'A with a login on macOS in a file', provider: 'claude-code', platform: 'darwin', login: 'yes',
    files: { '.claude/.credentials.json': oauth({ refreshToken: 'r' }) } },
  { name: 'A with its config directory elsewhere: the token stays in the home ' +
    'directory', provider: 'claude-code', login: 'yes',
    files: { '.claude/.credentials.json': oauth({ refreshToken: 'r' }) },
    environment: { CLAUDE_CONFIG_DIR: '/nowhere' } },
  {
    name: 'A with an OAuth token in the environment',
    provider: 'claude-code',
    environment: { CLAUDE_CODE_OAUTH_TOKEN: 't' },
    login: 'yes',
  },
  {
    name: 'A with a blank OAuth token',
    provider: 'claude-code',
    environment: { CLAUDE_CODE_OAUTH_TOKEN: ' ' },
    login: 'no',
  },
  { name: 'B with a subscription login', provider: 'codex', login: 'yes',
    files: {
      '.codex/auth.json': JSON.stringify({ OPENAI_API_KEY: null, tokens: { access_token: 'a', refresh_token: 'r' } }),
    } },
  { name: 'B with an API key in its file', provider: 'codex', login: 'no',
    files: { '.codex/auth.json': JSON.stringify({ OPENAI_API_KEY: 'k', tokens: null }) } },
  { name: 'B with its directory elsewhere', provider: 'codex', login: 'no', environment: { CODEX_HOME: '/nowhere' },
    files: { '.codex/auth.json': JSON.stringify({ tokens: { refresh_token: 'r' } }) } },
  { name: 'B on macOS', provider: 'codex', platform: 'darwin', login: 'no' },
  { name: 'C signed in', provider: 'gemini-cli', login: 'yes',
    files: { '.gemini/oauth_creds.json': JSON.stringify({ refresh_token: 'r' }) } },
  { name: 'C signed in, and this type chosen', provider: 'gemini-cli', login: 'yes',
    files: {
      '.gemini/oauth_creds.json': JSON.stringify({ refresh_token: 'r' }),
      '.gemini/settings.json': chosen('oauth-personal'),
    } },
  { name: 'C signed in, then switched to the API key', provider: 'gemini-cli', login: 'no',
    files: {
      '.gemini/oauth_creds.json': JSON.stringify({ refresh_token: 'r' }),
      '.gemini/settings.json': chosen('gemini-api-key'),
    } },
  { name:
    'C with its home elsewhere', provider: 'gemini-cli', login: 'no', environment: { GEMINI_CLI_HOME: '/nowhere' },
    files: { '.gemini/oauth_creds.json': JSON.stringify({ refresh_token: 'r' }) } },
  { name: 'C with this type chosen and no credentials', provider: 'gemini-cli', login: 'no',
    files: { '.gemini/settings.json': chosen('oauth-personal') } },
  { name: 'C with other settings', provider: 'gemini-cli', login: 'yes',
    files: {
      '.gemini/oauth_creds.json': JSON.stringify({ refresh_token: 'r' }), '.gemini/settings.json': '{"security":true}',
    } },
  { name: 'C with an expired token', provider: 'gemini-cli', login: 'no',
    files: { '.gemini/oauth_creds.json': JSON.stringify({ access_token: 'a', expiry_date: now - 1 }) } },
]
for (const { name, provider: wanted, files = {}, environment = {}, platform = 'linux', login } of cases) {
  test(`${login}: ${name}`, async () => {
    const home = await mkdtemp(join(tmpdir(), 'login-'))
    try {
      for (const [path, text] of Object.entries(files)) {
        await mkdir(dirname(join(home, path)), { recursive: true })
        await writeFile(join(home, path), text)
      }
      const provider = builtInProviders.find((entry) => entry.name === wanted)
      if (provider === undefined) throw new RangeError('Expected a known provider')
      assert.is(
        await detectLogin(provider, { environment: { HOME: home, ...environment }, platform, clock: () => now }), login,
      )
    } finally {
      await rm(home, { recursive: true })
    }
  })
}

test('no: a provider without a login, and a child without a home', async () => {
  const [claude] = builtInProviders
  if (claude === undefined) throw new RangeError('Expected a provider')
  const options = { environment: {}, platform: 'linux', clock: () => now } as const
  assert.is(await detectLogin({ ...claude, login: null }, options), 'no')
  assert.is(await detectLogin(claude, options), 'no')
})

test('follows the config directory where the provider does', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'login-'))
  const codex = builtInProviders.find(({ name }) => name === 'codex')
  if (codex === undefined) throw new RangeError('Expected a provider')
  try {
    await writeFile(join(folder, 'auth.json'), JSON.stringify({ tokens: { refresh_token: 'r' } }))
    const environment = { HOME: '/nowhere', CODEX_HOME: folder }
    assert.is(await detectLogin(codex, { environment, platform: 'linux', clock: () => now }), 'yes')
  } finally {
    await rm(folder, { recursive: true })
  }
})

test.run()
