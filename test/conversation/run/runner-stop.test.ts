/** Stops of a run, at every point where one may come (decisions 16). */
import * as assert from 'uvu/assert'
import { suite } from '../../support/suite.ts'
import {
  aborted, act, answers, checkpoint, ended, eventsOf, finished, observe, stopped, story, until, userText,
  withConversation, worksOn,
} from '../../support/conversation.ts'

const test = suite('conversation/run/runner-stop')

test('an interrupt ends the turn, answers its actions and records the pause', async () => {
  await withConversation(async (conversation, world) => {
    world.scripts.push(async (turn) => {
      const { id } = turn.record(act('call-1'))
      turn.record(act('call-2'))
      turn.record(observe('call-1', id))
      return worksOn(turn)
    })
    await conversation.send(userText('hi'), true)
    await until(() => conversation.state.open_actions.length === 1)
    await conversation.interrupt()
    assert.not.ok(conversation.isRunning)
    assert.equal(await story(conversation), [
      'user: hi', 'status running', 'action call-1', 'action call-2', 'observation call-1', 'error call-2',
      'status paused', 'pause',
    ])
  })
})

test('the figures of a stopped turn stand before its end, and nothing between the end and the pause', async () => {
  await withConversation(async (conversation, world) => {
    world.scripts.push(async (turn, host) => {
      turn.record(act('call-1'))
      await aborted(turn)
      turn.record({ kind: 'AgentErrorEvent', tool_name: 'terminal', tool_call_id: 'call-1', error: 'Cancelled' })
      turn.usage({ usageId: 'test', model: 'm', promptTokens: 7 })
      host.state({ acp_current_mode_id: 'ask' })
      return stopped
    })
    await conversation.send(userText('hi'), true)
    await until(() => conversation.state.open_actions.length === 1)
    await conversation.interrupt()
    const events = await eventsOf(conversation.events)
    const words = events.map((event) => (event.kind === 'ConversationStateUpdateEvent' ? event.key : event.kind))
    const answer = words.indexOf('AgentErrorEvent')
    assert.equal(words.slice(answer), ['AgentErrorEvent', 'agent_state', 'stats', 'execution_status', 'PauseEvent'])
    world.agents[0]?.turns[0]?.usage({ usageId: 'test', model: 'm', promptTokens: 7 })
    assert.equal((await eventsOf(conversation.events)).length, events.length)
  })
})

test('two interrupts at once record one pause', async () => {
  await withConversation(async (conversation, world) => {
    world.scripts.push(worksOn)
    await conversation.run()
    await Promise.all([conversation.interrupt(), conversation.pause(), conversation.interrupt()])
    assert.equal(await story(conversation), ['status running', 'status paused', 'pause'])
  })
})

test('an interrupt before the turn has begun keeps the agent out of it', async () => {
  await withConversation(async (conversation, world) => {
    await conversation.send(userText('hi'), false)
    world.disk.hold()
    const begun = conversation.run()
    await until(() => world.disk.waiting > 0)
    const interrupted = conversation.interrupt()
    world.disk.release()
    await Promise.all([begun, interrupted])
    assert.equal(await story(conversation), ['user: hi', 'status running', 'status paused', 'pause'])
    assert.equal(world.agents[0]?.turns, [])
    assert.is(conversation.state.unserved.length, 1)
  })
})

test('an interrupt while the end is being recorded leaves the end as it is', async () => {
  await withConversation(async (conversation, world) => {
    const end = checkpoint()
    world.scripts.push(async () => {
      await end.here()
      return finished
    })
    await conversation.run()
    await end.reached
    world.disk.hold()
    end.pass()
    await until(() => world.disk.waiting > 0)
    const interrupted = conversation.interrupt()
    world.disk.release()
    await interrupted
    assert.equal(await story(conversation), ['status running', 'status finished'])
  })
})

test('a message with run that is sent while an interrupt is under way is served by a run of its own', async () => {
  await withConversation(async (conversation, world) => {
    const stopping = checkpoint()
    world.scripts.push(async (turn) => {
      await aborted(turn)
      await stopping.here()
      return stopped
    }, answers('two it is'))
    await conversation.send(userText('one'), true)
    const interrupted = conversation.interrupt()
    await stopping.reached
    await conversation.send(userText('two'), true)
    stopping.pass()
    await interrupted
    await ended(conversation)
    assert.equal(await story(conversation), [
      'user: one', 'status running', 'user: two', 'status paused', 'pause', 'status running', 'agent: two it is',
      'status finished',
    ])
    assert.equal(world.agents[0]?.served, [['one'], ['two']])
  })
})

test('an interrupt that comes after such a message holds: it waits for the next run', async () => {
  await withConversation(async (conversation, world) => {
    world.scripts.push(worksOn)
    await conversation.send(userText('one'), true)
    const first = conversation.interrupt()
    await conversation.send(userText('two'), true)
    const second = conversation.interrupt()
    await Promise.all([first, second])
    assert.is(conversation.state.execution_status, 'paused')
    await conversation.run()
    await ended(conversation)
    assert.equal(world.agents[0]?.served.at(-1), ['two'])
  })
})

test('an interrupt that meets a message behind the end of its run pauses the conversation', async () => {
  await withConversation(async (conversation, world) => {
    const end = checkpoint()
    world.scripts.push(async () => {
      await end.here()
      return finished
    })
    await conversation.run()
    await end.reached
    world.disk.hold()
    end.pass()
    await until(() => world.disk.waiting > 0)
    const sent = conversation.send(userText('more'), false)
    const interrupted = conversation.interrupt()
    world.disk.release()
    await Promise.all([sent, interrupted])
    assert.is(conversation.state.execution_status, 'paused')
    assert.equal((await story(conversation)).slice(-2), ['status paused', 'pause'])
  })
})

test.run()
