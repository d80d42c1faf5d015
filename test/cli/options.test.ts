/** Where an option's value comes from, and the message for a value that cannot be used. */
import * as assert from 'uvu/assert'
import type { PartConfig } from '../../src/all-parts.ts'
import { AppError } from '../../src/base/errors.ts'
import { formatHelp } from '../../src/cli/help.ts'
import { nearest } from '../../src/cli/nearest.ts'
import { entries, parseOptions, variableOf, type CommandLine } from '../../src/cli/options.ts'
import { optionTable, type Config } from '../../src/config.ts'
import { suite } from '../support/suite.ts'

const test = suite('cli/options')

interface Given {
  readonly environment?: CommandLine['environment']
  readonly files?: Readonly<Record<string, string>>
  readonly commandFlags?: NonNullable<CommandLine['commandFlags']>
  /** Of files; 0600 unless told. */
  readonly modes?: Readonly<Record<string, number>>
}

function parse(
  argv: readonly string[], { environment = {}, files = {}, commandFlags = {}, modes = {} }: Given = {},
): ReturnType<typeof parseOptions> {
  const readFile = (path: string): string => {
    const content = files[path]
    if (content === undefined) throw new Error(`no such file ${path}`)
    return content
  }
  const modeOf = (path: string): number | undefined => modes[path] ?? 0o600
  return parseOptions({
    argv, environment: { HOME: '/home/u', ...environment }, readFile, modeOf, currentDir: '/here', commandFlags,
  })
}

function config(argv: readonly string[], given: Given = {}): Config {
  const parsed = parse(argv, given)
  assert.ok(parsed.kind === 'run')
  return parsed.config
}

function refusal(argv: readonly string[], given: Given = {}): string {
  try {
    parse(argv, given)
    return 'taken'
  } catch (error) {
    assert.ok(error instanceof AppError && error.code === 'invalid_option', String(error))
    return error.message
  }
}

test('needs nothing', () => {
  const { host, port, dataDir, workspaceDir } = config([])
  assert.equal({ host, port, dataDir, workspaceDir }, {
    host: '127.0.0.1',
    port: 8000,
    dataDir: '/home/u/.local/share/agent-server',
    workspaceDir: '/home/u/.local/state/agent-server/workspaces',
  })
})

test('follows the XDG folders', () => {
  const { dataDir, workspaceDir } = config([], { environment: { XDG_DATA_HOME: '/d', XDG_STATE_HOME: '/s' } })
  assert.equal([dataDir, workspaceDir], ['/d/agent-server', '/s/agent-server/workspaces'])
})

test('asks for the folders where there is no home', () => {
  const environment = { HOME: undefined }
  assert.is(refusal([], { environment }), 'Could not choose a folder: HOME is not set, expected --data-dir')
  assert.is(
    refusal(['--data-dir', '/d'], { environment }),
    'Could not choose a folder: HOME is not set, expected --workspace-dir',
  )
  assert.is(config(['--data-dir', '/d', '--workspace-dir=/w'], { environment }).workspaceDir, '/w')
})

test('takes a flag before a variable, that before the file, that before the default', () => {
  const files = { '/here/c.json': '{"port": 1, "host": "::1", "logLevel": "warn"}' }
  const environment = { AGENT_SERVER_PORT: '2', AGENT_SERVER_LOG_LEVEL: 'error' }
  const { port, host, logLevel } = config(['--config', 'c.json', '--port=3'], { files, environment })
  assert.equal({ port, host, logLevel }, { port: 3, host: '::1', logLevel: 'error' })
})

test('finds the file by its variable too, and ignores empty variables that are no paths', () => {
  const files = { '/c.json': '{"port": 1}' }
  assert.is(config([], { files, environment: { AGENT_SERVER_CONFIG: '/c.json', AGENT_SERVER_PORT: '' } }).port, 1)
})

