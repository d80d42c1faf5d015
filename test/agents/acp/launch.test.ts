/** How an agent program is started: its command, what its environment holds and what it does not. */
import { existsSync, mkdtempSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import * as assert from 'uvu/assert'
import { planLaunch, type AcpSettings, type Launch, type LaunchOptions } from '../../../src/agents/acp/launch.ts'
import { ObservationFiles } from '../../../src/agents/acp/observation-files.ts'
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
}

function plan(settings: Partial<AcpSettings>, changes: Partial<LaunchOptions> = {}): Promise<Launch> {
  return planLaunch({
    settings: { ...claude, ...settings },
    secrets: new Map(),
    providers: builtInProviders,
    environment: { HOME: folder, PATH: '/bin', AGENT_SERVER_KEY: 'k', npm_config_x: 'x' },
    passEnvironment: [],
    runtimeDir: folder,
    agentDir: join(folder, 'acp'),
    replaceSecret: async () => true,
    log: silentLog,
    platform: 'linux',
    clock: () => 0,
    ...changes,
  })
}

test('starts the command of a preset with the extra arguments and the default model', async () => {
  const launch = await plan({})
  assert.is(launch.command, 'npx')
  assert.is(launch.args.at(-1), '--verbose')
  assert.is(launch.model, 'opus[1m]')
  assert.equal(launch.env, { DISABLE_TELEMETRY: '1', CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1', HOME: folder, PATH: '/bin' })
})

test('starts the installed program instead of npx, and looks for it in absolute folders only', async () => {
  const bin = join(folder, 'bin')
  mkdirSync(bin)
  writeFileSync(join(bin, 'codex-acp'), '')
  const installed = await plan({ acp_server: 'codex' }, { environment: { PATH: `relative::${bin}` } })
  assert.equal([installed.command, installed.args], ['codex-acp', ['--verbose']])
  const elsewhere = await plan({ acp_server: 'codex' }, { environment: { PATH: relative(process.cwd(), bin) } })
  assert.is(elsewhere.command, 'npx')
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

test('starts the demonstration agent of this package, wherever it is installed', async () => {
  const launch = await plan({ acp_server: 'custom', acp_command: ['agent-server-demo-agent'], acp_args: [] })
  assert.is(launch.command, process.execPath)
  assert.is(launch.args.length, 1)
  assert.ok(existsSync(launch.args[0] ?? ''))
  assert.is(launch.model, undefined)
})

test('gives a custom command that runs a known program the variables of its provider', async () => {
  const environment = { HOME: folder, OPENAI_API_KEY: 'key', ANTHROPIC_API_KEY: 'other' }
  const launch = await plan({ acp_server: 'custom', acp_command: ['/opt/bin/codex-acp'], acp_args: [], acp_model: 'm' }, { environment })
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

test('gives a folder of its own to a program that would write into the user\'s, leaves its tools the home, and removes it', async () => {
  const secrets = new Map([['GEMINI_BASE_URL', 'https://gateway.example']])
  const launch = await plan({ acp_server: 'gemini-cli' }, { secrets })
  const home = launch.env['GEMINI_CLI_HOME'] ?? ''
  assert.ok(existsSync(home))
  assert.is(launch.env['HOME'], folder)
  assert.is(launch.authenticate?.methodId, 'gateway')
  await launch.cleanUp()
  assert.is(existsSync(home), false)
})

test('reports a long output that cannot be kept', async () => {
  const problems: unknown[] = []
  const files = new ObservationFiles({ folder: '/dev/null/observations', createId: () => 'id', onError: (error) => void problems.push(error) })
  files.save('text')
  await files.settled()
  assert.is(problems.length, 1)
})

test.run()
