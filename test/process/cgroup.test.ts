import { suite } from '../support/suite.ts'
import * as assert from 'uvu/assert'
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, rmdirSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { findCgroupParent, joinCgroup, sweepCgroups } from '../../src/process/cgroup.ts'
import { startChild } from '../../src/process/child.ts'
import { isAlive, makeFolder, pidsIn, until } from '../support/processes.ts'

const test = suite('process/cgroup')
const parent = await findCgroupParent()
const instance = `test${randomBytes(6).toString('hex')}`
/** Leaves session, parent and marker behind, once a line has come in: `sh -c HIDE SCRIPT FOLDER`. */
const hide = 'read x; env -i PATH="$PATH" setsid sh -c "$0" "$1" &'
const stubborn = 'trap "" TERM; : > "$0/$$"; while :; do sleep 1; done'

test('there is no parent without Linux, without cgroup v2 and where groups cannot be made', async () => {
  const { folder, remove } = makeFolder()
  assert.is(await findCgroupParent(folder), undefined)
  mkdirSync(join(folder, 'self'))
  const mount = (line: string, own: string): void => {
    writeFileSync(join(folder, 'self/mountinfo'), line)
    writeFileSync(join(folder, 'self/cgroup'), own)
  }
  mount('31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n', '0::/\n')
  assert.is(await findCgroupParent(folder), undefined)
  mount(`31 23 0:28 / ${folder}/gone rw - cgroup2 cgroup2 rw\n`, '0::/\n')
  assert.is(await findCgroupParent(folder), undefined)
  mount(`31 23 0:28 / ${folder} rw - cgroup2 cgroup2 rw\n`, '1:cpu:/\n')
  assert.is(await findCgroupParent(folder), undefined)
  mount(`31 23 0:28 /other ${folder} rw - cgroup2 cgroup2 rw\n`, '0::/own\n')
  assert.is(await findCgroupParent(folder), undefined)
  // A folder is no cgroup: a folder made in it has no cgroup.kill.
  mount(`31 23 0:28 / ${folder} rw - cgroup2 cgroup2 rw\n`, '0::/\n')
  assert.is(await findCgroupParent(folder), undefined)
  remove()
})

test('a group beside the root of the mount is not looked for below its mount point', async () => {
  const { folder, remove } = makeFolder()
  mkdirSync(join(folder, 'self'))
  mkdirSync(join(folder, 'b'))
  writeFileSync(join(folder, 'self/mountinfo'), `31 23 0:28 /a ${folder} rw - cgroup2 cgroup2 rw\n`)
  /** True if a group was tried in the subfolder. */
  const isTried = async (own: string): Promise<boolean> => {
    writeFileSync(join(folder, 'self/cgroup'), `0::${own}\n`)
    utimesSync(join(folder, 'b'), 0, 0)
    await findCgroupParent(folder)
    return statSync(join(folder, 'b')).mtimeMs !== 0
  }
  assert.equal([await isTried('/a/b'), await isTried('/ab')], [true, false])
  remove()
})

test('a group that cannot be made or joined is none', () => {
  const { folder, remove } = makeFolder()
  assert.is(joinCgroup(join(folder, 'gone'), 'i/1', 1), undefined)
  remove()
})

test('nothing is swept where there is nothing', async () => {
  assert.ok(await sweepCgroups({ parent: '/no/such/group', instance: 'i', limitMs: 0 }))
})

test('tells when a group cannot be emptied', async () => {
  const { folder, remove } = makeFolder()
  mkdirSync(join(folder, 'agent-server.i.1'))
  writeFileSync(join(folder, 'agent-server.i.1/file'), '')
  assert.not.ok(await sweepCgroups({ parent: folder, instance: 'i', limitMs: 15 }))
  remove()
})

if (parent !== undefined) {
  const group = (marker: string): string => join(parent, `agent-server.${marker.replace('/', '.')}`)

  test('stop ends even what left session, parent and marker behind', async () => {
    const { folder, remove } = makeFolder()
    const marker = `${instance}/hide`
    const child = await startChild({
      command: 'sh', args: ['-c', `${hide} read x`, stubborn, folder], cwd: folder,
      env: { PATH: process.env['PATH'] ?? '' }, marker, cgroupParent: parent,
    })
    child.stdin.write('\n')
    await until(() => pidsIn(folder).length === 1)
    const [pid = 0] = pidsIn(folder)
    assert.match(readFileSync(join(group(marker), 'cgroup.procs'), 'utf8'), String(pid))
    await child.stop({ graceMs: 50 })
    assert.not.ok(isAlive(pid))
    assert.not.ok(existsSync(group(marker)))
    remove()
  })

  test('ends what is in a group within the group, and only groups of the instance', async () => {
    const first = spawn('sleep', ['100'], { detached: true })
    const second = spawn('sleep', ['100'], { detached: true })
    assert.ok(joinCgroup(parent, `${instance}/1`, first.pid ?? 0))
    assert.ok(joinCgroup(parent, `${instance}x/1`, second.pid ?? 0))
    mkdirSync(join(group(`${instance}/1`), 'inner'))
    writeFileSync(join(group(`${instance}/1`), 'inner/cgroup.procs'), String(first.pid))
    const ended = once(first, 'exit')
    assert.ok(await sweepCgroups({ parent, instance, limitMs: 5000 }))
    await ended
    assert.not.ok(existsSync(group(`${instance}/1`)))
    assert.is(second.exitCode ?? second.signalCode, null)
    const cgroup = once(second, 'exit')
    assert.ok(await sweepCgroups({ parent, instance: `${instance}x`, limitMs: 5000 }))
    await cgroup
  })

  test('a group that exists already, and a process that is not there, give none', () => {
    mkdirSync(group(`${instance}/2`))
    assert.is(joinCgroup(parent, `${instance}/2`, process.pid), undefined)
    rmdirSync(group(`${instance}/2`))
    assert.is(joinCgroup(parent, `${instance}/3`, 4_194_399), undefined)
    assert.not.ok(existsSync(group(`${instance}/3`)))
  })

  test('ending a group twice is fine', async () => {
    const child = spawn('sleep', ['100'], { detached: true })
    const cgroup = joinCgroup(parent, `${instance}/4`, child.pid ?? 0)
    const ended = once(child, 'exit')
    assert.ok(await cgroup?.end({ limitMs: 5000 }))
    assert.ok(await cgroup?.end({ limitMs: 0 }))
    await ended
  })
} else {
  test.skip('stop ends even what left session, parent and marker behind', 'no cgroup can be made here')
}

test.run()