test('refuses an empty path wherever it comes from: it would be the current folder', () => {
  const flags = entries.filter(({ option, isFile }) => isFile || option.kind === 'path').map(({ flag }) => flag)
  assert.equal(flags.sort(), [
    'browser', 'data-dir', 'log-file', 'old-secret-key-file', 'providers', 'secret-key-file', 'session-api-key-file',
    'webhook-file', 'workspace-dir', 'worktree-dir',
  ])
  for (const flag of [...flags, 'config']) {
    const words = (source: string): string => `Could not use ${source}: it is empty, expected a path`
    assert.is(refusal([`--${flag}=`]), words(`--${flag}`))
    assert.is(refusal([`--${flag}`, '']), words(`--${flag}`))
    assert.is(refusal([], { environment: { [variableOf(flag)]: '' } }), words(variableOf(flag)))
    if (flag === 'config') continue
    const files = { '/here/c.json': JSON.stringify({ [flag]: '' }) }
    assert.match(refusal(['--config=c.json'], { files }), `Could not use "${flag}" in /here/c.json: it is empty`)
  }
})

test('refuses a file with keys that others may write, and tells of one that others may read', () => {
  const files = {
    '/here/k': '0123456789abcdef',
    '/here/c.json': '{"secretKey": "0123456789abcdef"}',
    '/here/plain.json': '{"port": 1}',
  }
  const exposed = (argv: string[], modes: Readonly<Record<string, number>>): readonly string[] => {
    const parsed = parse(argv, { files, modes })
    return parsed.kind === 'run' ? parsed.exposedFiles : []
  }
  for (const argv of [['--secret-key-file=k'], ['--session-api-key-file=k']]) {
    assert.equal(exposed(argv, { '/here/k': 0o100600 }), [])
    assert.equal(exposed(argv, { '/here/k': 0o100644 }), ['/here/k'])
    for (const mode of [0o100620, 0o100602]) {
      assert.match(
        refusal(argv, { files, modes: { '/here/k': mode } }),
        /other users may write \/here\/k \(mode 06[02][02]\), expected chmod 600$/,
      )
    }
  }
  assert.equal(exposed(['--config=c.json'], { '/here/c.json': 0o100640 }), ['/here/c.json'])
  assert.match(
    refusal(['--config=c.json'], { files, modes: { '/here/c.json': 0o100666 } }),
    'other users may write /here/c.json (mode 0666)',
  )
  assert.equal(exposed(['--config=plain.json'], { '/here/plain.json': 0o100666 }), [])
})

/** For each option a word that it accepts, and the value that the word becomes. */
const samples: Readonly<Record<
  keyof typeof optionTable | keyof PartConfig, readonly [word: string, value: unknown]
>> = {
  host: ['::1', '::1'],
  port: ['0', 0],
  allowedHosts: ['a.example', ['a.example']],
  allowedOrigins: ['https://a.example', ['https://a.example']],
  sessionApiKeys: ['k,1', ['k,1']],
  basePath: ['/agents', '/agents'],
  publicUrl: ['https://agents.example.org', 'https://agents.example.org'],
  shard: ['3f', '3f'],
  noCompression: ['true', true],
  audit: ['required', 'required'],
  metrics: ['true', true],
  retainDays: ['30', 30],
  maxConversations: ['50', 50],
  maxRuns: ['4', 4],
  maxDisk: ['1000000000', 1_000_000_000],
  retainCount: ['500', 500],
  retainBytes: ['1000000000', 1_000_000_000],
  accessLog: ['/var/log/a.jsonl', '/var/log/a.jsonl'],
  noAuth: ['true', true],
  deferredInit: ['true', true],
  noConsole: ['true', true],
  secretKey: ['0123456789abcdef', '0123456789abcdef'],
  oldSecretKeys: ['0123456789abcdef', ['0123456789abcdef']],
  dataDir: ['d', '/here/d'],
  workspaceDir: ['../w', '/w'],
  acpCommands: ['codex=npx -y "a,b"=c', { codex: 'npx -y "a,b"=c' }],
  allowNpx: ['true', true],
  providersFile: ['p.json', '/here/p.json'],
  passEnv: ['CI', ['CI']],
  browser: ['b', '/here/b'],
  browserAllow: ['localhost:3000', ['localhost:3000']],
  browserNoSandbox: ['true', true],
  browserLimit: ['2', 2],
  agentLimit: ['2', 2],
  agentIdleMs: ['2', 2],
  mcpStartTimeoutMs: ['7', 7],
  mcpPatienceMs: ['7', 7],
  confirmationDeadlineMs: ['2', 2],
  parts: ['skills', ['skills']],
  connectionLimit: ['2', 2],
  subscriberLimit: ['2', 2],
  urlLimitBytes: ['2048', 2048],
  headerLimitBytes: ['2048', 2048],
  bodyLimitBytes: ['2048', 2048],
  messageLimitBytes: ['2048', 2048],
  eventLimitBytes: ['2048', 2048],
  agentLineLimitBytes: ['2048', 2048],
  transcriptLimitBytes: ['2048', 2048],
  cacheBytes: ['2048', 2048],
  logCacheBytes: ['2048', 2048],
  headersTimeoutMs: ['2', 2],
  bodyTimeoutMs: ['2', 2],
  uploadLimitBytes: ['2048', 2048],
  bashLimit: ['2', 2],
  completionTimeoutMs: ['5', 5],
  webhooks: ['{"base_url":"https://a.example/hooks"}', [{ base_url: 'https://a.example/hooks' }]],
  bashHistoryBytes: ['2048', 2048],
  worktreeDir: ['/w', '/w'],
  uploadTimeoutMs: ['2', 2],
  keepAliveTimeoutMs: ['2', 2],
  authTimeoutMs: ['2', 2],
  readerStallMs: ['2', 2],
  drainSeconds: ['0', 0],
  shutdownGraceMs: ['2', 2],
  jsonValueLimit: ['2', 2],
  mcpMessageLimitBytes: ['2000', 2000],
  modelAnswerLimitBytes: ['2000', 2000],
  slowRequestMs: ['250', 250],
  logLevel: ['warn', 'warn'],
  logFile: ['l.log', '/here/l.log'],
}

