/**
 * Deferred init: the answers of a server before `POST /api/init`, who may initialize it, and the keys that it takes
 * afterwards (contract: others.md section 9; websocket.md section 1).
 */
import { randomUUID } from 'node:crypto'
import * as assert from 'uvu/assert'
import { allParts } from '../../src/all-parts.ts'
import { access } from '../../src/access.ts'
import { member, rest, type Rest, type RestResponse } from '../support/rest.ts'
import { withServer, type TestServer, type TestServerOptions } from '../support/server.ts'
import { connect, Refused } from '../support/ws-client.ts'
import { suite } from '../support/suite.ts'

const test = suite('deferred init')
const secretKey = 'the-secret-key-of-the-tests'
const delivered = 'the-delivered-key'
const state = async (client: Rest): Promise<unknown> => (await client.get('/api/init')).json

function withDormant(body: (server: TestServer) => Promise<void>, options: TestServerOptions = {}): Promise<void> {
  return withServer(body, { deferredInit: true, ...options })
}

type Headers = Record<string, string | string[]>

function init({ url }: TestServer, body?: unknown, headers: Headers = {}): Promise<RestResponse> {
  return rest(url, undefined).send('POST', '/api/init', body === undefined ? { headers } : { body, headers })
}

/** Every plain route of this build, with values for its parameters. */
const routes = Object.entries(Object.assign({}, access, ...allParts.map(({ routes = {} }) => routes)))
  .filter(([name]) => !name.includes('/sockets/') && !name.endsWith(' /api/init'))
  .map(([name, right]) => {
    const [method = '', pattern = ''] = name.split(' ')
    return { method, path: pattern.replace(/\{\w+(?:\.\.\.)?\}/g, randomUUID()), right }
  })

test('before the init every route below /api and every route with a key is 503, with and without the key', () =>
  withDormant(async (server) => {
    for (const client of [rest(server.url, undefined), server.rest]) {
      for (const { method, path, right } of routes) {
        const { status, text } = await client.send(method, path)
        const isHeld = right !== 'open' || path.startsWith('/api/')
        assert.is(status === 503, isHeld, `${method} ${path}: ${status} ${text}`)
      }
    }
    const { json } = await server.rest.get('/api/settings')
    assert.equal(json, {
      detail: 'Service Unavailable', exception: '503: The server waits for POST /api/init',
    })
    const completions = await server.rest.get('/v1/models')
    assert.match(String(member(completions.json, 'error', 'message')), 'waits for POST /api/init')
  }))

test('before the init the server is alive and ready, and says without a key that it is dormant', () =>
  withDormant(async ({ url }) => {
    const client = rest(url, undefined)
    assert.equal((await client.get('/ready')).json, { status: 'ready' })
    assert.is((await client.get('/alive')).status, 200)
    assert.equal(await state(client), { state: 'dormant' })
  }))

test('a delivered key protects the API at once; the key of the start opens nothing any more', () =>
  withDormant(async (server) => {
    const { status, json } = await init(server, { session_api_keys: [delivered, 'another'] })
    assert.equal([status, json], [200, { state: 'ready' }])
    assert.equal(await state(rest(server.url, undefined)), { state: 'ready' })
    for (const [key, expected] of [[delivered, 200], ['another', 200], [server.key, 401], [undefined, 401]] as const) {
      assert.is((await rest(server.url, key).get('/api/settings')).status, expected, String(key))
    }
    assert.equal(server.server.sessionKeys, [delivered, 'another'])
    assert.is(server.server.mask(delivered).includes(delivered), false)
  }))

test('sockets are refused before the init, and take the delivered keys only', () =>
  withDormant(async (server) => {
    const path = `${server.url}/sockets/events/${randomUUID()}`
    const open = async (key: string): Promise<number> => {
      try {
        await connect(path, { 'X-Session-API-Key': key })
        return 101
      } catch (error) {
        if (error instanceof Refused) return error.status
        throw error
      }
    }
    assert.is(await open(server.key), 503)
    await init(server, { session_api_keys: [delivered] })
    assert.is(await open(server.key), 403)
    assert.is(await open(delivered.toUpperCase()), 403)
    assert.is(await open(delivered), 101)
  }))

test('an init without keys leaves the keys of the start; without a body too', async () => {
  for (const body of [undefined, {}, { session_api_keys: null, env: null, secret_key: null }]) {
    await withDormant(async (server) => {
      assert.is((await init(server, body)).status, 200)
      assert.is((await server.rest.get('/api/settings')).status, 200)
      assert.is((await rest(server.url, undefined).get('/api/settings')).status, 401)
    })
  }
})

