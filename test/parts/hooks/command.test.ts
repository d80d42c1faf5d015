/** One command of a hook, as a real process: its input, how it ends, and that nothing of it is left. */
import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { runCommand, type CommandEnd } from '../../../src/parts/hooks/command.ts'
import { startChild } from '../../../src/process/child.ts'
import { sweepMarked } from '../../../src/process/sweep.ts'
import { failureOf } from '../../support/conversation.ts'
import { isAlive, makeFolder, pidsIn, until } from '../../support/processes.ts'
import { suite } from '../../support/suite.ts'

const test = suite('agents/builtin/hooks/command')
const { folder, remove } = makeFolder()
const instance = `test${randomUUID().slice(0, 8)}`
const hasProc = existsSync('/proc/self/stat')
let count = 0

test.after(async () => {
  await sweepMarked({ instance })
  remove()
})

function run(command: string, more: Partial<Parameters<typeof runCommand>[0]> = {}): Promise<CommandEnd> {
  return runCommand({
    command,
    cwd: folder,
    env: { PATH: process.env['PATH'] ?? '' },
    marker: `${instance}/${++count}`,
    input: '',
    timeoutMs: 30_000,
    signal: new AbortController().signal,
    startProcess: startChild,
    ...more,
  })
}

/** Runs for ever; says so with a file of its number in a folder. */
const forEver = (place: string): string => `touch ${place}/$$; exec sleep 1000`

test('gives what it printed and its exit code', async () => {
  const end = await run('cat; echo problem >&2; exit 3', { input: 'hello' })
  assert.equal(end, { end: 'exited', exitCode: 3, stdout: 'hello', stderr: 'problem\n' })
})

test('need not read its input, however long that is', async () => {
  assert.equal(await run('true', { input: 'x'.repeat(5_000_000) }), {
    end: 'exited', exitCode: 0, stdout: '', stderr: '',
  })
})

test('is ended when its time is over, with all that it started', async () => {
  const { folder: pids, remove: removePids } = makeFolder()
  const command = `sh -c '${forEver(pids)}' & setsid sh -c '${forEver(pids)}' & ${forEver(pids)}`
  const end = await run(command, { timeoutMs: 3000 })
  assert.equal(end, { end: 'failed', problem: 'it did not end within 3000 ms' })
  assert.is(pidsIn(pids).length, 3)
  for (const pid of pidsIn(pids)) assert.not.ok(isAlive(pid))
  removePids()
})

test('is ended when it is stopped', async () => {
  const { folder: pids, remove: removePids } = makeFolder()
  const stop = new AbortController()
  const failure = failureOf(run(forEver(pids), { signal: stop.signal }))
  await until(() => pidsIn(pids).length === 1)
  stop.abort(new Error('stopped'))
  assert.is(await failure, 'stopped')
  for (const pid of pidsIn(pids)) assert.not.ok(isAlive(pid))
  assert.is(await failureOf(run('touch late', { signal: stop.signal })), 'stopped')
  assert.not.ok(existsSync(join(folder, 'late')))
  removePids()
})

test('does not wait for what it put into the background, and leaves nothing of it', async () => {
  const { folder: pids, remove: removePids } = makeFolder()
  const end = await run(
    `sh -c 'touch ${pids}/$$; exec sleep 1000' & while [ -z "$(ls ${pids})" ]; do sleep 0.01; done; echo done`,
  )
  assert.equal(end, { end: 'exited', exitCode: 0, stdout: 'done\n', stderr: '' })
  assert.is(pidsIn(pids).length, 1)
  if (hasProc) for (const pid of pidsIn(pids)) assert.not.ok(isAlive(pid))
  removePids()
})

test('is ended when it prints without end', async () => {
  assert.equal(await run('yes'), { end: 'failed', problem: 'it printed more than 1048576 bytes' })
})

test('keeps the last whole lines of a flood on stderr', async () => {
  const end = await run(`head -c 3000000 /dev/zero | tr '\\0' x >&2; printf "\\nlast\\n" >&2; exit 2`)
  assert.is(end.end === 'exited' && end.exitCode, 2)
  assert.match(end.end === 'exited' ? end.stderr : '', /^last\n$/)
})

test('fails where it cannot be started', async () => {
  const end = await run('true', { cwd: join(folder, 'not there') })
  assert.is(end.end, 'failed')
  assert.match(end.end === 'failed' ? end.problem : '', /^Cannot start "\/bin\/sh": /)
})

test('a command that does not exist is an ordinary exit code', async () => {
  const end = await run('no-such-program-at-all')
  assert.is(end.end === 'exited' && end.exitCode, 127)
})

test('a signal that ends it is a failure', async () => {
  assert.equal(await run('kill -9 $$'), { end: 'failed', problem: 'it was ended by SIGKILL' })
})

test.run()
