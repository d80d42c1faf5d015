import * as assert from 'uvu/assert'
import { silentLog, type LogFields } from '../../../src/base/log.ts'
import { suite } from '../../support/suite.ts'
import { Feed, type FeedEnd, type Sink } from '../../../src/conversation/log/feed.ts'
import { printDelta } from '../../../src/conversation/log/frames.ts'
import type { EventRange } from '../../../src/storage/log-reader.ts'

const test = suite('conversation/log/feed')

/** A log in memory whose reads are answered when the test says so. */
class FakeLog {
  readonly lines: Buffer[] = []
  /** At most this many lines a read. */
  pageSize = 100
  reads = 0
  fail = false
  /** Number of an event that cannot be read. */
  damaged: number | undefined

  get eventCount(): number {
    return this.lines.length
  }

  async readRange(from: number, to: number): Promise<EventRange> {
    this.reads++
    await Promise.resolve()
    if (this.fail) throw new Error('disk')
    const next = Math.min(to, from + this.pageSize)
    const events = this.lines.slice(from, next).map((json, index) => ({ number: from + index, json }))
    return { events: events.filter(({ number }) => number !== this.damaged), next }
  }

  append(...texts: string[]): void {
    for (const text of texts) this.lines.push(Buffer.from(text))
  }
}

class FakeSink implements Sink {
  readonly got: string[] = []
  room = Number.POSITIVE_INFINITY
  ended: FeedEnd | undefined

  write(encoded: Buffer): boolean {
    if (this.room === 0) return false
    this.room--
    this.got.push(encoded.toString())
    return true
  }

  end(reason: FeedEnd): void {
    this.ended = reason
  }
}

/** Takes the events of one read as one piece. Each event needs one place of its room. */
class FakeManySink extends FakeSink {
  get isFull(): boolean {
    return this.room === 0
  }

  writeMany(events: readonly Buffer[]): boolean {
    return this.write(Buffer.from(events.join('+')))
  }
}

const same = (json: Buffer): Buffer => json

function commit(log: FakeLog, feed: Feed, ...texts: string[]): void {
  const first = log.eventCount
  log.append(...texts)
  texts.forEach((text, index) => feed.publish({ sequence: first + index, json: Buffer.from(text) }))
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve))
}

test('gives live events to a reader at the head, in order', () => {
  const log = new FakeLog()
  const feed = new Feed(log, 10)
  const sink = new FakeSink()
  feed.join(0, same, sink)
  commit(log, feed, 'a', 'b')
  commit(log, feed, 'c')
  assert.equal(sink.got, ['a', 'b', 'c'])
  assert.is(log.reads, 0)
})

test('replays from the log and then goes on live without a gap or a double', async () => {
  const log = new FakeLog()
  log.pageSize = 2
  const feed = new Feed(log, 10)
  commit(log, feed, 'a', 'b', 'c', 'd', 'e')
  const sink = new FakeSink()
  feed.join(1, same, sink)
  commit(log, feed, 'f')
  await until(() => sink.got.length === 5)
  commit(log, feed, 'g')
  assert.equal(sink.got, ['b', 'c', 'd', 'e', 'f', 'g'])
})

test('gives nothing twice when a group is durable and its first event is not published yet', async () => {
  const log = new FakeLog()
  const feed = new Feed(log, 10)
  commit(log, feed, 'a')
  log.append('b', 'c')
  const [replaying, live] = [new FakeSink(), new FakeSink()]
  feed.join(0, same, replaying)
  feed.join(log.eventCount, same, live)
  await until(() => replaying.got.length === 3)
  feed.publish({ sequence: 1, json: Buffer.from('b') })
  feed.push(Buffer.from('delta'))
  feed.publish({ sequence: 2, json: Buffer.from('c') })
  commit(log, feed, 'd')
  assert.equal(replaying.got, ['a', 'b', 'c', 'd'])
  assert.equal(live.got, ['d'])
})

test('counts the readers that are behind', async () => {
  const log = new FakeLog()
  const feed = new Feed(log, 10)
  commit(log, feed, 'a')
  log.append('b')
  const [live, full] = [new FakeSink(), new FakeSink()]
  feed.join(log.eventCount, same, live)
  const reader = feed.join(log.eventCount, same, full)
  assert.is(feed.readersBehind, 0, 'a durable event that is not published yet is not lacking')
  feed.publish({ sequence: 1, json: Buffer.from('b') })
  full.room = 0
  commit(log, feed, 'c')
  assert.is(feed.readersBehind, 1)
  full.room = 10
  reader.drained()
  await until(() => full.got.length === 1)
  await until(() => feed.readersBehind === 0)
  reader.close()
  assert.is(feed.readersBehind, 0)
})

