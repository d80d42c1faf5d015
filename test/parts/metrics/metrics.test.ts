/**
 * `/metrics` of real servers: who gets it, the things that it counts, and that it names nothing of a client or a
 * conversation.
 */
import * as assert from 'uvu/assert'
import { request } from 'node:http'
import { connect as connectRaw } from 'node:net'
import { startTalk } from '../../e2e/talk.ts'
import { createCanaries } from '../../support/canaries.ts'
import { until } from '../../support/processes.ts'
import { readMetrics, valueOf, type Families } from '../../support/prometheus-text.ts'
import { member, rest } from '../../support/rest.ts'
import { fakeAgent, withServer, type TestServer } from '../../support/server.ts'
import { suite } from '../../support/suite.ts'

const test = suite('parts/metrics')
const conversation = '/api/conversations/{conversation_id}'

async function scrape(server: TestServer): Promise<Families> {
  return readMetrics((await server.rest.get('/metrics')).text)
}

async function statusOf(server: TestServer, method: string, path: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const asked = request(server.url + path, { method, agent: false, headers: { 'X-Session-API-Key': server.key } })
    asked.on('response', (response) => response.resume().on('end', () => resolve(response.statusCode)))
    asked.on('error', reject).end()
  })
}

test('needs a key, in the own header or as a bearer token, and is not there without --metrics', async () => {
  await withServer(async (server) => {
    const { url, key } = server
    const stranger = rest(url, undefined)
    assert.is((await stranger.get('/metrics')).status, 401)
    assert.is((await stranger.get('/metrics', { Authorization: `Bearer ${key}x` })).status, 401)
    assert.is((await stranger.get('/metrics', { Authorization: `Bearer ${key}` })).status, 200)
    const { status, headers } = await server.rest.get('/metrics')
    assert.equal([status, headers['content-type']], [200, 'text/plain; version=0.0.4; charset=utf-8'])
    assert.is(headers['cache-control'], 'no-store')
    // Elsewhere a bearer token is no key.
    assert.is((await stranger.get('/api/settings', { Authorization: `Bearer ${key}` })).status, 401)
  }, { metrics: true })
  await withServer(async ({ url, rest: client }) => {
    const { status, json } = await client.get('/metrics')
    assert.equal([status, json], [404, { detail: 'The server was started without --metrics' }])
    assert.is((await rest(url, undefined).get('/metrics')).status, 401)
  })
})

test('a scrape is no work: the idle time of the server goes on', async () => {
  let now = 1_700_000_000_000
  await withServer(async (server) => {
    await server.rest.get('/api/settings')
    now += 60_000
    await server.rest.get('/metrics')
    assert.is(member((await server.rest.get('/server_info')).json, 'idle_time'), 60)
    await server.rest.get('/api/settings')
    assert.is(member((await server.rest.get('/server_info')).json, 'idle_time'), 0)
  }, { metrics: true, clock: () => now })
})

test('counts a conversation, and no label or help shows a text, an id, a path or a name of it', async () => {
  const canaries = createCanaries()
  const plain = (place: string): string => canaries.of(place).replace(/[^A-Za-z0-9]/g, '')
  await withServer(async (server) => {
    const talk = await startTalk(server, {
      agent: { ...fakeAgent('usage'), acp_env: { A: canaries.of('environment') } },
      workspace: { working_dir: `${server.workspaceDir}/${plain('folder')}` },
      tags: { [plain('tag').toLowerCase()]: 'a' },
      title: canaries.of('title'),
    })
    const socket = await server.socket(talk.id)
    await talk.send(canaries.of('prompt'))
    await talk.reaches('finished')
    await statusOf(server, 'GET', `/${plain('path')}?${plain('query')}=${plain('value')}`)
    await statusOf(server, 'PURGE', `/api/conversations/${talk.id}`)
    await server.rest.get(`/api/settings/secrets/${plain('parameter')}`)
    await server.rest.get('/api/settings', { 'X-Request-Id': plain('request-id'), 'User-Agent': plain('agent') })
    const events = await talk.events()
    const { text } = await server.rest.get('/metrics')
    assert.equal(canaries.hitsIn('/metrics', text), [])
    assert.ok(canaries.places.length > 8)
    for (const known of [talk.id, server.folder, server.key]) assert.not.ok(text.includes(known), known)
    const families = readMetrics(text)
    assert.is(valueOf(families, 'agent_server_events_total'), events.length)
    assert.is(valueOf(families, 'agent_server_conversations', { status: 'finished' }), 1)
    assert.is(valueOf(families, 'agent_server_status_changes_total', { status: 'running' }), 1)
    assert.is(valueOf(families, 'agent_server_tokens_total', { kind: 'prompt' }), 7)
    assert.is(valueOf(families, 'agent_server_tokens_total', { kind: 'completion' }), 3)
    assert.is(valueOf(families, 'agent_server_cost_dollars_total'), 0.5)
    assert.is(valueOf(families, 'agent_server_agents', { state: 'running' }), 1)
    assert.is(valueOf(families, 'agent_server_readers'), 1)
    assert.is(valueOf(families, 'agent_server_readers_behind'), 0)
    const labels = { method: 'POST', route: `${conversation}/events`, status: '200' }
    assert.is(valueOf(families, 'agent_server_requests_total', labels), 1)
    assert.ok((valueOf(families, 'agent_server_log_written_bytes_total') ?? 0) > JSON.stringify(events).length)
    assert.ok((valueOf(families, 'agent_server_log_write_duration_seconds_count') ?? 0) > 2)
    assert.ok((valueOf(families, 'agent_server_disk_free_bytes') ?? 0) > 0)
    socket.socket.destroy()
  }, { metrics: true })
})

