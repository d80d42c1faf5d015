/** When a history is condensed, the recorded event, and the run whose condensation fails. */
import * as assert from 'uvu/assert'
import { AppError } from '../../../../src/base/errors.ts'
import { toJsonObject } from '../../../../src/base/json.ts'
import {
  toConversationAgent, type LLMSummarizingCondenser, type LLMSummarizingCondenserInput,
} from '../../../../src/schema/generated/conversations.ts'
import type { Condensation } from '../../../../src/schema/generated/events.ts'
import { toLLM } from '../../../../src/schema/generated/llm.ts'
import { withBuiltIn, type BuiltIn } from '../../../support/built-in.ts'
import { checkpoint, ended, eventsOf, story, until, userText } from '../../../support/conversation.ts'
import {
  calls, fails, hangs, scriptModel, text, type ModelStep, type ScriptModel,
} from '../../../support/script-model.ts'
import { suite } from '../../../support/suite.ts'
import { words } from './events.ts'

const test = suite('agents/builtin/condensing/condenser')

/** So many steps, each with a command of its own. */
function steps(count: number): ModelStep[] {
  return Array.from({ length: count }, (_, place) => calls([['terminal', { command: `step ${place + 1}` }]]))
}

const tooLong = fails('LLMContextWindowExceedError')

interface Options {
  readonly condenser?: Partial<LLMSummarizingCondenserInput>
  readonly summaries?: readonly ModelStep[]
  readonly terminal?: (command: string) => Promise<string>
}

/** A conversation whose summaries come from a model of their own, under the usage id `sum`. */
async function withCondenser(
  script: readonly ModelStep[],
  { condenser = {}, summaries = [], terminal }: Options,
  body: (parts: BuiltIn<ScriptModel> & { readonly summaries: ScriptModel }) => Promise<void>,
): Promise<void> {
  const model = scriptModel(script)
  const other = scriptModel(summaries)
  const settings = {
    condenser: settingsOf({ max_size: 12, llm: toLLM({ model: 'test/summaries', usage_id: 'sum' }), ...condenser }),
  }
  const options = {
    model, settings, models: { 'test/summaries': other }, ...(terminal === undefined ? {} : { terminal }),
  }
  await withBuiltIn(options, (parts) => body({ ...parts, summaries: other }))
}

function settingsOf(condenser: LLMSummarizingCondenserInput): LLMSummarizingCondenser {
  const agent = toConversationAgent({ kind: 'Agent', llm: { model: 'm' }, condenser })
  if (agent.kind !== 'Agent' || agent.condenser?.kind !== 'LLMSummarizingCondenser') {
    throw new Error('expected a condenser')
  }
  return agent.condenser
}

async function condensations({ conversation }: Pick<BuiltIn<ScriptModel>, 'conversation'>): Promise<Condensation[]> {
  return (await eventsOf(conversation.events)).filter((event) => event.kind === 'Condensation')
}

/** Kinds that have to do with memory, failures and ends. */
async function outline({ conversation }: Pick<BuiltIn<ScriptModel>, 'conversation'>): Promise<string[]> {
  return (await story(conversation)).filter((word) => /^(Condensation|failure|status|agent|pause)/.test(word))
}

async function say(conversation: BuiltIn<ScriptModel>['conversation'], message = 'hi'): Promise<void> {
  await conversation.send(userText(message), true)
  await ended(conversation)
}

async function refusal(work: Promise<unknown>): Promise<string> {
  const thrown = await work.then(() => undefined, (error: unknown) => error)
  return thrown instanceof AppError ? `${thrown.code}: ${thrown.message}` : String(thrown)
}

function condense(
  conversation: BuiltIn<ScriptModel>['conversation'], signal = new AbortController().signal,
): Promise<void> {
  return conversation.asides.condense(signal)
}

