/** Acts of a model, a provider or the user at a bad moment, after which the run goes on all the same. */
import * as assert from 'uvu/assert'
import type { ModelAnswer, ModelRequest } from '../../../src/parts/builtin/llm/model.ts'
import { toLLM } from '../../../src/schema/generated/llm.ts'
import { suite } from '../../support/suite.ts'
import { checkpoint, ended, eventsOf, story, textOf, until, userText } from '../../support/conversation.ts'
import { withBuiltIn } from '../../support/built-in.ts'
import { calls, fails, hangs, scriptModel, text, type ModelStep } from '../../support/script-model.ts'

const test = suite('agents/builtin/weather')

const always = { confirmation_policy: { kind: 'AlwaysConfirm' } }
const ls = calls([['terminal', { command: 'ls' }]])

function told(request: ModelRequest | undefined): string[] {
  return (request?.messages ?? []).slice(1).map(({ message }) => {
    return `${message.role}: ${textOf(message)}${message.tool_calls?.map(({ id }) => id).join() ?? ''}`
  })
}

/** The same step with some of its answer replaced. */
function but(step: ModelStep, changes: Partial<ModelAnswer>): ModelStep {
  return async (request, number) => ({ ...(await step(request, number)), ...changes })
}

const words = (list: readonly string[]): string[] =>
  list.filter((word) => /^(user|agent|environment|action|observation|error|failure|status)/.test(word))

test('a message during the last answer is told after that answer, also when the history is read anew', async () => {
  const last = checkpoint()
  const first: ModelStep = async (request, number) => {
    await last.here()
    return text('first')(request, number)
  }
  const model = scriptModel([first])
  await withBuiltIn({ model }, async ({ conversation, reopen }) => {
    await conversation.send(userText('hi'), true)
    await last.reached
    await conversation.send(userText('more'), true)
    last.pass()
    await ended(conversation)
    assert.equal(told(model.requests[1]), ['user: hi', 'assistant: first', 'user: more'])
    const again = await reopen()
    await again.send(userText('end'), true)
    await ended(again)
    assert.equal(told(model.requests[2]), [
      'user: hi', 'assistant: first', 'user: more', 'assistant: done', 'user: end',
    ])
  })
})

test('a message during an answer is told without that answer once the head is moved back to it', async () => {
  const last = checkpoint()
  const first: ModelStep = async (request, number) => {
    await last.here()
    return text('first')(request, number)
  }
  const model = scriptModel([first])
  await withBuiltIn({ model }, async ({ conversation, reopen }) => {
    await conversation.send(userText('hi'), true)
    await last.reached
    await conversation.send(userText('more'), true)
    const more = conversation.state.last_user_message_id
    last.pass()
    await ended(conversation)
    await conversation.navigate(more)
    const again = await reopen()
    await again.send(userText('end'), true)
    await ended(again)
    await again.send(userText('once more'), true)
    await ended(again)
    assert.equal(told(model.requests[3]), ['user: himoreend', 'assistant: done', 'user: once more'])
  })
})

test('a message during an answer with calls is told after their results', async () => {
  const answer = checkpoint()
  const model = scriptModel([async (request, number) => {
    await answer.here()
    return ls(request, number)
  }])
  await withBuiltIn({ model }, async ({ conversation }) => {
    await conversation.send(userText('hi'), true)
    await answer.reached
    await conversation.send(userText('more'), false)
    answer.pass()
    await ended(conversation)
    assert.equal(told(model.requests[1]), ['user: hi', 'assistant: call-1-1', 'tool: ran ls', 'user: more'])
  })
})

test('a run with nothing to answer ends at once, without a call of the model', async () => {
  const model = scriptModel([text('hello')])
  await withBuiltIn({ model }, async ({ conversation }) => {
    await conversation.run()
    await ended(conversation)
    assert.is(conversation.state.execution_status, 'finished')
    await conversation.send(userText('hi'), true)
    await ended(conversation)
    await conversation.navigate(conversation.state.last_user_message_id)
    await conversation.send(userText('again'), false)
    await conversation.navigate(
      (await eventsOf(conversation.events)).find(({ source, kind }) => {
        return source === 'agent' && kind === 'MessageEvent'
      })?.id ??
        null,
    )
    await conversation.run()
    await ended(conversation)
    assert.is(model.requests.length, 1)
    assert.is(conversation.state.execution_status, 'finished')
  })
})

