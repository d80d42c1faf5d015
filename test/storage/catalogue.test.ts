import { randomUUID } from 'node:crypto'
import { mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { AppError } from '../../src/base/errors.ts'
import { Catalogue } from '../../src/storage/catalogue.ts'
import { openDataFolder, type DataFolder } from '../../src/storage/layout.ts'
import { suite } from '../support/suite.ts'
import { allEvents, codeOfFailure, eventMaker, openTestLog, withFolder } from './samples.ts'

const test = suite('storage/catalogue')

const withCatalogue = (body: (catalogue: Catalogue, folder: DataFolder) => Promise<void>): Promise<void> =>
  withFolder(async (path) => {
    const folder = await openDataFolder(path)
    const catalogue = await Catalogue.open(folder, (error) => {
      throw error
    })
    await body(catalogue, folder)
    await catalogue.close()
  })

test('lists the conversations that were made, and nothing else that is there', () =>
  withCatalogue(async (catalogue, folder) => {
    assert.equal(await catalogue.list(), [])
    const ids = [randomUUID(), randomUUID()]
    for (const id of ids) await catalogue.create(id)
    await mkdir(join(folder.conversations, 'lost+found'))
    await writeFile(join(folder.conversations, randomUUID()), '')
    assert.equal((await catalogue.list()).sort(), ids.sort())
  }))

test('makes a folder that a log can be opened in, for the owner alone', () =>
  withCatalogue(async (catalogue) => {
    const id = randomUUID()
    const directory = await catalogue.create(id)
    assert.is(directory, catalogue.pathOf(id))
    assert.equal((await readdir(directory)).sort(), ['events.jsonl', 'observations'])
    assert.is((await stat(directory)).mode & 0o777, 0o700)
    const { log } = await openTestLog(directory)
    const event = eventMaker()()
    log.append(event)
    await log.durable()
    assert.equal(await allEvents(log), [event])
    await log.close()
  }))

test('lets exactly one of many win that make the same conversation at once', () =>
  withCatalogue(async (catalogue, folder) => {
    const id = randomUUID()
    const outcomes = await Promise.allSettled(Array.from({ length: 8 }, () => catalogue.create(id)))
    assert.is(outcomes.filter(({ status }) => status === 'fulfilled').length, 1)
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected') {
        assert.ok(outcome.reason instanceof AppError && outcome.reason.code === 'conflict')
      }
    }
    await catalogue.close()
    assert.equal(await readdir(folder.temporary), [])
  }))

test('shows nothing of a conversation that could not be filled', () =>
  withCatalogue(async (catalogue, folder) => {
    const id = randomUUID()
    assert.is(
      await codeOfFailure(catalogue.create(id, () => Promise.reject(new AppError('storage_full', 'Full')))),
      'storage_full',
    )
    assert.equal(await catalogue.list(), [])
    await catalogue.close()
    assert.equal(await readdir(folder.temporary), [])
    await catalogue.create(id)
  }))

test('removes a conversation at once and its files by the time it is closed', () =>
  withCatalogue(async (catalogue, folder) => {
    const id = randomUUID()
    const directory = await catalogue.create(id)
    await writeFile(join(directory, 'observations', 'long'), 'x')
    await catalogue.remove(id)
    assert.equal(await catalogue.list(), [])
    assert.is(await codeOfFailure(catalogue.remove(id)), 'not_found')
    await catalogue.create(id)
    await catalogue.close()
    assert.equal(await readdir(folder.temporary), [])
    assert.equal(await catalogue.list(), [id])
  }))

test('deletes what a crash left behind when it is opened, and nothing else', () =>
  withFolder(async (path) => {
    const folder = await openDataFolder(path)
    await mkdir(join(folder.temporary, `${randomUUID()}.0123456789ab`, 'observations'), { recursive: true })
    const others = ['draft', `${randomUUID()}.0123`]
    for (const other of others) await mkdir(join(folder.temporary, other))
    const catalogue = await Catalogue.open(folder, () => undefined)
    await catalogue.close()
    assert.equal((await readdir(folder.temporary)).sort(), others.sort())
  }))

test('names no folder outside its own', () =>
  withCatalogue(async (catalogue) => {
    for (const id of ['..', '../x', '', 'A'.repeat(36), `${randomUUID()}/..`, `${randomUUID()}\n`]) {
      assert.throws(() => catalogue.pathOf(id), TypeError)
    }
  }))

test('says storage_failed when its folders are gone, and reports what it cannot delete', () =>
  withFolder(async (path) => {
    const folder = await openDataFolder(path)
    const catalogue = await Catalogue.open(folder, () => undefined)
    await rm(folder.conversations, { recursive: true })
    await writeFile(folder.conversations, '')
    assert.is(await codeOfFailure(catalogue.list()), 'storage_failed')
    assert.is(await codeOfFailure(catalogue.create(randomUUID())), 'storage_failed')
    assert.is(await codeOfFailure(catalogue.remove(randomUUID())), 'storage_failed')
    await catalogue.close()
    await rm(folder.temporary, { recursive: true })
    assert.is(await codeOfFailure(Catalogue.open(folder, () => undefined)), 'storage_failed')
  }))

test.run()
