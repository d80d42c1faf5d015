/** Whether the provider table is sound, commands find their provider, and a diff changes the right settings. */
import * as assert from 'uvu/assert'
import { AppError } from '../../src/base/errors.ts'
import { withProvidersFile } from '../../src/settings/providers-file.ts'
import { builtInProviders } from '../../src/settings/providers-table.ts'
import {
  completeAcpChoice, detectProvider, launchCommand, parseNpxCall, resolveAcp, withCommands, type AcpChoice,
} from '../../src/settings/providers.ts'
import { suite } from '../support/suite.ts'

const test = suite('settings/providers')

const [claude, codex, gemini] = builtInProviders
if (claude === undefined || codex === undefined || gemini === undefined) {
  throw new RangeError('Expected three providers')
}

test('holds the three providers of the contract in their order, and others after them', () => {
  const facts = builtInProviders.slice(0, 3).map((provider) => [
    provider.name, provider.displayName, provider.command.join(' '), provider.binary, provider.defaultModel,
    provider.apiKeyVariable, provider.baseUrlVariable, provider.configDirVariable, provider.prefix,
  ])
  assert.equal(facts, [
    ['claude-code', 'Claude Code', 'npx -y @agentclientprotocol/claude-agent-acp@0.100.0', 'claude-agent-acp',
      'opus[1m]', 'ANTHROPIC_API_KEY', 'ANTHROPIC_BASE_URL', 'CLAUDE_CONFIG_DIR', 'claude-agent'],
    ['codex', 'Codex', 'npx -y @agentclientprotocol/codex-acp@2.6.0', 'codex-acp', 'gpt-5.5',
      'OPENAI_API_KEY', 'OPENAI_BASE_URL', 'CODEX_HOME', 'codex-acp'],
    ['gemini-cli', 'Gemini CLI', 'npx -y @google/gemini-cli@0.61.0 --acp', 'gemini', 'auto',
      'GEMINI_API_KEY', 'GEMINI_BASE_URL', 'HOME', 'gemini-cli'],
  ])
  const others = builtInProviders.slice(3).map(({ name, command }) => `${name}: ${command.join(' ')}`)
  assert.equal(others, [
    'opencode: npx -y opencode-ai@1.18.33 acp --print-logs --log-level WARN',
    'qwen-code: npx -y @qwen-code/qwen-code@0.24.4 --acp',
    'copilot: npx -y @github/copilot@1.0.102 --acp',
    'cline: npx -y cline@3.0.65 --acp',
    'openhands: openhands acp',
  ])
})

for (const provider of builtInProviders) {
  test(`describes ${provider.name} without contradictions`, () => {
    const { models, defaultModel, packageName, version, modes } = provider
    assert.ok(defaultModel === null ? models.length === 0 : models.includes(defaultModel))
    assert.is(new Set(models).size, models.length)
    const installs = packageName === '' ? provider.installCommand : provider.command.join(' ')
    assert.ok(installs.includes(packageName === '' ? `=${version}` : `${packageName}@${version}`), installs)
    assert.is(detectProvider(provider.command, builtInProviders), provider)
    for (const name of [provider.apiKeyVariable, provider.baseUrlVariable]) {
      assert.ok(name === '' || provider.variables.includes(name), name)
    }
    // Where the mode decides nothing, the configuration that the program is started with does.
    if (modes === null) throw new TypeError('There are no modes')
    assert.is(modes.moreOpen.includes(modes.open), modes.asking !== modes.open)
    assert.not.ok([modes.asking, ...modes.closed ?? []].some((mode) => modes.moreOpen.includes(mode)))
    assert.ok(Object.keys(provider.programs).every((platform) => /^(linux|darwin)-(x64|arm64)$/.test(platform)))
  })
}

test('an entry that is no preset is chosen by its name as the only word of the command, or by its program', () => {
  const opencode = builtInProviders.find(({ name }) => name === 'opencode')
  const chosen = (...acp_command: string[]): object =>
    resolveAcp({ acp_server: 'custom', acp_command, acp_model: null }, builtInProviders)
  assert.equal(chosen('opencode'), { provider: opencode, command: opencode?.command, model: undefined })
  const own = ['/opt/opencode', 'acp', '--print-logs']
  assert.equal(chosen(...own), { provider: opencode, command: own, model: undefined })
  // A preset is chosen by `acp_server`.
  assert.equal(chosen('codex'), { provider: undefined, command: ['codex'], model: undefined })
  const mine = withProvidersFile(builtInProviders, {
    mine: { command: ['/opt/agent', '--acp'], prefix: 'my-agent', defaultModel: 'm1' },
  })
  const resolved = resolveAcp({ acp_server: 'custom', acp_command: ['mine'] }, mine)
  assert.equal([resolved.command, resolved.model], [['/opt/agent', '--acp'], 'm1'])
})

