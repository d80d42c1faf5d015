/**
 * Who gets in: every route of the table without a key, with a wrong one, from a foreign page, and for a foreign host.
 */
import * as assert from 'uvu/assert'
import { access } from '../src/access.ts'
import { startServer, type TestServer } from './support/server.ts'
import { rest } from './support/rest.ts'
import { connect, Refused } from './support/ws-client.ts'
import { suite } from './support/suite.ts'

const test = suite('access')
const id = '00000000-0000-4000-8000-000000000001'
const routes = Object.entries(access).map(([name, right]) => {
  const [method = '', pattern = ''] = name.split(' ')
  const path = pattern.replace('{conversation_id}', id).replace('{event_id}', 'e').replace('{name}', 'N')
  return { name, right, method, path, isSocket: pattern.startsWith('/sockets/') }
})
/** The routes of /api/init, which are 404 on this server: test/e2e/deferred-init has them. */
const isInit = ({ path }: { readonly path: string }): boolean => path === '/api/init'
const guarded = routes.filter((route) => route.right !== 'open' && !route.isSocket && !isInit(route))

let server: TestServer
test.before(async () => {
  server = await startServer()
})
test.after(() => server.close())

test('has a route for every right but the socket, and none beside', async () => {
  for (const { method, path, isSocket } of routes) {
    const { status, text } = await server.rest.send(method, path)
    const isUnknown = status === 405 || (status === 404 && text === '{"detail":"Not Found"}')
    assert.is(isUnknown, isSocket, `${method} ${path}: ${status} ${text}`)
  }
})

test('asks for a key on every route that is not open, and tells nothing without it', async () => {
  const keyless = rest(server.url, undefined)
  for (const { method, path } of guarded) {
    const { status, text } = await keyless.send(method, path)
    assert.is(status, 401, `${method} ${path}`)
    assert.is(text, '{"detail":"Unauthorized"}')
  }
})

test('takes no key but its own: wrong, empty, in another case, twice', async () => {
  const wrong = [server.key.toUpperCase(), '', `${server.key} x`, 'x'.repeat(1000)]
  for (const key of wrong) assert.is((await rest(server.url, key).get('/api/settings')).status, 401, key)
  const twice = { 'X-Session-API-Key': [server.key, server.key] }
  assert.is((await server.rest.get('/api/settings', twice)).status, 401)
})

test('answers open routes without a key', async () => {
  const keyless = rest(server.url, undefined)
  for (const { method, path } of routes.filter(({ right }) => right === 'open')) {
    // The callback has a key of its own sort, which is missing here.
    const expected = path === '/api/mcp/oauth/callback' ? 400 : isInit({ path }) ? 404 : 200
    assert.is((await keyless.send(method, path)).status, expected, path)
  }
})

test(
  'refuses a request with effects from a foreign page, from no page at all, and a form, before it asks for a key',
  async () => {
    for (const origin of ['https://evil.example', 'null', 'http://127.0.0.1.evil.example']) {
      const answer = await server.rest.send('POST', '/api/conversations', { body: {}, headers: { Origin: origin } })
      assert.is(answer.status, 403, origin)
      assert.is(answer.headers['access-control-allow-origin'], undefined)
    }
    const form = { 'Content-Type': 'application/x-www-form-urlencoded' }
    assert.is((await server.rest.send('POST', '/api/conversations', { raw: 'a=b', headers: form })).status, 415)
  },
)

test('refuses the name of another host on every route but the probes', async () => {
  for (const host of ['evil.example', 'localhost.evil.example', 'evil.example:8000']) {
    assert.is((await server.rest.get('/api/settings', { Host: host })).status, 403, host)
    assert.is((await server.rest.get('/server_info', { Host: host })).status, 403, host)
    assert.is((await server.rest.get('/alive', { Host: host })).status, 200, host)
  }
})

test('refuses an upgrade from a foreign page or for a foreign host', async () => {
  for (const headers of [{ Origin: 'https://evil.example' }, { Origin: 'null' }, { Host: 'evil.example' }]) {
    const refused: unknown = await connect(`${server.url}/sockets/events/${id}`, {
      ...headers, 'X-Session-API-Key': server.key,
    }).catch(
      (error: unknown) => error,
    )
    assert.ok(refused instanceof Refused)
    assert.is(refused.status, 403)
  }
})

test('lets a page of this machine in, with CORS headers on answers and errors alike', async () => {
  const origin = 'http://localhost:3000'
  for (const [path, key] of [
    ['/api/settings', server.key], ['/api/settings', 'wrong'], ['/api/nothing', server.key],
  ] as const) {
    const { headers } = await rest(server.url, key).get(path, { Origin: origin })
    assert.is(headers['access-control-allow-origin'], origin, path)
    assert.is(headers['access-control-allow-credentials'], 'true')
    assert.is(headers['vary'], 'Origin')
  }
})

test('answers a preflight without a key, and refuses that of a foreign page', async () => {
  const ask = {
    'Access-Control-Request-Method': 'PATCH', 'Access-Control-Request-Headers': 'content-type,x-session-api-key',
  }
  const keyless = rest(server.url, undefined)
  const allowed = await keyless.send('OPTIONS', '/api/settings', {
    headers: { ...ask, Origin: 'http://127.0.0.1:5173' },
  })
  assert.is(allowed.status, 200)
  assert.is(allowed.headers['access-control-allow-methods'], 'PATCH')
  assert.is(allowed.headers['access-control-allow-headers'], 'content-type, x-session-api-key')
  const refused = await keyless.send('OPTIONS', '/api/settings', {
    headers: { ...ask, Origin: 'https://evil.example' },
  })
  assert.is(refused.status, 400)
  assert.is(refused.headers['access-control-allow-origin'], undefined)
})

test('says which methods there are to who asks with OPTIONS alone', async () => {
  const { status, headers } = await rest(server.url, undefined).send('OPTIONS', '/api/settings')
  assert.is(status, 204)
  assert.match(headers['allow'] ?? '', 'GET')
})

test.run()
