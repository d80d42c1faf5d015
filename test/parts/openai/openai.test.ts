/** OpenAI's API behind a real server: models, whole and streamed answers, errors, and clients that go away. */
import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import * as assert from 'uvu/assert'
import { startOpenAiModel } from '../../fixtures/openai-model.ts'
import type { ModelStep } from '../../fixtures/model-step.ts'
import type { ModelServer } from '../../fixtures/model-server.ts'
import { makeFolder, until } from '../../support/processes.ts'
import { listAt, member, textAt, type RestResponse } from '../../support/rest.ts'
import { fakeAgent, withServer, type TestServer, type TestServerOptions } from '../../support/server.ts'
import { suite } from '../../support/suite.ts'

const test = suite('parts/openai')
const path = '/v1/chat/completions'
const header = 'x-openhands-serverconversation-id'
const long = 'one two three four five six seven eight nine ten eleven twelve thirteen fourteen'

const script = (prompt: string): readonly ModelStep[] => {
  if (prompt.includes('tool')) {
    return [{ text: 'I look first.', toolCall: { name: 'think', input: { thought: 'hm' } } }, { text: 'All is well.' }]
  }
  if (prompt.includes('endless')) return [{ text: long, isEndless: true }]
  if (prompt.includes('fails')) return [{ failure: 400, text: 'no such thing' }]
  return [{ text: long }]
}

/** A test body with a server whose profile `fast` has a stand-in as its model. */
function withModel(
  body: (server: TestServer, model: ModelServer) => Promise<void>, options: TestServerOptions = {},
): () => Promise<void> {
  return async () => {
    const model = await startOpenAiModel({ script, pace: () => ({ tokensPerSecond: 400 }) })
    try {
      await withServer(async (server) => {
        const llm = { model: 'openai/gpt-4o', base_url: `${model.url}/v1`, api_key: 'key-of-the-model', num_retries: 0 }
        assert.is((await server.rest.post('/api/profiles/fast', { llm })).status, 201)
        await body(server, model)
      }, options)
    } finally {
      await model.close()
    }
  }
}

function chat(
  { rest }: TestServer, content: unknown, more: object = {}, headers: Record<string, string> = {},
): Promise<RestResponse> {
  const body = { model: 'openhands_fast', messages: [{ role: 'user', content }], ...more }
  return rest.send('POST', path, { body, headers })
}

function idOf(answer: RestResponse): string {
  return String(answer.headers[header])
}

/** The events of a stream; `[DONE]` is the text itself. */
function eventsIn(text: string): unknown[] {
  const lines = text.split('\n').filter((line) => line.startsWith('data: ')).map((line) => line.slice(6))
  return lines.map((line) => (line === '[DONE]' ? line : JSON.parse(line)))
}

function contentOf(events: readonly unknown[]): string {
  return events.map((event) => String(member(event, 'choices', 0, 'delta', 'content') ?? '')).join('')
}

test('lists the stored agent and each profile, sorted', withModel(async ({ rest }) => {
  await rest.post('/api/profiles/a', { llm: { model: 'openai/gpt-4o' } })
  const { json } = await rest.get('/v1/models')
  assert.equal(listAt(json, 'data').map((one) => member(one, 'id')), ['openhands', 'openhands_a', 'openhands_fast'])
  const one = { id: 'openhands_a', object: 'model', created: 0, owned_by: 'openhands' }
  assert.equal((await rest.get('/v1/models/openhands_a')).json, one)
  assert.is((await rest.get('/v1/models/gpt-4o')).status, 404)
}))

