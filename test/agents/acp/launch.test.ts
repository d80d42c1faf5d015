/** How an agent program is started: its command, and the variables that its environment has and lacks. */
import { existsSync, mkdtempSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import {
  planLaunch, type AcpSettings, type Launch, type LaunchOptions,
} from '../../../src/agents/acp/session/launch.ts'
import { ObservationFiles } from '../../../src/agents/acp/calls/observation-files.ts'
import { silentLog } from '../../../src/base/log.ts'
import { builtInProviders } from '../../../src/settings/providers-table.ts'
import { suite } from '../../support/suite.ts'

const test = suite('acp launch')
const folder = mkdtempSync(join(tmpdir(), 'launch-'))
test.after(() => rmSync(folder, { recursive: true, force: true }))

const claude: AcpSettings = {
  acp_server: 'claude-code',
  acp_command: [],
  acp_args: ['--verbose'],
  acp_model: null,
  acp_session_mode: null,
  acp_prompt_timeout: 1800,
  acp_startup_timeout: 90,
  mcp_config: {},
  acp_file_secrets: [],
  acp_isolate_data_dir: false,
  acp_env: {},
  acp_unasked_calls: 'stop',
}

function plan(settings: Partial<AcpSettings>, changes: Partial<LaunchOptions> = {}): Promise<Launch> {
  return planLaunch({
    settings: { ...claude, ...settings },
    secrets: new Map(),
    providers: builtInProviders,
    programs: { 'agent-server-demo-agent': '/server/demo.js' },
    environment: { HOME: folder, PATH: '/bin', AGENT_SERVER_KEY: 'k', npm_config_x: 'x' },
    passEnvironment: [],
    runtimeDir: folder,
    makeSecretDir: async () => folder,
    agentDir: join(folder, 'acp'),
    replaceSecret: async () => true,
    ownSecretNames: new Set<string>(),
    log: silentLog,
    platform: 'linux',
    clock: () => 0,
    installedCommand: async () => ['/installed/agent'],
    ...changes,
  })
}

test('starts the command of a preset with the extra arguments and the default model', async () => {
  const launch = await plan({}, { installedCommand: async () => undefined, allowNpx: true })
  assert.is(launch.command, 'npx')
  assert.is(launch.args.at(-1), '--verbose')
  assert.is(launch.model, 'opus[1m]')
  assert.equal(launch.env, {
    DISABLE_TELEMETRY: '1', CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1', HOME: folder, PATH: '/bin',
  })
})

test('sets what a provider needs, unless the server\'s environment or a secret says otherwise', async () => {
  const environment = { HOME: folder, GEMINI_CLI_NO_RELAUNCH: 'false' }
  const secrets = new Map([['GEMINI_CLI_TRUST_WORKSPACE', 'false']])
  const { env } = await plan({ acp_server: 'gemini-cli' }, { environment, secrets })
  assert.equal(
    [env['GEMINI_CLI_NO_RELAUNCH'], env['GEMINI_CLI_TRUST_WORKSPACE'], env['GEMINI_TELEMETRY_ENABLED']],
    ['false', 'false', 'false'],
  )
  const usual = await plan({ acp_server: 'gemini-cli' })
  assert.equal([usual.env['GEMINI_CLI_NO_RELAUNCH'], usual.env['GEMINI_CLI_TRUST_WORKSPACE']], ['true', 'true'])
})

test('gives variables of the settings on top of global secrets and beneath the conversation\'s own', async () => {
  const secrets = new Map([['ONE', 'global'], ['TWO', 'global'], ['THREE', 'own']])
  const acp_env = { TWO: 'settings', THREE: 'settings', FOUR: 'settings' }
  const { env } = await plan({ acp_env }, { secrets, ownSecretNames: new Set(['THREE']) })
  assert.equal([env['ONE'], env['TWO'], env['THREE'], env['FOUR']], ['global', 'settings', 'own', 'settings'])
})

test('starts an agent that comes with the server by the path of its program', async () => {
  const launch = await plan({ acp_server: 'custom', acp_command: ['agent-server-demo-agent'], acp_args: [] })
  assert.is(launch.command, process.execPath)
  assert.equal(launch.args, ['/server/demo.js'])
  assert.is(launch.model, undefined)
})

test('gives a custom command that runs a known program the variables of its provider', async () => {
  const environment = { HOME: folder, OPENAI_API_KEY: 'key', ANTHROPIC_API_KEY: 'other' }
  const launch = await plan(
    { acp_server: 'custom', acp_command: ['/opt/bin/codex-acp'], acp_args: [], acp_model: 'm' }, { environment },
  )
  const { CODEX_CONFIG = '', ...env } = launch.env
  assert.equal(env, { NO_BROWSER: '1', HOME: folder, OPENAI_API_KEY: 'key', MODEL_PROVIDER: 'agent_server' })
  assert.match(CODEX_CONFIG, 'https://api.openai.com/v1')
  assert.is(launch.authenticate, undefined)
  assert.is(launch.model, 'm')
})

test('removes the key where a login is found', async () => {
  mkdirSync(join(folder, '.claude'))
  writeFileSync(join(folder, '.claude', '.credentials.json'), JSON.stringify({ claudeAiOauth: { refreshToken: 'r' } }))
  const launch = await plan({}, { secrets: new Map([['ANTHROPIC_API_KEY', 'key'], ['OTHER', 'value']]) })
  assert.is(launch.env['ANTHROPIC_API_KEY'], undefined)
  assert.is(launch.env['OTHER'], 'value')
})

test(
  'gives a folder of its own to a program that would write into the user\'s, leaves its tools the home, and removes it',
  async () => {
    const secrets = new Map([['GEMINI_BASE_URL', 'https://gateway.example']])
    const launch = await plan({ acp_server: 'gemini-cli' }, { secrets })
    const home = launch.env['GEMINI_CLI_HOME'] ?? ''
    assert.ok(existsSync(home))
    assert.is(launch.env['HOME'], folder)
    assert.is(launch.authenticate?.methodId, 'gateway')
    await launch.cleanUp()
    assert.is(existsSync(home), false)
  },
)

test(
  'gives the program a folder of the conversation for its own files, for each provider by the variable that it reads',
  async () => {
    const cases = [
      ['claude-code', 'CLAUDE_CONFIG_DIR'], ['codex', 'CODEX_HOME'], ['gemini-cli', 'GEMINI_CLI_HOME'],
    ] as const
    for (const [acp_server, variable] of cases) {
      const launch = await plan({ acp_server, acp_isolate_data_dir: true })
      assert.is(launch.env[variable], join(folder, 'acp', acp_server))
      assert.is(statSync(join(folder, 'acp', acp_server)).mode & 0o777, 0o700)
      await launch.cleanUp()
      assert.ok(existsSync(join(folder, 'acp', acp_server)))
      assert.is((await plan({ acp_server })).env[variable], undefined)
    }
    const custom = await plan({ acp_server: 'custom', acp_command: ['mine'], acp_isolate_data_dir: true })
    assert.equal(custom.env, { HOME: folder, PATH: '/bin' })
  },
)

test(
  'a folder of the conversation moves the login of B and C, and the configuration of A, which takes its key and address away',
  async () => {
    const secrets = new Map([
      ['ANTHROPIC_API_KEY', 'key'], ['ANTHROPIC_BASE_URL', 'https://a.example'], ['OPENAI_API_KEY', 'key'],
      ['GEMINI_BASE_URL', 'https://c.example'],
    ])
    mkdirSync(join(folder, '.codex'))
    writeFileSync(join(folder, '.codex', 'auth.json'), JSON.stringify({ tokens: { refresh_token: 'r' } }))
    const isolated = (acp_server: string): Promise<Launch> =>
      plan({ acp_server, acp_isolate_data_dir: true }, { secrets })
    const a = await isolated('claude-code')
    assert.equal([a.env['ANTHROPIC_API_KEY'], a.env['ANTHROPIC_BASE_URL'], a.signIn.login], [
      undefined, undefined, 'yes',
    ])
    const b = await isolated('codex')
    assert.equal([b.env['OPENAI_API_KEY'], b.signIn.login], ['key', 'no'])
    // It is no folder of the user's, so that none is made for the gateway.
    const c = await isolated('gemini-cli')
    assert.equal([c.env['GEMINI_CLI_HOME'], c.authenticate?.methodId], [join(folder, 'acp', 'gemini-cli'), 'gateway'])
    rmSync(join(folder, '.codex'), { recursive: true })
  },
)

test('a secret that is lent as a file is no variable, and its login counts before a key', async () => {
  const fileSecret = {
    secret_name: 'CODEX_AUTH_JSON', filename: 'auth.json', env_var: 'CODEX_HOME', subdir: 'codex', env_points_to: 'dir',
    warn_if_unset: ['ACCOUNT', 'OPENAI_API_KEY'],
  } as const
  const secrets = new Map([['CODEX_AUTH_JSON', '{"tokens":{"refresh_token":"r"}}'], ['OPENAI_API_KEY', 'key']])
  const warnings: unknown[] = []
  const log = { ...silentLog, warn: (_message: string, fields?: object) => void warnings.push(fields) }
  const launch = await plan({ acp_server: 'codex', acp_file_secrets: [fileSecret] }, { secrets, log })
  const { CODEX_AUTH_JSON, CODEX_HOME = '', OPENAI_API_KEY } = launch.env
  assert.equal([CODEX_AUTH_JSON, OPENAI_API_KEY, launch.signIn.login], [undefined, undefined, 'yes'])
  assert.ok(existsSync(join(CODEX_HOME, 'auth.json')))
  assert.equal(warnings, [{ secret_name: 'CODEX_AUTH_JSON', unset: 'ACCOUNT' }])
  await launch.cleanUp()
  assert.not.ok(existsSync(join(CODEX_HOME, 'auth.json')))
})

test('a file secret whose variable no program can be given starts nothing and leaves nothing', async () => {
  const fileSecret = {
    secret_name: 'A', filename: 'f', env_var: 'A=B', subdir: 's', env_points_to: 'file', warn_if_unset: [],
  } as const
  const before = readdirSync(folder)
  const problem = await plan({ acp_file_secrets: [fileSecret] }, { secrets: new Map([['A', 'content']]) }).then(
    () => '', String,
  )
  assert.match(problem, /A=B/)
  assert.equal(readdirSync(folder), before)
})

test('reports a long output that cannot be kept', async () => {
  const problems: unknown[] = []
  const files = new ObservationFiles({
    folder: '/dev/null/observations', createId: () => 'id', onError: (error) => void problems.push(error),
  })
  files.save('text')
  await files.settled()
  assert.is(problems.length, 1)
})

test.run()
