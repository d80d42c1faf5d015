/** The critic: the question that it gets, where its result stands, and when the agent is sent on. */
import * as assert from 'uvu/assert'
import { criticLlm } from '../../../src/parts/builtin/critic.ts'
import { wireOf } from '../../../src/parts/builtin/llm/client.ts'
import { ModelError } from '../../../src/parts/builtin/llm/model.ts'
import type { JsonObject } from '../../../src/base/json.ts'
import type { Conversation } from '../../../src/conversation/conversation.ts'
import { toAPIBasedCritic, type APIBasedCriticInput } from '../../../src/schema/generated/conversations.ts'
import { toLLM } from '../../../src/schema/generated/llm.ts'
import type { CriticResult } from '../../../src/schema/generated/values.ts'
import { withBuiltIn, type BuiltIn } from '../../support/built-in.ts'
import { ended, eventsOf, story, textOf, until, userText } from '../../support/conversation.ts'
import { calls, fails, hangs, scriptModel, text, type ModelStep, type ScriptModel } from '../../support/script-model.ts'
import { suite } from '../../support/suite.ts'

const test = suite('agents/builtin/critic')

const ls = calls([['terminal', { command: 'ls' }]])
const finish = calls([['finish', { message: 'all done' }]])
const verdict = (score: number, message: string | null = 'so far'): ModelStep =>
  text(JSON.stringify({ score, message }))

interface Scene extends BuiltIn<ScriptModel> {
  readonly critic: ScriptModel
}

interface SceneOptions {
  readonly agent: readonly ModelStep[]
  readonly critic: readonly ModelStep[]
  readonly settings?: APIBasedCriticInput
  readonly changes?: { readonly max_iterations?: number; readonly max_budget_per_task?: number }
}

async function withCritic(
  { agent, critic, settings, changes = {} }: SceneOptions, body: (scene: Scene) => Promise<void>,
): Promise<void> {
  const judge = scriptModel(critic, { model: 'test/critic' })
  const chosen = toAPIBasedCritic({ model_name: 'test/critic', ...settings })
  await withBuiltIn(
    { model: scriptModel(agent), models: { 'test/critic': judge }, settings: { critic: chosen }, changes },
    async (parts) => {
      await body({ ...parts, critic: judge })
    },
  )
}

/** Returns the critic's result of each event of the agent, in their order; undefined where there is none. */
async function results({ events: log }: Conversation): Promise<(CriticResult | undefined)[]> {
  const events = await eventsOf(log)
  return events.flatMap((event) => {
    const isOfAgent = event.kind === 'ActionEvent' || (event.kind === 'MessageEvent' && event.source === 'agent')
    return isOfAgent ? [event.critic_result] : []
  })
}

async function scores(conversation: Conversation): Promise<(number | undefined)[]> {
  return (await results(conversation)).map((result) => result?.score)
}

const refining: APIBasedCriticInput = { iterative_refinement: {} }

test('words that end a turn and the finish tool get a result, other actions do not', async () => {
  await withCritic(
    { agent: [ls, finish, text('bye')], critic: [verdict(0.9), verdict(0.4, '')] },
    async ({ conversation }) => {
      await conversation.send(userText('hi'), true)
      await ended(conversation)
      await conversation.send(userText('and?'), true)
      await ended(conversation)
      assert.equal(await results(conversation), [
        undefined, { score: 0.9, message: 'so far' }, { score: 0.4, message: null },
      ])
    },
  )
})

test('in the mode all_actions every action gets one, those of one answer the same', async () => {
  const two = calls([['terminal', { command: 'a' }], ['think', { thought: 'b' }]])
  const scene = {
    agent: [two, text('ok')], critic: [verdict(0.2), verdict(1)], settings: { mode: 'all_actions' } as const,
  }
  await withCritic(scene, async ({ conversation, critic }) => {
    await conversation.send(userText('hi'), true)
    await ended(conversation)
    assert.equal(await scores(conversation), [0.2, 0.2, 1])
    assert.is(critic.requests.length, 2)
  })
})