test('a view with more events than it may have is condensed before the next step, by one event', async () => {
  await withCondenser(steps(6), { summaries: [text('What was done')] }, async (parts) => {
    const { conversation, model, summaries } = parts
    await say(conversation)
    assert.equal(await outline(parts), ['status running', 'Condensation', 'agent: done', 'status finished'])
    const [condensation] = await condensations(parts)
    const summary = '[Summary of the earlier part of this conversation, which was taken out to save room.]\n\n' +
      'What was done'
    assert.is(condensation?.summary, summary)
    assert.is(condensation?.summary_offset, 2)
    assert.is(condensation?.forgotten_event_ids.length, 10)
    assert.is(condensation?.llm_response_id, 'response-1')
    assert.is(model.requests.length, 7)
    assert.equal(words(model.requests[6]?.messages ?? []).slice(1), [
      `user: hi${summary}`, 'assistant: <call-6-1>', 'tool: ran step 6',
    ])
    assert.is(summaries.requests.length, 1)
    assert.is(conversation.state.execution_status, 'finished')
  })
})

test('the next summary takes the place of the one before, and a restart changes nothing of the view', async () => {
  await withCondenser(steps(11), { summaries: [text('one'), text('two')] }, async (parts) => {
    await say(parts.conversation)
    const [first, second] = await condensations(parts)
    assert.ok(second?.forgotten_event_ids.includes(`${first?.id}-summary`))
    const again = await parts.reopen()
    await say(again, 'more')
    const [before, after] = parts.model.requests.slice(-2).map(({ messages }) => words(messages))
    assert.equal(after?.slice(0, before?.length), before)
    assert.equal(after?.slice(before?.length), ['assistant: done', 'user: more'])
  })
})

test('tokens are what the model counted and what came since', async () => {
  const counted: ModelStep = async (request, number) => {
    return {
      ...(await calls([['terminal', { command: `step ${number}` }]])(request, number)),
      usage: { promptTokens: number === 3 ? 900 : 300 },
    }
  }
  await withCondenser(
    Array.from({ length: 7 }, () => counted),
    { condenser: { max_size: 200, max_tokens: 904, minimum_progress: 0.01 } },
    async (parts) => {
      await say(parts.conversation)
      const story = (await eventsOf(parts.conversation.events)).filter(({ kind }) => {
        return kind === 'ActionEvent' || kind === 'Condensation'
      })
      assert.is(story.findIndex(({ kind }) => kind === 'Condensation'), 3)
      assert.is((await condensations(parts))[0]?.forgotten_event_ids.length, 4)
    },
  )
})

test('a history that would hardly become smaller is left as it is', async () => {
  const options = { condenser: { max_size: 200, max_tokens: 1, minimum_progress: 0.9 } }
  await withCondenser(steps(4), options, async (parts) => {
    await say(parts.conversation)
    assert.equal(await condensations(parts), [])
    assert.is(parts.summaries.requests.length, 0)
  })
})

test('without a condenser nothing is forgotten, and a request that is too long is the end', async () => {
  for (const condenser of [null, { kind: 'NoOpCondenser' } as const]) {
    await withBuiltIn({ model: scriptModel([...steps(8), tooLong]), settings: { condenser } }, async (parts) => {
      await say(parts.conversation)
      assert.equal(await outline(parts), ['status running', 'failure LLMContextWindowExceedError', 'status error'])
      assert.match(await refusal(condense(parts.conversation)), /^bad_request: .*no condenser/)
    })
  }
})

test('a request that is too long is answered with a condensation, and made again', async () => {
  await withCondenser(
    [...steps(4), tooLong],
    { condenser: { max_size: 200 }, summaries: [text('half')] },
    async (parts) => {
      await say(parts.conversation)
      assert.equal(await outline(parts), [
        'status running', 'CondensationRequest', 'Condensation', 'agent: done', 'status finished',
      ])
      assert.equal(
        (await condensations(parts)).map(({ forgotten_event_ids, summary_offset }) => [
          forgotten_event_ids.length, summary_offset,
        ]),
        [[6, 2]],
      )
    },
  )
})

test('half of the text goes when the request was too long, not only half of the events', async () => {
  const terminal = async (command: string): Promise<string> => (command === 'step 3' ? 'x'.repeat(5000) : command)
  await withCondenser([...steps(4), tooLong], { condenser: { max_size: 200 }, terminal }, async (parts) => {
    await say(parts.conversation)
    assert.is((await condensations(parts))[0]?.forgotten_event_ids.length, 6)
  })
})