const commands: readonly (readonly [readonly string[], string | undefined])[] = [
  [['npx', '-y', '@agentclientprotocol/claude-agent-acp@0.63.0'], 'claude-code'],
  [['npx', '-y', '@agentclientprotocol/claude-agent-acp'], 'claude-code'],
  [['/usr/local/bin/claude-agent-acp'], 'claude-code'],
  [['node', '/opt/Claude-Agent-ACP/dist/Claude-Agent.js'], 'claude-code'],
  [['codex-acp', '--verbose'], 'codex'],
  [['bunx', '@zed-industries/codex-acp@0.16.0'], 'codex'],
  [['my-codex-acp-wrapper'], undefined],
  [['npx', '@google/gemini-cli', '--acp'], 'gemini-cli'],
  [['gemini', '--acp'], 'gemini-cli'],
  [['/opt/bin/gemini', '--acp'], 'gemini-cli'],
  [['my-agent', '--model', 'gemini'], undefined],
  [['my-agent', '--model', 'qwen3-coder'], undefined],
  [['npx', '-y', 'opencode-ai@1.18.33', 'acp'], 'opencode'],
  [['node', '/opt/@qwen-code/qwen-code/cli.js', '--acp'], undefined],
  [['qwen', '--acp'], 'qwen-code'],
  [['/opt/bin/copilot', '--acp'], 'copilot'],
  [['npx', 'cline', '--acp'], 'cline'],
  [['openhands', 'acp'], 'openhands'],
  [['agent-server-demo-agent'], undefined],
  [['codex-acp', 'claude-agent-acp'], 'claude-code'],
  [[''], undefined],
  [[], undefined],
]
for (const [command, expected] of commands) {
  test(`${expected ?? 'no provider'} is found for ${JSON.stringify(command)}`, () => {
    assert.is(detectProvider(command, builtInProviders)?.name, expected)
  })
}

test('resolves a preset without a command or model to its own', () => {
  assert.equal(resolveAcp({ acp_server: 'codex', acp_command: [], acp_model: null }, builtInProviders), {
    provider: codex, command: codex.command, model: 'gpt-5.5',
  })
})

test('keeps an explicit command and model', () => {
  const choice = { acp_server: 'codex', acp_command: ['./codex'], acp_model: 'gpt-5.4', acp_args: ['-v'] } as const
  assert.equal(resolveAcp(choice, builtInProviders), { provider: codex, command: ['./codex'], model: 'gpt-5.4' })
  assert.equal(launchCommand(choice, builtInProviders), ['./codex', '-v'])
})

test('resolves a custom server to nothing but what it says', () => {
  const choice = { acp_server: 'custom', acp_command: ['agent'], acp_model: null } as const
  assert.equal(resolveAcp(choice, builtInProviders), { provider: undefined, command: ['agent'], model: undefined })
})

test('refuses to start a custom server without a command', () => {
  assert.throws(
    () => launchCommand({ acp_server: 'custom', acp_command: [], acp_model: null, acp_args: ['x'] }, builtInProviders),
    (error: unknown) => error instanceof AppError && error.code === 'agent_failed',
  )
})

test('knows a provider that the operator has added by its command, under the name "custom"', () => {
  const providers = withProvidersFile(builtInProviders, {
    mine: { command: ['x'], prefix: 'my-agent', defaultModel: 'm1' },
  })
  const resolved = resolveAcp({ acp_server: 'custom', acp_command: ['/opt/my-agent'], acp_model: null }, providers)
  assert.equal([resolved.provider?.name, resolved.command, resolved.model], ['mine', ['/opt/my-agent'], 'm1'])
  const completed = completeAcpChoice(
    { ...onClaude, acp_command: ['my-agent'] }, { acp_command: ['my-agent'] }, 'claude-code', providers,
  )
  assert.is(completed.acp_server, 'custom')
})

test('knows no provider for a custom server that runs the command of a preset', () => {
  assert.is(
    resolveAcp({ acp_server: 'custom', acp_command: ['codex-acp'], acp_model: null }, builtInProviders).provider,
    undefined,
  )
})

