/**
 * The parts of a model's answer besides its words: logs, token ids, cost, and the data that its provider wants back.
 */
import * as assert from 'uvu/assert'
import type { ServerResponse } from 'node:http'
import { sendJson, startModelServer, type ModelRequest, type ModelServer } from '../fixtures/model-server.ts'
import { makeFolder } from '../support/processes.ts'
import { listAt, member, textAt } from '../support/rest.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { suite } from '../support/suite.ts'
import { framesOf, outline, startTalk, talkTo, type JsonEvent } from './talk.ts'

const test = suite('e2e/built-in-models')
const { folder, remove } = makeFolder()
let server: TestServer
const models: ModelServer[] = []

test.before(async () => {
  server = await startServer({ folder })
})
test.after(async () => {
  await server.close()
  for (const model of models) await model.close()
  remove()
})

async function modelThat(respond: (request: ModelRequest, response: ServerResponse) => void): Promise<ModelServer> {
  const model = await startModelServer(respond)
  models.push(model)
  return model
}

const key = 'key-of-the-model'
const encrypted = 'gAAAA-encrypted-reasoning'

/** OpenAI Responses: a thought that is encrypted and a call, then words. */
function thinks({ body }: ModelRequest, response: ServerResponse): void {
  const results = listAt(body, 'input').filter((item) => member(item, 'type') === 'function_call_output').length
  const thought = {
    type: 'reasoning',
    id: `rs_${results}`,
    summary: [{ type: 'summary_text', text: 'I ponder.' }],
    encrypted_content: encrypted,
  }
  const call = { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'think', arguments: '{"thought":"hm"}' }
  const words = {
    type: 'message', id: `msg_${results}`, role: 'assistant', content: [{ type: 'output_text', text: 'Done.' }],
  }
  sendJson(response, 200, {
    id: `resp_${results}`, object: 'response', status: 'completed', output: [thought, results === 0 ? call : words],
    usage: { input_tokens: 1_000_000, output_tokens: 10, output_tokens_details: { reasoning_tokens: 4 } },
  })
}

/** Chat Completions of a vLLM-type backend. */
function tellsTokens(_request: ModelRequest, response: ServerResponse): void {
  sendJson(response, 200, {
    id: 'chat_1', object: 'chat.completion', prompt_token_ids: [1, 2, 3],
    choices: [
      { index: 0, message: { role: 'assistant', content: 'Hello.' }, finish_reason: 'stop', token_ids: [4, 5] },
    ],
    usage: { prompt_tokens: 3, completion_tokens: 2 },
  })
}

function agentFor(model: ModelServer, more: object = {}): object {
  const llm = {
    model: 'openai/gpt-5.5', base_url: `${model.url}/v1`, api_key: key, num_retries: 0, usage_id: 'main', ...more,
  }
  return { kind: 'Agent', llm, tools: [] }
}

const ofKind = (events: readonly JsonEvent[], kind: string): JsonEvent[] =>
  events.filter((event) => event['kind'] === kind)

test(
  'a log of each completion is pushed and stored when it is asked for, and names the model and its use',
  async () => {
    const model = await modelThat(thinks)
    const talk = await startTalk(server, {
      autotitle: false, agent: agentFor(model, { api_mode: 'responses', log_completions: true }),
    })
    const client = await server.socket(talk.id)
    await talk.send('Go')
    await talk.reaches('finished')
    const logs = ofKind(await talk.events(), 'LLMCompletionLogEvent')
    assert.is(logs.length, 2)
    for (const log of logs) {
      assert.equal([log['model_name'], log['usage_id'], log['source']], ['openai/gpt-5.5', 'main', 'environment'])
    }
    assert.equal(logs.map(({ filename }) => filename), ['resp_0.json', 'resp_1.json'])
    const exchange: unknown = JSON.parse(textAt(logs[1], 'log_data'))
    assert.equal(listAt(exchange, 'request', 'input').map((item) => member(item, 'type') ?? member(item, 'role')), [
      'user', 'reasoning', 'function_call', 'function_call_output',
    ])
    assert.equal(ofKind(framesOf(client), 'LLMCompletionLogEvent'), logs)
    assertLogsFollowAnswers(await talk.events())
    assert.not.match(JSON.stringify(logs), encrypted)
    assert.not.match(JSON.stringify(logs), key)
    await client.close()
  },
)

