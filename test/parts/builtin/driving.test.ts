/** The user and the built-in agent: approval, messages during a run, pause, interrupt, restart. */
import * as assert from 'uvu/assert'
import { suite } from '../../support/suite.ts'
import { checkpoint, ended, eventsOf, failureOf, story, textOf, until, userText } from '../../support/conversation.ts'
import { withBuiltIn } from '../../support/built-in.ts'
import { calls, hangs, scriptModel, text } from '../../support/script-model.ts'
import type { ModelRequest } from '../../../src/parts/builtin/llm/model.ts'
import type { Conversation } from '../../../src/conversation/conversation.ts'

const test = suite('agents/builtin/driving')

const always = { confirmation_policy: { kind: 'AlwaysConfirm' } }
const two = calls([['terminal', { command: 'a' }], ['terminal', { command: 'b' }]])

/** Returns the messages of a request to a model, as role and words. */
function told(request: ModelRequest | undefined): string[] {
  const messages = request?.messages ?? []
  return messages.slice(1).map(({ message }) => {
    return `${message.role}: ${textOf(message)}${message.tool_calls?.map((call) => call.id).join() ?? ''}`
  })
}

test('with AlwaysConfirm the actions wait, and approval executes them without asking again', async () => {
  await withBuiltIn({ model: scriptModel([two]), changes: always }, async ({ conversation, done, model }) => {
    await conversation.send(userText('hi'), true)
    await ended(conversation)
    assert.is(conversation.state.execution_status, 'waiting_for_confirmation')
    assert.equal(conversation.confirmations().map((open) => [open.title, open.tool_call_id, open.deadline]), [
      ['terminal', 'call-1-1', null], ['terminal', 'call-1-2', null],
    ])
    assert.equal(done, [])
    await conversation.respond({ accept: true, reason: '' })
    await ended(conversation)
    assert.equal(done, ['a', 'b'])
    assert.equal((await story(conversation)).slice(3), [
      'action call-1-1', 'action call-1-2', 'update stats', 'status waiting_for_confirmation', 'status running',
      'observation call-1-1', 'observation call-1-2', 'agent: done', 'update stats', 'status finished',
    ])
    assert.equal(told(model.requests[1]), ['user: hi', 'assistant: call-1-1,call-1-2', 'tool: ran a', 'tool: ran b'])
  })
})

test('a tool starts when its action is durable, and not before', async () => {
  await withBuiltIn({ model: scriptModel([two]) }, async ({ conversation, world, done, model }) => {
    const asked = model.complete.bind(model)
    model.complete = async (request) => {
      const answer = await asked(request)
      if (model.requests.length === 1) world.disk.hold()
      return answer
    }
    await conversation.send(userText('hi'), true)
    await until(() => world.disk.waiting > 0)
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
    assert.equal(done, [])
    assert.not((await story(conversation)).includes('action call-1-1'))
    world.disk.release()
    await ended(conversation)
    assert.equal(done, ['a', 'b'])
  })
})

test('one call alone waits as well, and so does one beside a thought', async () => {
  for (const list of [
    [['terminal', { command: 'a' }]], [['terminal', { command: 'a' }], ['think', { thought: 'x' }]],
  ] as const) {
    await withBuiltIn({ model: scriptModel([calls(list)]), changes: always }, async ({ conversation, done }) => {
      await conversation.send(userText('hi'), true)
      await ended(conversation)
      assert.is(conversation.state.execution_status, 'waiting_for_confirmation')
      assert.equal(done, [])
    })
  }
})

test('what the model says beside its calls is masked', async () => {
  await withBuiltIn({ model: scriptModel([calls([['think', { thought: 'x' }]], 'I saw the SECRET-VALUE')]) }, async (
    { conversation },
  ) => {
    await conversation.send(userText('hi'), true)
    await ended(conversation)
    assert.not.match(JSON.stringify(await eventsOf(conversation.events)), 'SECRET-VALUE')
  })
})