test('a full reader takes nothing more until it has drained, then reads on from the log', async () => {
  const log = new FakeLog()
  const feed = new Feed(log, 10)
  const sink = new FakeSink()
  const reader = feed.join(0, same, sink)
  sink.room = 1
  commit(log, feed, 'a', 'b', 'c')
  assert.equal(sink.got, ['a'])
  sink.room = 2
  reader.drained()
  await until(() => sink.got.length === 3)
  assert.equal(sink.got, ['a', 'b', 'c'])
  sink.room = 100
  reader.drained()
  commit(log, feed, 'd')
  assert.equal(sink.got, ['a', 'b', 'c', 'd'])
})

test('gives a sink that takes many what one read gave in one piece, and reads nothing while it is full', async () => {
  const log = new FakeLog()
  log.pageSize = 2
  const feed = new Feed(log, 10)
  commit(log, feed, 'a', 'b', 'c', 'd', 'e')
  const sink = new FakeManySink()
  sink.room = 2
  const reader = feed.join(0, same, sink)
  await until(() => sink.isFull)
  await new Promise((resolve) => setImmediate(resolve))
  assert.equal(sink.got, ['a+b', 'c+d'])
  assert.is(log.reads, 2)
  commit(log, feed, 'f')
  sink.room = 100
  reader.drained()
  await until(() => sink.got.length === 3)
  commit(log, feed, 'g')
  assert.equal(sink.got, ['a+b', 'c+d', 'e+f', 'g'])
})

test('reads a range again that a sink did not take', async () => {
  const log = new FakeLog()
  const feed = new Feed(log, 10)
  commit(log, feed, 'a', 'b')
  const sink = new FakeManySink()
  const reader = feed.join(0, same, sink)
  sink.room = 0
  await until(() => log.reads === 1)
  await new Promise((resolve) => setImmediate(resolve))
  assert.equal(sink.got, [])
  sink.room = 1
  reader.drained()
  await until(() => sink.got.length === 1)
  assert.equal(sink.got, ['a+b'])
})

test('one full reader does not hold back another', () => {
  const log = new FakeLog()
  const feed = new Feed(log, 10)
  const slow = new FakeSink()
  slow.room = 1
  const fast = new FakeSink()
  feed.join(0, same, slow)
  feed.join(0, same, fast)
  commit(log, feed, 'a', 'b', 'c')
  assert.equal(slow.got, ['a'])
  assert.equal(fast.got, ['a', 'b', 'c'])
})

test('encodes an event once for all readers with the same encoding', () => {
  const log = new FakeLog()
  const feed = new Feed(log, 10)
  let calls = 0
  const encode = (json: Buffer): Buffer => {
    calls++
    return json
  }
  feed.join(0, encode, new FakeSink())
  feed.join(0, encode, new FakeSink())
  const other = new FakeSink()
  feed.join(0, (json) => Buffer.from(`<${json.toString()}>`), other)
  commit(log, feed, 'a')
  assert.is(calls, 1)
  assert.equal(other.got, ['<a>'])
})

test('pushed frames reach readers at the head only', () => {
  const log = new FakeLog()
  const feed = new Feed(log, 10)
  const atHead = new FakeSink()
  const full = new FakeSink()
  full.room = 1
  feed.join(0, same, atHead)
  feed.join(0, same, full)
  commit(log, feed, 'a')
  feed.push(Buffer.from('delta'))
  assert.equal(atHead.got, ['a', 'delta'])
  assert.equal(full.got, ['a'])
})

test('a frame pushed between two events of one commit keeps its place', () => {
  const log = new FakeLog()
  const feed = new Feed(log, 10)
  const sink = new FakeSink()
  feed.join(0, same, sink)
  log.append('a', 'b')
  feed.publish({ sequence: 0, json: Buffer.from('a') })
  feed.push(Buffer.from('delta'))
  feed.publish({ sequence: 1, json: Buffer.from('b') })
  assert.equal(sink.got, ['a', 'delta', 'b'])
})

const piece = (text: string): ReturnType<typeof printDelta> => {
  return printDelta('content', text, { id: text, timestamp: '2026-11-21T12:00:00.000000Z' })
}
const wordsOf = ({ got }: FakeSink): string[] => got.map((text) => /"content":"([^"]*)"/.exec(text)?.[1] ?? text)

