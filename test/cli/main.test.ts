/** The program as an operator meets it: its output, its refusals with their words, and how it ends. */
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { listAt, member, textAt } from '../support/rest.ts'
import { inFolder } from '../support/processes.ts'
import { runToEnd, startProgram } from '../support/server.ts'
import { suite } from '../support/suite.ts'

const test = suite('cli')

function dirs(folder: string): string[] {
  return ['--data-dir', join(folder, 'data'), '--workspace-dir', join(folder, 'work')]
}

test('prints help and version, and ends with 0', () =>
  inFolder(async (folder) => {
    for (const args of [['--help'], ['-h'], ['help'], ['serve', '--help'], ['verify', '--help']]) {
      const { code, stdout, stderr } = await runToEnd(args, folder)
      assert.is(code, 0)
      assert.match(stdout, /^Usage: agent-server /)
      assert.is(stderr, '')
    }
    assert.match((await runToEnd(['--version'], folder)).stdout, /^agent-server \d+\.\d+\.\d+\n$/)
  }))

const topics: readonly [args: string[], words: RegExp][] = [
  [['--help'], /^Usage: agent-server \[serve\][^]* help \[COMMAND\|config\][^]*--data-dir PATH/],
  [['serve', '--help'], /^Usage: agent-server serve \[options\]\n[^]*SIGHUP[^]*--data-dir PATH/],
  [['verify', '-h'], /^Usage: agent-server verify [^]*--expect HEAD/],
  [['help', 'agents'], /^Usage: agent-server agents list/],
  [['--help', 'doctor'], /^Usage: agent-server doctor/],
  [['key', '--help'], /^Usage: agent-server key \[--show\]/],
  [['--help', 'config'], /^Usage: agent-server config [^]*Names in the JSON file[^]*\n {2}host +text +default 127[^]*\n {2}allowedHosts +list of NAME\n[^]*\n {2}secretKeyFile +path of a file\n/],
]
test('has a text of its own for each command, and the names of the configuration file', () =>
  inFolder(async (folder) => {
    const texts = await Promise.all(topics.map(async ([args, words]) => {
      const { code, stdout } = await runToEnd(args, folder)
      assert.is(code, 0)
      assert.match(stdout, words)
      return stdout
    }))
    assert.is(new Set(texts).size, topics.length)
    const end = await runToEnd(['--help', 'moon'], folder)
    assert.equal([end.code, end.stdout], [2, ''])
    assert.match(end.stderr, /help on "moon": expected one of serve, verify, /)
  }))

test('config prints every option with its value and its source, and no secret', () =>
  inFolder(async (folder) => {
    const file = join(folder, 'options.json')
    writeFileSync(file, '{"port": 8001, "allowedHosts": ["a.example", "b.example"]}', { mode: 0o600 })
    const args = ['config', ...dirs(folder), '--config', file, '--session-api-key', 'a-key-that-was-given']
    const variables = { AGENT_SERVER_PORT: '8002', AGENT_SERVER_LOG_LEVEL: 'warn' }
    const { code, stdout, stderr } = await runToEnd(args, folder, variables)
    assert.equal([code, stderr], [0, ''])
    const rows = Object.fromEntries(stdout.trim().split('\n').map((line) => {
      const [flag = '', ...cells] = line.split(/ {2,}/)
      return [flag, cells]
    }))
    assert.equal(rows['--port'], ['8002', 'AGENT_SERVER_PORT'])
    assert.equal(rows['--log-level'], ['warn', 'AGENT_SERVER_LOG_LEVEL'])
    assert.equal(rows['--allowed-host'], ['a.example, b.example', `"allowedHosts" in ${file}`])
    assert.equal(rows['--session-api-key'], ['set', '--session-api-key'])
    assert.equal(rows['--secret-key'], ['-', 'default'])
    assert.equal(rows['--host'], ['127.0.0.1', 'default'])
    assert.not.match(stdout, 'a-key-that-was-given')
    const json: unknown = JSON.parse((await runToEnd([...args, '--json'], folder, variables)).stdout)
    const port = { name: 'port', flag: '--port', value: 8002, source: 'AGENT_SERVER_PORT' }
    assert.equal(listAt(json).find((option) => textAt(option, 'name') === 'port'), port)
    const wrong = await runToEnd([...args, 'port'], folder)
    assert.equal([wrong.code, wrong.stderr], [2, 'agent-server: Could not use "port": config takes options only\n'])
    assert.not.ok(existsSync(join(folder, 'data')))
  }))