test('answers whole, in a conversation that goes on with the header', withModel(async (server, model) => {
  const system = [
    { role: 'system', content: 'Speak like a pirate.' }, { role: 'user', content: 'old' },
    { role: 'assistant', content: 'said-before' }, { role: 'user', content: [{ type: 'text', text: 'hello' }] },
  ]
  const first = await chat(server, '', { messages: system, temperature: 1 })
  assert.is(first.status, 200, first.text)
  const { id, object, model: named, choices, usage } = Object(first.json)
  assert.match(id, /^chatcmpl-[0-9a-f]{32}$/)
  assert.equal([object, named], ['chat.completion', 'openhands_fast'])
  assert.equal(choices, [{
    index: 0, message: { role: 'assistant', content: long, refusal: null }, finish_reason: 'stop', logprobs: null,
  }])
  assert.ok(usage.prompt_tokens > 0 && usage.total_tokens === usage.prompt_tokens + usage.completion_tokens)
  const asked = JSON.stringify(model.requests.map(({ body }) => body))
  assert.equal([asked.includes('Speak like a pirate.'), asked.includes('hello'), asked.includes('said-before')], [
    true, true, false,
  ])
  const second = await chat(server, 'more', {}, { [header]: idOf(first).replaceAll('-', '') })
  assert.equal([second.status, idOf(second)], [200, idOf(first)])
  assert.ok(JSON.stringify(model.requests.at(-1)?.body).includes('hello'))
  const total = (await server.rest.get(`/api/conversations/${idOf(first)}`)).json
  const metrics = Object.values(Object(member(total, 'stats', 'usage_to_metrics')))
  const prompts = metrics.reduce((sum: number, one) =>
    sum + Number(member(one, 'accumulated_token_usage', 'prompt_tokens')), 0)
  assert.is(usage.prompt_tokens + Number(member(second.json, 'usage', 'prompt_tokens')), prompts)
}))

test('streams the words as they are written, with the usage and an end', withModel(async (server) => {
  const answer = await chat(server, 'hello', { stream: true, stream_options: { include_usage: true } })
  assert.equal([answer.status, answer.headers['content-type']], [200, 'text/event-stream'])
  const events = eventsIn(answer.text)
  assert.is(contentOf(events), long)
  assert.ok(events.length > 8, 'in pieces')
  assert.equal(member(events[0], 'choices', 0, 'delta'), { role: 'assistant', content: '' })
  assert.is(member(events.at(-3), 'choices', 0, 'finish_reason'), 'stop')
  assert.equal(member(events.at(-2), 'choices'), [])
  assert.ok(Number(member(events.at(-2), 'usage', 'total_tokens')) > 0)
  assert.is(events.at(-1), '[DONE]')
  assert.is(new Set(events.slice(0, -1).map((event) => member(event, 'id'))).size, 1)
  const without = eventsIn((await chat(server, 'hello', { stream: true })).text)
  assert.is(without.some((event) => member(event, 'usage') !== undefined), false)
}))

test('streams what is said between tool calls, each text once', withModel(async (server) => {
  const answer = await chat(server, 'use a tool', { stream: true })
  assert.is(contentOf(eventsIn(answer.text)), 'I look first.\n\nAll is well.')
  const whole = await chat(server, 'use a tool')
  assert.is(textAt(whole.json, 'choices', 0, 'message', 'content'), 'All is well.')
}))

test('drives an external agent as the stored one, and in a conversation that has one', withModel(async (server) => {
  const { acp_command } = fakeAgent('chat')
  const agent_settings_diff = { agent_kind: 'acp', acp_server: 'custom', acp_command }
  assert.is((await server.rest.patch('/api/settings', { agent_settings_diff })).status, 200)
  const streamed = await chat(server, 'hello', { model: 'openhands', stream: true })
  const whole = await chat(server, 'hello', { model: 'openhands' }, { [header]: idOf(streamed) })
  assert.is(whole.status, 200, whole.text)
  const { json } = await server.rest.get(`/api/conversations/${idOf(streamed)}`)
  assert.is(member(json, 'agent', 'kind'), 'ACPAgent')
  assert.ok(contentOf(eventsIn(streamed.text)).length > 0)
  const final = await server.rest.get(`/api/conversations/${idOf(whole)}/agent_final_response`)
  assert.is(textAt(whole.json, 'choices', 0, 'message', 'content'), textAt(final.json, 'response'))
}))

const refusals: readonly (readonly [what: string, body: object, status: number, words: RegExp])[] = [
  ['an unknown model', { model: 'gpt-4o' }, 404, /The model "gpt-4o" does not exist/],
  ['no user message', { messages: [{ role: 'system', content: 'a' }] }, 400, /"user"/],
  ['an unknown part', { messages: [{ role: 'user', content: [{ type: 'input_audio' }] }] }, 400, /"image_url"/],
  ['an empty message', { messages: [{ role: 'user', content: '' }] }, 400, /content/],
  ['no content', { messages: [{ role: 'user' }] }, 400, /content/],
  ['no messages', { messages: [] }, 400, /messages/],
  ['a number as content', { messages: [{ role: 'user', content: 7 }] }, 400, /content/],
  ['a text as stream', { stream: 'often' }, 400, /stream/],
]
for (const [what, body, status, words] of refusals) {
  test(`refuses ${what} with ${status} in OpenAI's form`, withModel(async (server) => {
    const answer = await chat(server, 'hello', body)
    assert.is(answer.status, status, answer.text)
    assert.match(textAt(answer.json, 'error', 'message'), words)
    assert.equal(Object.keys(Object(member(answer.json, 'error'))), ['message', 'type', 'param', 'code'])
    assert.is(answer.headers['x-should-retry'], 'false')
    assert.is(Number((await server.rest.get('/api/conversations/count')).text), 0)
  }))
}

