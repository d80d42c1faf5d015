/** Keys that are restricted to a tag see, create and change only conversations with it. */
import * as assert from 'uvu/assert'
import { randomUUID } from 'node:crypto'
import { get as httpGet } from 'node:http'
import { listAt, member, textAt, type Rest } from '../../support/rest.ts'
import { startServer, type TestServer } from '../../support/server.ts'
import { suite } from '../../support/suite.ts'
import { connect } from '../../support/ws-client.ts'
import { addKey } from './named.ts'

const test = suite('parts/keys: restriction to a tag')
let server: TestServer
let shop: { readonly key: string; readonly rest: Rest }
let other: string
let own: string

test.before(async () => {
  server = await startServer()
  shop = await addKey(server, 'shop', { scopes: 'read,drive,approve', tag: 'team=shop' })
  other = textAt((await server.rest.post('/api/conversations', { tags: { team: 'bank' } })).json, 'id')
  const created = await shop.rest.post('/api/conversations', { tags: { colour: 'red' } })
  assert.is(created.status, 201, created.text)
  own = textAt(created.json, 'id')
  assert.equal(member(created.json, 'tags'), { colour: 'red', team: 'shop' })
})
test.after(() => server.close())

test('the list, the search, the count and the batch show its conversations only', async () => {
  const found = await shop.rest.get('/api/conversations/search')
  assert.equal(listAt(found.json, 'items').map((item) => member(item, 'id')), [own])
  assert.is(member(found.json, 'next_page_id'), null)
  assert.is((await shop.rest.get('/api/conversations/count')).text, '1')
  assert.is((await shop.rest.get('/api/conversations/count?status=idle')).text, '1')
  const batch = await shop.rest.get(`/api/conversations?ids=${own}&ids=${other}`)
  assert.equal([member(batch.json, 0, 'id'), member(batch.json, 1)], [own, null])
  const paged = await shop.rest.get(`/api/conversations/search?limit=1&page_id=${other}`)
  assert.ok(!paged.text.includes(other))
})

test('another conversation looks missing on every route with its id, also in another spelling of the id', async () => {
  const spellings = [other, other.toUpperCase(), other.replaceAll('-', '')]
  const missing = (await shop.rest.get(`/api/conversations/${randomUUID()}`)).status
  for (const spelling of spellings) {
    const base = `/api/conversations/${spelling}`
    for (const path of [
      base, `${base}/events`, `${base}/events/search`, `${base}/events/stream`, `${base}/events/count`,
      `${base}/events/e`, `${base}/confirmations`, `${base}/agent_final_response`, `${base}/workspace/x`,
      `${base}/workspace-entries`, `/api/file/download-trajectory/${spelling}`,
    ]) {
      const { status, text } = await shop.rest.get(path)
      assert.is(status, missing, path)
      assert.is(text, `{"detail":"Conversation not found: ${other}"}`, path)
    }
    for (const path of ['run', 'pause', 'interrupt', 'fork', 'navigate', 'events', 'goal', 'ask_agent']) {
      assert.is((await shop.rest.post(`${base}/${path}`, {})).status, 404, path)
    }
    assert.is((await shop.rest.patch(base, { title: 'mine' })).status, 404)
    assert.is((await shop.rest.delete(base)).status, 404)
  }
  assert.is((await server.rest.get(`/api/conversations/${other}`)).status, 200)
})

test('a socket and a stream of another conversation do not open', async () => {
  const headers = { 'X-Session-API-Key': shop.key }
  const client = await connect(`${server.url}/sockets/events/${other}`, headers)
  assert.is((await client.closed).code, 4004)
  const first = await connect(`${server.url}/sockets/events/${other}`)
  first.send(JSON.stringify({ type: 'auth', session_api_key: shop.key }))
  assert.is((await first.closed).code, 4004)
  const mine = await connect(`${server.url}/sockets/events/${own}`, headers)
  assert.match(await mine.next(), 'full_state')
  mine.destroy()
})

