/** `agent-server agents` as an operator meets it, with a stand-in for npm. */
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { makeFakeNpm } from '../../support/fake-npm.ts'
import { isAlive, makeFolder, until } from '../../support/processes.ts'
import { programFile } from '../../support/program-file.ts'
import { runToEnd, startProgram, type ProgramEnd } from '../../support/server.ts'
import { suite } from '../../support/suite.ts'

const test = suite('cli agents')

interface Place {
  readonly folder: string
  readonly agentsDir: string
  readonly environment: NodeJS.ProcessEnv
  /** The options that every command needs. */
  readonly dirs: readonly string[]
  agents(...words: string[]): Promise<ProgramEnd>
}

function inPlace(body: (place: Place) => Promise<void>): () => Promise<void> {
  return async () => {
    const { folder, remove } = makeFolder()
    const environment = { PATH: makeFakeNpm(folder) }
    const dirs = ['--data-dir', join(folder, 'data'), '--workspace-dir', join(folder, 'workspace')]
    const agents = (...words: string[]): Promise<ProgramEnd> =>
      runToEnd(['agents', ...words, ...dirs], folder, environment)
    try {
      await body({ folder, agentsDir: join(folder, 'data', 'agents'), environment, dirs, agents })
    } finally {
      remove()
    }
  }
}

