import { suite } from '../support/suite.ts'
import * as assert from 'uvu/assert'
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, rmdirSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { AppError } from '../../src/base/errors.ts'
import { writeFileAtomically } from '../../src/base/own-files.ts'
import { holdLockFile } from '../../src/process/lock-file.ts'
import { lockFolder, type FolderLock, type LockOptions } from '../../src/process/lock.ts'
import { makeFolder, until } from '../support/processes.ts'

const test = suite('process/lock')
const owner = fileURLToPath(new URL('../fixtures/process-lock.js', import.meta.url))
const { folder: root, remove } = makeFolder()
const nowhere = join(root, 'no-programs')
let count = 0

test.after(remove)

function newFolder(): string {
  const folder = join(root, `folder${++count}`)
  mkdirSync(folder)
  return folder
}

function options(more: Partial<LockOptions> = {}): LockOptions {
  return { clock: () => Date.now(), onLost: () => assert.unreachable('lost'), ...more }
}

/** Another server on the folder, and the first thing it says. */
async function startOwner(folder: string, ...more: string[]): Promise<{ process: ChildProcess, said: string }> {
  const child = spawn(process.execPath, [owner, folder, ...more], { stdio: ['pipe', 'pipe', 'inherit'] })
  const [chunk] = await once(child.stdout, 'data')
  return { process: child, said: String(chunk).trim() }
}

async function failure(promise: Promise<unknown>): Promise<AppError> {
  const error = await promise.then(() => undefined, (thrown: unknown) => thrown)
  if (error instanceof AppError) return error
  throw new Error(`expected an AppError, got ${String(error)}`)
}

const hasFlock = ['/usr/bin/flock', '/bin/flock', '/usr/local/bin/flock'].some((path) => existsSync(path))
const methods: [string, Partial<LockOptions>, string[]][] = [['a heartbeat', { searchPath: nowhere }, [nowhere]]]
if (hasFlock) methods.unshift(['flock', {}, []])
else test.skip('with flock', 'flock is not installed')

for (const [name, method, argument] of methods) {
  test(`with ${name}, a second server is refused and told who the owner is`, async () => {
    const folder = newFolder()
    const { process: child, said } = await startOwner(folder, ...argument)
    assert.is(said, 'locked')
    const error = await failure(lockFolder(folder, options(method)))
    assert.is(error.code, 'owned_by_another')
    const expected = `Cannot use the data folder "${folder}": another server owns it, process ${child.pid} on host ` +
      `${hostname()}, started `
    assert.ok(error.message.startsWith(expected), error.message)
    const remedy = ' at http://127.0.0.1:1; stop it first, or give another --data-dir'
    assert.ok(error.message.endsWith(remedy), error.message)
    child.stdin?.end()
    await once(child, 'exit')
    const lock = await lockFolder(folder, options(method))
    await lock.release()
  })

  test(`with ${name}, a second lock in the same process is refused too, and free after the release`, async () => {
    const folder = newFolder()
    const lock = await lockFolder(folder, options(method))
    assert.is((await failure(lockFolder(folder, options(method)))).code, 'owned_by_another')
    assert.is(JSON.parse(readFileSync(join(folder, 'owner.json'), 'utf8')).pid, process.pid)
    await lock.release()
    await lock.release()
    assert.not.ok(existsSync(join(folder, 'owner.json')))
    const again = await lockFolder(folder, options(method))
    await again.release()
  })
}

if (hasFlock) {
  test('with flock, the folder is free as soon as its owner was killed', async () => {
    const folder = newFolder()
    const { process: child } = await startOwner(folder)
    child.kill('SIGKILL')
    await once(child, 'exit')
    const lock = await lockFolder(folder, options())
    assert.is((await startOwner(folder)).said.slice(0, 36), 'AppError: Cannot use the data folder')
    await lock.release()
  })

  test('with flock, children do not inherit the lock', async () => {
    const folder = newFolder()
    const lock = await lockFolder(folder, options())
    const child = spawn('sleep', ['100'])
    await once(child, 'spawn')
    await lock.release()
    const again = await lockFolder(folder, options())
    await again.release()
    child.kill('SIGKILL')
    await once(child, 'exit')
  })
}

test('a lock is released also when the description of its owner cannot be removed', async () => {
  for (const searchPath of [undefined, nowhere]) {
    const folder = newFolder()
    const more = searchPath === undefined ? {} : { searchPath }
    const lock = await lockFolder(folder, options(more))
    rmSync(join(folder, 'owner.json'))
    mkdirSync(join(folder, 'owner.json'))
    await lock.release()
    rmdirSync(join(folder, 'owner.json'))
    await (await lockFolder(folder, options(more))).release()
  }
})

