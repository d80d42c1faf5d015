/** The configuration: defaults, refused values, and that nothing can change it afterwards. */
import * as assert from 'uvu/assert'
import { partOptions } from '../src/all-parts.ts'
import { AppError } from '../src/base/errors.ts'
import { createConfig, optionTable, separateKeys, type ConfigInput } from '../src/config.ts'
import type { Option, OptionTable } from '../src/option.ts'
import { suite } from './support/suite.ts'

const test = suite('config')

const folders = { dataDir: '/srv/data', workspaceDir: '/srv/work' }

/** The message with which an input is refused; also of inputs that the compiler would refuse. */
function refusal(input: object): string {
  try {
    createConfig({ ...folders, ...input })
    return 'taken'
  } catch (error) {
    assert.ok(error instanceof AppError && error.code === 'invalid_option', String(error))
    return error.message
  }
}

test('separates the keys from the other options', () => {
  const keys = {
    sessionApiKeys: ['a key of a client'], secretKey: 'a key that seals', oldSecretKeys: ['an earlier sealing key'],
  }
  const { keyless, sessionApiKeys, sealingKeyOptions } = separateKeys(createConfig({ ...folders, ...keys, port: 1 }))
  assert.equal({ sessionApiKeys, ...sealingKeyOptions }, keys)
  assert.is(keyless.port, 1)
  assert.not.match(JSON.stringify(keyless), 'key')
  assert.ok(Object.isFrozen(keyless))
})

test('needs nothing but the two folders', () => {
  const config = createConfig(folders)
  assert.is(config.host, '127.0.0.1')
  assert.is(config.port, 8000)
  assert.equal(config.sessionApiKeys, [])
  assert.is(config.noAuth, false)
  assert.is(config.secretKey, undefined)
  assert.equal(config.acpCommands, {})
})

test('has the limits that the decisions set', () => {
  const all: OptionTable = partOptions
  const config = createConfig(folders)
  const MiB = 1024 * 1024
  assert.is(config.urlLimitBytes, 16_384)
  assert.is(config.headerLimitBytes, 32_768)
  assert.is(config.bodyLimitBytes, 16 * MiB)
  assert.is(config.messageLimitBytes, 16 * MiB)
  assert.is(config.eventLimitBytes, 32 * MiB)
  assert.is(config.agentLineLimitBytes, 16 * MiB)
  assert.is(all['mcpMessageLimitBytes']?.initial, 8 * MiB)
  assert.is(all['modelAnswerLimitBytes']?.initial, 16 * MiB)
  assert.is(config.jsonValueLimit, 50_000)
  assert.is(config.cacheBytes, 64 * MiB)
  assert.is(config.logCacheBytes, MiB)
  assert.is(config.subscriberLimit, 1024)
  assert.is(config.agentLimit, 16)
  assert.is(config.agentIdleMs, 1_200_000)
  assert.is(config.confirmationDeadlineMs, 900_000)
  assert.is(config.readerStallMs, 60_000)
  assert.is(config.shutdownGraceMs, 10_000)
})

test('keeps a connection for longer than proxies keep theirs, which is mostly a minute', () => {
  assert.ok(createConfig(folders).keepAliveTimeoutMs > 60_000)
})

test('accepts each of its own defaults', () => {
  const options: readonly [string, Option<unknown>][] = Object.entries(optionTable)
  for (const [name, option] of options) {
    if (name === 'dataDir' || name === 'workspaceDir') assert.is(option.initial, undefined)
    else assert.ok(option.accepts(option.initial), name)
  }
})

