import { mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { microsOfUpperHalf } from '../../src/base/stamp.ts'
import { deferred } from '../../src/base/wait.ts'
import { nodeFiles, type Files } from '../../src/storage/files.ts'
import { kindPlaceOf } from '../../src/storage/record.ts'
import { suite } from '../support/suite.ts'
import {
  allEvents, allLines, assertSameLines, codeOfFailure, eventMaker, kinds, openTestLog, privateRecord, withFolder,
} from './samples.ts'

const test = suite('storage/log')

const upperOf = (json: string): string => (/"id":"([^"]+)"/.exec(json)?.[1] ?? '').replaceAll('-', '').slice(0, 16)

test('gives back events and private records in order, at once and after it was opened again', () =>
  withFolder(async (directory) => {
    const make = eventMaker()
    const lines = [make(), privateRecord(1), make(500), make(), privateRecord(2)]
    const { log, committed } = await openTestLog(directory)
    for (const line of lines) log.append(line)
    assert.is(log.eventCount, 0)
    await log.durable()
    assert.is(log.eventCount, 3)
    assertSameLines(committed.map(({ json }) => json.toString()), lines)
    assert.equal(committed.map(({ event }) => event), [0, undefined, 1, 2, undefined])
    const head = log.head
    await log.close()
    assert.is((await stat(join(directory, 'events.jsonl'))).mode & 0o777, 0o600)
    const again = await openTestLog(directory)
    assert.equal(again.log.head, head)
    assertSameLines(await allLines(again.log), lines)
    assertSameLines(await allEvents(again.log), lines.filter((line) => line.startsWith('{')))
    assert.equal(again.damages, [])
    await again.log.close()
  }))

