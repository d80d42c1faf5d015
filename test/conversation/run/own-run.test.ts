/** Runs that an agent begins by itself: they have a status, can be stopped, and take no message that waits. */
import * as assert from 'uvu/assert'
import { deferred } from '../../../src/base/wait.ts'
import {
  ended, finished, say, story, until, userText, withConversation, type Script,
} from '../../support/conversation.ts'
import { suite } from '../../support/suite.ts'

const test = suite('conversation/own run')

/** Works until it is stopped. */
const endless: Script = async (turn) => {
  turn.record(say('by myself'))
  if (!turn.signal.aborted) {
    await new Promise((resolve) => turn.signal.addEventListener('abort', resolve, { once: true }))
  }
  return { outcome: 'stopped', served: true }
}

test('runs with a turn of its own, and leaves a queued message where it is', async () => {
  await withConversation(async (conversation, world) => {
    await conversation.run()
    await ended(conversation)
    await conversation.send(userText('later'), false)
    world.scripts.push(async (turn) => {
      assert.equal([turn.isOwn, turn.messages.length], [true, 0])
      turn.record(say('by myself'))
      return finished
    })
    await world.agents[0]?.host.beginRun()
    await ended(conversation)
    assert.is(conversation.state.unserved.length, 1)
    assert.equal(
      (await story(conversation)).slice(-4),
      ['user: later', 'status running', 'agent: by myself', 'status finished'].slice(-4),
    )
  })
})

test('can be interrupted, and ends as paused', async () => {
  await withConversation(async (conversation, world) => {
    await conversation.run()
    await ended(conversation)
    world.scripts.push(endless)
    await world.agents[0]?.host.beginRun()
    assert.is(conversation.state.execution_status, 'running')
    await conversation.interrupt()
    assert.is(conversation.state.execution_status, 'paused')
  })
})

test('gives way to a message that is to be served', async () => {
  await withConversation(async (conversation, world) => {
    await conversation.run()
    await ended(conversation)
    world.scripts.push(endless)
    await world.agents[0]?.host.beginRun()
    await until(() => world.agents[0]?.turns.length === 2)
    await conversation.send(userText('now'), true)
    await ended(conversation)
    assert.equal(world.agents[0]?.served.at(-1), ['now'])
    assert.is(conversation.state.execution_status, 'finished')
  })
})

test('leaves no message without a turn when the agent begins while the run of the message begins', async () => {
  await withConversation(async (conversation, world) => {
    await conversation.run()
    await ended(conversation)
    world.scripts.push(async () => finished)
    await conversation.send(userText('now'), false)
    world.disk.hold()
    const running = conversation.run()
    await until(() => world.disk.waiting > 0)
    const begun = world.agents[0]?.host.beginRun()
    world.disk.release()
    await Promise.all([running, begun])
    await until(() => !conversation.isRunning)
    assert.equal(world.agents[0]?.served.flat(), ['now'])
    assert.equal(conversation.state.unserved, [])
  })
})

test('follows the turn under way when the agent begins at its end', async () => {
  await withConversation(async (conversation, world) => {
    const gate = deferred<void>()
    world.scripts.push(async (_turn, host) => {
      await host.beginRun()
      gate.resolve()
      return finished
    })
    world.scripts.push(async (turn) => {
      turn.record(say(turn.isOwn ? 'by myself' : 'asked'))
      return finished
    })
    await conversation.run()
    await gate.promise
    await until(() => world.agents[0]?.turns.length === 2)
    await ended(conversation)
    assert.equal(await story(conversation), [
      'status running', 'status finished', 'status idle', 'status running', 'agent: by myself', 'status finished',
    ])
  })
})

test('is stopped at once where the budget is spent', async () => {
  await withConversation(async (conversation, world) => {
    world.scripts.push(async (turn) => {
      turn.usage({ usageId: 'a', model: 'm', cost: 2 })
      return finished
    })
    await conversation.patch({ budget: 1 })
    await conversation.run()
    await ended(conversation)
    world.scripts.push(endless)
    await world.agents[0]?.host.beginRun()
    await ended(conversation)
    assert.is(world.agents[0]?.turns.at(-1)?.signal.aborted, true)
    assert.is(conversation.state.execution_status, 'error')
  })
})

test('is refused once the conversation is being closed', async () => {
  await withConversation(async (conversation, world) => {
    await conversation.run()
    await ended(conversation)
    const host = world.agents[0]?.host
    await conversation.close()
    const refused = await host?.beginRun().then(() => 'begun', (error: unknown) => String(error))
    assert.match(refused ?? '', /being closed/)
  })
})

test.run()