const demo: AcpChoice = { acp_server: 'custom', acp_command: ['agent-server-demo-agent'], acp_model: null }
const onClaude: AcpChoice = { acp_server: 'claude-code', acp_command: [], acp_model: 'sonnet' }
const diffs: readonly (readonly [string, AcpChoice, Partial<AcpChoice>, AcpChoice])[] = [
  ['choosing a preset fills command and model', demo, { acp_server: 'claude-code' },
    { acp_server: 'claude-code', acp_command: [], acp_model: 'opus[1m]' }],
  ['choosing another preset takes its model', onClaude, { acp_server: 'codex' },
    { acp_server: 'codex', acp_command: [], acp_model: 'gpt-5.5' }],
  ['choosing the same preset again drops an edited command and keeps the ' +
    'model', { ...onClaude, acp_command: ['claude-agent-acp'] },
    { acp_server: 'claude-code' }, { acp_server: 'claude-code', acp_command: [], acp_model: 'sonnet' }],
  ['a preset with a model keeps the model', demo, { acp_server: 'codex', acp_model: 'gpt-5.4' },
    { acp_server: 'codex', acp_command: [], acp_model: 'gpt-5.4' }],
  ['a preset with a command keeps the command', demo, { acp_server: 'codex', acp_command: ['./codex'] },
    { acp_server: 'codex', acp_command: ['./codex'], acp_model: 'gpt-5.5' }],
  ['editing the command finds its provider', onClaude, { acp_command: ['codex-acp'] },
    { acp_server: 'codex', acp_command: ['codex-acp'], acp_model: 'gpt-5.5' }],
  ['editing the command to an unknown one makes the server custom, without a ' +
    'model', onClaude, { acp_command: ['agent'] },
    { acp_server: 'custom', acp_command: ['agent'], acp_model: null }],
  ['editing the command within a provider keeps the model', onClaude, { acp_command: ['claude-agent-acp'] },
    { acp_server: 'claude-code', acp_command: ['claude-agent-acp'], acp_model: 'sonnet' }],
  ['an emptied command keeps the server', onClaude, { acp_command: [] },
    { acp_server: 'claude-code', acp_command: [], acp_model: 'sonnet' }],
  ['an explicit server wins over what the command looks ' +
    'like', onClaude, { acp_server: 'custom', acp_command: ['codex-acp'] },
    { acp_server: 'custom', acp_command: ['codex-acp'], acp_model: null }],
  ['a model alone changes nothing else', onClaude, { acp_model: 'haiku' },
    { acp_server: 'claude-code', acp_command: [], acp_model: 'haiku' }],
  ['a cleared model is the default of a preset', onClaude, { acp_model: null },
    { acp_server: 'claude-code', acp_command: [], acp_model: 'opus[1m]' }],
  ['a cleared model stays away from a custom server', { ...demo, acp_model: 'x' }, { acp_model: null },
    { ...demo, acp_model: null }],
  ['a custom server keeps its command when it is chosen again', demo, { acp_server: 'custom' }, demo],
]
for (const [name, stored, diff, expected] of diffs) {
  test(name, () => {
    assert.equal(completeAcpChoice({ ...stored, ...diff }, diff, stored.acp_server, builtInProviders), expected)
  })
}

test('recognises an npx command of the provider\'s own package, in any version, and the one of the preset', () => {
  const call = (...command: string[]) => parseNpxCall(command, gemini)
  assert.equal(call(...gemini.command), { args: ['--acp'], isPreset: true })
  assert.equal(call('npx', '-y', '@google/gemini-cli@0.46.0', '--acp', '-d'), {
    args: ['--acp', '-d'], isPreset: false,
  })
  assert.equal(call('/usr/bin/npx', '@google/gemini-cli'), { args: [], isPreset: false })
  for (const other of [['node', 'x'], ['npx', '-y', 'other'], ['npx'], []]) assert.is(call(...other), undefined)
  assert.is(parseNpxCall(['npx'], { ...gemini, packageName: '' }), undefined)
})

test('replaces the commands that the operator gives', () => {
  const providers = withCommands(builtInProviders, { codex: ['/opt/fake-codex'] })
  assert.equal(resolveAcp({ acp_server: 'codex', acp_command: [], acp_model: null }, providers).command, [
    '/opt/fake-codex',
  ])
  assert.equal(
    resolveAcp({ acp_server: 'claude-code', acp_command: [], acp_model: null }, providers).command, claude.command,
  )
})

test('refuses a command for a provider that is not there', () => {
  assert.throws(
    () => withCommands(builtInProviders, { kodex: ['x'] }),
    /"kodex": expected one of "claude-code", "codex", "gemini-cli"/,
  )
})

test.run()
