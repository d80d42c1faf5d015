/** Goals: rounds of a run and a judgement, how they end, how they are interrupted, and how they are resumed. */
import * as assert from 'uvu/assert'
import type { Recorded } from '../../../src/conversation/agent/agent.ts'
import type { Conversation } from '../../../src/conversation/conversation.ts'
import { endOrphanedGoal } from '../../../src/conversation/extra/goal.ts'
import { initialState } from '../../../src/conversation/log/state.ts'
import type { Goal } from '../../../src/schema/generated/conversations.ts'
import { withBuiltIn } from '../../support/built-in.ts'
import { created, ended, eventsOf, failureOf, textOf, until, userText } from '../../support/conversation.ts'
import { calls, fails, hangs, scriptModel, text, type ModelStep } from '../../support/script-model.ts'
import { suite } from '../../support/suite.ts'

const test = suite('conversation/extra/goal')

const verdict = (score: number, missing = ''): ModelStep =>
  text(JSON.stringify({ score, complete: missing === '', missing }))
const ls = calls([['terminal', { command: 'ls' }]])

async function goalsOf({ events: log }: Conversation): Promise<unknown[]> {
  const events = await eventsOf(log)
  return events.flatMap((event) => {
    return (event.kind === 'ConversationStateUpdateEvent' && event.key === 'goal' ? [event.value] : [])
  })
}

async function toldBy({ events: log }: Conversation): Promise<string[]> {
  const events = await eventsOf(log)
  return events.flatMap((event) => {
    return (event.kind === 'MessageEvent' && event.source === 'user' ? [textOf(event.llm_message)] : [])
  })
}

/** Waits until nobody pursues the goal any more. */
async function over(conversation: Conversation): Promise<Goal | null> {
  await until(() => !conversation.goal.isActive)
  await ended(conversation)
  await until(() => conversation.state.goal?.active !== true)
  return conversation.state.goal
}

function statusOf(goal: Goal | null): unknown[] {
  return [goal?.status, goal?.iteration, goal?.active]
}

test('of two goals that are set at once, one is pursued and the other is refused', async () => {
  const model = scriptModel([text('I began'), verdict(1)])
  await withBuiltIn({ model }, async ({ conversation }) => {
    const starts = ['Build x', 'Build y'].map((objective) => failureOf(conversation.goal.start(objective, 5)))
    assert.equal(await Promise.all(starts), ['done', 'conflict'])
    assert.equal(statusOf(await over(conversation)), ['complete', 1, false])
    assert.equal(await toldBy(conversation), ['Build x'])
  })
})

test(
  'a goal is reached when the judge says so: each round is told, and the next message names what is missing',
  async () => {
    const model = scriptModel([text('I began'), verdict(0.25, 'Write the tests'), text('I wrote them'), verdict(1)])
    await withBuiltIn({ model }, async ({ conversation }) => {
      await conversation.goal.start('Build x', 5)
      assert.ok(conversation.isBusy)
      await over(conversation)
      const goal = {
        active: true, status: 'running', iteration: 0, max_iterations: 5, objective: 'Build x', verdict: null,
      }
      assert.equal(await goalsOf(conversation), [
        goal,
        { ...goal, iteration: 1, verdict: { score: 0.25, complete: false, missing: 'Write the tests' } },
        {
          ...goal, active: false, status: 'complete', iteration: 2, verdict: { score: 1, complete: true, missing: '' },
        },
      ])
      const [first, second, ...more] = await toldBy(conversation)
      assert.equal([first, more.length], ['Build x', 0])
      const words = 'The goal is NOT yet complete (audit iteration 1 of 5): a judge scores it with 0.25 of 1.'
      const rest = 'What is missing:\n\nWrite the tests\n\nThe goal:\n\nBuild x'
      assert.ok(second?.startsWith(`${words} ${rest}`), second)
      assert.is(conversation.state.execution_status, 'finished')
      assert.not.ok(conversation.isBusy)
    })
  },
)