test('prints where the session key is, and with --show the key, beside a server too', () =>
  inFolder(async (folder) => {
    const early = await runToEnd(['key', ...dirs(folder)], folder)
    assert.equal([early.code, early.stdout], [1, ''])
    assert.not.ok(existsSync(join(folder, 'data')))
    const program = await startProgram(folder, [], { withKey: false })
    const folders = ['--data-dir', program.dataDir, '--workspace-dir', program.workspaceDir]
    const path = join(program.dataDir, 'keys', 'session.json')
    assert.equal(await runToEnd(['key', ...folders], folder), { code: 0, stdout: `${path}\n`, stderr: '' })
    const { stdout } = await runToEnd(['key', '--show', ...folders], folder)
    const headers = { 'x-session-api-key': stdout.trim() }
    assert.is((await fetch(`${program.url}/api/settings`, { headers })).status, 200)
    await program.stop('SIGTERM')
    const given = await runToEnd(['key', '--show', '--session-api-key', 'a-key-that-was-given', ...folders], folder)
    assert.equal([given.code, given.stdout], [2, ''])
    assert.not.match(given.stderr, 'a-key-that-was-given')
  }))

const files: readonly [what: string, text: string, words: RegExp][] = [
  ['a syntax error, with its line and column', '{\n  "port": 1,\n  "host" "::1"\n}',
    /config\.json: line 3, column 10: expected ":"\n$/],
  ['a comma too much', '{\n "allowedHosts": ["a"],\n}',
    /line 3, column 1: expected a property name in double quotes\n$/],
  ['an empty file', '', /line 1, column 1: expected /],
  ['a text where a list is expected', '{"allowedHosts": "a.example"}',
    /"allowedHosts" in .* "a\.example": expected a list, each item a host name/],
  ['the item of a list that it cannot use', '{"allowedHosts": ["a.example", "b:1"]}',
    /"allowedHosts" in \S* "b:1": expected a host name without a port\n$/],
  ['a list that holds secrets, without showing it', '{"sessionApiKeys": "not-a-list-of-keys"}',
    /"sessionApiKeys" in \S*: expected a list, each item /],
  ['another value than an object', '[]', /expected a JSON object\n$/],
]
for (const [what, text, words] of files) {
  test(`refuses a configuration file for ${what}`, () =>
    inFolder(async (folder) => {
      writeFileSync(join(folder, 'config.json'), text, { mode: 0o600 })
      const end = await runToEnd(['--config', 'config.json', ...dirs(folder)], folder)
      assert.is(end.code, 2)
      assert.match(end.stderr, words)
      assert.not.match(end.stderr, 'not-a-list-of-keys')
    }))
}

test('prints its addresses on standard output, its log as JSON on standard error, and ends with 0 at SIGTERM', () =>
  inFolder(async (folder) => {
    const program = await startProgram(folder)
    assert.is((await program.rest.get('/ready')).status, 200)
    assert.is(await program.stop('SIGTERM'), 0)
    const console = /^Console: http:\/\/127\.0\.0\.1:\d+\/console\/#code=[\w-]{43}\n$/m
    const rest = program.stdout().replace(console, '').replace(/\d+/g, 'N')
    assert.is(rest, 'Agent Server listening on http://N.N.N.N:N\n')
    assert.match(program.stdout(), console)
    const lines = program.stderr().trim().split('\n')
    assert.ok(lines.length >= 3)
    for (const line of lines) assert.match(JSON.parse(line).level, /^(info|warn)$/)
    assert.not.match(program.stderr(), program.key)
  }))

test('makes a session key on first start, names its file, and keeps it over a restart', () =>
  inFolder(async (folder) => {
    const path = join(folder, 'data', 'keys', 'session.json')
    const keys: string[] = []
    for (const _ of [1, 2]) {
      const program = await startProgram(folder, [], { withKey: false })
      assert.match(program.stdout(), `(session key in ${path})`)
      keys.push(readFileSync(path, 'utf8'))
      assert.is(await program.stop('SIGINT'), 0)
    }
    assert.is(keys[0], keys[1])
    assert.is(statSync(path).mode & 0o777, 0o600)
    assert.is(statSync(join(folder, 'data')).mode & 0o777, 0o700)
  }))

