/** The end of a key: revoked by the command, by a route, or expired. Real connections end with it. */
import { once } from 'node:events'
import { request, type ClientRequest, type IncomingMessage } from 'node:http'
import * as assert from 'uvu/assert'
import { member, textAt } from '../../support/rest.ts'
import { until } from '../../support/processes.ts'
import { startServer, withServer, type TestServer } from '../../support/server.ts'
import { suite } from '../../support/suite.ts'
import { connect } from '../../support/ws-client.ts'
import { addKey, runKeys } from './named.ts'

const test = suite('parts/keys: the end of a key')
let now = Date.now()
let server: TestServer
let id: string

test.before(async () => {
  server = await startServer({ clock: () => now })
  id = textAt((await server.rest.post('/api/conversations', {})).json, 'id')
})
test.after(() => server.close())

function open(method: string, path: string, key: string, headers = {}): ClientRequest {
  const all = { 'X-Session-API-Key': key, ...headers }
  const opened = request(`${server.url}${path}`, { method, headers: all, agent: false })
  opened.on('error', () => undefined)
  return opened
}

interface Connections {
  readonly socketCode: Promise<number>
  readonly ended: Promise<unknown>
}

/** Opens a socket, a stream of events, a stream of changes and an upload that never ends. */
async function openAll(key: string): Promise<Connections> {
  const socket = await connect(`${server.url}/sockets/events/${id}`, { 'X-Session-API-Key': key })
  await socket.next()
  const paths = [`/api/conversations/${id}/events/stream`, '/api/console/changes']
  const streams = paths.map((path) => open('GET', path, key))
  for (const stream of streams) stream.end()
  const responses = await Promise.all(streams.map(async (stream) => {
    const [response]: IncomingMessage[] = await once(stream, 'response')
    response?.on('error', () => undefined).resume()
    return response
  }))
  const upload = open('POST', `/api/file/upload?path=${encodeURIComponent(`${server.workspaceDir}/up`)}`, key, {
    'Content-Type': 'multipart/form-data; boundary=b', 'Content-Length': '1000',
  })
  upload.write('--b\r\nContent-Disposition: form-data; name="file"; filename="f"\r\n\r\nsome')
  await once(upload, 'socket')
  const ended = Promise.all([...responses, upload].map((one) => new Promise((resolve) => one?.once('close', resolve))))
  return { socketCode: socket.closed.then(({ code }) => code), ended }
}

test('a command that revokes a key ends its connections, and the key opens nothing', async () => {
  const { key, rest } = await addKey(server, 'gone', { scopes: 'all' })
  const { socketCode, ended } = await openAll(key)
  assert.is((await runKeys(server.dataDir, ['revoke', 'gone'])).code, 0)
  assert.is(await socketCode, 4001)
  await ended
  assert.is((await rest.get('/api/settings')).status, 401)
  assert.is((await server.rest.get('/api/settings')).status, 200)
})

test('the route that revokes a key ends its connections', async () => {
  const { key, rest } = await addKey(server, 'by-route', { scopes: 'all' })
  const { socketCode, ended } = await openAll(key)
  assert.is((await server.rest.delete('/api/keys/by-route')).status, 200)
  assert.is(await socketCode, 4001)
  await ended
  assert.is((await rest.get('/api/settings')).status, 401)
  assert.is((await server.rest.delete('/api/keys/by-route')).status, 404)
  assert.is((await server.rest.delete('/api/keys/..%2fsettings')).status, 404)
})

test('an expired key opens nothing, and its connections end', async () => {
  const { key, rest } = await addKey(server, 'short', { scopes: 'all', expires: '1h' })
  const { socketCode, ended } = await openAll(key)
  now += 59 * 60_000
  assert.is((await rest.get('/api/settings')).status, 200)
  now += 2 * 60_000
  assert.is((await rest.get('/api/settings')).status, 401)
  assert.is(await socketCode, 4001)
  await ended
  const { text } = await server.rest.get('/api/keys')
  assert.match(text, '"is_expired":true')
  await runKeys(server.dataDir, ['revoke', 'short'])
})

test('a name that is used again is another key', async () => {
  const { rest } = await addKey(server, 'again', { scopes: 'read' })
  await runKeys(server.dataDir, ['revoke', 'again'])
  await runKeys(server.dataDir, ['add', 'again'], { scopes: 'read' })
  await until(async () => (await rest.get('/api/settings')).status === 401)
  await runKeys(server.dataDir, ['revoke', 'again'])
})

test('a session of the console has the scopes of its key, and ends with it', async () => {
  const { key } = await addKey(server, 'browser', { scopes: 'read' })
  const page = { Origin: server.url, 'Sec-Fetch-Site': 'same-origin' }
  const signedIn = await server.rest.send('POST', '/api/console/sessions', {
    headers: { ...page, 'X-Session-API-Key': key },
  })
  assert.is(signedIn.status, 200, signedIn.text)
  const Cookie = String(signedIn.headers['set-cookie']).split(';')[0] ?? ''
  const proof = textAt(signedIn.json, 'proof')
  const headers = { ...page, Cookie, 'X-Console-Proof': proof, 'X-Session-API-Key': [] }
  const send = async (method: string, path: string): Promise<number> => {
    return (await server.rest.send(method, path, { headers })).status
  }
  assert.equal([await send('GET', '/api/settings'), await send('POST', '/api/conversations')], [200, 403])
  const [session] = Object.values(Object(member((await server.rest.get('/api/console/sessions')).json, 'items')))
  assert.is(member(session, 'key_name'), 'browser')
  const socket = await connect(`${server.url}/sockets/events/${id}`, { Origin: server.url, Cookie })
  socket.send(JSON.stringify({ type: 'auth', session_api_key: proof }))
  await socket.next()
  await runKeys(server.dataDir, ['revoke', 'browser'])
  assert.is((await socket.closed).code, 4001)
  assert.is(await send('GET', '/api/settings'), 401)
})

test('a cookie of a workspace ends with the key that began it', async () => {
  const { rest } = await addKey(server, 'cookie', { scopes: 'read' })
  const begun = await rest.post('/api/auth/workspace-session')
  const Cookie = String(begun.headers['set-cookie']).split(';')[0] ?? ''
  const headers = { Cookie, 'X-Session-API-Key': [] }
  const status = async (): Promise<number> => {
    return (await server.rest.send('GET', `/api/conversations/${id}/workspace/none`, { headers })).status
  }
  assert.is(await status(), 404)
  await runKeys(server.dataDir, ['revoke', 'cookie'])
  await until(async () => await status() === 401)
})

test('a key lives on in the next server on the folder', () => withServer(async (first) => {
  const { key } = await addKey(first, 'lasting', { scopes: 'read' })
  await first.server.close()
  await withServer(async ({ rest }) => {
    assert.is((await rest.get('/api/settings', { 'X-Session-API-Key': key })).status, 200)
  }, { folder: first.folder })
}))

test.run()
