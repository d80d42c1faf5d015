import * as assert from 'uvu/assert'
import { suite } from '../../support/suite.ts'
import { createStamper } from '../../../src/base/stamp.ts'
import { Feed } from '../../../src/conversation/log/feed.ts'
import { Journal } from '../../../src/conversation/log/journal.ts'
import { initialState } from '../../../src/conversation/log/state.ts'
import { eventKinds } from '../../../src/schema/generated/events.ts'
import { LineCache } from '../../../src/storage/line-cache.ts'
import { openLog, type CommitListener, type ConversationLog } from '../../../src/storage/log.ts'
import { created, failureOf, say, startMillis, until, withWorld } from '../../support/conversation.ts'
import { TestDisk } from '../../support/test-disk.ts'

const test = suite('conversation/log/journal')

interface Setup {
  readonly journal: Journal
  readonly log: ConversationLog
  readonly feed: Feed
  readonly refused: unknown[]
  readonly disk: TestDisk
  /** The frames that a reader got, in words. */
  readonly got: string[]
  readonly changes: string[]
  failures: number
}

async function withJournal(body: (setup: Setup) => Promise<void>, backlogLimitBytes = 1000): Promise<void> {
  await withWorld(async ({ folder }) => {
    const disk = new TestDisk()
    const log = await openLog({
      directory: folder, kinds: eventKinds, cache: new LineCache(), files: disk, lineLimitBytes: 10_000,
      onDamage: () => undefined,
    })
    const feed = new Feed(log, 2)
    const got: string[] = []
    const changes: string[] = []
    const refused: unknown[] = []
    const setup = { refused, disk, got, changes, failures: 0 }
    feed.join(0, (json) => json, { write: (json) => got.push(wordIn(json)) > 0, end: () => undefined })
    const journal = new Journal({
      log, feed, backlogLimitBytes,
      state: initialState(created()),
      nextStamp: createStamper(() => startMillis, (size) => Buffer.alloc(size)),
      onChange: () => changes.push(String(journal.state.leaf_event_id)),
    })
    const whole = Object.assign(setup, { journal, log, feed })
    journal.follow({ logFailed: () => whole.failures++, recordRefused: (cause) => refused.push(cause) })
    try {
      await body(whole)
    } finally {
      disk.heal()
      disk.release()
      await log.close()
    }
  })
}

function wordIn(json: Buffer): string {
  return /"text":"([^"]*)"/.exec(json.toString())?.[1] ?? json.toString()
}

test('nobody sees an event before it is durable: not the state, not a reader', async () => {
  await withJournal(async ({ journal, disk, got, changes }) => {
    disk.hold()
    const { id, durable } = journal.record(say('one'))
    await until(() => disk.waiting > 0)
    assert.equal([got, changes, journal.state.leaf_event_id], [[], [], null])
    disk.release()
    await durable()
    assert.equal([got, changes, journal.state.leaf_event_id], [['one'], [id], id])
  })
})

test('the place of an event is the order of calls', async () => {
  await withJournal(async ({ journal, got }) => {
    for (let number = 0; number < 50; number++) {
      journal.record(say(String(number)))
      if (number % 7 === 0) await journal.durable()
    }
    await journal.durable()
    assert.equal(got, Array.from({ length: 50 }, (_, number) => String(number)))
  })
})

test('a pushed frame waits for the events before it, and for no others', async () => {
  await withJournal(async ({ journal, disk, got }) => {
    const push = (word: string): void => journal.push(Buffer.from(word))
    push('first')
    assert.equal(got, ['first'])
    disk.hold()
    journal.record(say('one'))
    push('second')
    push('third')
    journal.keep(['head', null])
    push('fourth')
    await until(() => disk.waiting > 0)
    journal.record(say('two'))
    push('fifth')
    assert.equal(got, ['first'])
    disk.release()
    await journal.durable()
    assert.equal(got, ['first', 'one', 'second', 'third', 'fourth', 'two', 'fifth'])
    assert.not.match(got.join(), 'head')
  })
})

test('the newest status counts before it is durable', async () => {
  await withJournal(async ({ journal, disk }) => {
    disk.hold()
    journal.move('run')
    journal.move('run')
    assert.is(journal.status, 'running')
    assert.is(journal.state.execution_status, 'idle')
    disk.release()
    await journal.durable()
    assert.is(journal.state.execution_status, 'running')
  })
})