const refusals: [name: string, args: (folder: string) => string[], code: number, words: RegExp][] = [
  ['an option it does not know, with the nearest one', () => ['--prot', '1'], 2, /"?--prot"?.*--port/],
  ['a value it cannot use', () => ['--port', 'many'], 2, /--port "many": expected an integer from 0 to 65535/],
  ['a command it does not know', () => ['serv'], 2, /command "serv": expected one of serve, verify/],
  ['a word that is no option', () => ['serve', 'now'], 2, /"now": serve takes options only/],
  ['a public address without a key', (folder) => [...dirs(folder), '--host', '0.0.0.0'], 2,
    /other machines can reach it/],
  ['no key on a public address', (folder) => [...dirs(folder), '--host', '0.0.0.0', '--no-auth'], 2, /loopback/],
  ['a configuration file that is not there', () => ['--config', 'nowhere.json'], 2, /nowhere\.json/],
  ['a head to expect without one id', (folder) => ['verify', ...dirs(folder), '--expect', 'x'], 2,
    /exactly one conversation id/],
]
for (const [name, args, code, words] of refusals) {
  test(`refuses ${name} in one line, with exit code ${code}`, () =>
    inFolder(async (folder) => {
      const end = await runToEnd(args(folder), folder)
      assert.is(end.code, code)
      assert.match(end.stderr, words)
      assert.match(end.stderr, /^agent-server: [^\n]*\n$/)
      assert.is(end.stdout, '')
    }))
}

test('ends with 3 when the port is in use', () =>
  inFolder(async (folder) => {
    const other = createServer().listen(0, '127.0.0.1')
    await once(other, 'listening')
    const address = other.address()
    const port = typeof address === 'object' ? String(address?.port) : ''
    const end = await runToEnd([...dirs(folder), '--port', port], folder)
    other.close()
    assert.is(end.code, 3)
    assert.match(lastLine(end.stderr), /Could not listen on 127\.0\.0\.1:\d+: another program uses this port/)
  }))

test('ends with 4 when another server owns the data folder, and says which', () =>
  inFolder(async (folder) => {
    const program = await startProgram(folder)
    const end = await runToEnd(
      ['--data-dir', program.dataDir, '--workspace-dir', program.workspaceDir, '--port', '0'], folder,
    )
    assert.is(end.code, 4)
    assert.match(end.stderr, `another server owns it, process ${program.child.pid}`)
    assert.match(end.stderr, program.url)
    assert.is(await program.stop('SIGKILL'), 'SIGKILL')
    const next = await startProgram(folder)
    assert.is(await next.stop('SIGTERM'), 0)
  }))

test('ends with 5 for a data folder of the future, and touches nothing', () =>
  inFolder(async (folder) => {
    mkdirSync(join(folder, 'data'))
    writeFileSync(join(folder, 'data', 'format.json'), '{"format":2}')
    const end = await runToEnd([...dirs(folder), '--port', '0'], folder)
    assert.is(end.code, 5)
    assert.match(end.stderr, /its format is 2, this version knows up to 1/)
    assert.is(readFileSync(join(folder, 'data', 'format.json'), 'utf8'), '{"format":2}')
    assert.not.ok(readdirSync(join(folder, 'data')).includes('conversations'))
  }))

test('ends with 5 when the data folder cannot be made', () =>
  inFolder(async (folder) => {
    writeFileSync(join(folder, 'file'), '')
    const end = await runToEnd(
      ['--data-dir', join(folder, 'file', 'data'), '--workspace-dir', join(folder, 'work'), '--port', '0'], folder,
    )
    assert.is(end.code, 5)
    assert.match(end.stderr, /Cannot use "[^"]*" as the data folder: ENOTDIR/)
  }))

