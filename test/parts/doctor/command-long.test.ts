/** `agent-server doctor` as an operator meets it: its findings, its advice, and that it changes nothing. */
import { chmodSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { browser as browserPart } from '../../../src/parts/browser/part.ts'
import { examineMachine } from '../../../src/parts/doctor/machine.ts'
import { makeFakeNpm } from '../../support/fake-npm.ts'
import { makeFolder } from '../../support/processes.ts'
import { runToEnd, startProgram, type ProgramEnd } from '../../support/server.ts'
import { suite } from '../../support/suite.ts'

const test = suite('cli doctor')

interface Place {
  readonly folder: string
  readonly dataDir: string
  run(words: readonly string[], environment?: NodeJS.ProcessEnv): Promise<ProgramEnd>
}

function inPlace(body: (place: Place) => Promise<void>): () => Promise<void> {
  return async () => {
    const { folder, remove } = makeFolder()
    const path = makeFakeNpm(folder)
    const dataDir = join(folder, 'data')
    const dirs = ['--data-dir', dataDir, '--workspace-dir', join(folder, 'workspace')]
    try {
      await body({
        folder,
        dataDir,
        run: (words, environment = {}) => runToEnd([...words, ...dirs], folder, { PATH: path, ...environment }),
      })
    } finally {
      remove()
    }
  }
}

/** The line about something. */
function lineOf({ stdout }: ProgramEnd, subject: string): string {
  return stdout.split('\n').find((line) => line.slice(9).startsWith(`${subject} `)) ?? ''
}

test(
  'has one line for each thing, says how to install an agent, and makes no folder',
  inPlace(async ({ folder, run }) => {
    const end = await run(['doctor'])
    assert.equal([end.code, end.stderr], [0, ''])
    assert.is(end.stdout.trim().split('\n').length, 27)
    assert.match(lineOf(end, 'backup'), 'none is known')
    assert.match(lineOf(end, 'Node'), `ok       Node             ${process.version}`)
    assert.match(lineOf(end, 'data folder'), 'does not exist yet, the first start creates it')
    assert.match(
      lineOf(end, 'codex'), /^note .* not installed; login: no; key: none\. To do: agent-server agents install codex$/,
    )
    assert.match(
      lineOf(end, 'openhands'),
      /^note .* not installed; login: no; key: none\. To do: uv tool install openhands==1\.16\.0$/,
    )
    assert.is(readdirSync(folder).includes('data'), false)
  }),
)

test('has an installed agent introduce itself, and finds keys and logins by name', inPlace(async ({ folder, run }) => {
  await run(['agents', 'install', 'codex'])
  const bare = await run(['doctor', 'codex'])
  assert.is(bare.code, 0, bare.stdout)
  assert.match(lineOf(bare, 'codex'), /^note .*installed, version 2\.6\.0; login: no; key: none; answers as .*To do: sign in with "codex login", or store the secret OPENAI_API_KEY$/)
  const withKey = await run(['doctor', 'codex'], { OPENAI_API_KEY: 'sk-the-value-itself' })
  assert.match(lineOf(withKey, 'codex'), /^ok .* key: OPENAI_API_KEY \(environment\); answers as/)
  assert.not.match(withKey.stdout, 'sk-the-value-itself')
  mkdirSync(join(folder, '.codex'))
  writeFileSync(join(folder, '.codex', 'auth.json'), JSON.stringify({ tokens: { refresh_token: 'token' } }))
  assert.match(lineOf(await run(['doctor', 'codex']), 'codex'), /^ok .* login: yes; key: none; answers as/)
}))

test('can be used while a server runs on the folder, and reads the names of its secrets only', inPlace(async (
  { folder, run },
) => {
  const program = await startProgram(folder)
  try {
    await program.rest.put('/api/settings/secrets', { name: 'OPENAI_API_KEY', value: 'sk-the-value-itself' })
    await program.rest.put('/api/settings/secrets', { name: 'GEMINI_API_KEY', value: '' })
    await program.rest.put('/api/settings/secrets', { name: 'CLAUDE_CODE_OAUTH_TOKEN', value: 'a-long-token' })
    const end = await run(['doctor'])
    assert.is(end.code, 0, end.stderr)
    assert.match(lineOf(end, 'data folder'), `a server runs there, process ${program.child.pid} on host `)
    assert.match(lineOf(end, 'codex'), 'key: OPENAI_API_KEY (stored secret)')
    assert.match(lineOf(end, 'gemini-cli'), 'key: none')
    assert.match(lineOf(end, 'claude-code'), 'login: yes')
    assert.not.match(end.stdout, 'sk-the-value-itself')
  } finally {
    await program.stop('SIGTERM')
  }
}))

test('ends with 1 when an agent that was named does not work, and says why', inPlace(async ({ dataDir, run }) => {
  const missing = await run(['doctor', 'codex'])
  assert.is(missing.code, 1)
  await run(['agents', 'install', 'codex'], { FAKE_NPM: 'broken' })
  const broken = await run(['doctor', 'codex'])
  assert.is(broken.code, 1)
  assert.match(
    lineOf(broken, 'codex'),
    /^problem .* does not answer: The agent exited with code 3.*To do: agent-server agents install codex$/,
  )
  assert.is((await run(['doctor'])).code, 0)
  rmSync(join(dataDir, 'agents'), { recursive: true })
  await run(['agents', 'install', 'codex'])
  const [files = ''] = readdirSync(join(dataDir, 'agents')).filter((name) => name.startsWith('codex@'))
  writeFileSync(join(dataDir, 'agents', files, 'node_modules/@agentclientprotocol/codex-acp/agent.js'), '')
  const changed = await run(['doctor', 'codex'])
  assert.is(changed.code, 1)
  assert.match(lineOf(changed, 'codex'), /^problem .*agent\.js" was changed after it was installed/)
}))

test(
  'says what else would be started: a program on the PATH, npx, a command of the operator',
  inPlace(async ({ folder, run }) => {
    writeFileSync(join(folder, 'fake-npm', 'codex-acp'), '#!/bin/sh\nexit 0\n', { mode: 0o755 })
    const end = await run(['doctor', '--allow-npx', '--acp-command', `gemini-cli=${process.execPath} --version`])
    assert.match(lineOf(end, 'codex'), /^problem .* "codex-acp" on the PATH; .* does not answer/)
    assert.match(lineOf(end, 'claude-code'), /^note .*started with "npx -y .*, which may download it; .*not started/)
    assert.match(
      lineOf(end, 'gemini-cli'), /^problem .*started with ".* --version"; .*does not answer: .*check its command$/,
    )
  }),
)

test(
  'notes a program that is not the one which the table knows, and what follows from that',
  inPlace(async ({ run }) => {
    await run(['agents', 'install', 'codex'], { FAKE_NPM: 'renamed' })
    const line = lineOf(await run(['doctor', 'codex'], { OPENAI_API_KEY: 'key' }), 'codex')
    assert.match(line, /^note .*answers as fake 1\.2\.3, .*this server knows codex-acp 2\.6\.0.*an unknown mode counts as a mode that does not ask/)
  }),
)

test('advises to install the pinned version where another one is installed', inPlace(async ({ run }) => {
  await run(['agents', 'install', 'codex', '--version', '2.5.0'])
  const line = lineOf(await run(['doctor', 'codex'], { OPENAI_API_KEY: 'key' }), 'codex')
  assert.match(
    line, /^note .*version 2\.5\.0; .*To do: the pinned version is 2\.6\.0: agent-server agents install codex$/,
  )
}))

test('gives the same as JSON, and refuses a name that is no provider', inPlace(async ({ run }) => {
  const findings: unknown = JSON.parse((await run(['doctor', 'codex', '--json'])).stdout)
  assert.match(
    JSON.stringify(findings),
    /\{"subject":"codex","state":"note","text":"not installed; .*","advice":"agent-server agents install codex"\}/,
  )
  const refused = await run(['doctor', 'cursor'])
  assert.is(refused.code, 2)
  assert.match(refused.stderr, /"cursor": expected one of claude-code, codex, gemini-cli/)
}))

test('ends with 1 when no server can run on the data folder', inPlace(async ({ dataDir, run }) => {
  mkdirSync(dataDir)
  writeFileSync(join(dataDir, 'format.json'), '{"format":2}')
  const end = await run(['doctor'])
  assert.is(end.code, 1)
  assert.match(lineOf(end, 'data folder'), /^problem .*its format is 2, this version knows up to 1/)
}))

test(
  'names what other users may write or read: the data folder, its keys, files with keys',
  inPlace(async ({ folder, dataDir, run }) => {
    const program = await startProgram(folder, [], { withKey: false })
    await program.stop('SIGTERM')
    const sealing = join(dataDir, 'keys', 'sealing.json')
    assert.match(lineOf(await run(['doctor']), 'keys'), /^ok /)
    chmodSync(sealing, 0o644)
    assert.match(lineOf(await run(['doctor']), 'keys'), `other users may read ${sealing}. To do: chmod 600`)
    chmodSync(sealing, 0o660)
    const open = await run(['doctor'])
    assert.is(open.code, 1)
    assert.match(lineOf(open, 'keys'), /^problem .*sealing\.json: other users may write it \(mode 0660\)/)
    chmodSync(sealing, 0o600)
    writeFileSync(join(folder, 'key'), 'a-key-for-the-sealing')
    chmodSync(join(folder, 'key'), 0o604)
    assert.match(
      lineOf(await run(['doctor', '--secret-key-file', join(folder, 'key')]), 'keys'),
      `note     keys             other users may read ${join(folder, 'key')}`,
    )
    chmodSync(dataDir, 0o770)
    const writable = await run(['doctor'])
    assert.is(writable.code, 1)
    assert.match(lineOf(writable, 'data folder'), `other users may write it (mode 0770). To do: chmod 700 ${dataDir}`)
  }),
)

const environment = { PATH: '/nowhere' }

test('names secrets that are not hidden, and says why', inPlace(async ({ folder }) => {
  const config = {
    dataDir: join(folder, 'data'), secretKey: 'a key of the test', oldSecretKeys: [], browser: undefined,
    browserNoSandbox: false,
  }
  mkdirSync(config.dataDir)
  const values = { TINY: 'x', WORD: 'terminal', PIN: '47113', GOOD: 'hunter2hunter2' }
  const secrets = Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, { value, description: null }]),
  )
  writeFileSync(join(config.dataDir, 'secrets.json'), JSON.stringify({ version: 1, secrets }))
  const found = (await examineMachine({ config, sealingKeyOptions: config, environment })).find(({ subject }) => {
    return subject === 'masking'
  })
  assert.is(found?.state, 'note')
  assert.is(
    found?.text,
    'TINY is not hidden: it has fewer than 4 characters; WORD is not hidden: it is a common word, path, host or ' +
      'flag; PIN is hidden as a whole word only',
  )
  assert.not.match(JSON.stringify(found), /hunter2|47113/)
}))

