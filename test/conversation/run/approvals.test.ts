/** Responses to the actions that wait between two runs: each applies only to the actions that the user saw. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import * as assert from 'uvu/assert'
import { deferred, type Deferred } from '../../../src/base/wait.ts'
import type { Conversation } from '../../../src/conversation/conversation.ts'
import {
  act, failureOf, finished, observe, story, until, withConversation, type Script, type World,
} from '../../support/conversation.ts'
import { suite } from '../../support/suite.ts'

const test = suite('conversation/run/approvals')

const approval = { accept: true, reason: '' }
const rejection = { accept: false, reason: 'no' }

/** Asks about the actions with these ids, after the results of the approved actions. Ends the run. */
function asksAbout(...ids: readonly string[]): Script {
  return (turn) => {
    for (const [index, actionId] of turn.approved.entries()) turn.record(observe(`approved-${index}`, actionId))
    for (const id of ids) turn.record(act(id))
    return { outcome: 'waiting', served: true }
  }
}

/** A conversation of a stepping agent whose run has left these actions waiting. */
async function withWaiting(
  ids: readonly string[], body: (conversation: Conversation, world: World) => Promise<void>,
): Promise<void> {
  await withConversation(async (conversation, world) => {
    world.scripts.push((turn, host) => {
      Object.assign(world.agents[0] ?? {}, { isStepping: true })
      return asksAbout(...ids)(turn, host)
    })
    await conversation.run()
    await conversation.settled()
    await body(conversation, world)
  }, { agent: { kind: 'Agent' } })
}

for (const [name, request] of [
  ['approvals', (conversation: Conversation) => conversation.respond(approval)],
  ['requests to run', (conversation: Conversation) => conversation.run()],
] as const) {
  test(`the second of two ${name} does not approve the actions of the next step`, () => {
    return withWaiting(['one'], async (conversation, world) => {
      world.scripts.push(asksAbout('two'), () => finished)
      world.disk.hold()
      const first = request(conversation)
      await until(() => world.disk.waiting > 0)
      // The status `running` is recorded and not durable yet.
      const second = failureOf(request(conversation))
      await nextTurn()
      world.disk.release()
      await Promise.all([first, second])
      await conversation.settled()
      assert.is(conversation.state.execution_status, 'waiting_for_confirmation')
      assert.is(world.agents[0]?.turns.length, 2)
    })
  })
}

test('an approval that waited for the disk does not approve the actions of the next step', () => {
  return withWaiting(['one'], async (conversation, world) => {
    world.scripts.push(asksAbout('two'), () => finished)
    const checks: Deferred<void>[] = []
    const { ensureHeld } = world.reserve
    world.reserve.ensureHeld = () => {
      const check = deferred<void>()
      checks.push(check)
      return check.promise
    }
    const [first, second] = [conversation.respond(approval), conversation.respond(approval)]
    checks[0]?.resolve()
    await first
    await conversation.settled()
    checks[1]?.resolve()
    await second
    world.reserve.ensureHeld = ensureHeld
    await conversation.settled()
    assert.is(conversation.state.execution_status, 'waiting_for_confirmation')
    assert.is(world.agents[0]?.turns.length, 2)
  })
})

test('of two approvals at once, one begins a run and the other has no effect', () => {
  return withWaiting(['one'], async (conversation, world) => {
    world.scripts.push(asksAbout('two'), () => finished)
    await Promise.all([conversation.respond(approval), conversation.respond(approval)])
    await conversation.settled()
    assert.is(conversation.state.execution_status, 'waiting_for_confirmation')
    assert.is(world.agents[0]?.turns.length, 2)
  })
})

test('of two rejections at once, one is recorded', () => {
  return withWaiting(['one'], async (conversation) => {
    await Promise.all([conversation.respond(rejection), conversation.respond(rejection)])
    const words = await story(conversation)
    assert.equal(words.slice(words.indexOf('action one') + 1), [
      'status waiting_for_confirmation', 'status idle', 'UserRejectObservation',
    ])
  })
})

test('rejections of all actions, one by one and at once, leave none waiting', () => {
  return withWaiting(['one', 'two'], async (conversation) => {
    const ids = conversation.confirmations().map(({ id }) => id)
    await Promise.all(ids.map((id) => conversation.respond({ ...rejection, id })))
    assert.equal([conversation.confirmations(), conversation.state.execution_status], [[], 'idle'])
  })
})

test('of two rejections of one of several actions at once, one is recorded', () => {
  return withWaiting(['one', 'two'], async (conversation) => {
    const id = conversation.confirmations()[0]?.id
    const ends = await Promise.all([
      failureOf(conversation.respond({ ...rejection, id })), failureOf(conversation.respond({ ...rejection, id })),
    ])
    assert.equal(ends.sort(), ['done', 'not_found'])
    assert.is((await story(conversation)).filter((word) => word === 'UserRejectObservation').length, 1)
    assert.is(conversation.confirmations().length, 1)
  })
})

test('a response that waits for the end of the run is refused when the conversation closes meanwhile', () => {
  return withConversation(async (conversation, world) => {
    world.scripts.push(asksAbout('one'), () => finished)
    const end = conversation.nextEnd()
    await conversation.run()
    Object.assign(world.agents[0] ?? {}, { isStepping: true })
    await end
    const response = failureOf(conversation.respond(approval))
    // Without an end of a disk operation, only the response goes on, up to its wait for the run.
    for (let count = 0; count < 100; count++) await undefined
    await conversation.close()
    assert.equal([await response, world.agents.length], ['conflict', 1])
  }, { agent: { kind: 'Agent' } })
})

test.run()
