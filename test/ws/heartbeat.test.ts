import * as assert from 'uvu/assert'
import { deferred } from '../../src/base/wait.ts'
import { Heartbeat, Pulse } from '../../src/ws/heartbeat.ts'
import { suite } from '../support/suite.ts'

const test = suite('ws/heartbeat')

test('asks after silence, and gives up when no answer comes', async () => {
  const events: string[] = []
  const dead = deferred<void>()
  const ping = (): boolean => events.push('ping') > 0
  const pulse = new Pulse({ pingIntervalMs: 5, pongTimeoutMs: 50 })
  const heartbeat = new Heartbeat(pulse, { ping, onSilence: dead.resolve })
  await dead.promise
  assert.equal(events, ['ping'])
  heartbeat.close()
})

test('asks again and again while something is heard', async () => {
  const enough = deferred<void>()
  let pings = 0
  const ping = (): boolean => {
    pings++
    if (pings === 3) enough.resolve()
    setImmediate(() => heartbeat.heard())
    return true
  }
  const heartbeat = new Heartbeat(new Pulse({ pingIntervalMs: 5, pongTimeoutMs: 5000 }), {
    ping, onSilence: () => enough.reject(new Error('dead')),
  })
  await enough.promise
  heartbeat.close()
})

test('does not give up while it was pointless to ask', async () => {
  const enough = deferred<void>()
  let pings = 0
  const ping = (): boolean => {
    pings++
    if (pings === 3) enough.resolve()
    return false
  }
  const heartbeat = new Heartbeat(new Pulse({ pingIntervalMs: 5, pongTimeoutMs: 0 }), {
    ping, onSilence: () => enough.reject(new Error('dead')),
  })
  await enough.promise
  heartbeat.close()
})

test('asks again when its owner did not give up', async () => {
  const again = deferred<void>()
  let deaths = 0
  const onSilence = (): void => {
    deaths++
    if (deaths === 2) again.resolve()
  }
  const heartbeat = new Heartbeat(new Pulse({ pingIntervalMs: 5, pongTimeoutMs: 5 }), { ping: () => true, onSilence })
  await again.promise
  heartbeat.close()
})

test('does nothing after it was closed', async () => {
  const calls: string[] = []
  const heartbeat = new Heartbeat(
    new Pulse({ pingIntervalMs: 1, pongTimeoutMs: 1 }),
    { ping: () => calls.push('ping') > 0, onSilence: () => void calls.push('dead') },
  )
  heartbeat.close()
  heartbeat.close()
  await new Promise((resolve) => setTimeout(resolve, 5))
  assert.equal(calls, [])
})

test('shares one timer, which keeps on for those that are left', async () => {
  const pulse = new Pulse({ pingIntervalMs: 5, pongTimeoutMs: 5000 })
  const asked = deferred<void>()
  const calls: string[] = []
  const gone = new Heartbeat(pulse, { ping: () => calls.push('ping') > 0, onSilence: () => undefined })
  const left = new Heartbeat(pulse, {
    ping() {
      asked.resolve()
      return true
    },
    onSilence: () => undefined,
  })
  gone.close()
  await asked.promise
  assert.equal(calls, [])
  left.close()
})

test('counts whole beats only: the first beat may come at once', () => {
  let pings = 0
  const pulse = new Pulse({ pingIntervalMs: 80_000, pongTimeoutMs: 80_000 })
  const heartbeat = new Heartbeat(pulse, { ping: () => ++pings > 0, onSilence: () => undefined })
  for (let beat = 0; beat < pulse.pingBeats; beat++) heartbeat.beat()
  assert.is(pings, 0)
  heartbeat.beat()
  assert.is(pings, 1)
  heartbeat.close()
})

test('asks thousands of connections in several turns, and none that closed meanwhile', async () => {
  const pulse = new Pulse({ pingIntervalMs: 5, pongTimeoutMs: 5000 })
  const turns: number[] = []
  const done = deferred<void>()
  let inTurn = 0
  const ping = (): boolean => {
    if (inTurn++ === 0) setImmediate(() => {
      turns.push(inTurn)
      inTurn = 0
      if (turns.length === 1) heartbeats[1200]?.close()
      if (turns.length === 3) done.resolve()
    })
    return true
  }
  const heartbeats = Array.from({ length: 1202 }, () => new Heartbeat(pulse, { ping, onSilence: () => undefined }))
  await done.promise
  assert.equal(turns, [500, 500, 201])
  for (const heartbeat of heartbeats) heartbeat.close()
})

test.run()
