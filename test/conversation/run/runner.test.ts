import { setImmediate } from 'node:timers/promises'
import * as assert from 'uvu/assert'
import { suite } from '../../support/suite.ts'
import type { ExecutionStatus } from '../../../src/schema/generated/conversations.ts'
import { start } from '../../../src/storage/chain.ts'
import {
  act, answers, checkpoint, ended, failureOf, finished, makeConversation, openTestConversation, question, say, story,
  until, userText, withConversation, withWorld, worksOn, type Script,
} from '../../support/conversation.ts'

const test = suite('conversation/run/runner')

test('a message with run begins a turn with it, and the run ends with the turn', async () => {
  await withConversation(async (conversation, world) => {
    world.scripts.push(answers('hello'))
    await conversation.send(userText('hi'), true)
    await ended(conversation)
    assert.equal(await story(conversation), ['user: hi', 'status running', 'agent: hello', 'status finished'])
    assert.equal(world.agents.map((agent) => agent.served), [[['hi']]])
    assert.equal(conversation.state.unserved, [])
  })
})

test('a message is marked as served once, however often the agent says so', async () => {
  await withConversation(async (conversation, world) => {
    world.scripts.push((turn) => {
      for (const { id } of [...turn.messages, ...turn.messages]) turn.served(id)
      return finished
    })
    await conversation.send(userText('hi'), true)
    await ended(conversation)
    const lines: string[] = []
    for await (const { json } of conversation.events.lines(start)) lines.push(json.toString())
    assert.is(lines.filter((line) => line.startsWith('["served"')).length, 1)
    assert.equal(conversation.state.unserved, [])
  })
})

test('no agent is made before the first run', async () => {
  await withConversation(async (conversation, world) => {
    await conversation.send(userText('hi'), false)
    assert.equal(await story(conversation), ['user: hi'])
    assert.is(world.agents.length, 0)
  })
})

test('the stored id of the last user message follows its event', async () => {
  await withConversation(async (conversation) => {
    await conversation.send(userText('hi'), false)
    assert.is(conversation.state.last_user_message_id, conversation.state.unserved[0])
  })
})

/** Rows of contract/conversations.md 3 that concern an external agent and begin between two runs. */
const rows: readonly (readonly [
  from: ExecutionStatus, trigger: string, to: ExecutionStatus, words: readonly string[],
])[] = [
  ['idle', 'run', 'finished', ['status running', 'status finished']],
  ['paused', 'run', 'finished', ['status running', 'status finished']],
  ['error', 'run', 'finished', ['status running', 'status finished']],
  ['finished', 'run', 'finished', []],
  ['finished', 'message', 'idle', ['status idle', 'user: more']],
  ['error', 'message', 'error', ['user: more']],
  ['paused', 'message', 'paused', ['user: more']],
  ['idle', 'message', 'idle', ['user: more']],
  ['idle', 'pause', 'paused', ['status paused', 'pause']],
  ['idle', 'interrupt', 'paused', ['status paused', 'pause']],
  ['paused', 'pause', 'paused', []],
  ['paused', 'interrupt', 'paused', []],
  ['finished', 'pause', 'finished', []],
  ['finished', 'interrupt', 'finished', []],
  ['error', 'pause', 'error', []],
  ['error', 'interrupt', 'error', []],
]
for (const [from, trigger, to, words] of rows) {
  test(`${from}, then ${trigger}: ${to}`, async () => {
    await withConversation(async (conversation, world) => {
      if (from === 'paused') await conversation.pause()
      if (from === 'finished' || from === 'error') {
        if (from === 'error') world.scripts.push(fails)
        await conversation.run()
        await ended(conversation)
      }
      assert.is(conversation.state.execution_status, from)
      const before = (await story(conversation)).length
      if (trigger === 'message') await conversation.send(userText('more'), false)
      if (trigger === 'run') await conversation.run()
      if (trigger === 'pause') await conversation.pause()
      if (trigger === 'interrupt') await conversation.interrupt()
      await ended(conversation)
      assert.is(conversation.state.execution_status, to)
      assert.equal((await story(conversation)).slice(before), words)
    })
  })
}

const fails: Script = () => ({ outcome: 'failed', served: true, code: 'ACPPromptError', detail: 'no' })

test('a failed turn records why and then the status, and can be run again', async () => {
  await withConversation(async (conversation, world) => {
    world.scripts.push(fails, answers('now'))
    await conversation.send(userText('hi'), true)
    await ended(conversation)
    await conversation.run()
    await ended(conversation)
    assert.equal(await story(conversation), [
      'user: hi', 'status running', 'failure ACPPromptError', 'status error', 'status running', 'agent: now',
      'status finished',
    ])
  })
})

test('a second run while one is under way is refused', async () => {
  await withConversation(async (conversation, world) => {
    world.scripts.push(worksOn)
    await conversation.run()
    assert.is(await failureOf(conversation.run()), 'already_running')
    await conversation.interrupt()
  })
})

