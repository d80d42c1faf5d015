/** The header Idempotency-Key over REST: one effect, one answer, and refused keys. */
import * as assert from 'uvu/assert'
import { randomUUID } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { listAt, member, type RestResponse } from '../support/rest.ts'
import { fakeAgent, startServer, type TestServer } from '../support/server.ts'
import { suite } from '../support/suite.ts'
import { messagesOf, startTalk, statusesOf, userMessage } from './talk.ts'

const test = suite('e2e/idempotency')
let server: TestServer
let aheadMs = 0

test.before(async () => {
  server = await startServer({ clock: () => Date.now() + aheadMs })
})
test.after(() => server.close())

function post(path: string, key: string, body?: object): Promise<RestResponse> {
  return server.rest.send('POST', path, {
    headers: { 'Idempotency-Key': key }, ...(body === undefined ? {} : { body }),
  })
}

/** Sends a hundred requests at once, and one more later. Returns the answer that all of them got. */
async function postOften(path: string, key: string, body?: object): Promise<RestResponse> {
  const answers = await Promise.all(Array.from({ length: 100 }, () => post(path, key, body)))
  answers.push(await post(path, key, body))
  assert.equal(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size, 1)
  const [first] = answers
  if (first === undefined) throw new TypeError('There is no answer')
  return first
}

const countOf = (values: readonly unknown[], wanted: unknown): number =>
  values.filter((value) => value === wanted).length

test('a hundred creations with one key are one conversation with one message, one run and one workspace', async () => {
  const body = { agent: fakeAgent('echo'), tags: { test: 'often' }, initial_message: userMessage('begin') }
  const { status, json } = await postOften('/api/conversations?include_skills=true', 'create-1', body)
  assert.is(status, 201)
  const found = listAt((await server.rest.get('/api/conversations/search')).json, 'items')
  assert.equal(
    found.filter((item) => member(item, 'tags', 'test') === 'often').map((item) => member(item, 'id')),
    [member(json, 'id')],
  )
  const talk = `/api/conversations/${String(member(json, 'id'))}/events/search`
  const events = listAt((await server.rest.get(talk)).json, 'items')
  assert.is(events.filter((event) => member(event, 'source') === 'user').length, 1)
  assert.is(readdirSync(server.workspaceDir).length, 1)
})

test('a hundred messages with one key are one message and one run', async () => {
  const talk = await startTalk(server, 'echo')
  const { status, json } = await postOften(`${talk.path}/events`, 'message-1', userMessage('hello', true))
  assert.equal([status, json], [200, { success: true }])
  await talk.reaches('finished')
  const events = await talk.events()
  assert.equal(messagesOf(events, 'user'), ['hello'])
  assert.is(countOf(statusesOf(events), 'running'), 1)
})

test('a hundred runs with one key are one run', async () => {
  const talk = await startTalk(server, 'echo')
  await talk.send('hello', false)
  assert.is((await postOften(`${talk.path}/run`, 'run-1')).status, 200)
  await talk.reaches('finished')
  assert.is((await post(`${talk.path}/run`, 'run-1')).status, 200)
  assert.is(countOf(statusesOf(await talk.events()), 'running'), 1)
})

test('a hundred answers with one key answer once', async () => {
  const agent = { kind: 'Agent', llm: { model: 'demo/scripted' }, tools: [{ name: 'terminal' }] }
  const talk = await startTalk(server, { agent, confirmation_policy: { kind: 'AlwaysConfirm' } })
  await talk.send('Show me something')
  await talk.reaches('waiting_for_confirmation')
  const [question] = listAt((await talk.get('/confirmations')).json, 'items')
  const body = { accept: true, id: String(member(question, 'id')) }
  const { status } = await postOften(`${talk.path}/events/respond_to_confirmation`, 'answer-1', body)
  assert.is(status, 200)
  assert.is((await talk.post('/events/respond_to_confirmation', body)).status, 404)
  assert.is(countOf(statusesOf(await talk.events()), 'running'), 2)
})