test('stores each line as hash, space, the bytes that were given, newline', () =>
  withFolder(async (directory) => {
    const json = eventMaker()()
    const { log } = await openTestLog(directory)
    log.append(Buffer.from(json))
    await log.close()
    const text = await readFile(join(directory, 'events.jsonl'), 'utf8')
    assert.match(text, /^[0-9a-f]{32} \{"kind"/)
    assert.is(text.slice(33), `${json}\n`)
  }))

test('gives an event at once while it is in memory, and reads it when it is not', () =>
  withFolder(async (directory) => {
    const make = eventMaker()
    const { log } = await openTestLog(directory)
    const first = make()
    log.append(first)
    await log.durable()
    const cached = log.read(0)
    assert.ok(Buffer.isBuffer(cached) && cached.toString() === first)
    await log.close()
    const again = await openTestLog(directory)
    const reading = again.log.read(0)
    assert.not(Buffer.isBuffer(reading))
    assert.is((await reading)?.toString(), first)
    await again.log.close()
  }))

test('shows nothing before it is durable, and puts what arrives meanwhile into one more group', () =>
  withFolder(async (directory) => {
    const gate = deferred<void>()
    const writes: number[] = []
    let seen = 0
    const slow: Files = {
      open: async (path, options) => {
        const file = await nodeFiles.open(path, options)
        if (!path.endsWith('jsonl')) return file
        assert.equal(options, { writeThrough: true })
        return { ...file, write: async (bytes, position) => {
          writes.push(seen)
          if (writes.length === 1) await gate.promise
          await file.write(bytes, position)
        } }
      },
    }
    const { log } = await openTestLog(directory, { files: slow, onCommit: (lines) => (seen += lines.length) })
    const make = eventMaker()
    for (let number = 0; number < 3; number++) log.append(make())
    const first = log.durable()
    while (writes.length < 1) await new Promise(setImmediate)
    for (let number = 0; number < 50; number++) log.append(make())
    assert.is(log.eventCount, 0)
    assert.is(log.head.offset, 0)
    assert.ok(log.queuedBytes > 50 * 100)
    gate.resolve()
    await first
    assert.is(log.eventCount, 3)
    await log.durable()
    assert.is(log.eventCount, 53)
    assert.is(log.queuedBytes, 0)
    // One for the first three, one for all the others.
    assert.equal(writes, [0, 3])
    await log.close()
  }))

test('calls the listener before durable resolves, and takes what it appends', () =>
  withFolder(async (directory) => {
    const make = eventMaker()
    const order: string[] = []
    const opened = await openTestLog(directory, {
      onCommit: (lines) => {
        order.push(`commit ${lines.length}`)
        if (order.length === 1) opened.log.append(make())
      },
    })
    opened.log.append(make())
    await opened.log.durable().then(() => order.push('durable'))
    await opened.log.durable()
    assert.equal(order.slice(0, 2), ['commit 1', 'durable'])
    assert.is(opened.log.eventCount, 2)
    await opened.log.close()
  }))

test('resolves durable at once when nothing is waiting', () =>
  withFolder(async (directory) => {
    const { log } = await openTestLog(directory)
    await log.durable()
    await log.close()
  }))

test('finds events by id and by time, and tells their kind', () =>
  withFolder(async (directory) => {
    const make = eventMaker()
    const { log } = await openTestLog(directory)
    const events = Array.from({ length: 20 }, (_, number) => make(10, kinds[number % 3]))
    for (const event of events) log.append(event)
    await log.durable()
    events.forEach((event, number) => {
      const upper = upperOf(event)
      const [high, low] = [Number.parseInt(upper.slice(0, 8), 16), Number.parseInt(upper.slice(8), 16)]
      assert.is(log.numberOf({ high, low }), number)
      assert.is(log.firstAtOrAfter(microsOfUpperHalf(upper)), number)
      assert.is(log.firstAtOrAfter(microsOfUpperHalf(upper) + 1), number + 1)
      assert.is(kindPlaceOf(log.markOf(number)), number % 3)
    })
    assert.is(log.numberOf({ high: 0, low: 0 }), -1)
    assert.is(log.numberOf({ high: 0xffff_ffff, low: 0xffff_ffff }), -1)
    assert.is(log.firstAtOrAfter(0), 0)
    await log.close()
  }))

test('reads ranges within a limit of bytes, one event at least, from memory and from the file', () =>
  withFolder(async (directory) => {
    const make = eventMaker()
    const events = Array.from({ length: 50 }, () => make(300))
    const first = await openTestLog(directory)
    for (const event of events) first.log.append(event)
    await first.log.durable()
    const check = async (log: typeof first.log): Promise<void> => {
      assertSameLines(await allEvents(log, 1500), events)
      assertSameLines(await allEvents(log, 0), events)
      assertSameLines(await allEvents(log, 10_000_000), events)
      const range = await log.readRange(10, 20, 10_000_000)
      assert.equal(range.events.map(({ number }) => number), [10, 11, 12, 13, 14, 15, 16, 17, 18, 19])
      assert.is(range.next, 20)
      const some = await log.readRange(10, 20, 2000)
      assert.ok(some.events.length >= 2 && some.events.length < 6)
      assert.is(some.next, 10 + some.events.length)
      assert.equal(await log.readRange(50, 60, 100), { events: [], next: 50 })
      assert.is((await log.readRange(45, 99, 10_000_000)).next, 50)
    }
    await check(first.log)
    await first.log.close()
    const again = await openTestLog(directory)
    await check(again.log)
    const added = make()
    again.log.append(added)
    await again.log.durable()
    assertSameLines(await allEvents(again.log), [...events, added])
    await again.log.close()
  }))

test('refuses to read an event that is not there', () =>
  withFolder(async (directory) => {
    const { log } = await openTestLog(directory)
    for (const number of [0, -1]) {
      const thrown: unknown = await Promise.resolve(log.read(number)).catch((reason: unknown) => reason)
      assert.instance(thrown, RangeError)
    }
    await log.close()
  }))

test('gives the lines after a position, and knows which positions are its own', () =>
  withFolder(async (directory) => {
    const make = eventMaker()
    const { log } = await openTestLog(directory)
    const positions = [log.head]
    const lines: string[] = []
    for (let number = 0; number < 6; number++) {
      const line = number % 2 === 0 ? make() : privateRecord(number)
      lines.push(line)
      log.append(line)
      await log.durable()
      positions.push(log.head)
    }
    for (const [number, position] of positions.entries()) {
      assert.ok(await log.holds(position))
      assertSameLines(await allLines(log, position), lines.slice(number))
      assert.not(await log.holds({ ...position, hash: 'f'.repeat(32) }))
      assert.not(await log.holds({ ...position, offset: position.offset + 1 }))
    }
    const found = []
    for await (const { event, position } of log.lines(positions[0] ?? log.head)) found.push({ event, position })
    assert.equal(found.map(({ event }) => event), [0, undefined, 1, undefined, 2, undefined])
    assert.equal(found.map(({ position }) => position), positions.slice(1))
    await log.close()
  }))

test('refuses lines that are no event or record, too long, or whose ids do not increase', () =>
  withFolder(async (directory) => {
    const { log } = await openTestLog(directory, { lineLimitBytes: 1000 })
    const make = eventMaker()
    const [first, second] = [make(), make()]
    log.append(second)
    assert.throws(() => log.append(first), /expected an id after/)
    assert.throws(() => log.append(second), RangeError)
    assert.throws(() => log.append('{"x":1}'), TypeError)
    assert.throws(() => log.append('{"kind":"Other","id":"01a1fd70-f1c4-7000-8087-fbf7479cb86d"}'), TypeError)
    assert.throws(() => log.append(make(2000)), RangeError)
    await log.durable()
    assert.is(log.eventCount, 1)
    await log.close()
  }))

test('refuses more when too much is waiting, until that is written', () =>
  withFolder(async (directory) => {
    const { log } = await openTestLog(directory, { queueLimitBytes: 3000 })
    const make = eventMaker()
    let appended = 0
    assert.throws(() => {
      for (; appended < 100; appended++) log.append(make(200))
    }, /wait to be written/)
    assert.ok(appended > 5 && appended < 20)
    await log.durable()
    log.append(make())
    await log.close()
    assert.is(log.eventCount, appended + 1)
  }))

test('writes lines larger than a group and many groups in a row in order', () =>
  withFolder(async (directory) => {
    const make = eventMaker()
    const { log } = await openTestLog(directory)
    const lines = Array.from({ length: 12 }, (_, number) => {
      return (number % 4 === 1 ? JSON.stringify(['big', 'x'.repeat(1_500_000)]) : make(300_000))
    })
    for (const line of lines) log.append(line)
    await log.durable()
    assertSameLines(await allLines(log), lines)
    assertSameLines(await allEvents(log, 1_000_000), lines.filter((line) => line.startsWith('{')))
    await log.close()
    const again = await openTestLog(directory)
    assertSameLines(await allLines(again.log), lines)
    await again.log.close()
  }))

test('keeps its index file near its end while it is written, and complete once it is closed', () =>
  withFolder(async (directory) => {
    const make = eventMaker()
    const { log } = await openTestLog(directory)
    const indexSize = async (): Promise<number> => (await stat(join(directory, 'events.index'))).size
    for (let number = 0; number < 5000; number++) {
      log.append(make(5))
      if (number % 500 === 499) await log.durable()
    }
    await log.durable()
    while ((await indexSize()) < 3000 * 16) await new Promise(setImmediate)
    await log.close()
    assert.is(await indexSize(), 5000 * 16)
  }))

test('goes on without an index file that cannot be written', () =>
  withFolder(async (directory) => {
    const failing: Files = {
      open: async (path, options) => {
        const file = await nodeFiles.open(path, options)
        const refuse = (): Promise<void> => Promise.reject(new Error('no'))
        return path.endsWith('index') ? { ...file, write: refuse, truncate: refuse } : file
      },
    }
    const make = eventMaker()
    const { log } = await openTestLog(directory, { files: failing })
    const lines = Array.from({ length: 2500 }, () => make(5))
    for (const line of lines) log.append(line)
    await log.durable()
    log.append(make(5))
    await log.close()
    const again = await openTestLog(directory)
    assert.is(again.log.eventCount, 2501)
    await again.log.close()
  }))

test('says not_found without a folder, and storage_failed when a file cannot be opened or read', () =>
  withFolder(async (directory) => {
    assert.is(await codeOfFailure(openTestLog(join(directory, 'missing'))), 'not_found')
    await mkdir(join(directory, 'events.index'), { recursive: true })
    assert.is(await codeOfFailure(openTestLog(directory)), 'storage_failed')
    const broken: Files = {
      open: async (path, options) => ({
        ...(await nodeFiles.open(path, options)),
        read: () => Promise.reject(Object.assign(new Error('x'), { code: 'EIO' })),
      }),
    }
    const other = join(directory, 'other')
    await mkdir(other)
    await writeFile(join(other, 'events.jsonl'), 'x')
    assert.is(await codeOfFailure(openTestLog(other, { files: broken })), 'storage_failed')
  }))

test('says storage_failed when an event cannot be read any more', () =>
  withFolder(async (directory) => {
    const first = await openTestLog(directory)
    first.log.append(eventMaker()())
    await first.log.close()
    let failing = false
    const files: Files = {
      open: async (path, options) => {
        const file = await nodeFiles.open(path, options)
        const read = (length: number, position: number): Promise<Buffer> =>
          failing ? Promise.reject(new Error('gone')) : file.read(length, position)
        return { ...file, read }
      },
    }
    const { log } = await openTestLog(directory, { files })
    failing = true
    assert.is(await codeOfFailure(Promise.resolve(log.read(0))), 'storage_failed')
    await log.close()
  }))

test('writes what is queued when it is closed, closes once, and takes nothing afterwards', () =>
  withFolder(async (directory) => {
    const make = eventMaker()
    const { log } = await openTestLog(directory)
    log.append(make())
    const closing = log.close()
    assert.is(log.close(), closing)
    assert.throws(() => log.append(make()), /closed/)
    await closing
    const again = await openTestLog(directory)
    assert.is(again.log.eventCount, 1)
    await again.log.reopen()
    await again.log.close()
  }))

test.run()
