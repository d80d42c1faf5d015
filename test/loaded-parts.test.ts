/** Parts of a server: loaded when they are used, left out on request, and refused by name where they are missing. */
import * as assert from 'uvu/assert'
import { allParts } from '../src/all-parts.ts'
import { messageOf } from '../src/base/errors.ts'
import { member, rest } from './support/rest.ts'
import { failure } from './support/rpc.ts'
import { withServer } from './support/server.ts'
import { suite } from './support/suite.ts'

const test = suite('loaded parts')

test('a server without parts says so, and names the part at its routes', () => withServer(async ({ rest }) => {
  const { json: info } = await rest.get('/server_info')
  assert.equal([member(info, 'parts'), member(info, 'usable_tools')], [[], []])
  const route = await rest.post('/api/mcp/test', {})
  const named = '501: The part "mcp" is not loaded on this server (--parts)'
  assert.equal([route.status, member(route.json, 'exception')], [501, named])
  assert.is((await rest.send('POST', '/api/mcp/test', { headers: { 'X-Session-API-Key': 'wrong' } })).status, 401)
  const { text } = await rest.get('/openapi.json')
  assert.not.match(text, '/api/mcp/')
  assert.match(text, '/api/conversations/{conversation_id}')
  const refused = await rest.post('/api/conversations', { agent: { kind: 'Agent', llm: { model: 'scripted' } } })
  assert.is(refused.status, 501)
  assert.is(member(refused.json, 'exception'), '501: The part "builtin" is not loaded on this server (--parts)')
}, { parts: ['none'] }))

test('the socket of a missing part is refused like its routes', () => withServer(async ({ url, key }) => {
  const headers = {
    'X-Session-API-Key': key, Connection: 'Upgrade', Upgrade: 'websocket', 'Sec-WebSocket-Version': '13',
    'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==',
  }
  const answer = await rest(url, key).get('/sockets/bash-events', headers)
  const detail = 'The part "bash" is not loaded on this server (--parts)'
  assert.equal([answer.status, answer.json], [501, { detail }])
  assert.is((await rest(url, key).get('/sockets/nothing', headers)).status, 404)
}, { parts: ['none'] }))

test('every part is there unless told otherwise', () => withServer(async ({ rest }) => {
  assert.equal(member((await rest.get('/server_info')).json, 'parts'), allParts.map(({ name }) => name))
  assert.match((await rest.get('/openapi.json')).text, '/api/mcp/test')
}))

test('a part that needs another one is told its name', () => withServer(async ({ rest }) => {
  const agent = { kind: 'Agent', llm: { model: 'scripted' }, mcp_config: { one: { command: 'true' } } }
  const { json } = await rest.post('/api/conversations', { agent })
  const sent = await rest.post(`/api/conversations/${String(member(json, 'id'))}/events`, {
    role: 'user', content: [{ type: 'text', text: 'Hello' }],
  })
  assert.is(sent.status, 501)
  assert.is(member(sent.json, 'exception'), '501: The part "mcp" is not loaded on this server (--parts)')
}, { parts: ['builtin'] }))

test('a host that uses a part which its switch leaves out is told the switch', () => withServer(async ({ server }) => {
  const error = await failure(server.use('console'))
  assert.is(messageOf(error), 'The part "console" is not loaded on this server (noConsole)')
}, { noConsole: true }))

test('an unknown part is refused', async () => {
  const error = await failure(withServer(async () => undefined, { parts: ['nothing'] }))
  assert.match(messageOf(error), /^Could not use the part "nothing": expected one of absent, audit, backup, bash,/)
})

test.run()