const wrong: readonly [object, string][] = [
  [{ port: 65_536 }, 'Could not use port 65536: expected an integer from 0 to 65535'],
  [{ port: -1 }, 'Could not use port -1: expected an integer from 0 to 65535'],
  [{ port: 80.5 }, 'Could not use port 80.5: expected an integer from 0 to 65535'],
  [{ port: '80' }, 'Could not use port "80": expected an integer from 0 to 65535'],
  [{ port: NaN }, 'Could not use port null: expected an integer from 0 to 65535'],
  [{ host: '' }, 'Could not use host "": expected an IP address or a host name'],
  [{ host: 'a b' }, 'Could not use host "a b": expected an IP address or a host name'],
  [
    { publicUrl: 'http://agents.example.org' },
    'Could not use publicUrl "http://agents.example.org": expected an address such as https://agents.example.org, ' +
      'https unless the host is a loopback, without a query',
  ],
  [
    { publicUrl: 'https://agents.example.org?a' },
    'Could not use publicUrl "https://agents.example.org?a": expected an address such as https://agents.example.org, ' +
      'https unless the host is a loopback, without a query',
  ],
  [
    { publicUrl: 'https://a:99999' },
    'Could not use publicUrl "https://a:99999": expected an address such as https://agents.example.org, https unless ' +
      'the host is a loopback, without a query',
  ],
  [{ noAuth: 'yes' }, 'Could not use noAuth "yes": expected true or false'],
  [{ logLevel: 'loud' }, 'Could not use logLevel "loud": expected one of debug, info, warn, error'],
  [{ dataDir: 'data' }, 'Could not use dataDir "data": expected an absolute path'],
  [{ dataDir: '/a\0b' }, 'Could not use dataDir "/a\\u0000b": expected an absolute path'],
  [{ dataDir: undefined }, 'Could not use dataDir: expected an absolute path'],
  [{ providersFile: 'p.json' }, 'Could not use providersFile "p.json": expected an absolute path'],
  [{ allowedHosts: 'a' }, 'Could not use allowedHosts "a": expected a list, each item a host name without a port'],
  [{ allowedHosts: ['a', 'b:1'] }, 'Could not use allowedHosts "b:1": expected a host name without a port'],
  [{ allowedHosts: ['a/b'] }, 'Could not use allowedHosts "a/b": expected a host name without a port'],
  [{ allowedOrigins: ['null'] },
    'Could not use allowedOrigins "null": expected an origin such as https://example.org, without a path'],
  [{ allowedOrigins: ['https://a/'] },
    'Could not use allowedOrigins "https://a/": expected an origin such as https://example.org, without a path'],
  [{ passEnv: ['A-B'] }, 'Could not use passEnv "A-B": expected the name of an environment variable'],
  [{ acpCommands: ['a'] }, 'Could not use acpCommands ["a"]: expected NAME=COMMAND'],
  [{ acpCommands: { a: '' } }, 'Could not use acpCommands {"a":""}: expected NAME=COMMAND'],
  [{ acpCommands: { a: [] } }, 'Could not use acpCommands {"a":[]}: expected NAME=COMMAND'],
  [{ acpCommands: { a: [1] } }, 'Could not use acpCommands {"a":[1]}: expected NAME=COMMAND'],
  [{ acpCommands: { a: 1 } }, 'Could not use acpCommands {"a":1}: expected NAME=COMMAND'],
  [{ acpCommands: { '': 'a' } }, 'Could not use acpCommands {"":"a"}: expected NAME=COMMAND'],
  [{ bodyLimitBytes: 1 }, 'Could not use bodyLimitBytes 1: expected an integer from 1024 to 1073741824, in bytes'],
  [{ readerStallMs: 2 ** 31 }, 'Could not use readerStallMs 2147483648: expected an integer from 1 to 2147483647'],
  [{ colour: 'red' }, 'Could not use the option "colour": there is no such option'],
  [{ constructor: 'red' }, 'Could not use the option "constructor": there is no such option'],
]
for (const [input, message] of wrong) test(`says: ${message}`, () => assert.is(refusal(input), message))

test('never shows a key that it refuses', () => {
  for (const input of [
    { sessionApiKeys: ['s3cret\n'] },
    { sessionApiKeys: ['s3cret '] },
    { sessionApiKeys: [''] },
    { secretKey: 's3cret' },
  ]) {
    const message = refusal(input)
    assert.match(message, /^Could not use (sessionApiKeys|secretKey): expected /)
    assert.not.match(message, /s3cret/)
  }
})

