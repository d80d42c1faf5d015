/**
 * Who gets in, beyond test/access: several keys and none, names of hosts, origins and their CORS headers (decisions 32,
 * 33).
 */
import * as assert from 'uvu/assert'
import { randomUUID } from 'node:crypto'
import { isBrowserThere, withoutSandbox } from '../parts/browser/browsers.ts'
import { access } from '../../src/access.ts'
import { listAt, member, rest } from '../support/rest.ts'
import { startServer, withServer, type TestServer } from '../support/server.ts'
import { suite } from '../support/suite.ts'

const test = suite('access')
let server: TestServer

test.before(async () => {
  server = await startServer({ allowedHosts: ['agents.example.org'], allowedOrigins: ['https://ui.example.org'] })
})
test.after(() => server.close())

const routes = Object.entries(access)
  .filter(([name]) => !name.includes('/sockets/'))
  .map(([name, right]) => {
    const [method = '', pattern = ''] = name.split(' ')
    return { method, path: pattern.replace(/\{\w+\}/g, randomUUID()), right }
  })
const anyone = (): ReturnType<typeof rest> => rest(server.url, undefined)

test('with the key no route is 401, and its header has no case', async () => {
  for (const { method, path } of routes) {
    const { status } = await anyone().send(method, path, { headers: { 'x-session-api-KEY': server.key } })
    assert.ok(status !== 401 && status !== 403 && status < 500, `${method} ${path} ${status}`)
  }
})

test('an unknown path is 404 with and without a key, and a key in the query is none', async () => {
  for (const client of [anyone(), server.rest]) assert.is((await client.get('/api/nothing')).status, 404)
  assert.is((await anyone().get(`/api/settings?session_api_key=${server.key}`)).status, 401)
})

test('wrong keys are answered the later the more there are, and a right one passes them', async () => {
  await withServer(async (guessed) => {
    const wrong = rest(guessed.url, 'not-the-key')
    for (let count = 0; count < 14; count++) assert.is((await wrong.get('/api/settings')).status, 401)
    const order: string[] = []
    const slow = wrong.get('/api/settings').then(({ status }) => order.push(`wrong ${status}`))
    await guessed.rest.get('/api/settings').then(({ status }) => order.push(`right ${status}`))
    await slow
    assert.equal(order, ['right 200', 'wrong 401'])
  })
})

test('HEAD needs what GET needs and has no body', async () => {
  assert.is((await anyone().send('HEAD', '/api/settings')).status, 401)
  const { status, text } = await server.rest.send('HEAD', '/api/settings')
  assert.equal([status, text], [200, ''])
})

test('any of several keys opens, and old ones stop with the next start', () =>
  withServer(async ({ url }) => {
    for (const [key, status] of [['first-key', 200], ['second-key', 200], ['third-key', 401]] as const) {
      assert.is((await rest(url, key).get('/api/settings')).status, status)
    }
  }, { sessionApiKeys: ['first-key', 'second-key'] }))

test('without keys, on loopback only, everyone is let in', () =>
  withServer(async ({ url }) => {
    assert.is((await rest(url, undefined).get('/api/settings')).status, 200)
  }, { sessionApiKeys: [], noAuth: true }))

test('without keys, pages of other local ports are let in only where they are named', () =>
  withServer(async ({ url }) => {
    for (const [Origin, status] of [
      ['http://localhost:3000', 403], ['http://127.0.0.1:3001', 403], ['http://localhost:3001', 200], [url, 200],
    ] as const) {
      assert.is(
        (await rest(url, undefined).send('GET', '/api/settings', { headers: { Origin } })).status, status, Origin,
      )
    }
  }, { sessionApiKeys: [], noAuth: true, allowedOrigins: ['http://localhost:3001'] }))

/** Host, and whether it is one that this server answers to. */
const hosts: readonly (readonly [string, number])[] = [
  ['localhost', 200], ['LOCALHOST:99', 200], ['127.0.0.1', 200], ['10.1.2.3:80', 200], ['[::1]:8000', 200],
  ['a.localhost', 200],
  ['agents.example.org', 200], ['Agents.Example.org:443', 200], ['evil.example', 403],
  ['agents.example.org.evil.example', 403],
  ['evil.localhost.example', 403], ['a b', 400], ['user@localhost', 400],
]
test('a Host that is not a name of this server is refused, except for the probes', async () => {
  for (const [host, status] of hosts) {
    const answer = await server.rest.get('/api/settings', { Host: host })
    assert.is(answer.status, status, `${host} ${answer.text}`)
    if (status === 403) assert.match(answer.text, '--allowed-host')
    for (const probe of ['/alive', '/health', '/ready']) {
      assert.is((await anyone().get(probe, { Host: host })).status, 200)
    }
    const info = await anyone().get('/server_info', { Host: host })
    assert.is(info.status, status)
  }
})

