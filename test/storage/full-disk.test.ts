/**
 * A disk that is really full: a small tmpfs, where the system lets us mount one (as root on Linux). The same with a
 * simulated disk is in crash.test, on any system.
 */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { messageOf } from '../../src/base/errors.ts'
import { writeJsonFile } from '../../src/base/json-file.ts'
import { Catalogue } from '../../src/storage/catalogue.ts'
import { openDataFolder } from '../../src/storage/layout.ts'
import { Reserve } from '../../src/storage/reserve.ts'
import { suite } from '../support/suite.ts'
import { allLines, assertSameLines, codeOfFailure, eventMaker, openTestLog } from './samples.ts'

const test = suite('storage/full-disk')
const name = 'closes a turn into the reserve when the disk is full, goes on reading, and writes again once there is ' +
  'space'
const path = mkdtempSync(join(tmpdir(), 'full-disk-'))
const refusal = mount()

function mount(): string | undefined {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'mode=0700,size=4m', 'tmpfs', path], { stdio: 'ignore' })
    return undefined
  } catch (thrown) {
    return messageOf(thrown)
  }
}

test.after(() => {
  if (refusal === undefined) execFileSync('umount', [path])
  rmSync(path, { recursive: true, force: true })
})

if (refusal !== undefined) test.skip(name, `no file system can be mounted here: ${refusal}`)
else test(name, async () => {
  let now = 0
  const folder = await openDataFolder(path)
  const reserve = await Reserve.open({ path: folder.reserve, clock: () => now })
  assert.ok(reserve.held)
  const catalogue = await Catalogue.open(folder, () => undefined)
  const directory = await catalogue.create('00000000-0000-4000-8000-000000000000')
  const { log } = await openTestLog(directory)
  const make = eventMaker()
  const durable: string[] = []
  const ballast = join(path, 'ballast')
  await writeFile(ballast, Buffer.alloc(600_000))
  while (log.failure === undefined) {
    const event = make(20_000)
    log.append(event)
    await log.durable().then(() => durable.push(event), () => undefined)
  }
  assert.is(log.failure.code, 'storage_full')
  assert.is(await codeOfFailure(writeJsonFile(join(path, 'settings.json'), 'x'.repeat(200_000))), 'storage_full')
  assertSameLines(await allLines(log), durable)

  const closing = make(100_000)
  await log.reopen()
  log.append(closing)
  assert.is(await codeOfFailure(log.durable()), 'storage_full')
  await reserve.release()
  await log.reopen()
  log.append(closing)
  await log.durable()
  durable.push(closing)
  now += 2000
  assert.is(await codeOfFailure(reserve.ensureHeld()), 'storage_full')
  assertSameLines(await allLines(log), durable)

  await rm(ballast)
  now += 2000
  await reserve.ensureHeld()
  const after = make(100)
  log.append(after)
  await log.close()
  const again = await openTestLog(directory)
  assertSameLines(await allLines(again.log), [...durable, after])
  assert.equal(again.damages, [])
  await again.log.close()
  await catalogue.close()
})

const reading = 'opens a log that can only be read, reads it, and says so to who writes'
if (refusal !== undefined) test.skip(reading, `no file system can be mounted here: ${refusal}`)
else test(reading, async () => {
  const directory = join(path, 'read-only')
  await mkdir(directory)
  const make = eventMaker()
  const lines = [make(100), make(100)]
  const { log } = await openTestLog(directory)
  for (const line of lines) log.append(line)
  await log.close()
  execFileSync('mount', ['-o', 'remount,ro', path])
  try {
    const again = await openTestLog(directory)
    assertSameLines(await allLines(again.log), lines)
    again.log.append(make(100))
    assert.is(await codeOfFailure(again.log.durable()), 'storage_failed')
    assert.match(again.log.failure?.message ?? '', 'the file system was read-only')
    await again.log.close()
  } finally {
    execFileSync('mount', ['-o', 'remount,rw', path])
  }
  const writable = await openTestLog(directory)
  assertSameLines(await allLines(writable.log), lines)
  await writable.log.close()
})

test.run()
