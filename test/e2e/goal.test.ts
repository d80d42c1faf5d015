/** Goals and the critic behind a real server: the routes with their answers, and the events of a goal. */
import * as assert from 'uvu/assert'
import { startAnthropicModel } from '../fixtures/anthropic-model.ts'
import type { ModelServer } from '../fixtures/model-server.ts'
import type { ModelStep } from '../fixtures/model-step.ts'
import { until } from '../support/processes.ts'
import { member, textAt } from '../support/rest.ts'
import { startServer, withPrograms, type TestServer } from '../support/server.ts'
import { suite } from '../support/suite.ts'
import { startTalk, talkTo, type JsonEvent, type Talk } from './talk.ts'

const test = suite('e2e/goal')
let server: TestServer
let model: ModelServer
let critic: ModelServer

function scriptOf(prompt: string): ModelStep[] {
  return prompt.includes('never ends') ? [{ text: 'and on ', isEndless: true }] : [{ text: 'I did my best.' }]
}

/** The judge is content with a record in which a judge was not. */
function judge(prompt: string): string {
  const complete = prompt.includes('The goal is NOT yet complete (audit iteration 1 of ')
  return JSON.stringify({ score: complete ? 1 : 0.5, complete, missing: complete ? '' : 'The second half' })
}

function critique(prompt: string): string {
  return prompt.includes('[Critic]') ? '{"score":0.9,"message":null}' : '{"score":0.2,"message":"Untested"}'
}

test.before(async () => {
  server = await startServer()
  model = await startAnthropicModel({ script: scriptOf, aside: judge })
  critic = await startAnthropicModel({ script: () => [], aside: critique })
})
test.after(async () => {
  await server.close()
  await model.close()
  await critic.close()
})

function llm(): object {
  return {
    model: 'anthropic/claude-test', base_url: model.url, api_key: 'key-of-the-model', num_retries: 0, stream: true,
  }
}

function request(): object {
  return { agent: { kind: 'Agent', llm: llm() } }
}

function goalsIn(events: readonly JsonEvent[]): unknown[] {
  return events.filter(({ key }) => key === 'goal').map(({ value }) => value)
}

async function goalBecomes(talk: Talk, status: string): Promise<void> {
  await until(async () => member(goalsIn(await talk.events()).at(-1), 'status') === status)
}

test('a goal is pursued until the judge is content, and every round is in the history', async () => {
  const talk = await startTalk(server, request())
  const { status, json } = await talk.post('/goal', { objective: 'Do both halves' })
  assert.equal([status, json], [200, { success: true }])
  await goalBecomes(talk, 'complete')
  const events = await talk.events()
  assert.equal(
    goalsIn(events).map((goal) => [
      member(goal, 'active'), member(goal, 'status'), member(goal, 'iteration'), member(goal, 'max_iterations'),
    ]),
    [
      [true, 'running', 0, 10], [true, 'running', 1, 10], [false, 'complete', 2, 10],
    ],
  )
  assert.equal(goalsIn(events).map((goal) => member(goal, 'verdict', 'missing')), [undefined, 'The second half', ''])
  assert.is(await talk.status(), 'finished')
  const { stats } = Object((await talk.get()).json)
  assert.equal(Object.keys(stats.usage_to_metrics).sort(), ['default', 'goal_judge', 'title'])
})

test(
  'a goal is stopped with its run going on, resumed only when nothing runs, and refused where it cannot be',
  async () => {
    const talk = await startTalk(server, request())
    assert.is((await talk.post('/goal/stop')).status, 200)
    const none = await talk.post('/goal/resume')
    assert.equal([none.status, none.json], [400, { detail: 'no_resumable_goal' }])
    for (const [body, status] of [
      [{ objective: ' ' }, 400], [{}, 422], [{ objective: 'x', max_iterations: 0 }, 422],
    ] as const) {
      assert.is((await talk.post('/goal', body)).status, status)
    }
    assert.is((await talk.post('/goal', { objective: 'What never ends', max_iterations: 2 })).status, 200)
    assert.is((await talk.post('/goal', { objective: 'Another' })).status, 409)
    assert.is((await talk.post('/goal/stop')).status, 200)
    assert.is(await talk.status(), 'running')
    assert.is((await talk.post('/goal/resume')).status, 409)
    await talk.post('/interrupt')
    assert.equal([member(goalsIn(await talk.events()).at(-1), 'status'), await talk.status()], [
      'interrupted', 'paused',
    ])
  },
)

test('an external agent has no model that could judge', async () => {
  const talk = await startTalk(server, 'answer')
  const { status, json } = await talk.post('/goal', { objective: 'x' })
  assert.equal([status, json], [400, { detail: 'no_judge_llm' }])
})

test('the routes of goals answer 404 for an unknown conversation', async () => {
  const unknown = talkTo(server, '00000000-0000-4000-8000-00000000dead')
  for (const [tail, body] of [
    ['/goal', { objective: 'x' }], ['/goal/stop', undefined], ['/goal/resume', undefined],
  ] as const) {
    assert.is((await unknown.post(tail, body)).status, 404, tail)
  }
})

test('a goal of a server that was killed is interrupted, and resumed by hand', withPrograms(async (start) => {
  const first = await start([])
  const { id, post, reaches } = await startTalk(first, request())
  await post('/goal', { objective: 'What never ends', max_iterations: 2 })
  await reaches('running')
  await first.stop('SIGKILL')
  const talk = talkTo(await start([]), id)
  assert.is(member(goalsIn(await talk.events()).at(-1), 'status'), 'interrupted')
  assert.is((await talk.post('/goal/resume')).status, 200)
  await talk.reaches('running')
  await talk.post('/interrupt')
}))

test(
  'a critic of the settings judges with its own key, its result is in the event, and the agent is sent on once',
  async () => {
    const verification = {
      critic_enabled: true, critic_server_url: critic.url, critic_model_name: 'anthropic/judge-model',
      critic_api_key: 'key-of-the-critic',
      enable_iterative_refinement: true,
    }
    const talk = await startTalk(server, {
      agent_settings: { agent_kind: 'openhands', llm: llm(), tools: [], verification },
    })
    await talk.send('Do it')
    await talk.reaches('finished')
    const events = await talk.events()
    assert.equal(
      events.filter(({ source, kind }) => source === 'agent' && kind === 'MessageEvent').map((event) => {
        return member(event, 'critic_result')
      }),
      [
        { score: 0.2, message: 'Untested' }, { score: 0.9, message: null },
      ],
    )
    assert.equal([...new Set(critic.requests.map(({ apiKey }) => apiKey))], ['key-of-the-critic'])
    const info = await talk.get()
    assert.is(textAt(info.json, 'agent', 'critic', 'api_key'), '**********')
    assert.not(JSON.stringify([events, info.json]).includes('key-of-the-critic'))
  },
)

test.run()
