import { once } from 'node:events'
import { createServer, request, type IncomingMessage, type OutgoingHttpHeaders, type ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'
import * as assert from 'uvu/assert'
import { owner } from '../../../src/api/permission.ts'
import type { ConversationFollower } from '../../../src/conversation/list/followers.ts'
import { Changes } from '../../../src/parts/console/changes.ts'
import { until } from '../../support/processes.ts'
import { textAt } from '../../support/rest.ts'
import { withServer } from '../../support/server.ts'
import { suite } from '../../support/suite.ts'
import { portOf } from '../../support/ws-pair.ts'
import { addKey } from '../keys/named.ts'
import { visit } from './visitor.ts'

const test = suite('parts/console: changes')

const noQueue = (): readonly string[] => []

interface Stream {
  readonly response: IncomingMessage
  readonly ended: Promise<void>
  /** Resolves when the stream has sent the text. */
  told(part: string): Promise<void>
  text(): string
}

function open(url: string, headers: OutgoingHttpHeaders = {}): Promise<Stream> {
  return new Promise((resolve, reject) => {
    request(url, { headers, agent: false }, (response) => {
      let text = ''
      let wake = (): void => undefined
      response.setEncoding('utf8')
      response.on('data', (chunk: string) => {
        text += chunk
        wake()
      })
      response.on('error', () => undefined)
      resolve({
        response,
        ended: new Promise((close) => void response.on('close', close)),
        text: () => text,
        async told(part) {
          while (!text.includes(part)) await new Promise<void>((read) => (wake = read))
        },
      })
    }).on('error', reject).end()
  })
}

test('one stream tells of every conversation: created, renamed, removed; it ends with the session', () => {
  return withServer(async (server) => {
    const visitor = await visit(server)
    const { response, told, ended } = await open(`${server.url}/api/console/changes`, { ...visitor.headers })
    assert.is(response.headers['content-type'], 'text/event-stream')
    await told(': open')
    const id = textAt((await server.rest.post('/api/conversations', {})).json, 'id')
    await told(`"id":"${id}"`)
    await server.rest.patch(`/api/conversations/${id}`, { title: 'A new name' })
    await told('"title":"A new name"')
    await server.rest.delete(`/api/conversations/${id}`)
    await told(`{"id":"${id}","removed":true}`)
    await server.rest.send('POST', '/api/console/sign-out', { headers: visitor.headers })
    await ended
  })
})

test('no stream opens while the server shuts down: a stream that opens late would hold the shutdown back', () => {
  return withServer(async (server) => {
    const visitor = await visit(server)
    // A browser may connect ahead of a request. The server cannot close such a connection as an idle one.
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1')
    await once(socket, 'connect')
    const { told, ended } = await open(`${server.url}/api/console/changes`, { ...visitor.headers })
    await told(': open')
    let text = ''
    socket.setEncoding('utf8').on('data', (chunk: string) => (text += chunk)).on('error', () => undefined)
    const closed = server.server.close()
    await ended
    const headers = Object.entries({ Host: new URL(server.url).host, ...visitor.headers })
    const lines = ['GET /api/console/changes HTTP/1.1', ...headers.map(([name, value]) => `${name}: ${value}`)]
    socket.write(`${lines.join('\r\n')}\r\n\r\n`)
    await until(() => text.includes('\r\n\r\n'))
    assert.match(text, /^HTTP\/1\.1 503 /)
    await closed
  })
})

test('changes fill no memory while a client does not read; it gets the newest state when it reads', async () => {
  let version = 0
  const followers: ConversationFollower[] = []
  const changes = new Changes({
    conversations: {
      follow: (follower) => {
        followers.push(follower)
        return () => undefined
      },
      hasTag: () => true,
      info: async () => ({ title: `version ${version} of ${'x'.repeat(1024 * 1024)}` }),
    },
    agentQueue: noQueue,
  })
  const responses: ServerResponse[] = []
  const server = createServer((_, response) => {
    responses.push(response)
    changes.serve({ principal: owner }).stream?.(response)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${portOf(server.address())}/`
  const stalled = await open(url)
  const reader = await open(url)
  const change = async (): Promise<void> => {
    version += 1
    for (const follower of followers) follower.changed('one')
    await reader.told(`version ${version} of`)
  }
  stalled.response.pause()
  while (responses[0]?.writableNeedDrain !== true) await change()
  const held = responses[0].writableLength
  for (let count = 0; count < 5; count += 1) await change()
  assert.is(responses[0].writableLength, held)
  stalled.response.resume()
  await stalled.told(`version ${version} of`)
  changes.close()
  server.close()
  await Promise.all([stalled.ended, reader.ended])
})

test('above the limit of streams a new stream cuts the oldest, also when no client reads', async () => {
  const conversations = { follow: () => () => undefined, hasTag: () => true, info: async () => ({}) }
  const changes = new Changes({ conversations, agentQueue: noQueue })
  const responses: ServerResponse[] = []
  const server = createServer((_, response) => {
    responses.push(response)
    changes.serve({ principal: owner }).stream?.(response)
    // More than the buffers of both sockets take, so the end of the first responses is never sent.
    if (responses.length <= 3) response.write('x'.repeat(16 * 1024 * 1024))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const sockets: Socket[] = []
  try {
    for (let count = 1; count <= 53; count += 1) {
      const socket = connect(portOf(server.address()), '127.0.0.1').pause().on('error', () => undefined)
      sockets.push(socket)
      socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n')
      await until(() => responses.length === count)
    }
    assert.equal(responses.map(({ destroyed }) => destroyed), responses.map((_, index) => index < 3))
  } finally {
    changes.close()
    for (const socket of sockets) socket.destroy()
    server.close()
  }
})

test('a stream tells how many conversations wait for an agent, and the places of those that the client sees', () => {
  return withServer(async (server) => {
    const visitor = await visit(server)
    const begin = async (text: string): Promise<string> => {
      const initial_message = { role: 'user', content: [{ type: 'text', text }], run: true }
      return textAt((await server.rest.post('/api/conversations', { initial_message })).json, 'id')
    }
    const queueOf = (...ids: readonly string[]): string => {
      return JSON.stringify({ length: ids.length, places: Object.fromEntries(ids.map((id, index) => [id, index + 1])) })
    }
    const { told } = await open(`${server.url}/api/console/changes`, { ...visitor.headers })
    await told(`event: queue\ndata: ${queueOf()}\n`)
    const first = await begin('run: sleep 100')
    await until(async () => (await server.rest.get(`/api/conversations/${first}/events/search`)).text
      .includes('"kind":"ActionEvent"'))
    const second = await begin('run: sleep 101')
    await told(queueOf(second))
    const third = await begin('run: echo words')
    await told(queueOf(second, third))
    const late = await open(`${server.url}/api/console/changes`, { ...visitor.headers })
    await late.told(`event: queue\ndata: ${queueOf(second, third)}\n`)
    const { key } = await addKey(server, 'tagged', { scopes: 'read', tag: 'team=a' })
    const limited = await open(`${server.url}/api/console/changes`, { 'X-Session-API-Key': key })
    await limited.told('event: queue\ndata: {"length":2,"places":{}}\n')
    await server.rest.delete(`/api/conversations/${second}`)
    await late.told(`event: queue\ndata: ${queueOf(third)}\n`)
    await server.rest.delete(`/api/conversations/${first}`)
    await late.told(`event: queue\ndata: ${queueOf()}\n`)
  }, { agentLimit: 1 })
})

test('a key of a tag hears of the removal of its conversations, and of no other', () => withServer(async (server) => {
  const { key } = await addKey(server, 'tagged', { scopes: 'read', tag: 'team=a' })
  const limited = await open(`${server.url}/api/console/changes`, { 'X-Session-API-Key': key })
  await limited.told(': open')
  const make = async (tags: object): Promise<string> =>
    textAt((await server.rest.post('/api/conversations', { tags })).json, 'id')
  const [other, own] = [await make({ team: 'b' }), await make({ team: 'a' })]
  await limited.told(`"id":"${own}"`)
  for (const id of [other, own]) await server.rest.delete(`/api/conversations/${id}`)
  await limited.told(`{"id":"${own}","removed":true}`)
  assert.not(limited.text().includes(other))
}))

test.run()
