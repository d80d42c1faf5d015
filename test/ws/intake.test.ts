/** The output of an intake when very much came in at once. The rest of it is tested through connections. */
import * as assert from 'uvu/assert'
import { Intake } from '../../src/ws/intake.ts'
import { defaultLimits } from '../../src/ws/limits.ts'
import { deferred } from '../../src/base/wait.ts'
import { suite } from '../support/suite.ts'
import { frame } from '../support/ws-client.ts'

const test = suite('ws/intake')

const ping = Buffer.from([0x89, 0x80, 0, 0, 0, 0])

function pings(count: number): Buffer {
  return Buffer.concat(Array.from({ length: count }, () => ping))
}

function taken(intake: Intake): number {
  let count = 0
  while (intake.next() !== undefined) count++
  return count
}

test('very many frames in one piece are given in parts, with a turn for others between them', async () => {
  let isReady = false
  const intake = new Intake({ ...defaultLimits, inflater: undefined, onReady: () => (isReady = true) })
  intake.push(pings(320))
  const parts: number[] = []
  for (;;) {
    parts.push(taken(intake))
    if (!intake.isBusy) break
    assert.not.ok(isReady)
    await new Promise((resolve) => setImmediate(resolve))
    assert.ok(isReady)
    isReady = false
  }
  assert.equal(parts, [128, 128, 64])
})

test('pieces with as many frames as data has are given whole', () => {
  const intake = new Intake({
    ...defaultLimits, inflater: undefined, onReady: () => assert.unreachable('It was never busy'),
  })
  for (let piece = 0; piece < 10; piece++) {
    intake.push(pings(120))
    assert.is(taken(intake), 120)
  }
  assert.not.ok(intake.isBusy)
})

test('a long text that is not compressed is decoded in several turns, and the frame after it waits', async () => {
  const words = 'aé€😀'.repeat(400_000)
  const payload = Buffer.from(words)
  const ready = deferred<void>()
  const intake = new Intake({ ...defaultLimits, inflater: undefined, onReady: () => ready.resolve() })
  intake.push(frame(1, payload))
  intake.push(ping)
  assert.is(intake.next(), undefined)
  assert.ok(intake.isBusy)
  let turns = 0
  let timer = setImmediate(function count() {
    turns++
    timer = setImmediate(count)
  })
  await ready.promise
  clearImmediate(timer)
  assert.ok(turns >= 4, `${turns} turns`)
  const message = intake.next()
  assert.ok(message?.kind === 'text' && message.text === words)
  assert.is(intake.next()?.kind, 'ping')
  assert.ok(intake.isEmpty)
})

test('a long text that is not UTF-8 breaks the rule', async () => {
  const ready = deferred<void>()
  const intake = new Intake({ ...defaultLimits, inflater: undefined, onReady: () => ready.resolve() })
  intake.push(frame(1, Buffer.alloc(2 * 1024 * 1024, 0xff)))
  assert.is(intake.next(), undefined)
  await ready.promise
  assert.equal(intake.next(), { kind: 'broken', rule: 'text_not_utf8' })
})

test('one that is closed while others have their turn says nothing more', async () => {
  const intake = new Intake({
    ...defaultLimits, inflater: undefined, onReady: () => assert.unreachable('It was closed'),
  })
  intake.push(pings(200))
  assert.is(taken(intake), 128)
  intake.close()
  await new Promise((resolve) => setImmediate(resolve))
})

test.run()