for (const { name, flag, isFile } of entries) {
  if (isFile) continue
  test(`takes --${flag}, ${variableOf(flag)} and members of the file`, () => {
    const [, [word, value]] = Object.entries(samples).find(([key]) => key === name) ?? ['', ['', undefined]]
    const read = (argv: string[], given: Given = {}): unknown =>
      Object.entries(config(argv, given)).find(([key]) => key === name)?.[1]
    assert.equal(read([`--${flag}=${word}`]), value)
    if (name !== 'noAuth' && name !== 'noConsole') assert.equal(read([`--${flag}`, word]), value)
    assert.equal(read([], { environment: { [variableOf(flag)]: word } }), value)
    for (const member of [name, flag]) {
      const files = { '/here/c.json': JSON.stringify({ [member]: value }) }
      assert.equal(read(['--config=c.json'], { files }), value)
    }
  })
}

test('collects a repeated flag in a list, and takes the last of any other', () => {
  assert.equal(config(['--allowed-host', 'a', '--allowed-host=b']).allowedHosts, ['a', 'b'])
  assert.equal(config(['--acp-command', 'a=x', '--acp-command', 'b=y', '--acp-command', 'a=z']).acpCommands, {
    a: 'z', b: 'y',
  })
  assert.is(config(['--port', '1', '--port', '2']).port, 2)
})

test('splits a variable of names at commas', () => {
  assert.equal(config([], { environment: { AGENT_SERVER_PASS_ENV: 'A, B,C' } }).passEnv, ['A', 'B', 'C'])
})

test('takes a switch alone or with a word', () => {
  assert.is(config(['--no-auth']).noAuth, true)
  assert.is(config(['--no-auth=off']).noAuth, false)
  assert.is(config([], { environment: { AGENT_SERVER_NO_AUTH: '1' } }).noAuth, true)
  assert.is(refusal(['--no-auth=maybe']), 'Could not use --no-auth "maybe": expected true or false')
})

test('takes keys from files', () => {
  const files = {
    '/here/keys': 'one\n two \n\n',
    '/s': '0123456789abcdef\n',
    '/c/c.json': '{"sessionApiKeyFile": "keys"}',
    '/c/keys': 'three',
  }
  assert.equal(config(['--session-api-key-file', 'keys'], { files }).sessionApiKeys, ['one', 'two'])
  assert.is(config([], { files, environment: { AGENT_SERVER_SECRET_KEY_FILE: '/s' } }).secretKey, '0123456789abcdef')
  assert.equal(config(['--config', '/c/c.json'], { files }).sessionApiKeys, ['three'])
})

test('takes paths in the file as relative to its folder', () => {
  const files = { '/etc/as/c.json': '{"data-dir": "data", "providers": "/p.json"}' }
  const { dataDir, providersFile } = config(['--config', '../etc/as/c.json'], { files })
  assert.equal([dataDir, providersFile], ['/etc/as/data', '/p.json'])
})