test('when half was not enough everything goes but the system prompt, and the user is quoted', async () => {
  await withCondenser(
    [...steps(4), tooLong, tooLong],
    { condenser: { max_size: 200 }, summaries: [text('half'), text('all')] },
    async (parts) => {
      await say(parts.conversation, 'Do it')
      const ends = [
        'CondensationRequest', 'Condensation', 'CondensationRequest', 'Condensation', 'agent: done', 'status finished',
      ]
      assert.equal(await outline(parts), ['status running', ...ends])
      const [, second] = await condensations(parts)
      assert.is(second?.summary_offset, 1)
      assert.match(second?.summary ?? '', /all\n\nThe last message of the user:\n\nDo it$/)
      assert.is(words(parts.model.requests.at(-1)?.messages ?? []).length, 2)
    },
  )
})

test('a request that is too long for the third time is the end, and the next turn tries again', async () => {
  await withCondenser(
    [...steps(4), tooLong, tooLong, tooLong, ...steps(1), tooLong],
    { condenser: { max_size: 200 } },
    async (parts) => {
      await say(parts.conversation)
      assert.equal((await outline(parts)).slice(-4), [
        'CondensationRequest', 'Condensation', 'failure LLMContextWindowExceedError', 'status error',
      ])
      await say(parts.conversation, 'more')
      assert.equal((await outline(parts)).slice(-5), [
        'status running', 'CondensationRequest', 'Condensation', 'agent: done', 'status finished',
      ])
    },
  )
})

test('one message that is too long by itself is not condensed', async () => {
  await withCondenser([tooLong], {}, async (parts) => {
    await say(parts.conversation)
    assert.equal(await outline(parts), ['status running', 'failure LLMContextWindowExceedError', 'status error'])
  })
})

test('a summary that fails when the request was too long ends the run with both reasons', async () => {
  await withCondenser(
    [...steps(4), tooLong],
    { condenser: { max_size: 200 }, summaries: [fails('LLMQuotaExceededError')] },
    async (parts) => {
      await say(parts.conversation)
      const failed = (await eventsOf(parts.conversation.events)).find((event) => {
        return event.kind === 'ConversationErrorEvent'
      })
      assert.is(failed?.kind === 'ConversationErrorEvent' && failed.detail,
        'failed with LLMContextWindowExceedError. No summary could be made: failed with LLMQuotaExceededError')
      assert.equal((await outline(parts)).slice(-3), [
        'CondensationRequest', 'failure LLMContextWindowExceedError', 'status error',
      ])
    },
  )
})

test('a failure of the condenser is no end of a run, and is not repeated at every step', async () => {
  await withCondenser(steps(8), { summaries: [fails('LLMRateLimitError'), text('later')] }, async (parts) => {
    await say(parts.conversation)
    assert.equal(await outline(parts), ['status running', 'Condensation', 'agent: done', 'status finished'])
    assert.is(parts.summaries.requests.length, 2)
    assert.is((await condensations(parts))[0]?.forgotten_event_ids.length, 12)
  })
})

test('a summary that is too long for its model is asked for again with less', async () => {
  await withCondenser(
    steps(6),
    { condenser: { hard_context_reset_max_retries: 2 }, summaries: [tooLong, text('second')] },
    async (parts) => {
      await say(parts.conversation)
      assert.match((await condensations(parts))[0]?.summary ?? '', 'second')
    },
  )
})

test('summaries are masked, and counted under the usage id of their model', async () => {
  await withCondenser(
    steps(6),
    { summaries: [text('the SECRET-VALUE', { usage: { promptTokens: 7, cost: 0.5 } })] },
    async (parts) => {
      await say(parts.conversation)
      assert.not.match((await condensations(parts))[0]?.summary ?? '', 'SECRET-VALUE')
      const { usage_to_metrics: metrics } = parts.conversation.state.stats
      assert.equal(Object.keys(metrics ?? {}), ['agent', 'sum'])
      assert.match(JSON.stringify(metrics), '"accumulated_cost":0.5')
    },
  )
})