test('an approved finish is the end, and a message that waited meanwhile is served after it', async () => {
  const both = calls([['terminal', { command: 'a' }], ['finish', { message: 'x' }]])
  for (const message of [undefined, 'wait']) {
    await withBuiltIn({ model: scriptModel([both]), changes: always }, async ({ conversation, done, model }) => {
      await conversation.send(userText('hi'), true)
      await ended(conversation)
      if (message !== undefined) await conversation.send(userText(message), true)
      await conversation.respond({ accept: true, reason: '' })
      await ended(conversation)
      assert.equal(done, ['a'])
      assert.is(conversation.state.execution_status, 'finished')
      assert.is(model.requests.length, message === undefined ? 1 : 2)
      if (message !== undefined) assert.is(told(model.requests[1]).at(-1), 'user: wait')
    })
  }
})

test('an approved action whose tool has gone is answered at once, and the model goes on without it', async () => {
  const both = calls([['terminal', { command: 'a' }], ['think', { thought: 'b' }]])
  await withBuiltIn({ model: scriptModel([both]), changes: always }, async ({ conversation, tools, done, model }) => {
    await conversation.send(userText('hi'), true)
    await ended(conversation)
    tools.splice(tools.findIndex(({ name }) => name === 'terminal'), 1)
    await conversation.respond({ accept: true, reason: '' })
    await ended(conversation)
    assert.equal(done, ['b'])
    assert.equal(told(model.requests[1]).slice(-2), [
      'tool: The tool terminal is not available any more. The action was not executed.', 'tool: noted',
    ])
    assert.is(conversation.state.execution_status, 'finished')
  })
})

test('a call that was cut off is not executed, those before it are', async () => {
  const two = calls([['terminal', { command: 'a' }], ['terminal', '{"command":"rm -rf /tmp/x/ol']])
  await withBuiltIn({ model: scriptModel([but(two, { stop: 'length' })]) }, async ({ conversation, done, model }) => {
    await conversation.send(userText('hi'), true)
    await ended(conversation)
    assert.equal(done, ['a'])
    assert.match(told(model.requests[1]).at(-1) ?? '', /^tool: The call was cut off/)
    assert.equal(model.requests[1]?.messages.at(-3)?.message.tool_calls?.map((call) => call.arguments), [
      '{"command":"a"}', '{}',
    ])
    assert.is(conversation.state.execution_status, 'finished')
  })
})

test('an answer that was broken off for its content is corrected once, and its calls are not executed', async () => {
  for (const step of [ls, text('')]) {
    const refused = but(step, { stop: 'refusal' })
    await withBuiltIn(
      { model: scriptModel([refused, text('ok'), refused, refused]) },
      async ({ conversation, done }) => {
        await conversation.send(userText('hi'), true)
        await ended(conversation)
        assert.equal(words(await story(conversation)).slice(2), [
          'environment: The model provider refused the last request because of its content policy. Go on without ' +
            'what it refused.',
          'agent: ok', 'status finished',
        ])
        await conversation.send(userText('again'), true)
        await ended(conversation)
        assert.equal(words(await story(conversation)).slice(-2), [
          'failure LLMContentPolicyViolationError', 'status error',
        ])
        assert.equal(done, [])
      },
    )
  }
})

test('a refusal in words is an answer', async () => {
  await withBuiltIn({ model: scriptModel([but(text('I will not.'), { stop: 'refusal' })]) }, async (
    { conversation },
  ) => {
    await conversation.send(userText('hi'), true)
    await ended(conversation)
    assert.equal(words(await story(conversation)).slice(-2), ['agent: I will not.', 'status finished'])
  })
})