test("takes the keys of other servers' variables when there is none of its own", () => {
  const environment = {
    SESSION_API_KEY: 'a',
    OH_SESSION_API_KEYS_0: 'b',
    OH_SESSION_API_KEYS_1: 'c',
    OH_SESSION_API_KEYS_3: 'd',
    OH_SECRET_KEY: '0123456789abcdef',
  }
  const given = config([], { environment })
  assert.is(given.deferredInit, false)
  assert.is(config([], { environment: { ...environment, OH_DEFERRED_INIT: '1' } }).deferredInit, true)
  assert.is(
    refusal([], { environment: { OH_DEFERRED_INIT: 'maybe' } }),
    'Could not use OH_DEFERRED_INIT "maybe": expected true or false',
  )
  assert.equal(given.sessionApiKeys, ['a', 'b', 'c'])
  assert.is(given.secretKey, '0123456789abcdef')
  assert.equal(
    config([], { environment: { ...environment, AGENT_SERVER_SESSION_API_KEY: 'own' } }).sessionApiKeys, ['own'],
  )
})

test("takes the webhooks of other servers' variables when there is none of its own", () => {
  const read = (environment: Record<string, string>): unknown => Object(config([], { environment })).webhooks
  const first = { base_url: 'https://a.example/', flush_delay: 1.5 }
  assert.equal(read({ OH_WEBHOOKS: JSON.stringify([first, 'https://b.example/']) }), [first, 'https://b.example/'])
  assert.equal(read({
    OH_WEBHOOKS: '2',
    OH_WEBHOOKS_0_BASE_URL: first.base_url,
    OH_WEBHOOKS_0_FLUSH_DELAY: '1.5',
    OH_WEBHOOKS_1: 'https://b.example/',
    OH_WEBHOOKS_1_HEADERS: '{"X-A": "b"}',
    OH_WEBHOOKS_1_SECRET: '1234567890123456',
    OH_WEBHOOKS_3_BASE_URL: 'https://behind-a-gap.example/',
  }), [first, { base_url: 'https://b.example/', headers: { 'X-A': 'b' }, secret: '1234567890123456' }])
  assert.equal(read({ OH_WEBHOOKS: '', OH_WEBHOOKS_0: JSON.stringify(first) }), [first])
  const own = { AGENT_SERVER_WEBHOOK: 'https://own.example/', OH_WEBHOOKS_0: 'https://a.example/' }
  assert.equal(read(own), ['https://own.example/'])
  assert.equal(read({ OH_WEBHOOKS: '[]' }), [])
  for (const variables of [
    { OH_WEBHOOKS: '2', OH_WEBHOOKS_0: 'https://a.example/' }, { OH_WEBHOOKS: 'https://a.example/' },
    { OH_WEBHOOKS_0_BASE_URL: 'no address' },
    { OH_WEBHOOKS_0_BASE_URL: 'https://a.example/', OH_WEBHOOKS_0_OTHER: '1' },
    { OH_WEBHOOKS_0_FLUSH_DELAY: '1' }, { OH_WEBHOOKS: '[{"base_url": "https://a:secret@a.example/"}]' },
  ] as const) {
    const message = refusal([], { environment: { ...variables } })
    assert.match(message, /^Could not use OH_WEBHOOKS(?:_\*)?: expected .*an address/)
    assert.not.match(message, 'secret@')
  }
})

const wrong: readonly [readonly string[], string][] = [
  [['--prot', '1'], 'Could not use --prot: there is no such option, did you mean --port?'],
  [['--datadir=x'], 'Could not use --datadir: there is no such option, did you mean --data-dir?'],
  [['--zzz'], 'Could not use --zzz: there is no such option, see --help for all options'],
  [['-p', '1'], 'Could not use -p: there is no such option, see --help for all options'],
  [['--port'], 'Could not use --port: expected a value after it'],
  [['--data-dir', '--no-auth'], 'Could not use --data-dir: expected a value after it'],
  [['--port', 'x'], 'Could not use --port "x": expected an integer from 0 to 65535'],
  [['--port='], 'Could not use --port "": expected an integer from 0 to 65535'],
  [['--acp-command', 'codex'], 'Could not use --acp-command {"":"codex"}: expected NAME=COMMAND'],
  [['--config', 'c.json'], 'Could not read the file of --config: no such file /here/c.json'],
  [['--secret-key-file', 'f'], 'Could not read the file of --secret-key-file: no such file /here/f'],
  [['--secret-key', 's3cret'], 'Could not use --secret-key: expected at least 16 characters'],
]
for (const [argv, message] of wrong) {
  test(`answers ${argv.join(' ')} with: ${message}`, () => assert.is(refusal(argv), message))
}