test('ready waits while too much waits for the disk, frames included', async () => {
  for (const flood of [
    (journal: Journal) => void journal.record(say('x'.repeat(2000))),
    (journal: Journal) => {
      journal.record(say('x'))
      for (let number = 0; number < 20; number++) journal.push(Buffer.alloc(100, 0x78))
    },
  ]) {
    await withJournal(async ({ journal, disk }) => {
      assert.is(journal.ready(), undefined)
      disk.hold()
      flood(journal)
      let ready = 0
      const both = [journal.ready(), journal.ready()].map((waits) => waits?.then(() => ready++))
      await until(() => disk.waiting > 0)
      assert.is(ready, 0)
      disk.release()
      await Promise.all(both)
      await journal.durable()
      await journal.ready()
    })
  }
})

test('a failure is told once, frees who waits for room, and refuses what comes', async () => {
  await withJournal(async (setup) => {
    const { journal, disk, got } = setup
    disk.fail('EIO')
    const lost = journal.record(say('x'.repeat(2000)))
    const waits = journal.ready()
    assert.is(await failureOf(lost.durable()), 'storage_failed')
    await waits
    await journal.ready()
    assert.is(setup.failures, 1)
    disk.heal()
    assert.throws(() => journal.record(say('refused')))
    assert.throws(() => journal.keep(['head', null]))
    journal.push(Buffer.from('dropped'))
    assert.is(await failureOf(journal.durable()), 'storage_failed')
    assert.equal(got, [])
  })
})

test('a failure ends the open text, so that a reader who joins later gets none of it', async () => {
  await withJournal(async (setup) => {
    const { journal, disk, feed, got } = setup
    journal.delta({ field: 'content', text: 'half a', json: Buffer.from('half a'), id: '', timestamp: '' })
    disk.fail('EIO')
    journal.record(say('lost'))
    journal.endText()
    await until(() => setup.failures === 1)
    const late: string[] = []
    feed.join(0, (json) => json, { write: (json) => late.push(json.toString()) > 0, end: () => undefined })
    feed.publish({ sequence: 0, json: Buffer.from('next') })
    assert.equal([got, late], [['half a', 'next'], ['next']])
  })
})

test('nobody need wait for a failure to be told', async () => {
  await withJournal(async (setup) => {
    setup.journal.record(say('kept'))
    await setup.journal.durable()
    setup.disk.fail('EIO')
    setup.journal.keep(['head', null])
    await until(() => setup.failures === 1)
  })
})

test('after it is reopened a journal goes on from what is durable', async () => {
  await withJournal(async ({ journal, disk, got }) => {
    journal.record(say('one'))
    await journal.durable()
    disk.fail('EIO')
    journal.move('run')
    journal.record(say('lost'))
    assert.is(await failureOf(journal.durable()), 'storage_failed')
    assert.is(await failureOf(journal.reopen()), 'storage_failed')
    assert.throws(() => journal.record(say('refused')))
    disk.heal()
    const reopened = journal.reopen()
    assert.throws(() => journal.record(say('refused, since it would be cut off')))
    await reopened
    assert.is(journal.status, 'idle')
    journal.record(say('two'))
    await journal.durable()
    assert.equal(got, ['one', 'two'])
  })
})

test('what the log refuses has no place and changes no status', async () => {
  await withJournal(async ({ journal, got }) => {
    assert.throws(() => journal.record(say('x'.repeat(20_000))), /Cannot append/)
    journal.record(say('one'))
    await journal.durable()
    assert.equal(got, ['one'])
  })
})

test('a line that was never appended is a mistake of ours', async () => {
  await withJournal(async ({ log }) => {
    let listener: CommitListener = () => undefined
    const durable = async (): Promise<void> => undefined
    new Journal({
      log: { listen: (given) => (listener = given), append: () => undefined, durable, reopen: durable },
      feed: new Feed(log, 2), state: initialState(created()),
      nextStamp: createStamper(() => startMillis, (size) => Buffer.alloc(size)),
      backlogLimitBytes: 1, onChange: () => undefined,
    })
    assert.throws(() => listener([{ json: Buffer.from('x'), event: 0 }]), /did not append/)
    assert.throws(() => log.listen(() => undefined), /has a listener already/)
  })
})

test('a record that the log refuses goes to the follower, and not to the one who records', async () => {
  await withJournal(async ({ journal, refused }) => {
    journal.attempt(() => journal.record(say('x'.repeat(20_000))))
    assert.is(refused.length, 1)
    assert.throws(
      () => journal.follow({ logFailed: () => undefined, recordRefused: () => undefined }), /follower already/,
    )
    assert.throws(() => journal.record(say('x'.repeat(20_000))))
  })
})

test.run()
