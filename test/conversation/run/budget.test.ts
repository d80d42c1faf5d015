/** The budget of a conversation, its cost, and the cost of questions beside its work. */
import * as assert from 'uvu/assert'
import type { TurnEnd } from '../../../src/conversation/agent/agent.ts'
import { deferred } from '../../../src/base/wait.ts'
import { suite } from '../../support/suite.ts'
import {
  checkpoint, ended, eventsOf, failureOf, finished, makeConversation, objectOf, openTestConversation, story, userText,
  withConversation, withWorld, worksOn, type Script,
} from '../../support/conversation.ts'

const test = suite('conversation/run/budget')

const costs = (cost: number | undefined): Script => (turn): TurnEnd => {
  turn.usage({ usageId: 'a', model: 'm', ...(cost === undefined ? {} : { cost }) })
  return finished
}

test(
  'begins no turn once the budget is spent, keeps the message, and goes on with a larger one',
  () => withConversation(async (conversation, world) => {
    world.scripts.push(costs(0.75), costs(0.5))
    for (const words of ['one', 'two', 'three']) {
      await conversation.send(userText(words), true)
      await ended(conversation)
    }
    assert.equal((await story(conversation)).slice(-4), [
      'user: three', 'status running', 'failure MaxBudgetReached', 'status error',
    ])
    const failure = (await eventsOf(conversation.events)).find(({ kind }) => kind === 'ConversationErrorEvent')
    assert.match(JSON.stringify(failure), 'the conversation has cost $1.2500, its budget is $1')
    assert.is(conversation.state.unserved.length, 1)
    await conversation.patch({ budget: 2 })
    await conversation.run()
    await ended(conversation)
    assert.equal(world.agents[0]?.served, [['one'], ['two'], ['three']])
    assert.is(conversation.state.execution_status, 'finished')
  }, { max_budget_per_task: 1 }),
)

test('counts what every usage has cost: the agent, its critic, its condenser', () => withConversation(
  async (conversation, world) => {
    world.scripts.push((turn) => {
      for (const usageId of ['agent', 'critic', 'condenser']) turn.usage({ usageId, model: 'm', cost: 0.4 })
      return finished
    })
    for (const words of ['one', 'two']) {
      await conversation.send(userText(words), true)
      await ended(conversation)
    }
    assert.equal((await story(conversation)).slice(-2), ['failure MaxBudgetReached', 'status error'])
  },
  { max_budget_per_task: 1 },
))

test('shows the budget with the figures', () => withConversation(async (conversation, world) => {
  world.scripts.push(costs(0.75))
  await conversation.send(userText('one'), true)
  await ended(conversation)
  assert.match(JSON.stringify(conversation.state.stats), '"accumulated_cost":0.75,"max_budget_per_task":1')
}, { max_budget_per_task: 1 }))

test('a budget and what was spent of it survive the server', () => withWorld(async (world) => {
  const directory = await makeConversation(world, { max_budget_per_task: 1 })
  world.scripts.push(costs(1))
  const first = await openTestConversation(world, directory)
  await first.send(userText('one'), true)
  await ended(first)
  await first.close()
  const second = await openTestConversation(world, directory)
  await second.send(userText('two'), true)
  await ended(second)
  assert.ok((await story(second)).includes('failure MaxBudgetReached'))
  await second.close()
}))

test('a cost that nobody knows is no cost of zero, and stops nothing', () => withConversation(
  async (conversation, world) => {
    const tokens: Script = (turn): TurnEnd => {
      turn.usage({ usageId: 'a', model: 'm', promptTokens: 7 })
      return finished
    }
    world.scripts.push(costs(undefined), tokens, costs(undefined))
    const seen: unknown[] = []
    for (const words of ['one', 'two', 'three']) {
      await conversation.send(userText(words), true)
      await ended(conversation)
      seen.push([conversation.state.stats['usage_to_metrics'], conversation.state.agent_state['usage']])
    }
    assert.is(conversation.state.execution_status, 'finished')
    assert.equal(seen[0], [{}, undefined])
    const { last } = objectOf(conversation.state.agent_state['usage'])
    assert.equal(objectOf(last)['cost'], { value: null, source: 'unknown' })
    assert.equal(objectOf(last)['prompt_tokens'], { value: null, source: 'unknown' })
    assert.match(JSON.stringify(seen[1]), '"prompt_tokens":{"value":7,"source":"reported"}')
  },
  { max_budget_per_task: 1 },
))

test('a question beside the work is answered and counted, and leaves no other trace', () => withConversation(async (
  conversation, world,
) => {
  world.scripts.push(worksOn)
  await conversation.send(userText('work'), true)
  const before = await story(conversation)
  assert.is(await conversation.asides.ask('it', new AbortController().signal), 'about it')
  await conversation.interrupt()
  assert.equal((await story(conversation)).slice(before.length), ['update stats', 'status paused', 'pause'])
  assert.match(JSON.stringify(conversation.state.stats), '"accumulated_cost":0.25')
  assert.is(world.agents.length, 1)
}))

test('one question is asked at a time, and none once the budget is spent', () => withConversation(
  async (conversation, world) => {
    const { signal } = new AbortController()
    await conversation.send(userText('work'), true)
    await ended(conversation)
    const [agent] = world.agents
    if (agent === undefined) throw new Error('expected an agent')
    const answer = deferred<string>()
    const point = checkpoint()
    agent.answerAside = async () => {
      await point.here()
      return { text: await answer.promise, usage: { usageId: 'a', model: 'm', cost: 3 } }
    }
    const asked = conversation.asides.ask('one', signal)
    await point.reached
    assert.is(await failureOf(conversation.asides.ask('two', signal)), 'conflict')
    point.pass()
    answer.resolve('yes')
    assert.is(await asked, 'yes')
    assert.is(await failureOf(conversation.asides.ask('three', signal)), 'conflict')
  },
  { max_budget_per_task: 2 },
))

test('figures of a turn and of a question at the same time are both counted', () => withConversation(async (
  conversation, world,
) => {
  const point = checkpoint()
  world.scripts.push(async (turn) => {
    turn.usage({ usageId: 'a', model: 'm', cost: 1 })
    await point.here()
    turn.usage({ usageId: 'a', model: 'm', cost: 1 })
    return finished
  })
  await conversation.send(userText('work'), true)
  await point.reached
  await conversation.asides.ask('it', new AbortController().signal)
  point.pass()
  await ended(conversation)
  assert.match(JSON.stringify(conversation.state.stats), '"accumulated_cost":2.25')
}))

test('a mode is switched by the agent', () => withConversation(async (conversation) => {
  await conversation.switches.mode('plan', new AbortController().signal)
  assert.is(conversation.state.agent_state['acp_current_mode_id'], 'plan')
}))

test.run()