test('what the agent has not got is given to the next turn, with what came since', async () => {
  await withConversation(async (conversation, world) => {
    world.scripts.push(() => ({ outcome: 'failed', served: false, code: 'ACPSpawnError', detail: 'no' }))
    await conversation.send(userText('one'), true)
    await ended(conversation)
    await conversation.send(userText('two'), false)
    await conversation.run()
    await ended(conversation)
    assert.equal(world.agents[0]?.served, [['one'], ['one', 'two']])
  })
})

test('a message without run during a turn is queued; the turn goes on and the next run serves it', async () => {
  await withConversation(async (conversation, world) => {
    const work = checkpoint()
    world.scripts.push(async () => {
      await work.here()
      return finished
    })
    await conversation.send(userText('one'), true)
    await work.reached
    await conversation.send(userText('two'), false)
    work.pass()
    await ended(conversation)
    assert.equal(world.agents[0]?.served, [['one']])
    assert.is(conversation.state.execution_status, 'finished')
    await conversation.run()
    await ended(conversation)
    assert.equal(world.agents[0]?.served, [['one'], ['two']])
  })
})

test('a message with run during a turn cancels it and is served in the same run', async () => {
  await withConversation(async (conversation, world) => {
    world.scripts.push(worksOn, answers('both'))
    await conversation.send(userText('one'), true)
    await conversation.send(userText('two'), true)
    await ended(conversation)
    assert.equal(await story(conversation), [
      'user: one', 'status running', 'user: two', 'agent: both', 'status finished',
    ])
    assert.equal(world.agents[0]?.served.at(-1)?.at(-1), 'two')
  })
})

test('three messages at once are each served once, in order', async () => {
  await withConversation(async (conversation, world) => {
    world.scripts.push(worksOn, worksOn, worksOn)
    await Promise.all(['a', 'b', 'c'].map((text) => conversation.send(userText(text), true)))
    await until(() => world.agents[0]?.served.flat().includes('c') === true)
    await conversation.interrupt()
    assert.equal(world.agents[0]?.served.flat(), ['a', 'b', 'c'])
  })
})

// A message may come while any step of the end of a run is waited for: it is served whenever that is.
const steps = [
  'in the turn', 'while the answers are written', 'while the end is written', 'after the end is written',
] as const
for (const [number, step] of steps.entries()) {
  test(`a message with run that comes ${step} is served`, async () => {
    await withConversation(async (conversation, world) => {
      const end = checkpoint()
      world.scripts.push(async (turn) => {
        turn.record(act('call-1'))
        await end.here()
        return finished
      })
      await conversation.send(userText('one'), true)
      await end.reached
      world.disk.hold()
      if (number > 0) end.pass()
      // One sync after the other is let through, until the message is sent.
      for (let passed = 1; passed < number; passed++) await letOneSyncPass(world.disk)
      if (number > 0) await until(() => world.disk.waiting > 0)
      const sent = conversation.send(userText('two'), true)
      end.pass()
      world.disk.release()
      await sent
      await ended(conversation)
      assert.equal(world.agents[0]?.served, [['one'], ['two']])
      assert.is(conversation.state.execution_status, 'finished')
      assert.equal(conversation.state.open_actions, [])
    })
  })
}

async function letOneSyncPass(disk: { waiting: number; hold(): void; release(): void }): Promise<void> {
  await until(() => disk.waiting > 0)
  disk.release()
  disk.hold()
}

test('a message that comes while the run is beginning is served by its first turn', async () => {
  await withConversation(async (conversation, world) => {
    await conversation.send(userText('one'), false)
    world.disk.hold()
    const begun = conversation.run()
    await until(() => world.disk.waiting > 0)
    const sent = conversation.send(userText('two'), true)
    world.disk.release()
    await Promise.all([begun, sent])
    await ended(conversation)
    assert.equal(world.agents[0]?.served.flat(), ['one', 'two'])
  })
})

test('what the agent reports after its turn is dropped', async () => {
  await withConversation(async (conversation, world) => {
    world.scripts.push(worksOn)
    await conversation.run()
    await conversation.interrupt()
    const before = await story(conversation)
    const [turn] = world.agents[0]?.turns ?? []
    assert.is(turn?.record(say('late')).id, '')
    await turn?.record(say('late')).durable()
    turn?.delta({ content: 'late' })
    turn?.usage({ usageId: 'acp-managed', model: 'm', cost: 1 })
    assert.equal(await turn?.ask(question), { outcome: 'cancelled' })
    await conversation.send(userText('next'), false)
    assert.equal((await story(conversation)).slice(before.length), ['user: next'])
    assert.equal(conversation.state.stats, { usage_to_metrics: {} })
  })
})

test('an agent that ignores the stop is closed, and another one has the next turn', async () => {
  await withWorld(async (world) => {
    const never = checkpoint()
    Object.assign(world.deps, { stopLimitMs: 1 })
    const conversation = await openTestConversation(world, await makeConversation(world))
    world.scripts.push(async (turn) => {
      turn.record(act('call-1'))
      await never.here()
      turn.record(say('too late'))
      return finished
    }, answers('I am another'))
    await conversation.send(userText('one'), true)
    await never.reached
    await conversation.interrupt()
    assert.is(world.agents[0]?.closed, 1)
    await conversation.send(userText('two'), true)
    await ended(conversation)
    never.pass()
    assert.is(world.agents.length, 2)
    assert.equal(await story(conversation), [
      'user: one', 'status running', 'action call-1', 'error call-1', 'status paused', 'pause',
      'user: two', 'status running', 'agent: I am another', 'status finished',
    ])
    await conversation.close()
  })
})