test('with a heartbeat, a killed owner is replaced after 45 s', async () => {
  const folder = newFolder()
  const { process: child } = await startOwner(folder, nowhere)
  child.kill('SIGKILL')
  await once(child, 'exit')
  const early = await failure(lockFolder(folder, options({ searchPath: nowhere, clock: () => Date.now() + 30_000 })))
  assert.is(early.code, 'owned_by_another')
  const lock = await lockFolder(
    folder, options({ searchPath: nowhere, clock: () => Date.now() + 46_000, heartbeat: { settleMs: 1 } }),
  )
  await lock.release()
  assert.equal(readdirSync(folder), ['lock'])
})

test('an owner that was stopped until another server has its folder writes nothing there when it goes on', async () => {
  const folder = newFolder()
  const staleMs = 600
  const { process: child } = await startOwner(folder, nowhere, String(staleMs))
  let said = ''
  child.stdout?.on('data', (chunk: Buffer) => (said += chunk.toString()))
  child.stdin?.write('early\n')
  await until(() => said.includes('wrote'))
  child.kill('SIGSTOP')
  const heartbeat = { staleMs, settleMs: 1 }
  let lock: FolderLock | undefined
  await until(async () => {
    const again = options({ searchPath: nowhere, heartbeat, onLost: () => {} })
    lock = await lockFolder(folder, again).catch(() => undefined)
    return lock !== undefined
  })
  const before = readdirSync(folder).sort()
  assert.ok(before.includes('early'))
  child.stdin?.write('late\n')
  child.kill('SIGCONT')
  await until(() => said.includes('owned_by_another') && said.includes('lost'))
  assert.not.match(said.replace('wrote', ''), 'wrote')
  child.stdin?.end()
  await once(child, 'exit')
  assert.equal(readdirSync(folder).sort(), before)
  await lock?.release()
})

test('after the release the folder is not fenced any more', async () => {
  const folder = newFolder()
  let now = 1_000_000
  const lock = await lockFolder(folder, options({ searchPath: nowhere, clock: () => now, onLost: () => {} }))
  await writeFileAtomically(join(folder, 'one'), '')
  now += 45_000
  const late = await failure(writeFileAtomically(join(folder, 'two'), ''))
  assert.is(late.code, 'owned_by_another')
  await writeFileAtomically(`${folder}-beside`, '')
  await lock.release()
  await writeFileAtomically(join(folder, 'two'), '')
})

test('a flock that says the file system has no locks gives way to the heartbeat', async () => {
  const folder = newFolder()
  const lock = await lockFolder(folder, options({ searchPath: fakeFlock('exit 71') }))
  assert.ok(existsSync(join(folder, 'lock.heartbeat')))
  await lock.release()
})

test('a flock that fails in another way fails the start', async () => {
  const error = await failure(lockFolder(newFolder(), options({ searchPath: fakeFlock('kill -9 $$') })))
  assert.is(error.code, 'unavailable')
  assert.match(error.message, /^Cannot lock ".*\/lock": flock failed with SIGKILL$/)
})

test('a killed former owner is described, and none that ended orderly before the lock was free', async () => {
  const folder = newFolder()
  const { process: child } = await startOwner(folder)
  child.kill('SIGKILL')
  await once(child, 'exit')
  const ending = fakeFlock(`exec /bin/rm ${folder}/owner.json`)
  const left = readFileSync(join(folder, 'owner.json'))
  const lock = await lockFolder(folder, options({ searchPath: ending }))
  assert.is(lock.former, undefined)
  writeFileSync(join(folder, 'owner.json'), left)
  const next = await lockFolder(folder, options({ searchPath: fakeFlock('exit 0') }))
  assert.is(next.former?.pid, child.pid)
  await next.release()
  await lock.release()
})

test('an unreadable owner file is no reason for another answer', async () => {
  const folder = newFolder()
  const lock = await lockFolder(folder, options())
  writeFileSync(join(folder, 'owner.json'), '{"pid":')
  const { message } = await failure(lockFolder(folder, options()))
  const remedy = 'stop it first, or give another --data-dir'
  assert.is(message, `Cannot use the data folder "${folder}": another server owns it; ${remedy}`)
  rmSync(join(folder, 'owner.json'))
  mkdirSync(join(folder, 'owner.json'))
  await lock.announce('http://127.0.0.1:1')
  rmSync(join(folder, 'owner.json'), { recursive: true })
  await lock.release()
})