test('the judge is told the history as data and the objective, and neither streams nor has tools', async () => {
  const model = scriptModel([ls, text('done'), verdict(1)])
  await withBuiltIn({ model }, async ({ conversation }) => {
    await conversation.goal.start('Build x', 1)
    await over(conversation)
    const request = model.requests[2]
    const told = request?.messages.map(({ message }) => textOf(message))[1] ?? ''
    assert.match(
      told, 'User: Build x\nAgent calls terminal: {"command":"ls"}\nResult of terminal: ran ls\nAgent: done\n</record>',
    )
    assert.match(told, '<goal>\nBuild x\n</goal>')
    assert.equal([request?.tools.length, request?.onDelta], [0, undefined])
    assert.equal(Object.keys(Object(conversation.state.stats['usage_to_metrics'])).sort(), ['agent', 'goal_judge'])
  })
})

test('a goal is capped after as many rounds as were asked for', async () => {
  const model = scriptModel([text('a'), verdict(0.1, 'all'), text('b'), verdict(0.2, 'all')])
  await withBuiltIn({ model }, async ({ conversation }) => {
    await conversation.goal.start('Build x', 2)
    assert.equal(statusOf(await over(conversation)), ['capped', 2, false])
    assert.equal([model.requests.length, (await toldBy(conversation)).length], [4, 2])
  })
})

test('a verdict that cannot be read counts as not reached, and says so', async () => {
  await withBuiltIn({ model: scriptModel([text('a'), text('Fine!')]) }, async ({ conversation }) => {
    await conversation.goal.start('Build x', 1)
    const goal = await over(conversation)
    assert.equal([goal?.status, goal?.verdict?.score, goal?.verdict?.complete], ['capped', 0, false])
    assert.match(goal?.verdict?.missing ?? '', 'could not be parsed')
  })
})

test('a stuck run is judged like one that has finished', async () => {
  const model = scriptModel([ls, ls, ls, ls, verdict(1)])
  await withBuiltIn({ model }, async ({ conversation }) => {
    await conversation.goal.start('Build x', 1)
    assert.equal(statusOf(await over(conversation)), ['complete', 1, false])
    assert.is(conversation.state.execution_status, 'stuck')
  })
})

const failures: readonly (readonly [why: string, steps: readonly ModelStep[]])[] = [
  ['a run that fails', [fails('LLMAuthenticationError')]],
  ['a judge that fails', [text('a'), fails('LLMAuthenticationError')]],
]
for (const [why, steps] of failures) {
  test(`${why} interrupts the goal, and it can be resumed`, async () => {
    await withBuiltIn({ model: scriptModel([...steps, text('b'), verdict(1)]) }, async ({ conversation }) => {
      await conversation.goal.start('Build x', 3)
      assert.equal(statusOf(await over(conversation)), ['interrupted', 0, false])
      await conversation.goal.resume()
      assert.equal(statusOf(await over(conversation)), ['complete', 1, false])
    })
  })
}

const stops: readonly (readonly [
  why: string, stop: (conversation: Conversation) => Promise<void>, status: string,
])[] = [
  ['an interrupt', (conversation) => conversation.interrupt(), 'paused'],
  ['a pause', (conversation) => conversation.pause(), 'paused'],
]
for (const [why, stop, status] of stops) {
  test(`${why} during a run interrupts the goal`, async () => {
    await withBuiltIn({ model: scriptModel([hangs]) }, async ({ conversation, model }) => {
      await conversation.goal.start('Build x', 3)
      await until(() => model.requests.length === 1)
      await stop(conversation)
      assert.equal(statusOf(await over(conversation)), ['interrupted', 0, false])
      assert.is(conversation.state.execution_status, status)
    })
  })
  test(`${why} while the judge thinks ends its call`, async () => {
    await withBuiltIn({ model: scriptModel([text('a'), hangs]) }, async ({ conversation, model }) => {
      await conversation.goal.start('Build x', 3)
      await until(() => model.requests.length === 2)
      await stop(conversation)
      assert.equal(statusOf(await over(conversation)), ['interrupted', 0, false])
      assert.ok(model.requests[1]?.signal.aborted)
    })
  })
}

