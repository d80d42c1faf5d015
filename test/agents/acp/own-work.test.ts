/**
 * Work that an agent begins by itself, after its prompt was answered: recorded, asked about, counted, ended, stopped.
 */
import * as assert from 'uvu/assert'
import { AppError } from '../../../src/base/errors.ts'
import { deferred } from '../../../src/base/wait.ts'
import type { TurnEnd } from '../../../src/conversation/agent/agent.ts'
import { suite } from '../../support/suite.ts'
import { manualTimers } from './manual-timers.ts'
import type { MemoryHost } from './memory-host.ts'
import { isAlive, withAgent } from './with-agent.ts'

const test = suite('acp own work')
const finished: TurnEnd = { outcome: 'finished', served: true }
const kinds = ['MessageEvent', 'ActionEvent', 'ObservationEvent', 'ActionEvent', 'ObservationEvent', 'MessageEvent']

/** Resolves when the agent asks for a run. */
function begun(host: MemoryHost): Promise<void> {
  const asked = deferred<void>()
  host.begun = asked.resolve
  return asked.promise
}

/** Returns the kinds of the events behind the first `count`. */
function since(host: MemoryHost, count: number): readonly string[] {
  return host.events.slice(count).map(({ kind }) => kind)
}

// No time passes here: nothing but the sign can end it.
test('takes the work as a turn that says who began it, and ends with the sign of the agent', () => withAgent(
  'own-work',
  async ({ agent, host }) => {
    const wake = begun(host)
    assert.equal(await agent.runTurn(host.turn('go')), finished)
    const before = host.events.length
    await wake
    assert.equal(await agent.runTurn(host.turn('', { isOwn: true })), finished)
    assert.match(JSON.stringify(host.events[before]), /"source":"environment".*The agent has begun to work by itself/)
    assert.equal(since(host, before), kinds)
    assert.match(host.text(), /"command":"ls".*a file.*"command":"touch made".*touched/)
    assert.is(host.usages.at(-1)?.cost, 0.5)
  },
  { options: { timers: manualTimers() } },
))

test('a long update that was held is taken before what came after it', () => withAgent('own-work-long', async (
  { agent, host },
) => {
  const wake = begun(host)
  assert.equal(await agent.runTurn(host.turn('go')), finished)
  const before = host.events.length
  await wake
  assert.equal(await agent.runTurn(host.turn('', { isOwn: true })), finished)
  assert.equal(since(host, before), ['MessageEvent', 'ActionEvent', 'ObservationEvent', 'MessageEvent'])
  assert.match(host.text(), /begin yyy.*yyy end.*I have looked/)
}))

test('asks under the policy', () => withAgent('own-work', async ({ agent, host }) => {
  host.confirmation = { kind: 'AlwaysConfirm' }
  host.answer = () => ({ outcome: 'denied', reason: 'not now' })
  const wake = begun(host)
  await agent.runTurn(host.turn('go'))
  await wake
  assert.equal(await agent.runTurn(host.turn('', { isOwn: true })), finished)
  assert.equal(host.questions.map(({ command }) => command), ['touch made'])
  assert.match(host.text(), /UserRejectObservation.*not now/)
}, { settings: { acp_unasked_calls: 'allow' } }))

test('is stopped by a command that nobody was asked about', () => withAgent('own-work', async ({ agent, host }) => {
  host.confirmation = { kind: 'AlwaysConfirm' }
  const wake = begun(host)
  await agent.runTurn(host.turn('go'))
  await wake
  const end = await agent.runTurn(host.turn('', { isOwn: true }))
  assert.is(end.outcome === 'failed' && end.code, 'UnaskedAction')
  assert.is(end.served, true)
}))

test('ends with quiet where the agent gives no sign, and not while a call is open', async () => {
  const timers = manualTimers()
  await withAgent('own-work-unsigned', async ({ agent, host }) => {
    const wake = begun(host)
    await agent.runTurn(host.turn('go'))
    await wake
    const ended = agent.runTurn(host.turn('', { isOwn: true }))
    await host.seen(/touched/)
    timers.advanceTo(10_000)
    assert.equal(await ended, finished)
  }, { options: { timers } })
})

test('does not end with quiet while a call is open', async () => {
  const timers = manualTimers()
  await withAgent('own-work-endless', async ({ agent, host }) => {
    const wake = begun(host)
    await agent.runTurn(host.turn('go'))
    await wake
    const turn = host.turn('', { isOwn: true })
    const ended = agent.runTurn(turn)
    await host.seen(/begun to work by itself/)
    timers.advanceTo(500)
    await host.seen(/"command":"sleep 600"/)
    for (const seconds of [11, 22]) timers.advanceTo(seconds * 1000)
    turn.stop()
    assert.equal(await ended, { outcome: 'stopped', served: true })
  }, { options: { timers, drainMs: 200 } })
})

test('is stopped with all that it has started', () => withAgent('own-work-endless', async ({ agent, host, slots }) => {
  const wake = begun(host)
  await agent.runTurn(host.turn('go'))
  await wake
  const turn = host.turn('', { isOwn: true })
  const ended = agent.runTurn(turn)
  turn.stop()
  assert.equal(await ended, { outcome: 'stopped', served: true })
  assert.match(host.text(), /pid=\d+/)
  assert.is(isAlive(host.text()), false)
  assert.is(slots.running, 0)
  assert.equal(host.events.slice(-2).map(({ kind }) => kind), ['ActionEvent', 'AgentErrorEvent'])
}, { options: { drainMs: 200 } }))

test('goes into the turn of a message that comes first', () => withAgent('own-work', async ({ agent, host }) => {
  const wake = begun(host)
  await agent.runTurn(host.turn('go'))
  await wake
  assert.equal(await agent.runTurn(host.turn('next')), finished)
  assert.match(host.text(), /"command":"ls"/)
  const before = host.events.length
  assert.equal(await agent.runTurn(host.turn('', { isOwn: true })), finished)
  assert.ok(host.events.length >= before)
}))

test('ends an agent whose work no run can take', () => withAgent('own-work-endless', async ({ agent, host, slots }) => {
  host.begun = () => {
    throw new AppError('storage_full', 'no')
  }
  await agent.runTurn(host.turn('go'))
  while (slots.running > 0) await new Promise((resolve) => setImmediate(resolve))
  assert.is(slots.running, 0)
}))

test.run()