/** No event stands between the last delta of an answer and the event that holds it. */
function assertLogsFollowAnswers(events: readonly JsonEvent[]): void {
  const words = outline(events).filter((word) => /Action|agent message|Log|Token|Observation/.test(word))
  assert.equal(words, [
    'ThinkAction', 'LLMCompletionLogEvent', 'ThinkObservation', 'agent message', 'LLMCompletionLogEvent',
  ])
}

test('no completion is logged unless it is asked for', async () => {
  const model = await modelThat(thinks)
  const talk = await startTalk(server, { autotitle: false, agent: agentFor(model, { api_mode: 'responses' }) })
  await talk.send('Go')
  await talk.reaches('finished')
  assert.equal(ofKind(await talk.events(), 'LLMCompletionLogEvent'), [])
})

test('token ids of a backend that gives them are an event', async () => {
  const model = await modelThat(tellsTokens)
  const talk = await startTalk(server, { autotitle: false, agent: agentFor(model, { api_mode: 'chat' }) })
  await talk.send('Go')
  await talk.reaches('finished')
  const events = await talk.events()
  const [event] = ofKind(events, 'TokenEvent')
  const words = outline(events)
  assert.ok(words.indexOf('TokenEvent') > words.indexOf('agent message'))
  assert.equal([event?.['source'], event?.['prompt_token_ids'], event?.['response_token_ids']], [
    'agent', [1, 2, 3], [4, 5],
  ])
})

test(
  'encrypted reasoning goes back to its model, over a restart and in a fork, and is shown and logged nowhere',
  async () => {
    const model = await modelThat(thinks)
    const talk = await startTalk(server, {
      autotitle: false, agent: agentFor(model, { api_mode: 'responses', log_completions: true }),
    })
    const client = await server.socket(talk.id)
    await talk.send('Go')
    await talk.reaches('finished')
    const events = await talk.events()
    const shown = events.flatMap((event) => {
      return member(event, 'responses_reasoning_item') ?? member(event, 'llm_message', 'responses_reasoning_item') ?? []
    })
    assert.equal(shown, [{ id: 'rs_0', summary: ['I ponder.'] }, { id: 'rs_1', summary: ['I ponder.'] }])
    const fork = textAt((await talk.post('/fork')).json, 'id')
    assert.not.match(
      [...client.messages, ...server.log, JSON.stringify(events), (await talk.get()).text].join('\n'), encrypted,
    )
    await client.close()
    await server.close()
    server = await startServer({ folder })
    for (const id of [talk.id, fork]) {
      const again = talkTo(server, id)
      await again.send('More')
      await again.reaches('finished')
      const input = listAt(model.requests.at(-1)?.body, 'input')
      assert.equal(
        input.filter((item) => member(item, 'encrypted_content') === encrypted).map((item) => member(item, 'id')),
        ['rs_0', 'rs_1'],
      )
      assert.not.match(JSON.stringify(await again.events()), encrypted)
    }
  },
)

test('what a step costs is counted by the id of its use, and the budget stops the run between two steps', async () => {
  const model = await modelThat(thinks)
  const agent = agentFor(model, { api_mode: 'responses', input_cost_per_token: 0.000001, output_cost_per_token: 0 })
  const talk = await startTalk(server, { autotitle: false, agent, max_budget_per_task: 0.5 })
  await talk.send('Go')
  await talk.reaches('error')
  assert.is(model.requests.length, 1)
  const events = await talk.events()
  assert.equal(outline(events).filter((word) => !word.startsWith('(')).slice(-4), [
    'ThinkAction', 'ThinkObservation', 'error MaxBudgetReached', 'error',
  ])
  const metrics = member((await talk.get()).json, 'stats', 'usage_to_metrics', 'main')
  assert.equal(
    [member(metrics, 'accumulated_cost'), member(metrics, 'accumulated_token_usage', 'reasoning_tokens')], [1, 4],
  )
  // The room that the context takes after the call.
  assert.is(member(metrics, 'accumulated_token_usage', 'per_turn_token'), 1_000_010)
})

test.run()