test('an approval counts from the moment that the question is told, though the run may still be writing', async () => {
  const isAsked = (conversation: Conversation): boolean =>
    conversation.state.execution_status === 'waiting_for_confirmation'
  await withBuiltIn({ model: scriptModel([two, two]), changes: always }, async ({ conversation, done }) => {
    await conversation.send(userText('hi'), true)
    await until(() => isAsked(conversation))
    assert.ok(conversation.isRunning)
    assert.is(conversation.confirmations().length, 2)
    await conversation.respond({ accept: true, reason: '' })
    await until(() => done.length === 2 && isAsked(conversation))
    await conversation.run()
    await until(() => done.length === 4)
    await ended(conversation)
  })
})

test('a run approves as well, and thinking or finishing asks nobody', async () => {
  const think = calls([['think', { thought: 'x' }]])
  await withBuiltIn(
    { model: scriptModel([think, two, calls([['finish', { message: 'y' }]])]), changes: always },
    async ({ conversation, done }) => {
      await conversation.send(userText('hi'), true)
      await ended(conversation)
      assert.equal(done, ['x'])
      await conversation.run()
      await ended(conversation)
      assert.equal(done, ['x', 'a', 'b'])
      assert.is(conversation.state.execution_status, 'finished')
    },
  )
})

test('a rejection answers every action and starts nothing', async () => {
  await withBuiltIn({ model: scriptModel([two]), changes: always }, async ({ conversation, done, model }) => {
    await conversation.send(userText('hi'), true)
    await ended(conversation)
    await conversation.respond({ accept: false, reason: 'too risky' })
    assert.equal((await story(conversation)).slice(-3), [
      'status idle', 'UserRejectObservation', 'UserRejectObservation',
    ])
    assert.not.ok(conversation.isRunning)
    assert.equal(conversation.confirmations(), [])
    await conversation.run()
    await ended(conversation)
    assert.equal(done, [])
    assert.is(told(model.requests[1]).at(-1), 'tool: The action was rejected: too risky')
  })
})

test('one of several actions can be rejected; an approval is for all that are left', async () => {
  await withBuiltIn({ model: scriptModel([two]), changes: always }, async ({ conversation, done }) => {
    await conversation.send(userText('hi'), true)
    await ended(conversation)
    const [first, second] = conversation.confirmations()
    assert.is(await failureOf(conversation.respond({ accept: true, reason: '', id: first?.id })), 'bad_request')
    assert.is(await failureOf(conversation.respond({ accept: true, reason: '', id: 'other' })), 'not_found')
    assert.is(await failureOf(conversation.respond({ accept: false, reason: '', id: 'other' })), 'not_found')
    await conversation.respond({ accept: false, reason: 'no', id: first?.id })
    assert.is(conversation.state.execution_status, 'waiting_for_confirmation')
    await conversation.respond({ accept: true, reason: '', id: second?.id })
    await ended(conversation)
    assert.equal(done, ['b'])
  })
})

test('waiting survives a restart, a pause and a message', async () => {
  await withBuiltIn({ model: scriptModel([two]), changes: always }, async ({ conversation, done, model, reopen }) => {
    await conversation.send(userText('hi'), true)
    await ended(conversation)
    const again = await reopen()
    assert.is(again.state.execution_status, 'waiting_for_confirmation')
    await again.pause()
    await again.send(userText('and hurry'), true)
    assert.is(again.state.execution_status, 'waiting_for_confirmation')
    assert.is(again.confirmations().length, 2)
    await again.respond({ accept: true, reason: '' })
    await ended(again)
    assert.equal(done, ['closed', 'a', 'b'])
    assert.equal(told(model.requests[1]), [
      'user: hi', 'assistant: call-1-1,call-1-2', 'tool: ran a', 'tool: ran b', 'user: and hurry',
    ])
  })
})

