/** A disk that is full, or fails, under a conversation (decisions 6 and 13). */
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { memberAt } from '../../../src/base/fields.ts'
import { suite } from '../../support/suite.ts'
import {
  aborted, act, answers, ended, failureOf, finished, makeConversation, openTestConversation, question, say, stopped,
  story, until, userText, withConversation, withWorld, worksOn, type World,
} from '../../support/conversation.ts'

const test = suite('conversation/log/repair')

const reserveIsThere = ({ folder }: World): Promise<boolean> =>
  stat(join(folder, 'reserve')).then(() => true, () => false)

test(
  'a full disk ends the turn, its closing records go into the reserve, and writing goes on when there is space',
  async () => {
    await withConversation(async (conversation, world) => {
      world.scripts.push(async (turn) => {
        await turn.record(act('call-1')).durable()
        world.disk.fail('ENOSPC')
        const lost = turn.record(say('lost'))
        assert.is(await failureOf(lost.durable()), 'storage_full')
        await aborted(turn)
        // Space that the reserve has given back.
        world.disk.heal()
        assert.is(await failureOf(turn.record(say('refused')).durable()), 'storage_full')
        return stopped
      })
      await conversation.send(userText('hi'), true)
      await ended(conversation)
      assert.equal(await story(conversation), [
        'user: hi', 'status running', 'action call-1', 'error call-1', 'failure StorageFull', 'status error',
      ])
      assert.not.ok(await reserveIsThere(world))
      assert.is(await failureOf(conversation.send(userText('more'), true)), 'storage_full')
      world.time.now += 2000
      await conversation.send(userText('more'), true)
      await ended(conversation)
      assert.ok(await reserveIsThere(world))
      assert.is(conversation.state.execution_status, 'finished')
    })
  },
)

test('a run that cannot be closed even then is closed by the first write that works', async () => {
  await withConversation(async (conversation, world) => {
    world.scripts.push(async (turn) => {
      world.disk.fail('ENOSPC')
      turn.record(say('lost'))
      return worksOn(turn)
    })
    await conversation.send(userText('hi'), true)
    await ended(conversation)
    assert.is(conversation.state.execution_status, 'running')
    assert.match(world.reports.join(), 'The end of a run could not be recorded')
    world.disk.heal()
    world.time.now += 2000
    await conversation.send(userText('more'), false)
    assert.equal(await story(conversation), [
      'user: hi', 'status running', 'failure StorageFull', 'status error', 'user: more',
    ])
  })
})

test('a write outside a run fails alone, and the next one works', async () => {
  await withConversation(async (conversation, world) => {
    world.disk.fail('ENOSPC')
    assert.is(await failureOf(conversation.send(userText('lost'), true)), 'storage_full')
    assert.is(await failureOf(conversation.send(userText('lost too'), true)), 'storage_full')
    world.disk.heal()
    await conversation.send(userText('kept'), false)
    assert.equal(await story(conversation), ['user: kept'])
    assert.ok(await reserveIsThere(world))
  })
})

test('a change of the model that was refused because the log failed has no effect after the repair', async () => {
  await withConversation(async (conversation, world) => {
    const switchTo = (model: string): Promise<void> => conversation.switches.llm((agent) => ({ ...agent, model }))
    await switchTo('first')
    world.scripts.push(answers('hello'), answers('hello'))
    await conversation.run()
    await ended(conversation)
    world.disk.fail('EIO')
    assert.is(await failureOf(switchTo('second')), 'storage_failed')
    world.disk.heal()
    await conversation.run()
    await ended(conversation)
    assert.is(world.agents[0]?.host.settings()['model'], 'first')
    assert.is(conversation.state.agent['model'], 'first')
  }, { agent: { kind: 'Agent' } })
})

test("the agent's state and the cost are recorded again when the log that lost them is reopened", async () => {
  await withWorld(async (world) => {
    const directory = await makeConversation(world)
    const conversation = await openTestConversation(world, directory)
    world.scripts.push(async (turn, host) => {
      await turn.record(say('kept')).durable()
      world.disk.fail('EIO')
      host.keep('session', { id: 'newest' })
      host.state({ acp_current_model_id: 'large' })
      host.skillInvoked('deploy')
      turn.usage({ usageId: 'agent', model: 'm', cost: 2 })
      await aborted(turn)
      world.disk.heal()
      return stopped
    })
    await conversation.send(userText('hi'), true)
    await ended(conversation)
    assert.equal((await story(conversation)).slice(-4), [
      'update agent_state', 'update stats', 'failure StorageFailed', 'status error',
    ])
    await conversation.close()
    const again = await openTestConversation(world, directory)
    const { kept, agent_state: agentState, stats, invoked_skills: invokedSkills } = again.state
    assert.equal(kept, { session: { id: 'newest' } })
    assert.is(agentState['acp_current_model_id'], 'large')
    assert.is(memberAt(stats, 'usage_to_metrics', 'agent', 'accumulated_cost'), 2)
    assert.equal(invokedSkills, [])
    await again.close()
  })
})

test('many who find the log failed reopen it once, and each is written', async () => {
  await withConversation(async (conversation, world) => {
    world.disk.fail('EIO')
    assert.is(await failureOf(conversation.send(userText('lost'), false)), 'storage_failed')
    world.disk.heal()
    const texts = Array.from({ length: 20 }, (_, number) => `message ${number}`)
    await Promise.all(texts.map((text) => conversation.send(userText(text), false)))
    assert.equal((await story(conversation)).sort(), texts.map((text) => `user: ${text}`).sort())
    const { events: log } = conversation
    let lines = 0
    for await (const _ of log.lines({ offset: 0, hash: '0'.repeat(32) })) lines++
    // The creation, which is there twice, and two lines for each message: all of them sound.
    assert.is(lines, 42)
  })
})

