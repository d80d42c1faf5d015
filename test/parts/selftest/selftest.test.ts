/**
 * `agent-server self-test` on this machine: it passes for this program and leaves nothing. It sees the files, ports and
 * programs of a process.
 */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import * as assert from 'uvu/assert'
import { watch } from '../../../src/parts/selftest/observed.ts'
import { makeFolder } from '../../support/processes.ts'
import { mainModule } from '../../support/program-file.ts'
import { suite } from '../../support/suite.ts'

const test = suite('selftest', 120_000)

interface Run {
  readonly status: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Runs the command with a temporary folder of its own, which is empty afterwards. */
function runSelfTest(words: readonly string[], environment: Readonly<Record<string, string>> = {}): Run {
  const { folder, remove } = makeFolder()
  try {
    const { status, stdout, stderr } = spawnSync(process.execPath, [mainModule, 'self-test', ...words], {
      encoding: 'utf8', env: { PATH: process.env['PATH'], HOME: folder, TMPDIR: folder, ...environment },
    })
    assert.equal(readdirSync(folder), [])
    return { status, stdout, stderr }
  } finally {
    remove()
  }
}

test('passes for this program, and leaves nothing', () => {
  const { status, stdout, stderr } = runSelfTest(['--json'])
  assert.equal([status, stderr], [0, ''], stdout)
  const checks: { check: string; state: string }[] = JSON.parse(stdout)
  assert.equal(checks.filter(({ state }) => state === 'failed'), [])
  assert.equal(checks.map(({ check }) => check), [
    'is confined', 'starts', 'needs a key', 'describes itself', 'runs an agent', 'keeps its events', 'reads one event',
    'changes settings', 'files', 'native code', 'programs', 'listens', 'connects', 'ends',
  ])
})

test('refuses a word', () => {
  const { status, stderr } = runSelfTest(['everything'])
  assert.is(status, 2)
  assert.match(stderr, 'everything')
})

test('sees an open file, a port, a connection and a program of a process', async () => {
  const script = `
    const net = require('net')
    require('fs').openSync('/etc/passwd')
    require('child_process').spawn('sleep', ['60'])
    const server = net.createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address()
      net.connect(port, '127.0.0.1', () => console.log(port))
    })`
  const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'], detached: true })
  try {
    const [line] = await once(child.stdout, 'data')
    const seen = await watch(child.pid ?? 0, AbortSignal.abort())
    const address = `127.0.0.1:${String(line).trim()}`
    assert.ok(seen?.files.has('/etc/passwd'))
    assert.ok(seen?.programs.has('sleep'))
    assert.equal([...seen?.listening ?? []], [address])
    assert.ok(seen?.connected.has(address))
  } finally {
    process.kill(-(child.pid ?? 0), 'SIGKILL')
    await once(child, 'close')
  }
})

test.run()