test(
  'the critic is told all that happened and what is about to be said, masked and as data, and offered no tools',
  async () => {
    await withCritic(
      { agent: [ls, text('The SECRET is out')], critic: [verdict(1)] },
      async ({ conversation, critic }) => {
        await conversation.send(userText('list it'), true)
        await ended(conversation)
        const [request] = critic.requests
        const [system, user] = request?.messages ?? []
        assert.equal(
          [system?.message.role, user?.message.role, request?.messages.length, request?.tools.length],
          ['system', 'user', 2, 0],
        )
        assert.is(request?.onDelta, undefined)
        const record = [
          'User: list it',
          'Agent calls terminal: {"command":"ls"}',
          'Result of terminal: ran ls',
          'Agent: The <secret-hidden> is out',
        ]
        assert.match(user === undefined ? '' : textOf(user.message), `<record>\n${record.join('\n')}\n</record>`)
      },
    )
  },
)

test('what it costs is counted under an id of its own', async () => {
  await withCritic({ agent: [text('ok')], critic: [verdict(1)] }, async ({ conversation }) => {
    await conversation.send(userText('hi'), true)
    await ended(conversation)
    const metrics = conversation.state.stats['usage_to_metrics']
    assert.equal(Object.keys(Object(metrics)).sort(), ['agent', 'critic'])
    assert.is(Object(metrics)['critic'].model_name, 'test/critic')
  })
})

test('with refinement a score below the threshold sends the agent on, one that equals it does not', async () => {
  const scene = { agent: [finish, finish], critic: [verdict(0.59, 'No tests'), verdict(0.6)], settings: refining }
  await withCritic(scene, async ({ conversation }) => {
    await conversation.send(userText('hi'), true)
    await ended(conversation)
    assert.equal(await scores(conversation), [0.59, 0.6])
    const words = (await story(conversation)).filter((word) => !word.startsWith('update'))
    const said = words.findIndex((word) => word.startsWith('environment: '))
    assert.match(
      words[said] ?? '', /\[Critic\] .* 0\.59 of 1, and 0\.6 is asked for \(round 1 of 3\)\. It found:\n\nNo tests\n/,
    )
    assert.equal(words.slice(said - 1, said).concat(words.slice(said + 1)), [
      'observation call-1-1', 'action call-2-1', 'observation call-2-1', 'status finished',
    ])
  })
})

test('the agent is sent on three times by default, and then it may end whatever the score', async () => {
  const agent = Array.from({ length: 9 }, (_none, place) => calls([['finish', { message: `version ${place}` }]]))
  const scene = { agent, critic: Array.from({ length: 9 }, () => verdict(0)), settings: refining }
  await withCritic(scene, async ({ conversation, model }) => {
    await conversation.send(userText('hi'), true)
    await ended(conversation)
    assert.equal([model.requests.length, conversation.state.execution_status], [4, 'finished'])
    await conversation.send(userText('again'), true)
    await ended(conversation)
    assert.is(model.requests.length, 8)
  })
})

test('without refinement a bad score sends nobody on, nor does one of an action that ends nothing', async () => {
  const never = { agent: [text('ok')], critic: [verdict(0)] }
  const middle = {
    agent: [ls, text('ok')], critic: [verdict(0), verdict(1)], settings: { ...refining, mode: 'all_actions' } as const,
  }
  for (const scene of [never, middle]) {
    await withCritic(scene, async ({ conversation, model }) => {
      await conversation.send(userText('hi'), true)
      await ended(conversation)
      assert.is(model.requests.length, scene.agent.length)
    })
  }
})

test('the last step that is allowed stays the end', async () => {
  const scene = { agent: [ls, finish], critic: [verdict(0)], settings: refining, changes: { max_iterations: 2 } }
  await withCritic(scene, async ({ conversation }) => {
    await conversation.send(userText('hi'), true)
    await ended(conversation)
    assert.is(conversation.state.execution_status, 'finished')
  })
})

const useless: readonly (readonly [why: string, step: ModelStep])[] = [
  ['fails', fails('LLMAuthenticationError')],
  ['says nothing that can be read', text('I like it')],
]
for (const [why, step] of useless) {
  test(`a critic that ${why} is as good as none, and the log says so`, async () => {
    await withCritic({ agent: [text('ok')], critic: [step], settings: refining }, async ({ conversation, world }) => {
      await conversation.send(userText('hi'), true)
      await ended(conversation)
      assert.equal(await results(conversation), [undefined])
      assert.is(conversation.state.execution_status, 'finished')
      assert.ok(world.reports.some((line) => line.includes('The critic failed')))
    })
  })
}

