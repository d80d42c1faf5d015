/** The pieces of webhooks: settings, signature, waits, a flush that is not put off, and the file of a webhook. */
import { appendFileSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { Limiter } from '../../../src/base/limiter.ts'
import { longestWaitMs, waitBefore } from '../../../src/parts/webhooks/backoff.ts'
import { Delivery } from '../../../src/parts/webhooks/delivery.ts'
import { Journal } from '../../../src/parts/webhooks/journal.ts'
import { Lane, type LaneHost } from '../../../src/parts/webhooks/lane.ts'
import { areWebhooks, readWebhook, readWord } from '../../../src/parts/webhooks/settings.ts'
import { sign } from '../../../src/parts/webhooks/signature.ts'
import { makeFolder } from '../../support/processes.ts'
import { suite } from '../../support/suite.ts'

const test = suite('parts/webhooks units')

test('signs as the published vector of Standard Webhooks', async () => {
  const body = [Buffer.from('{"test": 2432232314}')]
  const request = { id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', timestamp: 1614265330, body }
  const expected = 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE='
  assert.is(await sign('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', request), expected)
  const pieces = [Buffer.from('{"test"'), Buffer.from(': 2432232314}')]
  assert.is(await sign('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', { ...request, body: pieces }), expected)
  assert.is.not(await sign('MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', request), expected)
})

test('a large body is signed in turns of the event loop', async () => {
  let turns = 0
  const count = (): void => void setImmediate(() => {
    turns++
    if (turns < 1000) count()
  })
  count()
  await sign('0123456789abcdef', { id: 'a', timestamp: 1, body: [Buffer.alloc(8 * 1024 * 1024)] })
  assert.ok(turns >= 7)
  turns = 1000
})

test('waits twice as long each time, with jitter, at least as long as asked, an hour at most', () => {
  const base = { retryDelayMs: 5000, retryAfter: undefined, now: 1_000_000, random: 1 }
  assert.equal([1, 2, 3, 4].map((failures) => waitBefore({ ...base, failures })), [5000, 10_000, 20_000, 40_000])
  assert.is(waitBefore({ ...base, failures: 1, random: 0 }), 2500)
  assert.is(waitBefore({ ...base, failures: 60 }), longestWaitMs)
  const after = (retryAfter: string): number => waitBefore({ ...base, failures: 1, retryAfter })
  assert.equal(['60', '1', 'soon', '999999999'].map(after), [60_000, 5000, 5000, longestWaitMs])
  assert.is(after(new Date(1_090_000).toUTCString()), 90_000)
  assert.is(after(new Date(0).toUTCString()), 5000)
})

test('reads an address, an object and their JSON, and refuses everything else', () => {
  const url = 'https://a.example/hooks'
  assert.equal(readWebhook(url), {
    baseUrl: new URL(url), headers: {}, secret: undefined, sendsSessionKey: true, bufferSize: 5, flushDelayMs: 30_000,
    retries: 3, retryDelayMs: 5000, queueLimit: 1000, batchLimitBytes: 5 * 1024 * 1024,
    queueLimitBytes: 50 * 1024 * 1024,
  })
  assert.equal(readWord(`{"base_url":"${url}"}`), { base_url: url })
  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
  assert.is(readWebhook({ base_url: url, secret })?.sendsSessionKey, false)
  assert.is(readWebhook({ base_url: url, secret, send_session_key: true })?.sendsSessionKey, true)
  for (const wrong of [
    'ftp://a.example', 'https://user:pass@a.example', `${url}#part`, '{', '', 7, null, [], {},
    { base_url: url, unknown: 1 }, { base_url: url, num_retries: 1.5 }, { base_url: url, num_retries: '3' },
    { base_url: url, flush_delay: -1 }, { base_url: url, flush_delay: Number.NaN }, { base_url: url, secret: 'short' },
    { base_url: url, secret: 'whsec_###' }, { base_url: url, headers: { 'a b': 'c' } },
    { base_url: url, headers: { a: 'b\r\nc: d' } }, { base_url: url, headers: { 'webhook-id': 'x' } },
    { base_url: url, max_queue_size: 0 }, { base_url: url, send_session_key: 'yes' },
  ]) assert.is(readWebhook(wrong), undefined, JSON.stringify(wrong))
  assert.is(areWebhooks([url, 'https://b.example']), true)
  assert.is(areWebhooks([url, { base_url: url }]), false, 'the same address twice')
})

test('attempts end after the given number, and each wait is the one of the rule', async () => {
  const waits: number[] = []
  const settings = readWebhook('https://a.example/hooks')
  if (settings === undefined) throw new Error('expected settings')
  let opened = 0
  const delivery = new Delivery({
    settings, sessionKey: undefined, clock: () => 1_000_000, random: () => 1,
    sleep: async (ms) => void waits.push(ms),
    open: async () => {
      opened++
      const headers = opened === 2 ? { 'retry-after': '30' } : {}
      return { status: 503, headers, chunks: { [Symbol.asyncIterator]: () => never() }, close: () => undefined }
    },
  })
  const { signal } = new AbortController()
  const outcome = await delivery.deliver({ id: 'a', path: 'conversations', body: [] }, 3, signal, signal)
  assert.equal(waits, [5000, 30_000, 20_000])
  assert.equal(outcome, {
    kind: 'failed', reason: 'https://a.example answered with status 503', status: 503, attempts: 4,
  })
})

test('new events do not put off the flush', async () => {
  const settings = readWebhook({ base_url: 'https://a.example', flush_delay: 0.2, event_buffer_size: 10_000 })
  if (settings === undefined) throw new Error('expected settings')
  let count = 0
  let resolve = (): void => undefined
  const delivered = new Promise<void>((yes) => (resolve = yes))
  const position = { seq: 0, last: undefined, told: undefined }
  const lane = new Lane('00000000-0000-4000-8000-000000000000', {
    ...quietHost,
    settings,
    read: async (_id, use) => use({
      eventCount: count, bytesFrom: () => 1, readRange: async (from, to) => ({ events: eventsOf(from, to), next: to }),
    }),
    positionOf: async () => position,
    deliver: async ({ path }) => {
      if (path.startsWith('events/')) resolve()
      return { kind: 'delivered' }
    },
  })
  // With a delay that begins anew with each event nothing would be delivered while this goes on.
  const adding = setInterval(() => {
    count++
    lane.wake()
  }, 20)
  await delivered
  clearInterval(adding)
  lane.close()
})

test('the file keeps the newest positions and the dead letters, without torn lines', async () => {
  const { folder, remove } = makeFolder()
  const path = join(folder, 'hook.jsonl')
  try {
    const journal = await Journal.open(path, 42)
    for (let seq = 1; seq <= 5000; seq++) await journal.advance('one', { seq, last: `e${seq}`, told: 't' })
    await journal.advance('two', { seq: 7, last: undefined, told: undefined })
    await journal.advance('gone', { seq: 7, last: undefined, told: undefined })
    await journal.forget('gone')
    const letter = {
      id: 'l', conversation_id: 'one', first_event: 1, end_event: 2, reason: 'r', status: 500, attempts: 4,
      failed_at: '2026-11-22T00:00:00.000000Z',
    }
    await journal.addLetter(letter)
    await journal.addLetter({ ...letter, id: 'm' })
    await journal.removeLetter('m')
    await journal.close()
    assert.ok(readFileSync(path, 'utf8').split('\n').length < 2500, 'the file was rewritten meanwhile')
    appendFileSync(path, '{"conversation":"two","se')
    const again = await Journal.open(path, 99)
    assert.is(again.since, 42)
    assert.equal(again.position('one'), { seq: 5000, last: 'e5000', told: 't' })
    assert.equal(again.position('two'), { seq: 7, last: undefined, told: undefined })
    assert.is(again.position('gone'), undefined)
    assert.equal(again.letters, [letter])
    await again.settle('gone', { seq: 9, last: undefined, told: undefined })
    await again.close()
    await again.close()
    const last = await Journal.open(path, 99)
    assert.equal(last.position('gone'), { seq: 9, last: undefined, told: undefined })
    rmSync(path)
    mkdirSync(path)
    await last.advance('gone', { seq: 10, last: undefined, told: undefined })
    const settling = last.settle('gone', { seq: 11, last: undefined, told: undefined })
    assert.match(String(await settling.catch((thrown: unknown) => thrown)), 'EISDIR')
    await last.close()
  } finally {
    remove()
  }
})

function never(): AsyncIterator<Buffer> {
  return { next: () => new Promise(() => undefined) }
}

function eventsOf(from: number, to: number): { number: number; json: Buffer }[] {
  return Array.from({ length: to - from }, (_, place) => ({
    number: from + place, json: Buffer.from(`{"kind":"PauseEvent","id":"${from + place}"}`),
  }))
}

const quiet = (): void => undefined
const quietHost: Omit<LaneHost, 'settings' | 'read' | 'positionOf' | 'deliver'> = {
  log: { debug: quiet, info: quiet, warn: quiet, error: quiet },
  clock: Date.now,
  limiter: new Limiter(8),
  isClosing: () => false,
  isRemoved: () => false,
  createId: () => 'id',
  info: async () => ({}),
  advance: async () => undefined,
  bury: async () => undefined,
  finished: async () => undefined,
  idle: quiet,
}

test.run()