const own = { 'Access-Control-Allow-Credentials': 'true', Vary: 'Origin' }
test('allowed origins get CORS headers on every answer, also on refusals', async () => {
  for (const origin of ['http://localhost:3999', 'https://127.0.0.1', 'https://ui.example.org', server.url]) {
    const calls = [
      await server.rest.get('/api/settings', { Origin: origin }),
      await anyone().get('/api/settings', { Origin: origin }),
      await server.rest.get('/api/nothing', { Origin: origin }),
      await server.rest.get('/api/conversations/x', { Origin: origin }),
      await server.rest.send('PUT', '/api/settings', { headers: { Origin: origin } }),
      await server.rest.send('POST', '/api/conversations', { raw: '{', headers: { Origin: origin } }),
      await server.rest.send('POST', '/api/conversations', {
        raw: 'x', headers: { Origin: origin, 'Content-Type': 'text/plain' },
      }),
      await anyone().get('/server_info', { Origin: origin }),
    ]
    assert.equal(calls.map(({ status }) => status), [200, 401, 404, 422, 405, 422, 415, 200])
    for (const { headers } of calls) {
      assert.is(headers['access-control-allow-origin'], origin)
      for (const [name, value] of Object.entries(own)) assert.is(headers[name.toLowerCase()], value)
    }
  }
})

test('foreign origins may neither read nor change anything', async () => {
  for (const origin of [
    'https://evil.example', 'http://localhost.evil.example', 'https://ui.example.org:444', 'http://ui.example.org',
  ]) {
    for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']) {
      const { status, headers } = await server.rest.send(method, '/api/conversations', { headers: { Origin: origin } })
      assert.equal([status, headers['access-control-allow-origin']], [403, undefined], origin)
    }
  }
  assert.is((await server.rest.get('/api/settings', { Origin: 'null' })).status, 403)
})

test('a preflight needs no key, and echoes what is asked', async () => {
  for (const { path } of routes) {
    if (['/alive', '/health', '/ready'].includes(path)) continue
    const headers = {
      Origin: 'http://localhost:3999',
      'Access-Control-Request-Method': 'PATCH',
      'Access-Control-Request-Headers': 'content-type,x-session-api-key',
    }
    const answer = await anyone().send('OPTIONS', path, { headers })
    assert.is(answer.status, 200, path)
    assert.is(answer.headers['access-control-allow-origin'], headers.Origin)
    assert.is(answer.headers['access-control-allow-methods'], 'PATCH')
    assert.match(String(answer.headers['access-control-allow-headers']), /content-type, *x-session-api-key/)
  }
  const allowed = async (path: string): Promise<unknown> => {
    return (await anyone().send('OPTIONS', path)).headers['allow']?.split(', ').sort().join(' ')
  }
  assert.is(await allowed('/api/settings'), 'GET HEAD OPTIONS PATCH')
  assert.is(await allowed('/server_info'), 'GET HEAD OPTIONS')
  assert.is(await allowed('/no/such/path'), 'DELETE GET HEAD OPTIONS PATCH POST PUT')
  const foreign = await anyone().send('OPTIONS', '/api/settings', {
    headers: { Origin: 'https://evil.example', 'Access-Control-Request-Method': 'GET' },
  })
  assert.is(foreign.status, 400)
  assert.is((await anyone().send('OPTIONS', '/api/settings')).status, 204)
})

test('answers are not to be guessed at, kept, or read by other pages', async () => {
  const { headers } = await server.rest.get('/api/settings')
  assert.is(headers['x-content-type-options'], 'nosniff')
  assert.is(headers['cross-origin-resource-policy'], 'same-origin')
  assert.is(headers['content-security-policy'], "frame-ancestors 'none'")
  assert.match(String(headers['cache-control']), 'no-store')
  assert.is(headers['content-type'], 'application/json')
  assert.is(headers['x-powered-by'], undefined)
})

test('what is open says what clients check, and nothing about what is inside', async () => {
  const { json } = await anyone().get('/server_info')
  assert.equal([member(json, 'version'), member(json, 'sdk_version'), member(json, 'server_name')], [
    '1.43.1', '1.43.1', 'agent-server',
  ])
  for (const name of ['uptime', 'idle_time']) assert.type(member(json, name), 'number')
  assert.equal(listAt(json, 'usable_tools'), [
    ...(isBrowserThere && !withoutSandbox ? ['browser_tool_set'] : []), 'edit', 'file_editor', 'glob', 'grep',
    'list_directory', 'planning_file_editor', 'read_file', 'task_tool_set', 'task_tracker', 'terminal', 'write_file',
  ])
  assert.equal((await anyone().get('/alive')).json, { status: 'ok' })
  assert.equal((await anyone().get('/ready')).json, { status: 'ready' })
  const description = (await anyone().get('/openapi.json')).json
  assert.equal([member(description, 'info', 'title'), member(description, 'info', 'version')], [
    'Agent Server', '0.1.0',
  ])
  assert.is(member(description, 'servers'), undefined)
  assert.equal(member(description, 'security'), [])
  const described = Object.entries(Object(member(description, 'paths'))).flatMap(([path, item]) => {
    return Object.keys(Object(item)).map((method) => `${method.toUpperCase()} ${path}`)
  })
  for (const name of Object.keys(access).filter((route) => route.includes(' /api/'))) {
    assert.ok(described.includes(name), name)
  }
})

test('no key and no query string is ever in the log', async () => {
  await server.rest.get('/api/conversations/search?page_id=remember-me')
  await anyone().get('/api/settings', { 'X-Session-API-Key': 'a-wrong-key-of-someone' })
  await anyone().get(`/api/settings?session_api_key=${server.key}`)
  const log = server.log.join('')
  for (const text of [server.key, 'remember-me', 'a-wrong-key-of-someone']) assert.not.match(log, text)
})

test.run()