test('verifies what is stored, names what is damaged, and holds a log against a head', () =>
  inFolder(async (folder) => {
    const program = await startProgram(folder)
    const ids = [await createTalk(program.rest), await createTalk(program.rest)]
    const beside = await runToEnd(['verify', ...dirs(folder)], folder)
    assert.is(beside.code, 0, beside.stdout)
    await program.stop('SIGTERM')
    const sound = await runToEnd(['verify', ...dirs(folder)], folder)
    assert.is(sound.code, 0)
    assert.match(sound.stdout, /^keys, settings and secrets  sound$/m)
    for (const id of ids) {
      assert.match(sound.stdout, new RegExp(`${id}  sound: [1-9]\\d* events, .* head ([0-9a-f]{32})\\n`))
    }
    const [first = '', second = ''] = ids
    const head = new RegExp(`${first} .* head (\\w+)`).exec(sound.stdout)?.[1] ?? ''
    assert.is((await runToEnd(['verify', ...dirs(folder), '--expect', head, first], folder)).code, 0)
    assert.is((await runToEnd(['verify', ...dirs(folder), '--expect', head, second], folder)).code, 1)
    const log = join(program.dataDir, 'conversations', first, 'events.jsonl')
    const text = readFileSync(log, 'utf8')
    writeFileSync(log, text.replace('MessageEvent', 'MessageEvenT'))
    const damaged = await runToEnd(['verify', ...dirs(folder), first], folder)
    assert.is(damaged.code, 1)
    assert.match(
      damaged.stdout,
      new RegExp(
        `^${first}  events\\.jsonl at byte \\d+ \\(line \\d+, event \\d+, id [0-9a-f-]{36}\\): the line does not fit ` +
          'the chain',
      ),
    )
    const asJson = await runToEnd(['verify', '--json', ...dirs(folder)], folder)
    assert.is(asJson.code, 1)
    const { sound: isSound, problems, conversations } = JSON.parse(asJson.stdout)
    assert.equal([isSound, problems, conversations.length], [false, [], 2])
    const told = conversations.find((one: { id: string }) => one.id === first)
    assert.match(
      JSON.stringify(told.issues[0]),
      /^\{"file":"events.jsonl","offset":\d+,"line":\d+,"event":\d+,"id":"[0-9a-f-]{36}","problem":"the line/,
    )
    const unknown = await runToEnd(['verify', ...dirs(folder), 'abc'], folder)
    assert.equal([unknown.code, unknown.stdout], [1, ''])
    assert.match(unknown.stderr, /There is no conversation "abc" in /)
  }))

test('verify makes nothing where there is no data folder, and looks at settings, secrets and keys', () =>
  inFolder(async (folder) => {
    const none = await runToEnd(['verify', ...dirs(folder)], folder)
    assert.is(none.code, 1)
    assert.match(none.stderr, /There is no data folder at/)
    assert.not.ok(readdirSync(folder).includes('data'))
    const program = await startProgram(folder, [], { withKey: false })
    await program.rest.put('/api/settings/secrets', { name: 'TOKEN_ONE', value: 'a-secret-value' })
    await program.stop('SIGTERM')
    const before = allIn(program.dataDir)
    assert.is((await runToEnd(['verify', ...dirs(folder)], folder)).code, 0)
    assert.equal(allIn(program.dataDir), before)
    for (const [file, content, named] of [
      ['settings.json', '{', /Cannot read "settings\.json"/],
      ['keys/session.json', '{}', /Cannot read "session\.json"/],
      ['keys/sealing.json', '{}', /Cannot read "sealing\.json"/],
      ['secrets.json', '{"version":1,"secrets":{"A":{"value":"as1:01234567:AAAA","description":null}}}',
        /"secrets\.json": it was sealed with the key 01234567/],
      ['profiles.json', '{"version":2}', /"profiles\.json": it has version 2/],
    ] as const) {
      const path = join(program.dataDir, file)
      const kept = existsSync(path) ? readFileSync(path) : undefined
      writeFileSync(path, content)
      const end = await runToEnd(['verify', ...dirs(folder)], folder)
      assert.is(end.code, 1, file)
      assert.match(end.stdout, named)
      if (kept === undefined) rmSync(path)
      else writeFileSync(path, kept)
    }
  }))


test('refuses a variable that it cannot use under the name of the variable, whatever the file says', () =>
  inFolder(async (folder) => {
    writeFileSync(join(folder, 'config.json'), JSON.stringify({ logLevel: 'error' }), { mode: 0o600 })
    const args = ['--config', join(folder, 'config.json'), ...dirs(folder), '--port', '0']
    const end = await runToEnd(args, folder, { AGENT_SERVER_LOG_LEVEL: 'loud' })
    assert.is(end.code, 2)
    assert.match(end.stderr, /AGENT_SERVER_LOG_LEVEL "loud": expected/)
  }))

async function createTalk(client: Awaited<ReturnType<typeof startProgram>>['rest']): Promise<string> {
  const { json } = await client.post('/api/conversations', {})
  const id = member(json, 'id')
  assert.type(id, 'string')
  await client.post(`/api/conversations/${String(id)}/events`, { content: 'hello' })
  return String(id)
}

/** The names and modification times of everything in a folder. */
function allIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true })
    .map((name) => `${String(name)} ${statSync(join(folder, String(name))).mtimeMs}`)
    .sort()
}

function lastLine(text: string): string {
  return text.trim().split('\n').at(-1) ?? ''
}

test.run()