test('an answer without words, a refusal, and a spent budget are not judged', async () => {
  const refused: ModelStep = text('I will not', { stop: 'refusal' })
  const costly: ModelStep = text('ok', { usage: { cost: 2 } })
  const scenes = [
    { agent: [text(''), refused], critic: [] },
    { agent: [costly], critic: [], changes: { max_budget_per_task: 1 } },
  ]
  for (const scene of scenes) {
    await withCritic(scene, async ({ conversation, critic }) => {
      await conversation.send(userText('hi'), true)
      await ended(conversation)
      assert.is(critic.requests.length, 0)
    })
  }
})

test('an interrupt ends the asking and the turn', async () => {
  await withCritic({ agent: [text('ok')], critic: [hangs] }, async ({ conversation, critic }) => {
    await conversation.send(userText('hi'), true)
    await until(() => critic.requests.length === 1)
    await conversation.interrupt()
    assert.is(conversation.state.execution_status, 'paused')
    assert.ok(critic.requests[0]?.signal.aborted)
    assert.equal(await results(conversation), [])
  })
})

test('a pause ends the asking alone: what the agent said is kept', async () => {
  await withCritic({ agent: [text('ok')], critic: [hangs], settings: refining }, async ({ conversation, critic }) => {
    await conversation.send(userText('hi'), true)
    await until(() => critic.requests.length === 1)
    await conversation.pause()
    await ended(conversation)
    assert.equal(await results(conversation), [undefined])
    assert.is(conversation.state.execution_status, 'finished')
  })
})

const llm = toLLM({
  model: 'openai/gpt-5.5', api_key: 'key-of-the-agent', base_url: 'http://agent', stream: true, log_completions: true,
  temperature: 0.5,
})
const models: readonly (readonly [settings: APIBasedCriticInput, expected: JsonObject])[] = [
  [{}, { model: 'openai/gpt-5.5', api_key: 'key-of-the-agent', base_url: 'http://agent', temperature: 0.5 }],
  [{ model_name: 'openai/gpt-6' },
    { model: 'openai/gpt-6', api_key: 'key-of-the-agent', base_url: 'http://agent', temperature: 0.5 }],
  [{ api_key: 'its-own-key' },
    { model: 'openai/gpt-5.5', api_key: 'its-own-key', base_url: 'http://agent', temperature: 0.5 }],
  [{ server_url: 'http://critic' },
    { model: 'openai/gpt-5.5', api_key: null, base_url: 'http://critic', temperature: null }],
  [{ server_url: 'http://critic', api_key: 'k', model_name: 'm' },
    { model: 'm', api_key: 'k', base_url: 'http://critic', temperature: null }],
]
for (const [settings, expected] of models) {
  test(
    `the critic ${JSON.stringify(settings)} is the model it names; a server of its own never gets the agent's key`,
    () => {
      const { model, api_key, base_url, temperature, ...rest } = criticLlm(toAPIBasedCritic(settings), llm)
      assert.equal({ model, api_key, base_url, temperature }, expected)
      assert.equal([rest.stream, rest.log_completions], [false, false])
      // The answer of the agent waits meanwhile.
      assert.equal([rest.num_retries, rest.timeout], [0, 30])
    },
  )
}

const claude = toLLM({
  model: 'anthropic/claude-x', api_key: 'key-of-the-agent', extra_headers: { 'x-key': 'header-of-the-agent' },
})

test('a critic of another provider gets its own key only, and no headers of the agent', () => {
  const own = criticLlm(toAPIBasedCritic({ model_name: 'openai/gpt-x', api_key: 'its-own-key' }), claude)
  const { url, headers } = wireOf(own)
  assert.match(url, 'https://api.openai.com/')
  assert.equal(headers, { authorization: 'Bearer its-own-key' })
  const local = criticLlm(toAPIBasedCritic({ model_name: 'ollama/x' }), claude)
  assert.equal([local.api_key, local.extra_headers], [null, toLLM({ model: 'm' }).extra_headers])
  const near = criticLlm(toAPIBasedCritic({ model_name: 'claude-y' }), claude)
  assert.equal([near.api_key, near.extra_headers], [claude.api_key, claude.extra_headers])
})

for (const model_name of ['openai/gpt-x', 'gpt-x', 'gemini/x', 'openrouter/anthropic/claude-x']) {
  for (const api_key of [null, '']) {
    test(`the critic ${model_name} with the key ${JSON.stringify(api_key)} is refused beside another provider`, () => {
      assert.throws(
        () => criticLlm(toAPIBasedCritic({ model_name, api_key }), claude),
        (error: unknown) => error instanceof ModelError && /needs a key of its own/.test(error.message),
      )
    })
  }
}

test.run()