test(
  'the model of the agent makes the summaries when the condenser has none, under a usage id of its own',
  async () => {
    const exchange = { request: { a: 1 }, response: { b: 2 } }
    const options = {
      model: scriptModel([...steps(6), text('by itself', { exchange })]),
      settings: { condenser: settingsOf({ max_size: 12 }) },
    }
    await withBuiltIn(options, async (parts) => {
      await say(parts.conversation)
      assert.match((await condensations(parts))[0]?.summary ?? '', 'by itself')
      assert.equal(Object.keys(parts.conversation.state.stats['usage_to_metrics'] ?? {}), ['agent', 'condenser'])
      const log = (await eventsOf(parts.conversation.events)).find((event) => event.kind === 'LLMCompletionLogEvent')
      assert.is(log?.kind === 'LLMCompletionLogEvent' && log.usage_id, 'condenser')
    })
  },
)

test('a model that is switched to makes the next summary', async () => {
  const other = scriptModel([text('by the other')])
  const options = {
    model: scriptModel([]), models: { 'test/other': other }, settings: { condenser: settingsOf({ max_size: 12 }) },
  }
  await withBuiltIn(options, async (parts) => {
    await say(parts.conversation)
    await parts.conversation.switches.llm((agent) => ({ ...agent, llm: toJsonObject(toLLM({ model: 'test/other' })) }))
    await condense(parts.conversation)
    assert.match((await condensations(parts))[0]?.summary ?? '', 'by the other')
    assert.is(other.requests.length, 1)
  })
})

test('an interrupt and a pause end a condensation with the run, and leave no trace of it', async () => {
  for (const how of ['interrupt', 'pause'] as const) {
    await withCondenser(steps(6), { summaries: [hangs] }, async (parts) => {
      const { conversation, summaries } = parts
      await conversation.send(userText('hi'), true)
      await until(() => summaries.requests.length === 1)
      await conversation[how]()
      assert.equal(await outline(parts), ['status running', 'status paused', 'pause'])
      await conversation.run()
      await ended(conversation)
      assert.equal((await outline(parts)).slice(3), [
        'status running', 'Condensation', 'agent: done', 'status finished',
      ])
    })
  }
})

test('a summary of a branch that was left meanwhile is dropped', async () => {
  const asked = checkpoint()
  const slow: ModelStep = async (request, number) => {
    await asked.here()
    return text('old')(request, number)
  }
  await withCondenser(steps(6), { summaries: [slow] }, async (parts) => {
    const { conversation } = parts
    await conversation.send(userText('hi'), true)
    await asked.reached
    await conversation.navigate(conversation.state.last_user_message_id)
    asked.pass()
    await ended(conversation)
    assert.equal(await condensations(parts), [])
    assert.equal(words(parts.model.requests.at(-1)?.messages ?? []).slice(1), ['user: hi'])
  })
})