test('stopping a goal leaves the run alone, and stopping none changes nothing', async () => {
  await withBuiltIn({ model: scriptModel([hangs]) }, async ({ conversation, model }) => {
    await conversation.goal.interrupt()
    assert.is(conversation.events.eventCount, 0)
    await conversation.goal.start('Build x', 3)
    await until(() => model.requests.length === 1)
    await conversation.goal.interrupt()
    assert.equal([statusOf(conversation.state.goal), conversation.state.execution_status], [
      ['interrupted', 0, false], 'running',
    ])
    await conversation.interrupt()
  })
})

test('a message of the user interrupts the goal before it is recorded', async () => {
  await withBuiltIn({ model: scriptModel([text('a'), hangs, text('b')]) }, async ({ conversation, model }) => {
    await conversation.goal.start('Build x', 3)
    await until(() => model.requests.length === 2)
    await conversation.send(userText('Leave it'), true)
    await ended(conversation)
    assert.equal(statusOf(await over(conversation)), ['interrupted', 0, false])
    const kinds = (await eventsOf(conversation.events)).map((event) => {
      return (event.kind === 'MessageEvent'
        ? textOf(event.llm_message)
        : event.kind === 'ConversationStateUpdateEvent' ? event.key : '')
    })
    assert.ok(kinds.lastIndexOf('goal') < kinds.indexOf('Leave it'))
    assert.equal(await toldBy(conversation), ['Build x', 'Leave it'])
  })
})

test('an action that waits for the user is waited for, approved or rejected', async () => {
  const changes = { confirmation_policy: { kind: 'AlwaysConfirm' } }
  await withBuiltIn({ model: scriptModel([ls, ls, text('a'), verdict(1)]), changes }, async (
    { conversation, done },
  ) => {
    await conversation.goal.start('Build x', 3)
    for (const accept of [true, false]) {
      await until(() => conversation.state.execution_status === 'waiting_for_confirmation' && !conversation.isRunning)
      assert.ok(conversation.goal.isActive)
      await conversation.respond({ accept, reason: 'no' })
    }
    assert.ok(conversation.goal.isActive)
    await conversation.run()
    assert.equal(statusOf(await over(conversation)), ['complete', 1, false])
    assert.equal(done, ['ls'])
  })
})

test('a resumed goal goes on with its rounds, also after a restart', async () => {
  const model = scriptModel([text('a'), verdict(0.5, 'the end'), hangs, text('c'), verdict(1)])
  await withBuiltIn({ model }, async ({ conversation, reopen }) => {
    await conversation.goal.start('Build x', 4)
    await until(() => model.requests.length === 3)
    const again = await reopen()
    assert.equal(statusOf(again.state.goal), ['interrupted', 1, false])
    await again.goal.resume()
    assert.equal(statusOf(await over(again)), ['complete', 2, false])
    assert.match(
      (await toldBy(again)).at(-1) ?? '',
      'Resuming a goal that was paused or interrupted. What was missing when it was judged last:\n\nthe end',
    )
  })
})

test('only an interrupted goal is resumed', async () => {
  await withBuiltIn({ model: scriptModel([text('a'), verdict(1)]) }, async ({ conversation }) => {
    assert.is(await failureOf(conversation.goal.resume()), 'bad_request')
    await conversation.goal.start('Build x', 1)
    await over(conversation)
    assert.is(await failureOf(conversation.goal.resume()), 'bad_request')
  })
})

