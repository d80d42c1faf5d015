import { mkdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { Reserve } from '../../src/storage/reserve.ts'
import { suite } from '../support/suite.ts'
import { codeOfFailure, withFolder } from './samples.ts'

const test = suite('storage/reserve')

test('takes up its size with bytes that are not all the same, and keeps what it had', () =>
  withFolder(async (directory) => {
    const path = join(directory, 'reserve')
    const reserve = await Reserve.open({ path, clock: () => 0, sizeBytes: 10_000 })
    assert.ok(reserve.held)
    const content = await readFile(path)
    assert.is(content.length, 10_000)
    assert.ok(new Set(content).size > 50)
    assert.is((await stat(path)).mode & 0o777, 0o600)
    await Reserve.open({ path, clock: () => 0, sizeBytes: 10_000 })
    assert.equal(await readFile(path), content)
  }))

test('replaces a file of another size', () =>
  withFolder(async (directory) => {
    const path = join(directory, 'reserve')
    await writeFile(path, 'short')
    await Reserve.open({ path, clock: () => 0, sizeBytes: 100 })
    assert.is((await stat(path)).size, 100)
  }))

test('gives its space back, and takes it again no sooner than a second later', () =>
  withFolder(async (directory) => {
    const path = join(directory, 'reserve')
    let now = 5000
    const reserve = await Reserve.open({ path, clock: () => now, sizeBytes: 100 })
    await reserve.release()
    await reserve.release()
    assert.not(reserve.held)
    assert.is(await codeOfFailure(stat(path).then(() => undefined, () => reserve.ensureHeld())), 'storage_full')
    now = 5999
    assert.is(await codeOfFailure(reserve.ensureHeld()), 'storage_full')
    now = 6000
    await reserve.ensureHeld()
    await reserve.ensureHeld()
    assert.ok(reserve.held)
    assert.is((await stat(path)).size, 100)
  }))

test('takes no space after its close, because another server may own the folder', () =>
  withFolder(async (directory) => {
    const path = join(directory, 'reserve')
    let now = 5000
    const reserve = await Reserve.open({ path, clock: () => now, sizeBytes: 100 })
    await reserve.release()
    now = 7000
    const attempt = reserve.ensureHeld()
    await reserve.close()
    assert.is((await stat(path)).size, 100)
    await attempt
    await rm(path)
    assert.is(await codeOfFailure(reserve.ensureHeld()), 'unavailable')
    assert.is(await reserve.problem(), 'The server is closed')
    assert.is(await stat(path).then(() => true, () => false), false)
  }))

test('tries again at once when the clock was set back', () =>
  withFolder(async (directory) => {
    let now = 5000
    const reserve = await Reserve.open({ path: join(directory, 'reserve'), clock: () => now, sizeBytes: 100 })
    await reserve.release()
    now = 100
    await reserve.ensureHeld()
    assert.ok(reserve.held)
  }))

test('begins as given back when the space cannot be taken, and says why when asked', () =>
  withFolder(async (directory) => {
    const path = join(directory, 'reserve')
    await mkdir(join(path, 'inside'), { recursive: true })
    let now = 0
    const reserve = await Reserve.open({ path, clock: () => now, sizeBytes: 100 })
    assert.not(reserve.held)
    now = 2000
    assert.is(await codeOfFailure(reserve.ensureHeld()), 'storage_failed')
    assert.is(await codeOfFailure(reserve.release()), 'storage_failed')
  }))

test('says why nothing can be written, and takes the space again when asked', () =>
  withFolder(async (directory) => {
    let now = 0
    const path = join(directory, 'own', 'reserve')
    await mkdir(join(directory, 'own'))
    const reserve = await Reserve.open({ path, clock: () => now, sizeBytes: 100 })
    assert.is(await reserve.problem(), undefined)
    await reserve.release()
    assert.is(await reserve.problem(), 'Cannot write: the disk is full')
    now = 2000
    assert.is(await reserve.problem(), undefined)
    assert.ok(reserve.held)
    await rm(join(directory, 'own'), { recursive: true })
    assert.is(await reserve.problem(), 'Cannot write to the data folder: ENOENT')
  }))

test('finds a disk full that has less left than it takes up itself', () =>
  withFolder(async (directory) => {
    const path = join(directory, 'reserve')
    await writeFile(path, '')
    // Sparse: as large as it has to be, without taking up anything.
    await truncate(path, 2 ** 40)
    const reserve = await Reserve.open({ path, clock: () => 0, sizeBytes: 2 ** 40 })
    assert.match(await reserve.problem() ?? '', /^The disk is full: \d+ bytes are left$/)
  }))

test.run()
