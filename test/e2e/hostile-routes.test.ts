/**
 * Every route of `src/access`, enumerated: a client without the right is refused in the same way everywhere, and a
 * route that reads changes nothing. A new route is covered by its row in that table.
 */
import * as assert from 'uvu/assert'
import { access } from '../../src/access.ts'
import { open, parseAnswers } from '../http/raw-client.ts'
import { changesOf, startTarget, type Target } from '../support/hostile-entrances.ts'
import { ask, id, key, knock, tell, withKey } from '../support/hostile-row.ts'
import { textAt } from '../support/rest.ts'
import { suite } from '../support/suite.ts'

const test = suite('hostile routes')

/** They say only that the server is alive, to any client, under any name. */
const probes = ['/alive', '/health', '/ready']

interface Route {
  readonly name: string
  readonly method: string
  readonly path: string
  readonly isOpen: boolean
}

const all = Object.entries(access).map(([name, right]): Route => {
  const [method = '', pattern = ''] = name.split(' ')
  const path = pattern.replace('{conversation_id}', id)
    .replace('{event_id}', '{event}')
    .replace('{name}', 'KNOWN_NAME')
    .replace(/\{(?!event)\w+\}/g, 'x')
  return { name, method, path, isOpen: right === 'open' }
})
const sockets = all.filter(({ path }) => path.startsWith('/sockets/'))
const routes = all.filter((route) => !sockets.includes(route))
const guarded = routes.filter(({ path }) => !probes.includes(path))

let keyed: Target
let keyless: Target
let eventId = ''
test.before(async () => {
  keyed = await startTarget('keyed')
  keyless = await startTarget('open')
  await keyed.rest.put('/api/settings/secrets', { name: 'KNOWN_NAME', value: 'a known value' })
  const found = await keyed.rest.get(`/api/conversations/${id}/events/search`)
  eventId = textAt(found.json, 'items', 0, 'id')
})
test.after(async () => {
  await keyed.close()
  await keyless.close()
})

/** Sends one request to every route, and expects this status of all, and that nothing has changed. */
async function assertAll(
  target: Target, list: readonly Route[], status: number, ...headers: readonly string[]
): Promise<void> {
  const before = await target.state()
  const answers = await Promise.all(list.map(async ({ name, method, path }) => {
    const line = `${method} ${path.replace('{event}', eventId)}`
    const text = await target.send(method === 'GET' ? ask(line, ...headers) : tell(line, '{}', ...headers))
    const [answer, second] = parseAnswers(text)
    assert.not.ok(answer === undefined || second !== undefined, `${name}: ${text}`)
    if (status === 403) assert.is(answer?.headers['access-control-allow-origin'], undefined, name)
    if (status === 401) assert.is(answer?.body, '{"detail":"Unauthorized"}', name)
    return `${name} ${answer?.status}`
  }))
  assert.equal(answers, list.map(({ name }) => `${name} ${status}`), headers.join())
  assert.equal(changesOf(before, await target.state()), [], headers.join())
  assert.not.ok(target.hasRun())
}

// POST /api/init is 404 here for everybody: test/e2e/deferred-init has it.
const closed = routes.filter(({ path, isOpen }) => !isOpen && path !== '/api/init')
test(
  `none of ${closed.length} routes is there for who has no key, a wrong one, two, or one in another place`,
  async () => {
    await assertAll(keyed, closed, 401)
    await assertAll(keyed, closed, 401, 'X-Session-API-Key: wrong')
    await assertAll(keyed, closed, 401, withKey, withKey)
    await assertAll(keyed, closed, 401, `Authorization: Bearer ${key}`, `Cookie: session_api_key=${key}`)
    await assertAll(keyed, closed.map((route) => ({ ...route, path: `${route.path}?session_api_key=${key}` })), 401)
  },
)

const pages: readonly (readonly [string, readonly string[]])[] = [
  ['a foreign page', ['Origin: https://evil.example']],
  ['a page without an origin', ['Origin: null']],
  ['a page under a rebound name', ['Host: evil.example', 'Origin: http://evil.example']],
  ['a rebound name', ['Host: evil.example']],
  ['an element of a foreign page', ['Sec-Fetch-Site: cross-site', 'Sec-Fetch-Mode: no-cors']],
]
for (const [who, headers] of pages) {
  test(`none of ${guarded.length} routes is there for ${who}, with the key or where none is asked for`, async () => {
    await assertAll(keyed, guarded, 403, withKey, ...headers)
    await assertAll(keyless, guarded, 403, ...headers)
  })
  test(`the probes tell ${who} that the server is alive, and no more`, async () => {
    for (const path of probes) {
      const [answer] = parseAnswers(await keyed.send(ask(`GET ${path}`, ...headers)))
      assert.is(answer?.status, 200, path)
      assert.match(answer?.body ?? '', /^\{"status":"(?:ok|ready)"\}$/)
      assert.is(answer?.headers['access-control-allow-origin'], undefined)
    }
  })
}

test('no socket opens for a foreign page, a rebound name or a wrong key', async () => {
  assert.is(sockets.length, 1)
  for (const { path } of sockets) {
    for (const [who, headers] of pages) {
      assert.match(await keyed.send(knock(path, withKey, ...headers)), /^HTTP\/1\.1 403 /, who)
      assert.match(await keyless.send(knock(path, ...headers)), /^HTTP\/1\.1 403 /, who)
    }
    assert.match(await keyed.send(knock(path, 'X-Session-API-Key: wrong')), /^HTTP\/1\.1 403 /)
    assert.match(await keyed.send(ask(`GET ${path}`, withKey)), /^HTTP\/1\.1 404 /)
  }
})

const evil = '{"run":true,"agent_settings_diff":{"acp_command":["/bin/evil"]}}'
/** Changes something for who brings the state of a sign-in that waits, and refuses all others (test/e2e/oauth). */
const callback = 'GET /api/mcp/oauth/callback'
const tricks = '_method=DELETE&method=POST&run=true&x=1'
const reads = routes.filter(({ method }) => method === 'GET')

test(`none of ${reads.length} routes that read changes anything, whatever else is said`, async () => {
  const before = await keyed.state()
  let served = 0
  for (const { name, path } of reads) {
    const line = `${path.replace('{event}', eventId)}?ids=${id}&${tricks}`
    // The only route that reads the events that its body names.
    const body = name.endsWith('/events') ? `["${eventId}"]` : evil
    const headers = [withKey, 'X-HTTP-Method-Override: DELETE', 'X-Expose-Secrets: plaintext', 'Idempotency-Key: 1']
    for (const method of ['GET', 'HEAD']) {
      const status = await statusOf(tell(`${method} ${line}`, body, ...headers))
      // The thing that is asked for may be missing. Then too nothing may have been made.
      assert.ok([200, 404, ...(name === callback ? [400] : [])].includes(status), `${method} ${name} ${status}`)
      if (status === 200) served++
    }
    assert.equal(changesOf(before, await keyed.state()), [], name)
  }
  assert.ok(served >= 44, `${served} were served`)
  assert.not.ok(keyed.hasRun())
})

/** The status of an answer that may be a stream without end. */
async function statusOf(bytes: string): Promise<number> {
  const connection = open(keyed.port)
  connection.socket.write(bytes)
  const text = await connection.until((received) => received.includes('\r\n\r\n'))
  connection.socket.destroy()
  return Number(text.split(' ')[1])
}

test.run()