test('ids, unknown paths and methods make no series of their own', async () => {
  await withServer(async (server) => {
    const round = async (number: number): Promise<void> => {
      const id = `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`
      assert.is(await statusOf(server, 'GET', `/api/conversations/${id}`), 404)
      assert.is(await statusOf(server, 'GET', `/nowhere/${number}`), 404)
      assert.is(await statusOf(server, 'PROPFIND', `/api/conversations/${id}`), 405)
      assert.is(await statusOf(server, 'REPORT', `/nowhere/${number}`), 404)
      await server.rest.get('/metrics')
    }
    const series = async (): Promise<string[]> => {
      const families = await scrape(server)
      return [...families.values()].flatMap(({ samples }) => samples.map((sample) => {
        return `${sample.name} ${JSON.stringify(sample.labels)}`
      }))
    }
    await round(0)
    const before = await series()
    for (let number = 1; number <= 10; number++) await round(number)
    assert.equal(await series(), before)
    const families = await scrape(server)
    const count = (labels: Record<string, string>): number | undefined => {
      return valueOf(families, 'agent_server_requests_total', labels)
    }
    assert.is(count({ method: 'GET', route: conversation, status: '404' }), 11)
    assert.is(count({ method: 'GET', route: 'unmatched', status: '404' }), 11)
    assert.is(count({ method: 'other', route: 'unmatched', status: '405' }), 11)
    assert.is(count({ method: 'other', route: 'unmatched', status: '404' }), 11)
  }, { metrics: true })
})

test('counts bytes that are no request, refused upgrades and responses whose client has gone', async () => {
  await withServer(async (server) => {
    const { port } = new URL(server.url)
    await new Promise<void>((resolve) => {
      const socket = connectRaw(Number(port), '127.0.0.1', () => socket.write('nonsense\r\n\r\n'))
      socket.resume().on('close', () => resolve())
    })
    await server.socket('no-uuid').then(() => assert.unreachable(), () => undefined)
    const talk = await startTalk(server, 'usage')
    await new Promise<void>((resolve) => {
      const headers = { 'X-Session-API-Key': server.key }
      const asked = request(`${server.url}${talk.path}/events/stream`, { agent: false, headers }, (response) => {
        response.once('data', () => asked.destroy())
        response.on('error', () => resolve())
      })
      asked.on('error', () => resolve()).end()
    })
    await until(async () => valueOf(await scrape(server), 'agent_server_responses_cut_total') === 1)
    const families = await scrape(server)
    const count = (labels: Record<string, string>): number | undefined => {
      return valueOf(families, 'agent_server_requests_total', labels)
    }
    assert.is(count({ method: 'none', route: 'unreadable', status: '400' }), 1)
    assert.is(count({ method: 'GET', route: '/sockets/events/{conversation_id}', status: '403' }), 1)
    assert.is(count({ method: 'GET', route: `${conversation}/events/stream`, status: '200' }), 1)
    // The scrape's own connection.
    assert.is(valueOf(families, 'agent_server_connections'), 1)
  }, { metrics: true })
})

test('counts WebSockets while they are open, and when they close with their code', async () => {
  await withServer(async (server) => {
    const talk = await startTalk(server, 'usage')
    const route = '/sockets/events/{conversation_id}'
    const sockets = await Promise.all([server.socket(talk.id), server.socket(talk.id), server.socket(talk.id)])
    const families = await scrape(server)
    assert.is(valueOf(families, 'agent_server_websockets', { route }), 3)
    assert.is(valueOf(families, 'agent_server_readers'), 3)
    const [first, second, third] = sockets
    first?.close(1000)
    second?.close(4321)
    third?.socket.destroy()
    await until(async () => valueOf(await scrape(server), 'agent_server_websockets', { route }) === 0)
    const after = await scrape(server)
    assert.is(valueOf(after, 'agent_server_websockets_opened_total', { route }), 3)
    for (const code of ['1000', 'other', '1006']) {
      assert.is(valueOf(after, 'agent_server_websockets_closed_total', { route, code }), 1, code)
    }
    assert.ok((valueOf(after, 'agent_server_sent_bytes_total', { kind: 'websocket' }) ?? 0) > 3 * 100)
  }, { metrics: true })
})

test.run()