test('no goal is begun without an objective, beside another, beside a run, or while an action waits', async () => {
  const changes = { confirmation_policy: { kind: 'AlwaysConfirm' } }
  await withBuiltIn({ model: scriptModel([hangs, ls]), changes }, async ({ conversation, model }) => {
    assert.is(await failureOf(conversation.goal.start(' \n', 3)), 'bad_request')
    await conversation.goal.start('Build x', 3)
    assert.is(await failureOf(conversation.goal.start('Build y', 3)), 'conflict')
    assert.is(await failureOf(conversation.goal.resume()), 'conflict')
    await conversation.goal.interrupt()
    await until(() => model.requests.length === 1)
    assert.is(await failureOf(conversation.goal.start('Build y', 3)), 'already_running')
    await conversation.interrupt()
    await conversation.run()
    await until(() => conversation.state.execution_status === 'waiting_for_confirmation')
    assert.is(await failureOf(conversation.goal.start('Build y', 3)), 'already_running')
  })
})

test('an agent that has no model of its own has no judge', async () => {
  const changes = { agent: { kind: 'ACPAgent' } }
  await withBuiltIn({ model: scriptModel([]), changes }, async ({ conversation }) => {
    assert.is(await failureOf(conversation.goal.start('Build x', 3)), 'bad_request')
    assert.is(conversation.events.eventCount, 0)
  })
})

test('a spent budget interrupts the goal before the judge is asked', async () => {
  const costly = text('a', { usage: { cost: 2 } })
  await withBuiltIn({ model: scriptModel([costly]), changes: { max_budget_per_task: 1 } }, async (
    { conversation, model },
  ) => {
    await conversation.goal.start('Build x', 3)
    assert.equal(statusOf(await over(conversation)), ['interrupted', 0, false])
    assert.is(model.requests.length, 1)
  })
})

test('an objective that a hook refuses is not pursued', async () => {
  const hooks = { user_prompt_submit: [{ hooks: [{ command: 'exit 2' }] }] }
  await withBuiltIn({ model: scriptModel([]), hooks }, async ({ conversation, model }) => {
    await conversation.goal.start('Build x', 3)
    assert.equal(statusOf(await over(conversation)), ['interrupted', 0, false])
    assert.is(model.requests.length, 0)
  })
})

test('an objective that cannot be recorded is not pursued', async () => {
  await withBuiltIn({ model: scriptModel([]) }, async ({ conversation, model, world }) => {
    assert.is.not(await failureOf(conversation.goal.start('x'.repeat(200_000), 3)), undefined)
    assert.not.ok(conversation.goal.isActive)
    assert.ok(world.reports.some((line) => line.includes('The end of a goal could not be recorded')))
    assert.equal([model.requests.length, conversation.state.goal], [0, null])
  })
})

test('closing ends the judge, and the goal is told to be interrupted', async () => {
  await withBuiltIn({ model: scriptModel([text('a'), hangs]) }, async ({ conversation, model, reopen }) => {
    await conversation.goal.start('Build x', 3)
    await until(() => model.requests.length === 2)
    const again = await reopen()
    assert.ok(model.requests[1]?.signal.aborted)
    assert.equal([statusOf(again.state.goal), (await goalsOf(again)).length], [['interrupted', 0, false], 2])
  })
})

test('what nobody pursues any more is interrupted, once', () => {
  const goal: Goal = { active: true, status: 'running', iteration: 1, max_iterations: 3, objective: 'x', verdict: null }
  for (const [stored, told] of [
    [goal, [{ ...goal, active: false, status: 'interrupted' }]], [{ ...goal, active: false }, []], [null, []],
  ] as const) {
    const updates: unknown[] = []
    const update = (_key: string, value: unknown): Recorded => {
      updates.push(value)
      return { id: '', durable: async () => undefined }
    }
    endOrphanedGoal({ state: { ...initialState(created()), goal: stored }, update })
    assert.equal(updates, told)
  }
})

test('a goal whose end cannot be recorded is ended all the same', async () => {
  await withBuiltIn({ model: scriptModel([hangs]) }, async ({ conversation, model, world }) => {
    await conversation.goal.start('Build x', 3)
    await until(() => model.requests.length === 1)
    world.disk.fail('EIO')
    await conversation.goal.interrupt().catch(() => undefined)
    await until(() => !conversation.goal.isActive)
    world.disk.heal()
  })
})

test.run()
