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

test('makes a conversation of the lines up to an event or an end, which goes on by itself', () =>
  withFolder(async (path) => {
    const catalogue = await Catalogue.open(await openDataFolder(path), () => undefined)
    const from = await catalogue.create(randomUUID())
    const make = eventMaker()
    const lines = [privateRecord(0), make(), make(1_500_000), privateRecord(1), make(), privateRecord(2)]
    const { log } = await openTestLog(from)
    for (const line of lines) log.append(line)
    await log.durable()
    const end = log.head.offset
    log.append(privateRecord('later'))
    await log.durable()
    for (const [event, events, count] of [[0, 1, 2], [1, 2, 3], [2, 3, 5], [null, 3, 6]] as const) {
      const to = await catalogue.create(randomUUID(), (directory) => {
        return copyPrefix({ log, from, to: directory, event, end })
      })
      const copy = await openTestLog(to)
      assert.is(copy.log.eventCount, events)
      assertSameLines(await allLines(copy.log), lines.slice(0, count))
      assert.ok(await log.holds(copy.log.head))
      const added = privateRecord('fork')
      copy.log.append(added)
      await copy.log.durable()
      assertSameLines(await allLines(copy.log), [...lines.slice(0, count), added])
      assert.equal(copy.damages, [])
      await copy.log.close()
    }
    assertSameLines(await allLines(log), [...lines, privateRecord('later')])
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
    const to = await catalogue.create(randomUUID(), (directory) => {
      return copyPrefix({ log, from, to: directory, event: 3, end: log.head.offset })
    })
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
    const all = { log, from, to: path, event: 0, end: log.head.offset }
    for (const event of [-1, 1]) {
      const thrown: unknown = await copyPrefix({ ...all, event }).catch((reason: unknown) => reason)
      assert.instance(thrown, RangeError)
    }
    assert.is(await codeOfFailure(copyPrefix({ ...all, from: join(path, 'none') })), 'storage_failed')
    await log.close()
    await catalogue.close()
  }))

test.run()
