import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { Catalogue } from '../../src/storage/catalogue.ts'
import { copyPrefix } from '../../src/storage/copy-prefix.ts'
import { openDataFolder } from '../../src/storage/layout.ts'
import { suite } from '../support/suite.ts'
import {
  allLines, assertSameLines, codeOfFailure, eventMaker, openTestLog, privateRecord, withFolder,
} from './samples.ts'

const test = suite('storage/copy-prefix')

test('makes a conversation of the lines up to an event, which goes on by itself', () =>
  withFolder(async (path) => {
    const catalogue = await Catalogue.open(await openDataFolder(path), () => undefined)
    const from = await catalogue.create(randomUUID())
    const make = eventMaker()
    const lines = [privateRecord(0), make(), make(1_500_000), privateRecord(1), make(), privateRecord(2)]
    const { log } = await openTestLog(from)
    for (const line of lines) log.append(line)
    await log.durable()
    for (const [event, count] of [[0, 2], [1, 3], [2, 5]] as const) {
      const to = await catalogue.create(randomUUID(), (directory) => copyPrefix({ log, from, to: directory, event }))
      const copy = await openTestLog(to)
      assert.is(copy.log.eventCount, event + 1)
      assertSameLines(await allLines(copy.log), lines.slice(0, count))
      assert.ok(await log.holds(copy.log.head))
      const added = privateRecord('fork')
      copy.log.append(added)
      await copy.log.durable()
      assertSameLines(await allLines(copy.log), [...lines.slice(0, count), added])
      assert.equal(copy.damages, [])
      await copy.log.close()
    }
    assertSameLines(await allLines(log), lines)
    await log.close()
    await catalogue.close()
  }))

test('copies the bytes as they are', () =>
  withFolder(async (path) => {
    const catalogue = await Catalogue.open(await openDataFolder(path), () => undefined)
    const from = await catalogue.create(randomUUID())
    const make = eventMaker()
    const { log } = await openTestLog(from)
    for (let number = 0; number < 5; number++) log.append(make())
    await log.durable()
    const to = await catalogue.create(randomUUID(), (directory) => copyPrefix({ log, from, to: directory, event: 3 }))
    const original = await readFile(join(from, 'events.jsonl'))
    assert.equal(await readFile(join(to, 'events.jsonl')), original.subarray(0, log.offsetOf(4)))
    await log.close()
    await catalogue.close()
  }))

test('refuses an event that is not there and a source that is gone', () =>
  withFolder(async (path) => {
    const catalogue = await Catalogue.open(await openDataFolder(path), () => undefined)
    const from = await catalogue.create(randomUUID())
    const { log } = await openTestLog(from)
    log.append(eventMaker()())
    await log.durable()
    for (const event of [-1, 1]) {
      const thrown: unknown = await copyPrefix({ log, from, to: path, event }).catch((reason: unknown) => reason)
      assert.instance(thrown, RangeError)
    }
    assert.is(await codeOfFailure(copyPrefix({ log, from: join(path, 'none'), to: path, event: 0 })), 'storage_failed')
    await log.close()
    await catalogue.close()
  }))

test.run()