test('a question that is open when the log fails is cancelled and nothing is thrown into the open', async () => {
  await withConversation(async (conversation, world) => {
    const outcomes: string[] = []
    world.scripts.push(async (turn) => {
      const asked = turn.ask(question)
      await until(() => conversation.state.execution_status === 'waiting_for_confirmation')
      world.disk.fail('EIO')
      turn.record(say('lost'))
      outcomes.push((await asked).outcome)
      world.disk.heal()
      return stopped
    })
    await conversation.run()
    await ended(conversation)
    assert.equal(outcomes, ['cancelled'])
    assert.equal(conversation.confirmations(), [])
    assert.equal((await story(conversation)).slice(-3), ['pending 0', 'failure StorageFailed', 'status error'])
  })
})

test('an answer is given also while the log fails', async () => {
  await withConversation(async (conversation, world) => {
    const outcomes: string[] = []
    world.scripts.push(async (turn) => {
      outcomes.push((await turn.ask(question)).outcome)
      return finished
    })
    await conversation.run()
    await until(() => conversation.confirmations().length === 1)
    await until(() => conversation.state.pending_confirmations.length === 1)
    world.disk.fail('EIO')
    assert.is(await failureOf(conversation.respond({ accept: true, reason: '' })), 'storage_failed')
    await until(() => outcomes.length > 0)
    assert.equal(outcomes, ['accepted'])
    world.disk.heal()
    await ended(conversation)
  })
})

test('an agent that reports to a failed log is not surprised', async () => {
  await withConversation(async (conversation, world) => {
    const thrown: unknown[] = []
    world.scripts.push(async (turn, host) => {
      world.disk.fail('EIO')
      await failureOf(turn.record(say('lost')).durable())
      try {
        turn.usage({ usageId: 'acp-managed', model: 'm', cost: 1 })
        turn.delta({ content: 'x' })
        host.keep('session', { id: 's' })
        host.state({ acp_session_id: 's' })
        await turn.ready()
      } catch (cause) {
        thrown.push(cause)
      }
      world.disk.heal()
      return stopped
    })
    await conversation.run()
    await ended(conversation)
    assert.equal(thrown, [])
    assert.is(conversation.state.execution_status, 'error')
  })
})

test('an event that the log does not take, though it works, ends the turn with the reason', async () => {
  await withConversation(async (conversation, world) => {
    world.scripts.push(async (turn) => {
      turn.record(say('x'.repeat(200_000)))
      return worksOn(turn)
    }, (turn) => {
      turn.usage({ usageId: 'y'.repeat(200_000), model: 'm', cost: 1 })
      return finished
    })
    await conversation.send(userText('hi'), true)
    await ended(conversation)
    await conversation.run()
    await ended(conversation)
    const end = ['status running', 'failure EventRefused', 'status error']
    assert.equal(await story(conversation), ['user: hi', ...end, ...end])
  })
})

test('an interrupt works on a full disk', async () => {
  await withConversation(async (conversation, world) => {
    world.scripts.push(worksOn)
    await conversation.run()
    await world.reserve.release()
    await conversation.interrupt()
    assert.is(conversation.state.execution_status, 'paused')
    await conversation.interrupt()
    assert.is(await failureOf(conversation.run()), 'storage_full')
  })
})

test('a run whose messages cannot be read ends with an error', async () => {
  await withConversation(async (conversation, world) => {
    conversation.events.read = () => Promise.reject(new Error('EIO'))
    await conversation.send(userText('hi'), true)
    await ended(conversation)
    assert.equal(await story(conversation), ['user: hi', 'status running', 'failure StorageFailed', 'status error'])
    assert.match(world.reports.join(), 'cannot be read or written')
    assert.ok(await reserveIsThere(world))
  })
})

test('a message that comes while a failed run is being closed is served by a run of its own', async () => {
  await withConversation(async (conversation, world) => {
    const { diagnostics } = world.deps
    const { events: log } = conversation
    const read = log.read.bind(log)
    const sent: Promise<void>[] = []
    log.read = () => Promise.reject(new Error('EIO'))
    const report = diagnostics.error.bind(diagnostics)
    diagnostics.error = (message, fields) => {
      log.read = read
      sent.push(conversation.send(userText('two'), true))
      report(message, fields)
    }
    await conversation.send(userText('one'), true)
    await until(() => sent.length > 0)
    await Promise.all(sent)
    await ended(conversation)
    assert.equal((await story(conversation)).slice(-2), ['status running', 'status finished'])
    assert.equal(world.agents[0]?.served, [['one', 'two']])
  })
})

test('a conversation that a killed server left running is served also when its end cannot be recorded', async () => {
  await withWorld(async (world) => {
    const directory = await makeConversation(world)
    const first = await openTestConversation(world, directory)
    world.scripts.push((turn) => {
      turn.record(act('call-1'))
      return worksOn(turn)
    })
    await first.send(userText('hi'), true)
    await until(() => first.state.open_actions.length === 1)
    world.disk.fail('ENOSPC')
    const second = await openTestConversation(world, directory)
    assert.equal(await story(second), ['user: hi', 'status running', 'action call-1'])
    assert.is(await failureOf(second.send(userText('more'), false)), 'storage_full')
    world.disk.heal()
    world.scripts.push(answers('here'))
    await second.send(userText('more'), true)
    await ended(second)
    assert.equal((await story(second)).slice(3), [
      'error call-1', 'failure StorageFull', 'status error', 'user: more', 'status running', 'agent: here',
      'status finished',
    ])
    await second.close()
  })
})

test.run()