test('one key for two requests is refused with 422, whatever differs', async () => {
  const talk = await startTalk(server, 'echo')
  await post(`${talk.path}/events`, 'two', userMessage('one', false))
  const different = [
    await post(`${talk.path}/events`, 'two', userMessage('other', false)),
    await post(`${talk.path}/events`, 'two', userMessage('one', true)),
    await post(`${talk.path}/run`, 'two'),
    await post(`${talk.path}/events/respond_to_confirmation`, 'two', { accept: true }),
  ]
  assert.equal(different.map(({ status }) => status), [422, 422, 422, 422])
  assert.equal(different[0]?.json, { detail: 'The idempotency key "two" was used for another request' })
  assert.equal(messagesOf(await talk.events(), 'user'), ['one'])
  const body = { agent: fakeAgent('echo') }
  assert.is((await post('/api/conversations', 'two', body)).status, 201)
  assert.is((await post('/api/conversations', 'two', { ...body, max_iterations: 7 })).status, 422)
  assert.is((await post('/api/conversations?include_skills=true', 'two', body)).status, 422)
})

test('a key of one conversation is none of another', async () => {
  const [one, other] = [await startTalk(server, 'echo'), await startTalk(server, 'echo')]
  assert.is((await post(`${one.path}/events`, 'shared', userMessage('one', false))).status, 200)
  assert.is((await post(`${other.path}/events`, 'shared', userMessage('other', false))).status, 200)
  assert.equal(messagesOf(await other.events(), 'user'), ['other'])
})

test('a key that is too long, empty, or sent twice is refused with 422', async () => {
  const talk = await startTalk(server, 'echo')
  for (const key of ['x'.repeat(129), '', ['a', 'b']]) {
    const { status, json } = await server.rest.send('POST', `${talk.path}/run`, { headers: { 'Idempotency-Key': key } })
    assert.equal([status, member(json, 'detail', 0, 'loc')], [422, ['header', 'Idempotency-Key']])
  }
  assert.is((await post(`${talk.path}/run`, 'x'.repeat(128))).status, 200)
})

test('a request that failed is not remembered', async () => {
  const talk = await startTalk(server, { agent: fakeAgent('hangs') })
  assert.is((await post(`/api/conversations/${randomUUID()}/run`, 'later')).status, 404)
  await talk.send('hello')
  await talk.reaches('running')
  assert.is((await post(`${talk.path}/run`, 'later')).status, 409)
  await talk.post('/interrupt')
  assert.is((await post(`${talk.path}/run`, 'later')).status, 200)
  await talk.reaches('running')
  await talk.post('/interrupt')
})

test('a creation whose query is wrong makes nothing', async () => {
  const count = async (): Promise<unknown> => (await server.rest.get('/api/conversations/count')).json
  const before = await count()
  assert.is((await post('/api/conversations?include_skills=maybe', 'query', { agent: fakeAgent('echo') })).status, 422)
  assert.is(await count(), before)
})

test('a key is known for 24 hours', async () => {
  const talk = await startTalk(server, 'echo')
  const send = async (): Promise<number> => {
    await post(`${talk.path}/events`, 'daily', userMessage('again', false))
    return messagesOf(await talk.events(), 'user').length
  }
  const create = async (): Promise<unknown> =>
    member((await post('/api/conversations', 'daily', { agent: fakeAgent('echo') })).json, 'id')
  assert.is(await send(), 1)
  const id = await create()
  aheadMs += 24 * 60 * 60 * 1000 - 60_000
  assert.equal([await send(), await create()], [1, id])
  aheadMs += 120_000
  assert.is(await send(), 2)
  assert.is.not(await create(), id)
})

test('a web page of an allowed origin may send the header', async () => {
  const { status, headers } = await server.rest.send('OPTIONS', '/api/conversations', { headers: {
    'Origin': 'http://localhost:3000',
    'Access-Control-Request-Method': 'POST',
    'Access-Control-Request-Headers': 'content-type,idempotency-key',
  } })
  assert.equal([status, headers['access-control-allow-headers']], [200, 'content-type, idempotency-key'])
})

test('the description names the header where it is taken, and nowhere else', async () => {
  const { json } = await server.rest.get('/openapi.json')
  const named = Object.entries(Object(member(json, 'paths'))).flatMap(
    ([path, operations]) => Object.entries(Object(operations)).flatMap(([method, operation]) => {
      const parameters = member(operation, 'parameters')
      return JSON.stringify(parameters)?.includes('"Idempotency-Key","in":"header"') ? [`${method} ${path}`] : []
    }),
  )
  assert.equal(named.sort(), [
    'post /api/conversations',
    'post /api/conversations/{conversation_id}/events',
    'post /api/conversations/{conversation_id}/events/respond_to_confirmation',
    'post /api/conversations/{conversation_id}/run',
  ])
})

test.run()