test('a second init is 400 and changes nothing', () =>
  withDormant(async (server) => {
    const keys = [1, 2, 3].map((count) => `${delivered}-${count}`)
    const inits = await Promise.all(keys.map((key) => init(server, { session_api_keys: [key] })))
    assert.equal(inits.map(({ status }) => status).sort(), [200, 400, 400])
    const again = await init(server, { session_api_keys: ['mine'] })
    assert.equal([again.status, again.json], [400, { detail: 'The server is initialized already' }])
    assert.is((await rest(server.url, 'mine').get('/api/settings')).status, 401)
  }))

test('a server that does not wait for an init has neither route', () =>
  withServer(async (server) => {
    const detail = 'This server was started without --deferred-init'
    for (const method of ['GET', 'POST']) {
      const { status, json } = await server.rest.send(method, '/api/init')
      assert.equal([status, json], [404, { detail }], method)
    }
    assert.is((await server.rest.get('/api/settings')).status, 200)
  }, { secretKey }))

test('members without effect, unknown members and unusable keys are 422, and the server stays dormant', () =>
  withDormant(async (server) => {
    const values = {
      secret_key: 'a-new-secret-key-a-new-secret-key', conversations_path: '/tmp/c', bash_events_dir: '/tmp/b',
      conversation_worktree_root: '/tmp/w', webhooks: [], web_url: 'https://a.example', allow_cors_origins: [],
      max_concurrent_runs: 3, env: { LD_PRELOAD: '/tmp/evil.so' }, telemetry: { exporter: 'none' },
    }
    for (const [name, value] of Object.entries(values)) {
      const { status, json, text } = await init(server, { session_api_keys: [delivered], [name]: value })
      assert.is(status, 422, name)
      assert.equal(member(json, 'detail', 0, 'loc'), ['body', name])
      assert.match(String(member(json, 'detail', 0, 'msg')), 'give the option at its start')
      assert.not.match(text, 'a-new-secret-key')
    }
    for (const [body, type] of [
      [{ session_api_key: 'x' }, 'extra_forbidden'], [{ session_api_keys: [] }, 'too_short'],
      [{ session_api_keys: [''] }, 'string_pattern_mismatch'],
      [{ session_api_keys: ['a\nb'] }, 'string_pattern_mismatch'],
      [{ session_api_keys: 'x' }, 'list_type'], [[], 'model_attributes_type'],
    ] as const) {
      const { status, json } = await init(server, body)
      assert.equal([status, member(json, 'detail', 0, 'type')], [422, type], JSON.stringify(body))
    }
    assert.equal(await state(rest(server.url, undefined)), { state: 'dormant' })
    assert.is((await rest(server.url, delivered).get('/api/settings')).status, 503)
  }))

test('with a secret key the init needs it, before the body is read; it is in no log', () =>
  withDormant(async (server) => {
    const body = { session_api_keys: [delivered] }
    for (const headers of [
      {}, { 'X-Init-API-Key': 'wrong' }, { 'X-Init-API-Key': secretKey.toUpperCase() }, { 'X-Init-API-Key': '' },
      { 'X-Init-API-Key': [secretKey, secretKey] }, { 'X-Session-API-Key': server.key },
      { 'X-Session-API-Key': secretKey }, { Authorization: `Bearer ${secretKey}` },
    ]) {
      const { status, json } = await init(server, body, headers)
      assert.equal([status, json], [401, { detail: 'Unauthorized' }], JSON.stringify(headers))
    }
    assert.is((await server.rest.send('POST', '/api/init', { raw: '{' })).status, 401)
    assert.equal(await state(rest(server.url, undefined)), { state: 'dormant' })
    assert.is((await init(server, body, { 'X-Init-API-Key': secretKey })).status, 200)
    assert.is((await init(server, body)).status, 401)
    const log = server.log.join('')
    assert.not(log.includes(secretKey) || log.includes(delivered))
    assert.match(log, 'The key of an init was refused')
  }, { secretKey }))

test('a foreign page and a foreign host cannot initialize the server', () =>
  withDormant(async (server) => {
    for (const headers of [{ Origin: 'https://evil.example' }, { Origin: 'null' }, { Host: 'evil.example' }]) {
      const { status } = await init(server, { session_api_keys: ['theirs'] }, headers)
      assert.is(status, 403, JSON.stringify(headers))
    }
    assert.equal(await state(rest(server.url, undefined)), { state: 'dormant' })
  }))

test('a restarted server is dormant again, with the keys of its start', () =>
  withServer(async (first) => {
    await init(first, { session_api_keys: [delivered] })
    await first.server.close()
    await withServer(async (second) => {
      assert.is((await second.rest.get('/api/settings')).status, 503)
      await init(second, {})
      assert.is((await second.rest.get('/api/settings')).status, 200)
      assert.is((await rest(second.url, delivered).get('/api/settings')).status, 401)
    }, { deferredInit: true, folder: first.folder })
  }, { deferredInit: true }))

test.run()