test('a message during a run is seen before the next step, and does not end the one under way', async () => {
  const tool = checkpoint()
  const terminal = async (command: string): Promise<string> => {
    await tool.here()
    return command
  }
  const model = scriptModel([calls([['terminal', { command: 'a' }]])])
  await withBuiltIn({ model, terminal }, async ({ conversation }) => {
    await conversation.send(userText('hi'), true)
    await tool.reached
    await conversation.send(userText('also this'), true)
    tool.pass()
    await ended(conversation)
    assert.equal(told(model.requests[1]), ['user: hi', 'assistant: call-1-1', 'tool: a', 'user: also this'])
    assert.is(model.requests.length, 2)
    assert.equal(conversation.state.unserved, [])
  })
})

test('a message during the last step is served in a turn of its own', async () => {
  const last = checkpoint()
  const model = scriptModel([async (request, number) => {
    await last.here()
    return text('first')(request, number)
  }])
  await withBuiltIn({ model }, async ({ conversation }) => {
    await conversation.send(userText('hi'), true)
    await last.reached
    await conversation.send(userText('more'), true)
    last.pass()
    await ended(conversation)
    assert.equal((await story(conversation)).filter((word) => /^(agent|user|status)/.test(word)), [
      'user: hi', 'status running', 'user: more', 'agent: first', 'agent: done', 'status finished',
    ])
  })
})

test('a pause lets the tools of the step end, and a run goes on after them', async () => {
  const tool = checkpoint()
  const terminal = async (command: string): Promise<string> => {
    await tool.here()
    return command
  }
  const model = scriptModel([calls([['terminal', { command: 'a' }]])])
  await withBuiltIn({ model, terminal }, async ({ conversation }) => {
    await conversation.send(userText('hi'), true)
    await tool.reached
    const paused = conversation.pause()
    tool.pass()
    await paused
    const ends = ['observation call-1-1', 'update stats', 'status paused', 'pause']
    assert.equal((await story(conversation)).slice(-4), ends)
    assert.is(model.requests.length, 1)
    await conversation.run()
    await ended(conversation)
    assert.is(conversation.state.execution_status, 'finished')
  })
})

test('a pause ends a call of the model at once', async () => {
  const model = scriptModel([hangs])
  await withBuiltIn({ model }, async ({ conversation }) => {
    await conversation.send(userText('hi'), true)
    await until(() => model.requests.length === 1)
    await conversation.pause()
    assert.equal((await story(conversation)).slice(-2), ['status paused', 'pause'])
  })
})

test('an interrupt ends a tool at once and its action is answered', async () => {
  const tool = checkpoint()
  const terminal = async (_command: string, { signal }: { readonly signal: AbortSignal }): Promise<string> => {
    await Promise.race([
      tool.here(), new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true })),
    ])
    throw signal.reason
  }
  await withBuiltIn({ model: scriptModel([calls([['terminal', { command: 'a' }]])]), terminal }, async (
    { conversation },
  ) => {
    await conversation.send(userText('hi'), true)
    await tool.reached
    await conversation.interrupt()
    assert.equal((await story(conversation)).slice(-3), ['error call-1-1', 'status paused', 'pause'])
  })
})

test('an agent made after a restart knows the history and what the provider wants back', async () => {
  const state = { signature: 'abc' }
  const model = scriptModel([text('hello', { state })])
  await withBuiltIn({ model }, async ({ conversation, reopen }) => {
    await conversation.send(userText('hi'), true)
    await ended(conversation)
    const again = await reopen()
    await again.send(userText('more'), true)
    await ended(again)
    assert.equal(told(model.requests[1]), ['user: hi', 'assistant: hello', 'user: more'])
    assert.equal(model.requests[1]?.messages[2]?.state, state)
    assert.not.match(JSON.stringify(await story(again)), /abc/)
  })
})

test('when the head was moved the model is told of the branch alone', async () => {
  const model = scriptModel([text('one'), text('two')])
  await withBuiltIn({ model }, async ({ conversation }) => {
    await conversation.send(userText('hi'), true)
    await ended(conversation)
    const first = conversation.state.last_user_message_id
    await conversation.send(userText('wrong way'), true)
    await ended(conversation)
    await conversation.navigate(first)
    await conversation.send(userText('right way'), true)
    await ended(conversation)
    assert.equal(told(model.requests[2]), ['user: hiright way'])
  })
})

test.run()