test('an agent whose turn rejects has failed, in words of ours', async () => {
  await withConversation(async (conversation, world) => {
    world.scripts.push(() => Promise.reject(new Error('SECRET')))
    await conversation.run()
    await ended(conversation)
    assert.equal(await story(conversation), ['status running', 'failure InternalError', 'status error'])
    assert.match(world.reports.join(), 'An agent broke its contract')
  })
})

test('an agent that cannot be closed does not hold up the close', async () => {
  await withConversation(async (conversation, world) => {
    await conversation.run()
    await ended(conversation)
    for (const agent of world.agents) agent.close = () => Promise.reject(new Error('stuck'))
    await conversation.close()
    assert.match(world.reports.join(), 'An agent could not be closed')
    assert.equal(world.closedIds, [conversation.id])
  })
})

test('an agent whose close never ends does not hold up the close', async () => {
  await withWorld(async (world) => {
    Object.assign(world.deps, { closeLimitMs: 1 })
    const conversation = await openTestConversation(world, await makeConversation(world))
    await conversation.run()
    await ended(conversation)
    for (const agent of world.agents) agent.close = () => new Promise(() => undefined)
    await conversation.close()
    assert.match(world.reports.join(), 'An agent did not close in time')
    assert.equal(world.closedIds, [conversation.id])
  })
})

test('actions that an agent leaves unanswered at its end get an answer', async () => {
  await withConversation(async (conversation, world) => {
    world.scripts.push((turn) => {
      turn.record(act('call-1'))
      return finished
    })
    await conversation.run()
    await ended(conversation)
    assert.equal(await story(conversation), ['status running', 'action call-1', 'error call-1', 'status finished'])
  })
})

test('a shutdown pauses without a PauseEvent, a deletion records nothing', async () => {
  for (const [reason, words] of [['closed', ['error call-1', 'status paused']], ['deleted', []]] as const) {
    await withConversation(async (conversation, world) => {
      world.scripts.push(async (turn) => {
        turn.record(act('call-1'))
        return worksOn(turn)
      })
      await conversation.run()
      await until(() => conversation.state.open_actions.length === 1)
      const frames: string[] = []
      conversation.join({
        from: 'now',
        encode: (json) => json,
        sink: { write: (json) => frames.push(json.toString()) > 0, end: (why) => void frames.push(why) },
      })
      await conversation.close(reason)
      assert.equal(frames.slice(1).map(wordOfFrame).filter((word) => word !== 'full_state'), [...words, reason])
      assert.is(world.agents[0]?.closed, 1)
    })
  }
})

function wordOfFrame(frame: string): string {
  if (!frame.startsWith('{')) return frame
  const match = /"kind":"(\w+)".*?(?:"tool_call_id":"([^"]*)"|"key":"(\w+)","value":("?\w*))/.exec(frame)
  if (match?.[1] === 'AgentErrorEvent') return `error ${match[2] ?? ''}`
  return match?.[3] === 'execution_status' ? `status ${match[4]?.slice(1) ?? ''}` : (match?.[3] ?? frame)
}

test('a message that was accepted before the close begins no run after it', async () => {
  await withConversation(async (conversation, world) => {
    world.disk.hold()
    const sent = conversation.send(userText('hi'), true)
    await until(() => world.disk.waiting > 0)
    const closed = conversation.close()
    world.disk.release()
    assert.is(await failureOf(sent), 'conflict')
    await closed
    assert.is(world.agents.length, 0)
  })
})

test('a run that waits for the end of another begins nothing once the conversation is being closed', async () => {
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
    const second = conversation.run()
    // It has found the conversation open and waits for the end of the first.
    await setImmediate()
    const closed = conversation.close()
    world.disk.release()
    assert.is(await failureOf(second), 'conflict')
    await closed
    assert.is(world.agents[0]?.turns.length, 1)
    assert.is(world.agents.length, 1)
  })
})

test('nothing is taken once the conversation is being closed', async () => {
  await withConversation(async (conversation) => {
    const closed = conversation.close()
    assert.is(await failureOf(conversation.send(userText('hi'), true)), 'conflict')
    assert.is(await failureOf(conversation.run()), 'conflict')
    assert.is(await failureOf(conversation.interrupt()), 'conflict')
    await closed
    assert.is(conversation.close(), conversation.close('deleted'))
  })
})

test('of two runs at once one is refused', async () => {
  await withConversation(async (conversation, world) => {
    world.scripts.push(worksOn)
    const [first, second] = await Promise.allSettled([conversation.run(), conversation.run()])
    assert.is(first?.status, 'fulfilled')
    assert.is(second?.status, 'rejected')
    await conversation.interrupt()
  })
})

test.run()
