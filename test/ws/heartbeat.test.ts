import * as assert from 'uvu/assert'
import { deferred } from '../../src/base/wait.ts'
import { Heartbeat } from '../../src/ws/heartbeat.ts'
import { suite } from '../support/suite.ts'

const test = suite('ws/heartbeat')

test('asks after silence, and gives up when no answer comes', async () => {
  const events: string[] = []
  const dead = deferred<void>()
  const ping = (): boolean => events.push('ping') > 0
  const heartbeat = new Heartbeat({ pingIntervalMs: 5, pongTimeoutMs: 50 }, { ping, onSilence: dead.resolve })
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
  const heartbeat = new Heartbeat({ pingIntervalMs: 5, pongTimeoutMs: 5000 }, {
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
  const heartbeat = new Heartbeat({ pingIntervalMs: 5, pongTimeoutMs: 0 }, {
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
  const heartbeat = new Heartbeat({ pingIntervalMs: 5, pongTimeoutMs: 5 }, { ping: () => true, onSilence })
  await again.promise
  heartbeat.close()
})

test('does nothing after it was closed', async () => {
  const calls: string[] = []
  const heartbeat = new Heartbeat(
    { pingIntervalMs: 1, pongTimeoutMs: 1 },
    { ping: () => calls.push('ping') > 0, onSilence: () => void calls.push('dead') },
  )
  heartbeat.close()
  heartbeat.close()
  await new Promise((resolve) => setTimeout(resolve, 5))
  assert.equal(calls, [])
})

test.run()