test(
  'lists every provider, what is installed of it, and how to install it, as text and as JSON',
  inPlace(async ({ folder, agents }) => {
    const none = await agents('list')
    assert.equal([none.code, none.stderr], [0, ''])
    assert.match(none.stdout, /^codex +2\.6\.0 +not installed +agent-server agents install codex$/m)
    assert.match(none.stdout, /^openhands +1\.16\.0 +not installed +uv tool install openhands==1\.16\.0$/m)
    assert.is(existsSync(join(folder, 'data')), false)
    await agents('install', 'codex', '--version', '2.5.0')
    assert.match(
      (await agents('list')).stdout,
      /^codex +2\.5\.0 +installed +0\.0 MiB +the pinned version is 2\.6\.0: agent-server agents install codex$/m,
    )
    const rows: unknown[] = JSON.parse((await agents('list', '--json')).stdout)
    assert.is(rows.length, 8)
    assert.match(JSON.stringify(rows[1]), /^\{"name":"codex","version":"2\.5\.0","sizeBytes":\d+,"state":"installed",/)
  }),
)

test(
  'installs the pinned version, says what it does on standard error and the result on standard output',
  inPlace(async ({ agents }) => {
    const { code, stdout, stderr } = await agents('install', 'codex')
    assert.is(code, 0, stderr)
    assert.match(
      stdout, /^codex  installed @agentclientprotocol\/codex-acp 2\.6\.0: \d files, 0\.0 MiB, in \d+\.\d s\n$/,
    )
    assert.match(stderr, /^codex: installing .* with npm, .*locked.*\ncodex: taking the digests of its files\n$/)
  }),
)

test('says when there is nothing to verify', inPlace(async ({ agents }) => {
  const { code, stdout } = await agents('verify')
  assert.equal([code, stdout], [0, 'No agent is installed: see agent-server agents list\n'])
}))

test('verifies all or one, and ends with 1 and a line for each file when something differs', inPlace(async (
  { agentsDir, agents },
) => {
  await agents('install', 'codex')
  for (const words of [['verify'], ['verify', 'codex']]) {
    const { code, stdout } = await agents(...words)
    assert.is(code, 0)
    assert.match(stdout, /^codex  every digest is right \(\d+\.\d s\)\n$/)
  }
  const [folder = ''] = readdirSync(agentsDir).filter((name) => name.startsWith('codex@'))
  writeFileSync(join(agentsDir, folder, 'package.json'), '{ "private": false }\n')
  writeFileSync(join(agentsDir, folder, 'more.js'), '')
  const changed = await agents('verify')
  assert.equal([changed.code, changed.stdout], [1, 'codex  extra: more.js\ncodex  changed: package.json\n'])
  assert.match((await agents('list')).stdout, /^codex +2\.6\.0 +changed /m)
}))

test('shows in the list what has changed, and a record that is damaged', inPlace(async ({ agentsDir, agents }) => {
  await agents('install', 'codex')
  const [folder = ''] = readdirSync(agentsDir).filter((name) => name.startsWith('codex@'))
  rmSync(join(agentsDir, folder, 'node_modules/@agentclientprotocol/codex-acp/agent.js'))
  assert.match((await agents('list')).stdout, /^codex +2\.6\.0 +changed .* agent-server agents verify codex$/m)
  writeFileSync(join(agentsDir, 'codex.json'), '{}')
  assert.match((await agents('list')).stdout, /^codex +damaged record +agent-server agents install codex$/m)
  const again = await agents('install', 'codex')
  assert.is(again.code, 0, again.stderr)
  assert.is(readdirSync(agentsDir).includes(folder), false)
}))

test('removes an agent with its files', inPlace(async ({ agentsDir, agents }) => {
  await agents('install', 'codex')
  const { code, stdout } = await agents('remove', 'codex')
  assert.equal([code, stdout], [0, 'codex  removed\n'])
  assert.equal(readdirSync(agentsDir), ['lock'])
}))

test(
  'leaves a running server and its files alone; the files go at its next start',
  inPlace(async ({ folder, agentsDir, environment, agents }) => {
    await runToEnd(
      ['agents', 'install', 'codex', '--data-dir', join(folder, 'data'), '--workspace-dir', join(folder, 'workspace')],
      folder,
      environment,
    )
    const program = await startProgram(folder)
    try {
      const [files = ''] = readdirSync(agentsDir).filter((name) => name.startsWith('codex@'))
      const { code, stdout } = await agents('remove', 'codex')
      assert.equal([code, stdout], [0, 'codex  removed; its files go when the server that runs here starts again\n'])
      assert.ok(existsSync(join(agentsDir, files)))
      assert.is((await program.rest.get('/ready')).status, 200)
    } finally {
      await program.stop('SIGTERM')
    }
    const next = await startProgram(folder)
    await until(() => !readdirSync(agentsDir).some((name) => name.startsWith('codex@')))
    assert.is(await next.stop('SIGTERM'), 0)
  }),
)

test(
  'ends at a signal with nothing changed and npm ended',
  inPlace(async ({ folder, agentsDir, environment, dirs }) => {
    const mark = join(folder, 'pid')
    const env = { ...environment, HOME: folder, FAKE_NPM: `hangs:${mark}` }
    const child = spawn(process.execPath, [programFile, 'agents', 'install', 'codex', ...dirs], {
      env, stdio: ['ignore', 'ignore', 'pipe'],
    })
    let stderr = ''
    child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()))
    await until(() => existsSync(mark))
    child.kill('SIGINT')
    const [code] = await once(child, 'close')
    assert.is(code, 1)
    assert.match(stderr, /agent-server: Interrupted: the interrupted step changed nothing\n$/)
    assert.equal(readdirSync(agentsDir), ['lock'])
    assert.not(isAlive(Number(readFileSync(mark, 'utf8'))))
  }),
)

test('leaves nothing running when it is killed, and a second one works', inPlace(async (
  { folder, agentsDir, environment, dirs, agents },
) => {
  const mark = join(folder, 'pid')
  const env = { ...environment, HOME: folder, FAKE_NPM: `hangs:${mark}` }
  const child = spawn(process.execPath, [programFile, 'agents', 'install', 'codex', ...dirs], { env, stdio: 'ignore' })
  await until(() => existsSync(mark))
  child.kill('SIGKILL')
  await once(child, 'close')
  await until(() => !isAlive(Number(readFileSync(mark, 'utf8'))))
  assert.is((await agents('install', 'codex')).code, 0)
  assert.equal(readdirSync(agentsDir).filter((name) => name.startsWith('new-')), [])
}))