test('says which variable cannot be used', () => {
  assert.is(
    refusal([], { environment: { AGENT_SERVER_PORT: 'x' } }),
    'Could not use AGENT_SERVER_PORT "x": expected an integer from 0 to 65535',
  )
  assert.match(
    refusal([], { environment: { OH_SECRET_KEY: 's3cret' } }), /^Could not use OH_SECRET_KEY: expected at least/,
  )
  assert.match(
    refusal([], { environment: { SESSION_API_KEY: 's3cret ' } }),
    /^Could not use SESSION_API_KEY or OH_SESSION_API_KEYS_\*: expected/,
  )
})

test('says which member of the file cannot be used', () => {
  const said = (content: string): string => refusal(['--config', '/c.json'], { files: { '/c.json': content } })
  assert.is(said('{"port": "1"}'), 'Could not use "port" in /c.json "1": expected an integer from 0 to 65535')
  assert.is(said('{"ports": 1}'), 'Could not use "ports" in /c.json: there is no such option, did you mean port?')
  assert.match(said('{"maxDiskBytes": 1}'), 'there is no such option, did you mean maxDisk?')
  assert.match(said('{"zzzzz": 1}'), 'there is no such option, see --help config for all options')
  assert.match(said('{"maxDisk": "5GB"}'), /"5GB": expected an integer from 0 to \d+, in bytes/)
  assert.is(said('{"secretKey": "s3cret"}'), 'Could not use "secretKey" in /c.json: expected at least 16 characters')
  assert.is(said('{"secretKeyFile": 5}'), 'Could not use "secretKeyFile" in /c.json: expected at least 16 characters')
  const places: readonly [content: string, fault: string][] = [
    ['', 'line 1, column 1: expected a value'], ['[]', 'expected a JSON object'],
    ['{"secretKey":\n s3cret}', 'line 2, column 2: expected a value'],
  ]
  for (const [content, fault] of places) {
    assert.is(said(content), `Could not use the configuration file /c.json: ${fault}`)
  }
})

test('gives words, and the flags of the present command', () => {
  const parsed = parse(['verify', '--expect', 'abc', '--port=1', '--json', '--', '--x'], {
    commandFlags: { expect: 'value', json: 'switch' },
  })
  assert.ok(parsed.kind === 'run')
  assert.equal(parsed.words, ['verify', '--x'])
  assert.equal(parsed.flags, { expect: 'abc', json: 'true' })
  assert.is(parsed.config.port, 1)
})

test('shows help or the version before it looks at any value', () => {
  for (const argv of [['--help'], ['-h'], ['serve', '--port', 'x', '--help']]) assert.is(parse(argv).kind, 'help')
  assert.is(parse(['--version']).kind, 'version')
})

test('names every flag and variable in the help, within its width', () => {
  const help = formatHelp()
  for (const { flag } of entries) {
    assert.ok(help.includes(`--${flag} `) || help.includes(`--${flag}\n`), flag)
    assert.ok(help.includes(variableOf(flag)), flag)
  }
  assert.match(help, /--port NUMBER +Port to listen on.*\n +default 8000; 0 to 65535; AGENT_SERVER_PORT\n/)
  assert.match(help, /default 1200000 \(20 min\)/)
  assert.match(help, /default 16777216 \(16 MiB\)/)
  assert.match(help, /Exit codes\n {2}0 /)
  for (const line of help.split('\n')) assert.ok(line.length <= 104 && line === line.trimEnd(), line)
})

test('finds the nearest name, if any is near', () => {
  const names = ['--port', '--host', '--data-dir']
  assert.is(nearest('--prot', names), '--port')
  assert.is(nearest('--hots', names), '--host')
  assert.is(nearest('--data_dir', names), '--data-dir')
  assert.is(nearest('--colour', names), undefined)
  assert.is(nearest('', names), undefined)
  assert.is(nearest('a', []), undefined)
})

test.run()