test('calls of the same id are executed once each, and each has its own result', async () => {
  const same = (commands: readonly string[]): ModelStep => async (request, number) => {
    const answer = await calls(commands.map((command) => ['terminal', { command }]))(request, number)
    return {
      ...answer,
      message: {
        ...answer.message, tool_calls: answer.message.tool_calls?.map((call) => ({ ...call, id: 'call_0' })) ?? [],
      },
    }
  }
  const model = scriptModel([same(['a', 'b']), same(['c']), same(['c'])])
  await withBuiltIn({ model }, async ({ conversation, done }) => {
    await conversation.send(userText('hi'), true)
    await ended(conversation)
    assert.equal(done, ['a', 'b', 'c', 'c'])
    const events = await eventsOf(conversation.events)
    const ids = events.flatMap((event) => event.kind === 'ActionEvent' ? [event.tool_call_id] : [])
    assert.is(new Set(ids).size, 4)
    assert.is(ids[0], 'call_0')
    assert.equal(events.flatMap((event) => event.kind === 'ObservationEvent' ? [event.tool_call_id] : []), ids)
    assert.equal(told(model.requests[3]).filter((word) => word.startsWith('tool')), [
      'tool: ran a', 'tool: ran b', 'tool: ran c', 'tool: ran c',
    ])
    for (const event of events) if (event.kind === 'ActionEvent') assert.is(event.tool_call.id, event.tool_call_id)
  })
})

test('answers of the same id are told apart', async () => {
  const same = but(ls, { id: 'chatcmpl-0' })
  const model = scriptModel([same, but(text('first'), { id: 'chatcmpl-0' })])
  await withBuiltIn({ model }, async ({ conversation }) => {
    await conversation.send(userText('hi'), true)
    await ended(conversation)
    const ids = (await eventsOf(conversation.events)).flatMap((event) => {
      return 'llm_response_id' in event ? [event.llm_response_id] : []
    })
    assert.is(ids[0], 'chatcmpl-0')
    assert.is(new Set(ids).size, 2)
  })
})

test('what was done before an interrupt is told, and only what was stopped is cancelled', async () => {
  const tool = checkpoint()
  const terminal = async (command: string): Promise<string> => {
    if (command === 'a') await tool.here()
    return command
  }
  const two = calls([['terminal', { command: 'a' }], ['terminal', { command: 'b' }]])
  await withBuiltIn({ model: scriptModel([two]), terminal }, async ({ conversation, done }) => {
    await conversation.send(userText('hi'), true)
    await tool.reached
    const stopping = conversation.interrupt()
    tool.pass()
    await stopping
    assert.equal((await story(conversation)).slice(-5), [
      'observation call-1-1', 'update stats', 'error call-1-2', 'status paused', 'pause',
    ])
    assert.equal(done, ['a'])
  })
})

test('a head that is moved during a run ends it where nothing is left to answer', async () => {
  const tool = checkpoint()
  const terminal = async (command: string): Promise<string> => {
    await tool.here()
    return command
  }
  const model = scriptModel([ls])
  await withBuiltIn({ model, terminal }, async ({ conversation }) => {
    await conversation.send(userText('hi'), true)
    await tool.reached
    await conversation.navigate(null)
    tool.pass()
    await ended(conversation)
    assert.is(conversation.state.execution_status, 'finished')
    assert.equal(conversation.state.open_actions, [])
    assert.is(model.requests.length, 1)
    await conversation.send(userText('anew'), true)
    await ended(conversation)
    assert.equal(told(model.requests[1]), ['user: anew'])
  })
})

test('calls of one answer run at once as far as they may, and their results keep the order of the calls', async () => {
  const first = checkpoint()
  const terminal = async (command: string): Promise<string> => {
    if (command === 'a') await first.here()
    else first.pass()
    return command
  }
  const two = calls([['terminal', { command: 'a' }], ['terminal', { command: 'b' }]])
  await withBuiltIn(
    { model: scriptModel([two]), terminal, settings: { tool_concurrency_limit: Number.MAX_SAFE_INTEGER } },
    async ({ conversation }) => {
      await conversation.send(userText('hi'), true)
      await ended(conversation)
      assert.equal((await story(conversation)).filter((word) => word.startsWith('observation')), [
        'observation call-1-1', 'observation call-1-2',
      ])
    },
  )
})