test('takes the key as a bearer token here and nowhere else', withModel(async ({ url, key }) => {
  const get = async (to: string, headers: Record<string, string>): Promise<readonly [number, string]> => {
    const response = await fetch(url + to, { headers })
    return [response.status, await response.text()]
  }
  const bearer = { Authorization: `Bearer ${key}` }
  assert.is((await get('/v1/models', bearer))[0], 200)
  assert.is((await get('/v1/models', { Authorization: `bearer ${key}` }))[0], 200)
  assert.is((await get('/api/settings', bearer))[0], 401)
  for (const headers of [{}, { Authorization: 'Bearer wrong' }, { Authorization: key }, {
    ...bearer, 'X-Session-API-Key': 'wrong',
  }]) {
    const [status, text] = await get('/v1/models', headers)
    assert.equal([status, member(JSON.parse(text), 'error', 'code')], [401, 'invalid_api_key'])
  }
}))

test('a failed run is 500 with its reason, whole and in a stream', withModel(async (server) => {
  const whole = await chat(server, 'this fails')
  assert.is(whole.status, 500)
  assert.match(textAt(whole.json, 'error', 'message'), 'no such thing')
  const events = eventsIn((await chat(server, 'this fails', { stream: true })).text)
  assert.match(textAt(events.at(-1), 'error', 'message'), 'no such thing')
}))

test('an unknown or busy conversation is refused, and the run of a client that goes away is interrupted', withModel(
  async (server) => {
    const unknown = await chat(server, 'hello', {}, { [header]: '00000000-0000-4000-8000-000000000000' })
    assert.is(unknown.status, 404)
    assert.is((await chat(server, 'hello', {}, { [header]: 'not an id' })).status, 400)
    const response = await opened(server)
    const id = String(response.headers[header])
    await once(response, 'data')
    const second = await chat(server, 'hello', {}, { [header]: id })
    assert.is(second.status, 409, second.text)
    response.destroy()
    const status = async (): Promise<unknown> =>
      member((await server.rest.get(`/api/conversations/${id}`)).json, 'execution_status')
    await until(async () => (await status()) === 'paused')
  },
))

test('a whole answer that takes too long is 504, and its run is interrupted', withModel(async (server) => {
  const answer = await chat(server, 'endless')
  assert.is(answer.status, 504, answer.text)
  const { json } = await server.rest.get(`/api/conversations/${idOf(answer)}`)
  assert.is(member(json, 'execution_status'), 'paused')
}, { completionTimeoutMs: 1500 }))

/** The answer to a streamed request for an endless text, of which nothing was read. */
async function opened({ url, key }: TestServer): Promise<IncomingMessage> {
  const body = JSON.stringify({
    model: 'openhands_fast', stream: true, messages: [{ role: 'user', content: 'endless' }],
  })
  const headers = { 'X-Session-API-Key': key, 'Content-Type': 'application/json' }
  const sent = request(url + path, { method: 'POST', headers, agent: false })
  sent.end(body)
  const [response] = await once(sent, 'response')
  response.on('error', () => undefined)
  return response
}

test('of two requests at once for a conversation that has to be opened first, one is refused', async () => {
  const model = await startOpenAiModel({ script, pace: () => ({ tokensPerSecond: 400 }) })
  const { folder, remove } = makeFolder()
  const llm = { model: 'openai/gpt-4o', base_url: `${model.url}/v1`, api_key: 'key-of-the-model', num_retries: 0 }
  try {
    const id = await withServer(async (server) => {
      await server.rest.post('/api/profiles/fast', { llm })
      return idOf(await chat(server, 'hello'))
    }, { folder })
    await withServer(async (server) => {
      const answers = await Promise.all(['one', 'two'].map((word) => chat(server, word, {}, { [header]: id })))
      assert.equal(answers.map(({ status }) => status).sort(), [200, 409])
    }, { folder })
  } finally {
    remove()
    await model.close()
  }
})

test.run()