test('ends an npm of a killed one that does not end by itself', inPlace(async (
  { folder, environment, dirs, agents },
) => {
  const mark = join(folder, 'pid')
  const env = { ...environment, HOME: folder, FAKE_NPM: `stays:${mark}` }
  const child = spawn(process.execPath, [programFile, 'agents', 'install', 'codex', ...dirs], { env, stdio: 'ignore' })
  await until(() => existsSync(mark))
  child.kill('SIGKILL')
  await once(child, 'close')
  assert.ok(isAlive(Number(readFileSync(mark, 'utf8'))))
  assert.is((await agents('install', 'codex')).code, 0)
  assert.is(isAlive(Number(readFileSync(mark, 'utf8'))), false)
}))

const refusals: [name: string, words: string[], code: number, told: RegExp][] = [
  ['no action', [], 2, /expected agents list, install, verify, remove or schema/],
  ['an action it does not know', ['add'], 2, /"add": expected agents list/],
  ['an agent that is no provider', ['install', 'cursor'], 2,
    /"cursor": expected one of claude-code, codex, gemini-cli/],
  ['to install nothing', ['install'], 2, /"agents install": expected the name of one provider/],
  ['two names at once', ['remove', 'codex', 'gemini-cli'], 2, /expected the name of one provider/],
  ['a range of versions', ['install', 'codex', '--version', '^2'], 2, /expected an exact one/],
  ['to verify what is not installed', ['verify', 'codex'], 1, /Could not find an installed agent "codex"/],
  ['to remove what is not installed', ['remove', 'codex'], 1, /Could not find an installed agent "codex"/],
]
for (const [name, words, code, told] of refusals) {
  test(`refuses ${name} in one line, with exit code ${code}`, inPlace(async ({ agents }) => {
    const end = await agents(...words)
    assert.equal([end.code, end.stdout], [code, ''])
    assert.match(end.stderr, told)
    assert.match(end.stderr, /^agent-server: [^\n]*\n$/)
  }))
}

test('removes no other file, whatever the name says', inPlace(async ({ folder, agents }) => {
  await agents('install', 'codex')
  const files = ['data/settings.json', 'data/agents/.hidden.json', 'mine.json']
  for (const file of files) writeFileSync(join(folder, file), '{}')
  for (const name of ['../../settings', '../../mine', join(folder, 'mine'), '.hidden', '..', '']) {
    const end = await agents('remove', name)
    assert.is(end.code, 1, name)
    for (const file of files) assert.ok(existsSync(join(folder, file)), `${name} removed ${file}`)
  }
}))

test('installs what the providers file adds', inPlace(async ({ folder, agents }) => {
  const entry = {
    command: ['npx', '-y', 'my-agent@1.0.0'], packageName: 'my-agent', version: '1.0.0', binary: 'codex-acp',
    prefix: 'my-agent', defaultModel: 'm',
  }
  const file = join(folder, 'providers.json')
  writeFileSync(file, JSON.stringify({ mine: entry }))
  assert.match((await agents('install', 'mine', '--providers', file)).stdout, /^mine  installed my-agent 1\.0\.0/)
}))

test('answers --help of agents and doctor with their own text', inPlace(async ({ folder }) => {
  for (const [command, words] of [['agents', /installed agent/], ['doctor', /Checks Node, the data folder/]] as const) {
    const { code, stdout } = await runToEnd([command, '--help'], folder)
    assert.is(code, 0)
    assert.match(stdout, new RegExp(`^Usage: agent-server ${command} `))
    assert.match(stdout, words)
    for (const line of stdout.split('\n')) assert.ok(line.length <= 104, line)
  }
}))

test('says that the files of an earlier version are left where they cannot be removed', inPlace(async (
  { agentsDir, agents },
) => {
  await agents('install', 'codex')
  mkdirSync(join(agentsDir, 'other@1-x'))
  writeFileSync(join(agentsDir, 'other.json'), '{}')
  const { code, stderr } = await agents('install', 'codex')
  assert.is(code, 0)
  assert.match(stderr, /the files of earlier versions are left: Cannot use the record of the installed agent "other"/)
}))

test.run()