test('a call too long for any event is an error of the agent, and the run goes on', async () => {
  const huge = calls([['terminal', { command: 'x'.repeat(2 * 1024 * 1024) }]])
  await withBuiltIn({ model: scriptModel([huge]) }, async ({ conversation, done }) => {
    await conversation.send(userText('hi'), true)
    await ended(conversation)
    assert.equal(words(await story(conversation)).slice(-4), [
      'action call-1-1', 'error call-1-1', 'agent: done', 'status finished',
    ])
    assert.equal(done, [])
  })
})

test('a stuck run goes on by a run, and is stuck again only by what comes after it', async () => {
  const model = scriptModel([ls, ls, ls, ls, ls, ls, ls, ls])
  await withBuiltIn({ model }, async ({ conversation }) => {
    await conversation.send(userText('hi'), true)
    await ended(conversation)
    assert.is(conversation.state.execution_status, 'stuck')
    await conversation.run()
    await ended(conversation)
    assert.is(model.requests.length, 8)
    assert.is(conversation.state.execution_status, 'stuck')
    await conversation.run()
    await ended(conversation)
    assert.is(conversation.state.execution_status, 'finished')
  })
})

test('each step ends the run once the budget is spent, and a last step stays finished', async () => {
  const costly = but(ls, { usage: { cost: 0.75 } })
  await withBuiltIn(
    { model: scriptModel([costly, costly, ls]), changes: { max_budget_per_task: 1 } },
    async ({ conversation, model }) => {
      await conversation.send(userText('hi'), true)
      await ended(conversation)
      assert.equal((await story(conversation)).slice(-4), [
        'observation call-2-1', 'update stats', 'failure MaxBudgetReached', 'status error',
      ])
      assert.is(model.requests.length, 2)
      const failure = (await eventsOf(conversation.events)).find(({ kind }) => kind === 'ConversationErrorEvent')
      assert.match(JSON.stringify(failure), 'No step was begun: the conversation has cost $1.5000, its budget is $1')
    },
  )
  await withBuiltIn(
    { model: scriptModel([but(text('bye'), { usage: { cost: 2 } })]), changes: { max_budget_per_task: 1 } },
    async ({ conversation }) => {
      await conversation.send(userText('hi'), true)
      await ended(conversation)
      assert.is(conversation.state.execution_status, 'finished')
    },
  )
})

test('an interrupt ends a call of the model at once, and the message is answered by the next run', async () => {
  const model = scriptModel([hangs])
  await withBuiltIn({ model }, async ({ conversation }) => {
    await conversation.send(userText('hi'), true)
    await until(() => model.requests.length === 1)
    await conversation.interrupt()
    assert.equal((await story(conversation)).slice(-2), ['status paused', 'pause'])
    await conversation.run()
    await ended(conversation)
    assert.equal(told(model.requests[1]), ['user: hi'])
    assert.is(conversation.state.execution_status, 'finished')
  })
})

test('an error of the conversation is not told to the model', async () => {
  const model = scriptModel([fails('LLMRateLimitError')])
  await withBuiltIn({ model }, async ({ conversation }) => {
    await conversation.send(userText('hi'), true)
    await ended(conversation)
    assert.is(conversation.state.execution_status, 'error')
    await conversation.run()
    await ended(conversation)
    assert.equal(told(model.requests[1]), ['user: hi'])
  })
})

test('pieces of an answer are pushed only when the model is to stream', async () => {
  for (const stream of [true, false]) {
    const model = scriptModel([text('hello')])
    await withBuiltIn({ model, settings: { llm: toLLM({ model: 'test/script', stream }) } }, async (
      { conversation },
    ) => {
      await conversation.send(userText('hi'), true)
      await ended(conversation)
      assert.is(model.requests[0]?.onDelta !== undefined, stream)
      assert.is((await eventsOf(conversation.events)).some(({ kind }) => String(kind) === 'StreamingDeltaEvent'), false)
    })
  }
})

test.run()
