import { suite } from '../support/suite.ts'
import * as assert from 'uvu/assert'
import { chmodSync, existsSync, writeFileSync } from 'node:fs'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { AppError } from '../../src/base/errors.ts'
import { startChild, type Child, type ChildOptions } from '../../src/process/child.ts'
import { readProcess } from '../../src/process/proc.ts'
import { sweepMarked } from '../../src/process/sweep.ts'
import { fakeProc, isAlive, makeFolder, pidsIn, until } from '../support/processes.ts'

const test = suite('process/child')
const hasProc = existsSync('/proc/self/stat')
const { folder, remove } = makeFolder()
const instance = `test${randomBytes(6).toString('hex')}`
const env = { PATH: process.env['PATH'] ?? '' }
const tree = fileURLToPath(new URL('../fixtures/process-tree.js', import.meta.url))
let count = 0

function options(command: string, args: string[], more: Partial<ChildOptions> = {}): ChildOptions {
  return { command, args, cwd: folder, env, marker: `${instance}/${++count}`, ...more }
}

function shell(script: string, more: Partial<ChildOptions> = {}): Promise<Child> {
  return startChild(options('sh', ['-c', script], more))
}

test.after(async () => {
  await sweepMarked({ instance })
  remove()
})

test('gives the streams of the program and how it ended', async () => {
  const child = await shell('cat; echo problem >&2; exit 3')
  child.stdin.end('hello')
  assert.is(await text(child.stdout), 'hello')
  assert.equal(await child.exited, { code: 3, signal: null })
  await until(() => child.stderrTail() === 'problem\n')
  await child.stop()
})

test('gives two more pipes where they are wanted, and none otherwise', async () => {
  const child = await shell('read -r line <&3; echo "got $line" >&4; [ -e /dev/fd/5 ] && echo five >&4', {
    extraPipes: true,
  })
  child.extraInput?.write('it\n')
  assert.is(child.extraOutput && await text(child.extraOutput), 'got it\n')
  await child.stop()
  assert.ok(child.extraInput?.destroyed)
  const plain = await shell('true')
  assert.equal([plain.extraInput, plain.extraOutput], [undefined, undefined])
  await plain.stop()
})

test('runs in the folder, with the given environment and its marker, and nothing else', async () => {
  const child = await startChild(options('env', [], { env: { ...env, A: '1' } }))
  const lines = (await text(child.stdout)).trim().split('\n').sort().filter((line) => {
    return !line.startsWith('NODE_V8_COVERAGE=')
  })
  // Node adds that one by itself while coverage is measured.
  assert.equal(lines, [`A=1`, `AGENT_SERVER_CHILD=${instance}/${count}`, `PATH=${env.PATH}`])
  await child.stop()
})

test('keeps the end of stderr and reads on, whatever comes', async () => {
  const child = await shell(
    'i=0; while [ $i -lt 20000 ]; do echo "line $i" >&2; i=$((i+1)); done; printf end >&2', { stderrLimitBytes: 20 },
  )
  await child.exited
  await until(() => child.stderrTail().endsWith('end'))
  assert.is(child.stderrTail(), 'line 19999\nend')
  await child.stop()
})

test('tells the signal that ended it', async () => {
  const child = await shell('kill -9 $$')
  assert.equal(await child.exited, { code: null, signal: 'SIGKILL' })
  await child.stop()
})

test('survives that the program does not read its stdin', async () => {
  const child = await shell('exec <&-; echo ready; while :; do sleep 1; done')
  await once(child.stdout, 'data')
  const failed = await new Promise((resolve) => child.stdin.write('x'.repeat(1_000_000), resolve))
  assert.instance(failed, Error)
  await child.stop()
})

const failures: [string, () => Partial<ChildOptions> & { command: string }, RegExp][] = [
  ['a missing program', () => ({ command: 'no-such-program-here' }),
    /^Cannot start "no-such-program-here": there is no such program in the PATH$/],
  ['a missing file', () => ({ command: './nothing' }), /^Cannot start ".\/nothing": there is no such file$/],
  ['a missing folder', () => ({ command: 'sh', cwd: join(folder, 'gone') }),
    /^Cannot start "sh": the folder ".*\/gone" does not exist$/],
  ['a folder that is a file', () => ({ command: 'sh', cwd: file('plain', 'x', 0o600) }),
    /^Cannot start "sh": ".*\/plain" is not a folder$/],
  ['a file that may not be executed', () => ({ command: file('data', 'x', 0o600) }),
    /: it is not a file that may be executed$/],
  ['a missing interpreter', () => ({ command: file('script', '#!/no/such/interpreter\n', 0o700) }),
    /: the interpreter that its first line names does not exist$/],
  ['arguments that cannot be given', () => ({ command: 'sh', args: ['secret\0'] }),
    /^Cannot start "sh": the system answered ERR_INVALID_ARG_VALUE$/],
]
for (const [name, make, message] of failures) {
  test(`says plainly that it cannot start: ${name}`, async () => {
    const error = await startChild(options('', [], make())).then(() => undefined, (thrown: unknown) => thrown)
    assert.instance(error, AppError)
    if (!(error instanceof AppError)) return
    assert.is(error.code, 'agent_failed')
    assert.match(error.message, message)
  })
}

test('refuses a marker that is none', async () => {
  for (const marker of ['', 'a', 'a/', '/b', 'a/b/c', 'a/../b', 'a b/c']) {
    const error = await startChild(options('true', [], { marker })).then(() => undefined, (thrown: unknown) => thrown)
    assert.instance(error, RangeError, marker)
  }
})