test('an owner that lost the folder says so once and leaves the files of the new one alone', async () => {
  const path = join(newFolder(), 'lock.heartbeat')
  let lost = 0
  const fast = { beatMs: 5, settleMs: 1 }
  const first = await holdLockFile({ path, clock: Date.now, onLost: () => (lost += 1), ...fast })
  const later = (): number => Date.now() + 60_000
  const second = await holdLockFile({ path, clock: later, onLost: () => assert.unreachable('lost'), ...fast })
  assert.is.not(second, 'taken')
  await until(() => lost === 1)
  if (first === 'taken' || second === 'taken') return assert.unreachable('taken')
  await first.release()
  assert.is(lost, 1)
  assert.ok(existsSync(path))
  await second.release()
  assert.not.ok(existsSync(path))
})

test('lockFolder tells its owner about the loss and does not remove the owner file of the new one', async () => {
  const folder = newFolder()
  let lost = 0
  const lock = await lockFolder(
    folder, options({ searchPath: nowhere, onLost: () => (lost += 1), heartbeat: { beatMs: 5 } }),
  )
  // As another server does it: a beat that is under way changes the file of before.
  writeFileSync(join(folder, 'other'), '{"token":"other","beat":"0"}')
  renameSync(join(folder, 'other'), join(folder, 'lock.heartbeat'))
  await until(() => lost === 1)
  await lock.release()
  assert.ok(existsSync(join(folder, 'owner.json')))
})

test('a beat keeps the lock alive', async () => {
  const path = join(newFolder(), 'lock.heartbeat')
  let now = 1_000_000
  const held = await holdLockFile({ path, clock: () => now, onLost: () => assert.unreachable('lost'), beatMs: 5 })
  now += 44_000
  await until(() => readFileSync(path, 'utf8').includes('1044000'))
  now += 44_000
  assert.is(await holdLockFile({ path, clock: () => now, onLost: () => {} }), 'taken')
  if (held !== 'taken') await held.release()
})

test(
  'an owner without a beat for too long knows that the folder may be another one\'s, before it reads that',
  async () => {
    const folder = newFolder()
    let now = 1_000_000
    const lock = await lockFolder(folder, options({ searchPath: nowhere, clock: () => now }))
    assert.ok(lock.isOurs())
    now += 44_999
    assert.ok(lock.isOurs())
    now += 1
    assert.not(lock.isOurs())
    await lock.release()
    assert.not(lock.isOurs())
    const locked = await lockFolder(folder, options({ clock: () => now }))
    now += 1_000_000
    assert.is(locked.isOurs(), hasFlock)
    await locked.release()
  },
)

test('of many that take a dead owner over at once, one wins', async () => {
  const path = join(newFolder(), 'lock.heartbeat')
  writeFileSync(path, '{"token":"dead","beat":"0"}')
  const clock = (): number => 1_000_000
  const results = await Promise.all(
    Array.from({ length: 8 }, () => holdLockFile({ path, clock, onLost: () => {}, settleMs: 300 })),
  )
  const winners = results.flatMap((result) => (result === 'taken' ? [] : [result]))
  assert.is(winners.length, 1)
  for (const winner of winners) await winner.release()
})

test('a file without content counts from when it was made', async () => {
  const path = join(newFolder(), 'lock.heartbeat')
  writeFileSync(path, '')
  const base = { path, onLost: () => {}, settleMs: 1 }
  assert.is(await holdLockFile({ ...base, clock: () => Date.now() + 40_000 }), 'taken')
  const held = await holdLockFile({ ...base, clock: () => Date.now() + 50_000 })
  if (held !== 'taken') await held.release()
  assert.is.not(held, 'taken')
})

test('a folder that is not there fails', async () => {
  const error = await failure(lockFolder(join(root, 'gone'), options()))
  assert.is(error.code, 'storage_failed')
  assert.match(error.message, /^Cannot open ".*\/gone\/lock" to lock it: ENOENT$/)
  const direct = await holdLockFile({ path: join(root, 'gone', 'x'), clock: Date.now, onLost: () => {} }).then(
    () => undefined, (thrown: unknown) => thrown,
  )
  assert.match(String(direct), 'ENOENT')
})

function fakeFlock(script: string): string {
  const folder = newFolder()
  writeFileSync(join(folder, 'flock'), `#!/bin/sh\n${script}\n`, { mode: 0o700 })
  return folder
}

test.run()
