/** How agents share the slots: order, idle time, making room, giving up. */
import * as assert from 'uvu/assert'
import { AgentSlots, type AgentSlot } from '../../../src/agents/acp/session/slots.ts'
import { AppError } from '../../../src/base/errors.ts'
import { suite } from '../../support/suite.ts'
import { manualTimers } from './manual-timers.ts'

const test = suite('acp slots')
const never = new AbortController().signal

async function take(slots: AgentSlots, end: () => void = () => undefined): Promise<AgentSlot> {
  return slots.take('conversation', end, never)
}

test('gives slots up to the limit, then first come first served', async () => {
  const slots = new AgentSlots({ limit: 2, timers: manualTimers() })
  const [first, second] = [await take(slots), await take(slots)]
  const order: string[] = []
  const third = take(slots).then((slot) => (order.push('third'), slot))
  const fourth = take(slots).then((slot) => (order.push('fourth'), slot))
  assert.equal([slots.running, slots.waiting, slots.isFull], [2, 2, true])
  first.release()
  first.release()
  await third
  assert.equal([slots.running, slots.waiting], [2, 1])
  second.release()
  await fourth
  assert.equal(order, ['third', 'fourth'])
  ;(await third).release()
  ;(await fourth).release()
  assert.equal([slots.running, slots.waiting, slots.isFull], [0, 0, false])
})

test('does not let anybody overtake one who has been given a slot', async () => {
  const slots = new AgentSlots({ limit: 1, timers: manualTimers() })
  const first = await take(slots)
  const second = take(slots)
  first.release()
  const third = take(slots)
  assert.is(slots.waiting, 1)
  ;(await second).release()
  ;(await third).release()
})

test('ends an agent that has been idle for its time, once', async () => {
  const timers = manualTimers()
  const slots = new AgentSlots({ idleMs: 1000, timers })
  let ended = 0
  const slot = await take(slots, () => ended++)
  slot.idle()
  slot.idle()
  timers.advanceTo(999)
  slot.busy()
  timers.advanceTo(5000)
  assert.is(ended, 0)
  slot.idle()
  timers.advanceTo(6000)
  assert.is(ended, 1)
  slot.release()
  slot.idle()
  assert.is(timers.waiting, 0)
})

test('ends the agent that has been idle longest when somebody waits', async () => {
  const slots = new AgentSlots({ limit: 2, timers: manualTimers() })
  const ended: string[] = []
  const older: AgentSlot = await slots.take('conversation', () => (ended.push('older'), older.release()), never)
  const newer: AgentSlot = await slots.take('conversation', () => (ended.push('newer'), newer.release()), never)
  newer.idle()
  newer.busy()
  older.idle()
  newer.idle()
  await take(slots)
  assert.equal(ended, ['older'])
})

test('makes room as soon as a busy agent becomes idle', async () => {
  const slots = new AgentSlots({ limit: 1, timers: manualTimers() })
  const slot: AgentSlot = await slots.take('conversation', () => slot.release(), never)
  const waiting = take(slots)
  slot.idle()
  await waiting
  assert.is(slots.running, 1)
})

test('leaves the queue when its signal is aborted, also in the moment it is served', async () => {
  const slots = new AgentSlots({ limit: 1, timers: manualTimers() })
  const first = await take(slots)
  const given = new AbortController()
  const waiting = slots.take('conversation', () => undefined, given.signal)
  const served = new AbortController()
  const lucky = slots.take('conversation', () => undefined, served.signal)
  const last = take(slots)
  given.abort(new Error('enough'))
  assert.match(await failure(waiting), /enough/)
  served.abort(new Error('too late'))
  first.release()
  assert.match(await failure(lucky), /too late/)
  ;(await last).release()
  assert.equal([slots.running, slots.waiting, slots.isFull], [0, 0, false])
  assert.match(await failure(slots.take('conversation', () => undefined, served.signal)), /too late/)
})

test('refuses more than the queue holds', async () => {
  const slots = new AgentSlots({ limit: 1, timers: manualTimers() })
  await take(slots)
  for (let waiting = 0; waiting < 1000; waiting += 1) void take(slots)
  try {
    await take(slots)
    assert.unreachable()
  } catch (error) {
    assert.is(error instanceof AppError && error.code, 'unavailable')
  }
})

async function failure(promise: Promise<unknown>): Promise<string> {
  return promise.then(() => 'none', String)
}

test('tells who waits, the next one first', async () => {
  const slots = new AgentSlots({ limit: 1, timers: manualTimers() })
  const first = await slots.take('a', () => undefined, never)
  const second = slots.take('b', () => undefined, never)
  const given = new AbortController()
  const left = failure(slots.take('c', () => undefined, given.signal))
  const last = slots.take('d', () => undefined, never)
  assert.equal(slots.queue, ['b', 'c', 'd'])
  given.abort(new Error('too late'))
  await left
  assert.equal(slots.queue, ['b', 'd'])
  first.release()
  assert.equal(slots.queue, ['d'])
  ;(await second).release()
  assert.equal(slots.queue, [])
  ;(await last).release()
})

test.run()