test('a reader that joins between two pieces gets the text so far, then newer pieces; other readers do not', async () => {
  const log = new FakeLog()
  const feed = new Feed(log, 10)
  const [early, joining, replaying] = [new FakeSink(), new FakeSink(), new FakeSink()]
  feed.join(0, same, early)
  commit(log, feed, 'a')
  feed.delta(piece('one '))
  feed.delta(piece('two '))
  feed.join(1, same, joining)
  feed.join(0, same, replaying)
  assert.equal(wordsOf(joining), ['one two '])
  await until(() => replaying.got.length === 2)
  feed.delta(piece('three'))
  assert.equal(wordsOf(early), ['a', 'one ', 'two ', 'three'])
  assert.equal(wordsOf(joining), ['one two ', 'three'])
  assert.equal(wordsOf(replaying), ['a', 'one two ', 'three'])
  feed.endText()
  const late = new FakeSink()
  feed.join(1, same, late)
  feed.delta(piece('other'))
  assert.equal(wordsOf(late), ['other'])
})

test('a reader that was full gets the pieces that it missed, once', () => {
  const log = new FakeLog()
  const feed = new Feed(log, 10)
  const sink = new FakeSink()
  const reader = feed.join(0, same, sink)
  feed.delta(piece('one '))
  sink.room = 0
  feed.delta(piece('two '))
  feed.delta(piece('three '))
  sink.room = 1
  reader.drained()
  assert.equal(wordsOf(sink), ['one ', 'two three '])
  feed.delta(piece('four'))
  sink.room = 2
  reader.drained()
  reader.drained()
  assert.equal(wordsOf(sink), ['one ', 'two three ', 'four'])
})

test('a reader ahead of the published events gets the text when the events are published', () => {
  const log = new FakeLog()
  const feed = new Feed(log, 10)
  const sink = new FakeSink()
  log.append('a')
  feed.delta(piece('one '))
  feed.join(1, same, sink)
  assert.equal(sink.got, [])
  feed.publish({ sequence: 0, json: Buffer.from('a') })
  feed.delta(piece('two'))
  assert.equal(wordsOf(sink), ['one ', 'two'])
})

test('refuses a reader above the limit and takes one again when another has left', () => {
  const feed = new Feed(new FakeLog(), 1)
  const reader = feed.join(0, same, new FakeSink())
  assert.throws(() => feed.join(0, same, new FakeSink()), /Too many connections/)
  reader.close()
  feed.join(0, same, new FakeSink())
  assert.is(feed.readerCount, 1)
})

test('a closed reader hears nothing more, not even the end', async () => {
  const log = new FakeLog()
  const feed = new Feed(log, 10)
  commit(log, feed, 'a')
  const sink = new FakeSink()
  const reader = feed.join(0, same, sink)
  reader.close()
  await until(() => log.reads === 1)
  commit(log, feed, 'b')
  reader.drained()
  feed.close('closed')
  assert.equal(sink.got, [])
  assert.is(sink.ended, undefined)
})

test('tells readers why it ends, each once', () => {
  const feed = new Feed(new FakeLog(), 10)
  const sink = new FakeSink()
  const reader = feed.join(0, same, sink)
  feed.close('deleted')
  reader.end('closed')
  assert.is(sink.ended, 'deleted')
  assert.is(feed.readerCount, 0)
})

test('leaves out an event that is damaged and goes on behind it', async () => {
  const log = new FakeLog()
  log.pageSize = 2
  log.damaged = 3
  const feed = new Feed(log, 10)
  commit(log, feed, 'a', 'b', 'c', 'd', 'e')
  const sink = new FakeSink()
  feed.join(0, same, sink)
  await until(() => sink.got.length === 4)
  commit(log, feed, 'f')
  assert.equal(sink.got, ['a', 'b', 'c', 'e', 'f'])
})

test('ends a reader whose events cannot be read, and tells the log the reason', async () => {
  const log = new FakeLog()
  const told: unknown[] = []
  const error = (message: string, fields?: LogFields): void => void told.push([message, String(fields?.['error'])])
  const feed = new Feed(log, 10, undefined, { ...silentLog, error })
  commit(log, feed, 'a')
  log.fail = true
  const sink = new FakeSink()
  feed.join(0, same, sink)
  await until(() => sink.ended !== undefined)
  assert.is(sink.ended, 'failed')
  assert.equal(told, [['A reader ends: the history cannot be read', 'Error: disk']])
})

test.run()
