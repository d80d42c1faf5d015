/**
 * Ends that come from outside: signals, also through npm, a terminal that is closed, and a pipe whose reader has gone.
 * No process is left in any of them, and nothing is said where nobody reads.
 */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import * as assert from 'uvu/assert'
import { isAlive, until } from '../support/processes.ts'
import { programFile } from '../support/program-file.ts'
import { withPrograms } from '../support/server.ts'
import { suite } from '../support/suite.ts'
import { startTalk } from './talk.ts'

const test = suite('e2e/endings')
const root = fileURLToPath(new URL('../../../', import.meta.url))

function foldersIn(folder: string): string[] {
  return ['--data-dir', join(folder, 'data'), '--workspace-dir', join(folder, 'work')]
}

/** The process that owns the data folder. */
async function ownerOf(folder: string): Promise<number> {
  const file = join(folder, 'data', 'owner.json')
  const read = (): { pid?: number, url?: string } =>
    existsSync(file) ? JSON.parse(readFileSync(file, 'utf8') || '{}') : {}
  await until(() => read().url !== undefined)
  return read().pid ?? -1
}

/** A server that ended in good order leaves the list of its conversations. */
const hasEndedWell = (folder: string): boolean => existsSync(join(folder, 'data', 'list.json'))

for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
  test(`${signal} pauses what runs and ends with 0`, withPrograms(async (start, folder) => {
    const program = await start()
    const talk = await startTalk(program, 'never')
    await talk.send('hello')
    await talk.reaches('running')
    assert.is(await program.stop(signal), 0)
    assert.match(program.stderr(), /"message":"Closed"\}\n$/)
    assert.ok(hasEndedWell(folder))
  }))
}

test('a signal to npm start ends the server', withPrograms(async (_, folder) => {
  const words = ['start', '--silent', '--', '--port', '0', ...foldersIn(folder)]
  const npm = spawn('npm', words, { cwd: root, stdio: 'ignore', env: { PATH: process.env['PATH'], HOME: folder } })
  const server = await ownerOf(folder)
  npm.kill('SIGTERM')
  await once(npm, 'close')
  await until(() => !isAlive(server))
  assert.ok(hasEndedWell(folder))
}))

const hasScript = spawnSync('script', ['--version']).status === 0
if (!hasScript) test.skip('a closed terminal ends the server in good order', 'script(1) is not installed')
else test('a closed terminal ends the server in good order', withPrograms(async (_, folder) => {
  const command = [process.execPath, programFile, '--port', '0', '--log-level', 'debug', ...foldersIn(folder)].join(' ')
  const env = { PATH: process.env['PATH'], HOME: folder, SHELL: '/bin/sh' }
  const terminal = spawn('script', ['-q', '-e', '-c', `exec ${command}`, '/dev/null'], {
    stdio: ['pipe', 'ignore', 'ignore'], env,
  })
  const server = await ownerOf(folder)
  assert.is.not(server, terminal.pid)
  // Who holds the terminal is gone, as when a window is closed.
  terminal.kill('SIGKILL')
  await until(() => !isAlive(server))
  assert.ok(hasEndedWell(folder))
}))

for (const words of [
  ['--help'], ['serve', '--help'], ['--version'], ['verify'], ['agents', 'list'], ['agents', 'list', '--json'],
  ['doctor'], ['doctor', '--json'],
]) {
  test(`"${words.join(' ')}" ends without a word when nobody reads it`, withPrograms(async (start, folder) => {
    if (words[0] === 'verify') {
      const program = await start()
      for (let count = 0; count < 3; count++) await startTalk(program)
      await program.stop('SIGTERM')
    }
    const env = { PATH: process.env['PATH'], HOME: folder }
    const args = words.some((word) => word.startsWith('--')) ? words : [...words, ...foldersIn(folder)]
    const child = spawn(process.execPath, [programFile, ...args], {
      stdio: ['ignore', 'pipe', 'pipe'], env, cwd: folder,
    })
    child.stdout.destroy()
    let stderr = ''
    child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()))
    const [code, signal] = await once(child, 'close')
    assert.is(stderr, '')
    assert.is(signal, null)
    assert.ok(code === 0 || code === 1, `code ${code}`)
  }))
}

test('serve goes on when nobody reads its line and its log', withPrograms(async (start) => {
  const program = await start(['--log-level', 'debug'])
  program.child.stdout?.destroy()
  program.child.stderr?.destroy()
  for (let count = 0; count < 3; count++) assert.is((await program.rest.get('/ready')).status, 200)
  assert.is(await program.stop('SIGTERM'), 0)
}))

for (const [what, end] of [
  ['whose reader has gone', (demo: ReturnType<typeof startDemo>) => demo.stdout.destroy()],
  ['that gets SIGTERM', (demo: ReturnType<typeof startDemo>) => demo.kill('SIGTERM')],
] as const) {
  test(`a demo ${what} ends quietly and leaves no server`, withPrograms(async (_, folder) => {
    const demo = startDemo(folder)
    let stderr = ''
    demo.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()))
    const url = await new Promise<string>((resolve) => {
      createInterface({ input: demo.stdout }).once('line', (line) => resolve(/http:\S+/.exec(line)?.[0] ?? ''))
    })
    assert.is((await fetch(`${url}/alive`)).status, 200)
    end(demo)
    await once(demo, 'close')
    // The server's log may tell of a request that came while it closed.
    assert.not.match(stderr, /^[^{]/m)
    const answer = await fetch(`${url}/alive`).then(() => 'answers', () => 'gone')
    assert.is(answer, 'gone')
  }))
}

function startDemo(folder: string) {
  const file = fileURLToPath(
    new URL(`../../scripts/demo${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url),
  )
  const env = { PATH: process.env['PATH'], HOME: folder, TMPDIR: folder }
  return spawn(process.execPath, [file], { stdio: ['ignore', 'pipe', 'pipe'], env })
}

test.run()