test('takes keys with special characters', () => {
  const sessionApiKeys = ['k', 'a b', '!"#$%&\'()*+,-./:;<=>?@[]^_`{|}~', 'k'.repeat(256)]
  assert.equal(createConfig({ ...folders, sessionApiKeys }).sessionApiKeys, sessionApiKeys)
  assert.match(refusal({ sessionApiKeys: ['k'.repeat(257)] }), /1 to 256/)
})

test('refuses a host that others reach without a key', () => {
  for (const host of ['0.0.0.0', '::', '192.168.1.5', 'example.org', '127.0.0.1.example.org']) {
    assert.match(refusal({ host }), /other machines can reach it, expected a session key/, host)
    assert.match(
      refusal({ host, sessionApiKeys: ['k'.repeat(16), 'k'.repeat(15)] }),
      /^Could not use a session key with host .* at least 16 characters$/,
      host,
    )
    assert.is(refusal({ host, sessionApiKeys: ['k'.repeat(16)] }), 'taken', host)
  }
})

test('takes loopback hosts without a key', () => {
  for (const host of ['127.0.0.1', '127.1.2.3', '::1', 'localhost']) {
    assert.is(refusal({ host, noAuth: true }), 'taken', host)
  }
  assert.is(refusal({ sessionApiKeys: ['k'] }), 'taken')
})

test('refuses to ask for no key where others can reach it, or where there is one', () => {
  assert.match(refusal({ host: '0.0.0.0', noAuth: true }), /^Could not use noAuth with host "0\.0\.0\.0"/)
  assert.match(refusal({ noAuth: true, sessionApiKeys: ['k'] }), /^Could not use noAuth with session keys/)
})

test('refuses a deferred init that anybody could do, or nobody, or that replaces no key', () => {
  const waits = { deferredInit: true }
  const isPublic = { ...waits, host: '0.0.0.0', sessionApiKeys: ['k'.repeat(16)] }
  assert.is(refusal(waits), 'taken')
  assert.is(refusal({ ...isPublic, secretKey: 's'.repeat(16) }), 'taken')
  assert.match(refusal(isPublic), /^Could not use deferredInit with host "0\.0\.0\.0".*expected a secret key$/)
  assert.match(refusal({ ...waits, noAuth: true }), /^Could not use noAuth with deferredInit/)
  for (const secretKey of ['s'.repeat(257), 'é'.repeat(16), ` ${'s'.repeat(16)}`]) {
    const told = refusal({ ...waits, secretKey })
    assert.match(told, /^Could not use deferredInit with a secret key that no header carries/)
    assert.not.match(told, secretKey)
    assert.is(refusal({ secretKey }), 'taken')
  }
})

test('refuses workspaces in, around or at the data folder', () => {
  const pairs: readonly (readonly [string, string, boolean])[] = [
    ['/a', '/a', false],
    ['/a', '/a/b', false],
    ['/a/b', '/a', false],
    ['/a', '/', false],
    ['/a/..b', '/a', false],
    ['/a', '/ab', true],
    ['/a/b', '/a/c', true],
    ['/a/x/../b', '/a/b', false],
  ]
  for (const [dataDir, workspaceDir, isTaken] of pairs) {
    assert.is(refusal({ dataDir, workspaceDir }) === 'taken', isTaken, `${dataDir} ${workspaceDir}`)
  }
})

test('is a frozen copy, down to its lists', () => {
  const input: ConfigInput & { allowedHosts: string[] } = {
    ...folders, allowedHosts: ['a'], acpCommands: { codex: ['codex', 'acp'], other: 'x y' },
  }
  const config = createConfig(input)
  input.allowedHosts.push('b')
  assert.equal(config.allowedHosts, ['a'])
  for (const part of [config, config.allowedHosts, config.acpCommands, config.acpCommands['codex']]) {
    assert.ok(Object.isFrozen(part))
  }
  assert.equal(config.acpCommands, { codex: ['codex', 'acp'], other: 'x y' })
})

test('takes an undefined member for one that is not given', () => {
  const input: object = { port: undefined }
  assert.is(refusal(input), 'taken')
})

test.run()