test('a client has a history condensed between two runs, without a change of the status', async () => {
  await withCondenser(steps(4), { condenser: { max_size: 200 }, summaries: [text('asked for')] }, async (parts) => {
    await say(parts.conversation)
    await condense(parts.conversation)
    assert.equal((await outline(parts)).slice(-3), ['status finished', 'CondensationRequest', 'Condensation'])
    assert.is((await condensations(parts))[0]?.forgotten_event_ids.length, 8)
    await say(parts.conversation, 'more')
    assert.match(words(parts.model.requests.at(-1)?.messages ?? [])[1] ?? '', /^user: hi\[Summary.*asked for$/s)
    assert.is((await condensations(parts)).length, 1)
  })
})

test(
  'a short history is condensed as a whole when a client asks, and one without anything to condense is not',
  async () => {
    await withCondenser([], {}, async (parts) => {
      await parts.conversation.send(userText('hi'), false)
      assert.is(await refusal(condense(parts.conversation)), 'conflict: Cannot condense the history: it is too short')
      await parts.conversation.run()
      await ended(parts.conversation)
      await condense(parts.conversation)
      assert.is((await condensations(parts))[0]?.summary_offset, 1)
      await parts.conversation.run()
      assert.is(parts.conversation.state.execution_status, 'finished')
      await say(parts.conversation, 'more')
      assert.match(
        words(parts.model.requests.at(-1)?.messages ?? [])[1] ?? '', /The last message of the user:\n\nhimore$/,
      )
    })
  },
)

test('a summary that cost what was left of the budget is the last thing that is paid for', async () => {
  const costly: ModelStep = async (request, number) => ({ ...await text('short')(request, number), usage: { cost: 2 } })
  await withCondenser(steps(20), { summaries: [costly] }, async (parts) => {
    await parts.conversation.patch({ budget: 1 })
    await say(parts.conversation)
    assert.equal((await outline(parts)).slice(-3), ['Condensation', 'failure MaxBudgetReached', 'status error'])
    assert.is(parts.summaries.requests.length, 1)
    const words = await story(parts.conversation)
    assert.not(words.slice(words.indexOf('Condensation')).some((word) => word.startsWith('action')), 'no step follows')
  })
})

test('no summary is paid for once a step has spent the budget', async () => {
  const script = steps(20).map((step, place): ModelStep => async (request, number) => {
    return { ...await step(request, number), usage: place === 5 ? { cost: 2 } : {} }
  })
  await withCondenser(script, { summaries: [text('short')] }, async (parts) => {
    await parts.conversation.patch({ budget: 1 })
    await say(parts.conversation)
    assert.equal((await outline(parts)).slice(-2), ['failure MaxBudgetReached', 'status error'])
    assert.is(parts.model.requests.length, 6)
    assert.is(parts.summaries.requests.length, 0)
    await parts.conversation.patch({ budget: 3 })
    await parts.conversation.run()
    await until(() => parts.summaries.requests.length > 0)
    await parts.conversation.interrupt()
  })
})

test('a client cannot have a history condensed during a run, or twice at a time, or beyond the budget', async () => {
  await withCondenser([...steps(4), hangs], { condenser: { max_size: 200 }, summaries: [hangs] }, async (parts) => {
    const { conversation, model, summaries } = parts
    await conversation.send(userText('hi'), true)
    await until(() => model.requests.length === 5)
    assert.match(await refusal(condense(conversation)), /^conflict: .*the conversation is running$/)
    await conversation.interrupt()
    const abort = new AbortController()
    const first = refusal(condense(conversation, abort.signal))
    await until(() => summaries.requests.length === 1)
    assert.match(await refusal(condense(conversation)), /^conflict: .*that is being done already$/)
    abort.abort(new Error('gone'))
    assert.is(await first, 'Error: gone')
    await conversation.patch({ budget: 0 })
    assert.match(await refusal(condense(conversation)), /^conflict: .*its budget is \$0$/)
  })
})

test('a condensation that a client asked for and that failed is made up for by the next run', async () => {
  await withCondenser(
    steps(4),
    { condenser: { max_size: 200 }, summaries: [fails('LLMTimeoutError'), text('late')] },
    async (parts) => {
      await say(parts.conversation)
      assert.is(await refusal(condense(parts.conversation)), 'agent_failed: failed with LLMTimeoutError')
      await say(parts.conversation, 'more')
      assert.equal((await outline(parts)).slice(-6), [
        'CondensationRequest', 'status idle', 'status running', 'Condensation', 'agent: done', 'status finished',
      ])
    },
  )
})

test('a run that begins during a condensation waits for it, and can be stopped meanwhile', async () => {
  const asked = checkpoint()
  const slow: ModelStep = async (request, number) => {
    await asked.here()
    return text('slow')(request, number)
  }
  await withCondenser(steps(4), { condenser: { max_size: 200 }, summaries: [slow] }, async (parts) => {
    const { conversation, model } = parts
    await say(conversation)
    const condensing = condense(conversation)
    await asked.reached
    await conversation.send(userText('more'), true)
    await conversation.interrupt()
    await conversation.run()
    assert.is(model.requests.length, 5)
    asked.pass()
    await condensing
    await ended(conversation)
    assert.match(words(model.requests.at(-1)?.messages ?? [])[1] ?? '', /slow$/)
    assert.is(model.requests.length, 6)
  })
})

test('a conversation that is closed ends a condensation', async () => {
  await withCondenser(steps(4), { condenser: { max_size: 200 }, summaries: [hangs] }, async (parts) => {
    await say(parts.conversation)
    const condensing = refusal(condense(parts.conversation))
    await until(() => parts.summaries.requests.length === 1)
    await parts.conversation.close()
    assert.match(await condensing, /^conflict: The conversation is being closed/)
  })
})

test.run()