test('tells what is wrong with a machine', inPlace(async ({ folder }) => {
  const dataDir = join(folder, 'data')
  const config = { dataDir, browser: undefined, browserNoSandbox: false, secretKey: undefined, oldSecretKeys: [] }
  const examine = async (changes: Partial<Parameters<typeof examineMachine>[0]> = {}): Promise<string[]> =>
    (await examineMachine({ config, sealingKeyOptions: config, parts: [browserPart], environment, ...changes })).map(
      ({ state, text }) => `${state} ${text}`,
    )
  const nothing = await examine({ nodeVersion: 'v20.18.3', proc: '/nowhere' })
  assert.match(nothing[0] ?? '', 'problem v20.18.3 is too old')
  assert.match(nothing[2] ?? '', 'note no cgroup can be made here')
  assert.match(nothing[3] ?? '', 'note none: the terminal tool works over pipes')
  assert.match((await examine({ nodeVersion: 'v22.1.0' }))[0] ?? '', 'ok v22.1.0')
  const bin = join(folder, 'bin')
  mkdirSync(bin)
  // A program that prints a word, as one would that finds itself on a terminal.
  const program = '#!/bin/sh\necho on-a-terminal\n'
  writeFileSync(join(bin, 'python3'), program, { mode: 0o755 })
  assert.match((await examine({ environment: { PATH: bin } }))[3] ?? '', "ok by Python's pty module")
  writeFileSync(join(bin, 'script'), program, { mode: 0o755 })
  assert.match((await examine({ environment: { PATH: bin } }))[3] ?? '', 'ok by script(1)')
  const browser = join(bin, 'chromium')
  assert.match((await examine())[4] ?? '', 'note none in the PATH: the browser tools cannot be used')
  assert.match((await examine({ config: { ...config, browser } }))[4] ?? '', `note "${browser}" cannot be executed`)
  writeFileSync(browser, program, { mode: 0o755 })
  const isRoot = process.getuid?.() === 0
  assert.match(
    (await examine({ environment: { PATH: bin } }))[4] ?? '',
    isRoot ? `note ${browser}: does not start as root with its sandbox` : `ok ${browser}`,
  )
  assert.is((await examine({ config: { ...config, browser, browserNoSandbox: true } }))[4], `ok ${browser}`)
  writeFileSync(join(folder, 'file'), '')
  assert.match((await examine({ config: { ...config, dataDir: join(folder, 'file') } }))[1] ?? '', 'is not a folder')
  assert.match(
    (await examine({ config: { ...config, dataDir: join(folder, 'file', 'data') } }))[1] ?? '',
    'cannot be examined (ENOTDIR)',
  )
  mkdirSync(dataDir)
  chmodSync(dataDir, 0o755)
  assert.match((await examine())[1] ?? '', /^note .*can be written, belongs to user \d+$/)
  writeFileSync(join(dataDir, 'format.json'), '{')
  assert.match((await examine())[1] ?? '', /^problem .*Cannot read "format\.json"/)
}))

test.run()