test('its conversations keep the tag, and it can neither remove nor change it', async () => {
  const base = `/api/conversations/${own}`
  assert.is((await shop.rest.patch(base, { tags: { size: 'big' } })).status, 200)
  assert.equal(member((await shop.rest.get(base)).json, 'tags'), { size: 'big', team: 'shop' })
  assert.is((await shop.rest.patch(base, { tags: { team: 'bank' } })).status, 403)
  assert.is((await shop.rest.post('/api/conversations', { tags: { team: 'bank' } })).status, 403)
  const fork = await shop.rest.post(`${base}/fork`, { tags: { size: 'small' } })
  assert.equal([fork.status, member(fork.json, 'tags', 'team')], [201, 'shop'])
  assert.is((await shop.rest.post(`${base}/fork`, { tags: { team: 'bank' } })).status, 403)
  assert.is((await shop.rest.delete(`/api/conversations/${textAt(fork.json, 'id')}`)).status, 200)
})

test('it learns nothing of another conversation by its id in a create request', async () => {
  const taken = await shop.rest.post('/api/conversations', { conversation_id: other })
  assert.is(taken.status, 409)
  assert.not.match(taken.text, 'bank')
  const child = await shop.rest.post('/api/conversations', { parent_conversation_id: other })
  assert.is(child.status, 404)
  const headers = { 'Idempotency-Key': 'the-same-key' }
  const first = await server.rest.send('POST', '/api/conversations', { body: { tags: { team: 'bank' } }, headers })
  assert.is(first.status, 201)
  const body = { title: 'x', tags: {} }
  await server.rest.send('POST', '/api/conversations', { body, headers: { 'Idempotency-Key': 'another-key' } })
  const repeated = { body, headers: { 'Idempotency-Key': 'another-key' } }
  const again = await shop.rest.send('POST', '/api/conversations', repeated)
  assert.is(again.status, 409)
})

test('a child of its conversation is its own, although it has no tags', async () => {
  const { json } = await server.rest.get(`/api/conversations/${own}`)
  const workspace = { working_dir: textAt(json, 'workspace', 'working_dir') }
  const child = await server.rest.post('/api/conversations', { parent_conversation_id: own, workspace })
  const id = textAt(child.json, 'id')
  assert.is((await shop.rest.get(`/api/conversations/${id}`)).status, 200)
  assert.is((await server.rest.delete(`/api/conversations/${id}`)).status, 200)
})

test('routes that are about the whole server are refused', async () => {
  for (const path of ['/api/workspaces', '/api/webhooks', '/api/doctor/agents', '/v1/models', '/api/agent-profiles']) {
    const { status, text } = await shop.rest.get(path)
    assert.equal([status, text.includes('team=shop only')], [403, true], `${path} ${text}`)
  }
  assert.is((await shop.rest.post('/v1/chat/completions', {})).status, 403)
  assert.is((await shop.rest.post('/api/console/verify')).status, 403)
  for (const path of ['/api/settings', '/api/profiles', '/api/tools/', '/api/keys/current']) {
    assert.is((await shop.rest.get(path)).status, 200, path)
  }
})

test('the stream of changes tells of its conversations only', async () => {
  const received: string[] = []
  const url = `${server.url}/api/console/changes`
  const request = httpGet(url, { headers: { 'X-Session-API-Key': shop.key }, agent: false })
  await new Promise<void>((resolve) => request.on('response', (response) => {
    response.setEncoding('utf8').on('data', (text: string) => {
      received.push(text)
      if (received.join('').includes(own)) resolve()
    })
    void server.rest.patch(`/api/conversations/${other}`, { title: 'of the bank' }).then(() => {
      return server.rest.patch(`/api/conversations/${own}`, { title: 'of the shop' })
    })
  }))
  request.destroy()
  assert.not.match(received.join(''), other)
})

test('the cookie of a workspace session opens only its workspaces', async () => {
  const begun = await shop.rest.post('/api/auth/workspace-session')
  const Cookie = String(begun.headers['set-cookie']).split(';')[0] ?? ''
  const get = async (id: string): Promise<string> => {
    const { text } = await server.rest.send('GET', `/api/conversations/${id}/workspace/none`, {
      headers: { Cookie, 'X-Session-API-Key': [] },
    })
    return text
  }
  assert.match(await get(other), 'Conversation not found')
  assert.not.match(await get(own), 'Conversation not found')
})

test.run()