test('stop lets a program end by itself when its stdin ends', async () => {
  const child = await shell('trap "echo term; exit 9" TERM; cat >/dev/null; exit 5')
  await child.stop()
  assert.equal(await child.exited, { code: 5, signal: null })
})

test('stop sends SIGTERM to the whole group of a program that goes on', async () => {
  const script = 'sleep 100 & trap "kill $!; exit 7" TERM; echo ready; while :; do wait; done'
  const child = await shell(script)
  await once(child.stdout, 'data')
  await child.stop()
  assert.equal(await child.exited, { code: 7, signal: null })
})

test('stop is the same for everybody who calls it, also after the end', async () => {
  const child = await shell('cat')
  const first = child.stop()
  assert.is(child.stop(), first)
  await first
  await child.stop()
  assert.ok(child.stdout.destroyed)
})

test('stop kills as soon as its signal is aborted', async () => {
  const child = await shell('trap "echo term" TERM; echo ready; while :; do sleep 1; done')
  await once(child.stdout, 'data')
  const controller = new AbortController()
  const stopped = child.stop({ graceMs: 1_000_000, signal: controller.signal })
  await once(child.stdout, 'data')
  controller.abort()
  await stopped
  assert.equal(await child.exited, { code: null, signal: 'SIGKILL' })
})

test('stop kills at once when its signal is aborted already', async () => {
  const child = await shell('trap "" TERM; echo ready; while :; do sleep 1; done')
  await once(child.stdout, 'data')
  await child.stop({ graceMs: 1_000_000, signal: AbortSignal.abort() })
  assert.equal(await child.exited, { code: null, signal: 'SIGKILL' })
})

if (hasProc) {
  test('leads a session of its own', async () => {
    const child = await shell('read x')
    assert.is(readProcess('/proc', child.pid)?.session, child.pid)
    await child.stop()
  })

  test('stop leaves nothing of a tree of sessions and orphans that ignore SIGTERM', async () => {
    const { folder: pids, remove: removePids } = makeFolder()
    const child = await startChild(options(process.execPath, [tree, '5', pids]))
    await until(() => pidsIn(pids).length === 10)
    const started = pidsIn(pids)
    assert.ok(started.every(isAlive))
    await child.stop({ graceMs: 200 })
    assert.equal(started.filter(isAlive), [])
    removePids()
  }, 60_000)

  test('stop leaves nothing of a tree whose first process died long before', async () => {
    const { folder: pids, remove: removePids } = makeFolder()
    const child = await startChild(options(process.execPath, [tree, '3', pids]))
    await until(() => pidsIn(pids).length === 6)
    process.kill(child.pid, 'SIGKILL')
    await child.exited
    await child.stop({ graceMs: 200 })
    assert.equal(pidsIn(pids).filter(isAlive), [])
    removePids()
  }, 60_000)

  test(
    'stop finds an orphan without a marker that was seen before it left, and one that stayed in the session',
    async () => {
      const { folder: pids, remove: removePids } = makeFolder()
      const quiet = 'trap "" TERM; : > "$0/$$"; while :; do sleep 1; done'
      const child = await startChild(options('sh', ['-c', 'env -i PATH="$PATH" sh -c "$0" "$1" & read x', quiet, pids]))
      await until(() => pidsIn(pids).length === 1)
      process.kill(child.pid, 'SIGKILL')
      await child.exited
      await child.stop({ graceMs: 100 })
      assert.equal(pidsIn(pids).filter(isAlive), [])
      removePids()
    },
  )

  test('stop fails with a typed error when something cannot be killed', async () => {
    const fake = fakeProc({ pid: 4_194_399, marker: `${instance}/${count + 1}` })
    const child = await shell('cat', { proc: fake.folder })
    const error = await child.stop({ graceMs: 1, killLimitMs: 30 }).then(() => undefined, (thrown: unknown) => thrown)
    assert.instance(error, AppError)
    assert.match(String(error), `Cannot end all processes of the child with process id ${child.pid} within 30 ms`)
    fake.remove()
  })
} else {
  test.skip('stop leaves nothing of a tree of sessions and orphans', 'there is no /proc')
}

test('without /proc, stop ends the process group', async () => {
  const { folder: pids, remove: removePids } = makeFolder()
  const script = 'sh -c \'trap "" TERM; : > "$0/$$"; while :; do sleep 1; done\' "$0" & trap "" TERM; : > "$0/$$"; ' +
    'while :; do sleep 1; done'
  const child = await startChild(options('sh', ['-c', script, pids], { proc: '/no/proc/here' }))
  await until(() => pidsIn(pids).length === 2)
  await child.stop({ graceMs: 50 })
  await until(() => !pidsIn(pids).some(isAlive))
  removePids()
})

test('without /proc, a program without children ends as anywhere', async () => {
  const child = await shell('exit 4', { proc: '/no/proc/here' })
  assert.equal(await child.exited, { code: 4, signal: null })
  await child.stop()
})

test('without /proc, what is left of the group is killed as soon as the child ends', async () => {
  const { folder: pids, remove: removePids } = makeFolder()
  const script = 'sh -c \'trap "" TERM; : > "$0/$$"; while :; do sleep 1; done\' "$0" & read x'
  const child = await startChild(options('sh', ['-c', script, pids], { proc: '/no/proc/here' }))
  await until(() => pidsIn(pids).length === 1)
  child.stdin.end('\n')
  await child.exited
  await until(() => !pidsIn(pids).some(isAlive))
  await child.stop()
  removePids()
})

function file(name: string, content: string, mode: number): string {
  const path = join(folder, name)
  writeFileSync(path, content)
  chmodSync(path, mode)
  return path
}

test.run()
