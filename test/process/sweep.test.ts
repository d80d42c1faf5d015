import { suite } from '../support/suite.ts'
import * as assert from 'uvu/assert'
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { AppError } from '../../src/base/errors.ts'
import { findCgroupParent } from '../../src/process/cgroup.ts'
import { sweepMarked } from '../../src/process/sweep.ts'
import { fakeProc, isAlive, makeFolder, pidsIn, until } from '../support/processes.ts'

const test = suite('process/sweep')
const server = fileURLToPath(new URL('../fixtures/process-server.js', import.meta.url))

if (existsSync('/proc/self/stat')) {
  test('ends everything that a killed server left behind, and nothing of another one', async () => {
    const instance = `test${randomBytes(6).toString('hex')}`
    const cgroupParent = await findCgroupParent()
    const ours = makeFolder()
    const other = makeFolder()
    const killed = spawn(process.execPath, [server, `${instance}/1`, ours.folder], { stdio: 'inherit' })
    const alive = spawn(process.execPath, [server, `${instance}x/1`, other.folder], { stdio: 'inherit' })
    await until(() => pidsIn(ours.folder).length === 6 && pidsIn(other.folder).length === 6)
    killed.kill('SIGKILL')
    await once(killed, 'exit')
    assert.ok(pidsIn(ours.folder).every(isAlive))
    await sweepMarked({ instance, cgroupParent })
    assert.equal(pidsIn(ours.folder).filter(isAlive), [])
    assert.ok(pidsIn(other.folder).every(isAlive))
    alive.kill('SIGKILL')
    await once(alive, 'exit')
    await sweepMarked({ instance: `${instance}x`, cgroupParent })
    assert.equal(pidsIn(other.folder).filter(isAlive), [])
    if (cgroupParent !== undefined) {
      assert.equal(readdirSync(cgroupParent).filter((name) => name.includes(instance)), [])
    }
    ours.remove()
    other.remove()
  })
} else {
  test.skip('ends everything that a killed server left behind', 'there is no /proc')
}

test('does nothing without /proc', () => sweepMarked({ instance: 'a', proc: '/no/proc/here' }))

test('refuses an instance id that could match more than one', async () => {
  for (const instance of ['', 'a/b', 'a.b', '*']) {
    const error = await sweepMarked({ instance }).then(() => undefined, (thrown: unknown) => thrown)
    assert.instance(error, RangeError, instance)
  }
})

test('fails with a typed error when something cannot be killed', async () => {
  const fake = fakeProc({ pid: 4_194_399, marker: 'i/1' })
  const error = await sweepMarked({ instance: 'i', limitMs: 10, proc: fake.folder }).then(() => undefined, (
    thrown: unknown,
  ) => thrown)
  assert.instance(error, AppError)
  assert.match(String(error), 'Cannot end processes of an earlier server within 10 ms: 4194399')
  fake.remove()
})

test('fails with a typed error when a group cannot be removed', async () => {
  const { folder, remove } = makeFolder()
  mkdirSync(join(folder, 'agent-server.i.1'))
  writeFileSync(join(folder, 'agent-server.i.1', 'file'), '')
  const options = { instance: 'i', limitMs: 10, proc: '/no/proc/here', cgroupParent: folder }
  const error = await sweepMarked(options).then(() => undefined, (thrown: unknown) => thrown)
  assert.match(String(error), 'Cannot end processes of an earlier server within 10 ms: processes of a cgroup')
  remove()
})

test.run()
