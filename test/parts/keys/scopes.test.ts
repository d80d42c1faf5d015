/** Every route of the server with every scope: allowed, or 403 with the name of the scope that is missing. */
import * as assert from 'uvu/assert'
import { access, allRights, rightsOf, scopeOf, scopes, type Right } from '../../../src/access.ts'
import { allParts } from '../../../src/all-parts.ts'
import { member, type Rest } from '../../support/rest.ts'
import { startServer, type TestServer } from '../../support/server.ts'
import { suite } from '../../support/suite.ts'
import { connect, Refused } from '../../support/ws-client.ts'
import { addKey } from './named.ts'

const test = suite('parts/keys: scopes')
const id = '00000000-0000-4000-8000-000000000001'
const routes: readonly (readonly [string, Right])[] = [
  ...Object.entries(access), ...allParts.flatMap(({ routes = {} }) => Object.entries(routes)),
]
const sockets: readonly (readonly [string, Right])[] = [
  ...routes.filter(([name]) => name.includes(' /sockets/')),
  ...allParts.flatMap(({ sockets = {} }) => Object.entries(sockets)),
]
const guarded = routes.filter(([name, right]) => right !== 'open' && right !== 'init' && !name.includes(' /sockets/'))
const clients = new Map<string, { readonly key: string; readonly rest: Rest }>()
let server: TestServer

test.before(async () => {
  server = await startServer({ metrics: true })
  for (const scope of scopes) clients.set(scope, await addKey(server, scope, { scopes: scope }))
})
test.after(() => server.close())

function pathOf(name: string): readonly [method: string, path: string] {
  const [method = '', pattern = ''] = name.split(' ')
  const path = pattern.replace('{conversation_id}', id).replace(/\{[a-z_.]+\}/g, 'none')
  return [method, path]
}

test('each right belongs to one scope, and all scopes have all rights', () => {
  assert.equal([...allRights].sort(), Object.keys(scopeOf).sort())
  const counted = scopes.flatMap((scope) => [...rightsOf([scope])])
  assert.equal(counted.sort(), [...allRights].sort())
})

test('a route is refused with 403 without its scope, and the answer names the scope', async () => {
  for (const [name, right] of guarded) {
    const [method, path] = pathOf(name)
    const needed = right === 'open' || right === 'init' ? '' : scopeOf[right]
    for (const [scope, { rest }] of clients) {
      if (scope === needed) continue
      const { status, text } = await rest.send(method, path)
      assert.is(status, 403, `${name} with ${scope}`)
      // Text in JSON: the quotes are escaped.
      assert.match(text, `The key \\"${scope}\\" lacks the scope \\"${needed}\\"`)
    }
  }
})

/** These would change much of the test server, or wait for long. `test/access` shows that a key reaches them. */
const notAsked: readonly string[] = [
  'GET /api/conversations/{conversation_id}/events/stream', 'GET /api/console/changes',
]

test('a route is not refused with its scope', async () => {
  for (const [name, right] of guarded) {
    if (notAsked.includes(name)) continue
    const [method, path] = pathOf(name)
    const scope = right === 'open' || right === 'init' ? '' : scopeOf[right]
    const { status, text } = await (clients.get(scope)?.rest ?? server.rest).send(method, path)
    assert.not.match(text, 'lacks the scope', name)
    assert.ok(status !== 401, `${name} ${status}`)
  }
})

test('a socket is refused with 403 without its scope', async () => {
  for (const [name, right] of sockets) {
    const [, path] = pathOf(name)
    for (const [scope, { key }] of clients) {
      if (right !== 'open' && right !== 'init' && scope === scopeOf[right]) continue
      const opening = connect(`${server.url}${path}`, { 'X-Session-API-Key': key })
      const refusal = await opening.catch((thrown: unknown) => thrown)
      assert.ok(refusal instanceof Refused && refusal.status === 403 && refusal.body.includes('lacks the scope'), name)
    }
  }
})

test('a socket whose first frame brings a key without the scope is closed with 4001', async () => {
  const client = await connect(`${server.url}/sockets/events/${id}`)
  client.send(JSON.stringify({ type: 'auth', session_api_key: clients.get('metrics')?.key }))
  const { code, reason } = await client.closed
  assert.is(code, 4001)
  assert.match(reason, 'lacks the scope "read"')
})

test('secrets in plain text need the scope admin, and sealed ones the scope drive', async () => {
  const both = await addKey(server, 'reader', { scopes: 'read,drive' })
  const trusted = await addKey(server, 'trusted', { scopes: 'read,admin' })
  const readOnly = clients.get('read')?.rest
  await server.rest.post('/api/profiles/one', { llm: { model: 'm', api_key: 'sk-a-secret-value' } })
  for (const path of ['/api/settings', '/api/profiles/one']) {
    const statusOf = async (client: Rest | undefined, mode?: string): Promise<number | undefined> => {
      return (await client?.get(path, mode === undefined ? {} : { 'X-Expose-Secrets': mode }))?.status
    }
    assert.equal(
      [await statusOf(readOnly), await statusOf(readOnly, 'encrypted'), await statusOf(readOnly, 'plaintext')],
      [200, 403, 403], path,
    )
    assert.equal([await statusOf(both.rest, 'encrypted'), await statusOf(both.rest, 'plaintext')], [200, 403], path)
    assert.equal([await statusOf(trusted.rest, 'plaintext'), await statusOf(trusted.rest, 'encrypted')], [200, 403])
  }
  assert.match((await trusted.rest.get('/api/profiles/one', { 'X-Expose-Secrets': 'plaintext' })).text, 'sk-a-secret')
})

test('the session key of the options has every right, and an unknown key none', async () => {
  assert.is((await server.rest.get('/api/settings', { 'X-Expose-Secrets': 'plaintext' })).status, 200)
  assert.equal(member((await server.rest.get('/api/keys/current')).json, 'scopes'), scopes)
  const { key = '' } = clients.get('read') ?? {}
  const changed = `${key.slice(0, -1)}${key.endsWith('A') ? 'B' : 'A'}`
  for (const wrong of [changed, key.slice(0, -1), `${key}A`, key.toUpperCase(), 'ask_', `ask_${'0'.repeat(12)}_`]) {
    const { status } = await server.rest.get('/api/settings', { 'X-Session-API-Key': wrong })
    assert.is(status, 401, wrong)
  }
})

test('a key with approve only may answer questions and nothing else', async () => {
  const approver = clients.get('approve')?.rest
  const base = `/api/conversations/${id}`
  assert.is((await approver?.post(`${base}/events/respond_to_confirmation`, { accept: true }))?.status, 404)
  for (const path of ['run', 'pause', 'events', 'confirmation_policy']) {
    assert.is((await approver?.post(`${base}/${path}`, {}))?.status, 403, path)
  }
})

test('a socket with the scope read shows events, and a message on it is refused', async () => {
  const created = await server.rest.post('/api/conversations', {})
  const own = String(member(created.json, 'id'))
  const headers = { 'X-Session-API-Key': clients.get('read')?.key ?? '' }
  const client = await connect(`${server.url}/sockets/events/${own}`, headers)
  await client.next()
  client.send(JSON.stringify({ role: 'user', content: [{ type: 'text', text: 'go' }] }))
  assert.match(await client.next(), 'lacks the scope \\"drive\\"')
  assert.is((await server.rest.get(`/api/conversations/${own}/events/count?source=user`)).text, '0')
  client.destroy()
})

test('the key is in no log, and its name is in the log of requests', async () => {
  const log = server.log.join('')
  for (const { key } of clients.values()) assert.not.match(log, key)
})

test.run()
