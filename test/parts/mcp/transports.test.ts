/**
 * The promises of each transport beyond a session: headers, sessions that are lost, broken streams, programs that
 * linger.
 */
import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import * as assert from 'uvu/assert'
import { HttpTransport } from '../../../src/parts/mcp/http-transport.ts'
import { openClient, type McpClient } from '../../../src/parts/mcp/client.ts'
import { SseTransport } from '../../../src/parts/mcp/sse-transport.ts'
import { SessionLostError, type Transport } from '../../../src/parts/mcp/transport.ts'
import { startChild } from '../../../src/process/child.ts'
import { RpcClosedError } from '../../../src/rpc/errors.ts'
import { startStdioTransport } from '../../../src/parts/mcp/stdio-transport.ts'
import { startMcpHttp } from '../../fixtures/mcp-http.ts'
import { isAlive, until } from '../../support/processes.ts'
import { failure } from '../../support/rpc.ts'
import { suite } from '../../support/suite.ts'
import { withWireServer, type WireReply } from '../../support/wire-server.ts'
import { overHttp, startStdio, stdioProgram, withClient } from './carriers.ts'

const test = suite('agents/mcp/transports')

function echo(client: McpClient, text = 'a'): Promise<unknown> {
  return client.callTool({ name: 'echo', args: { text }, signal: new AbortController().signal, silenceMs: 60_000 })
}

function opening(transport: Transport): Promise<McpClient> {
  return openClient({ transport, version: '1', onToolsChanged: ignore, onNoise: ignore }, new AbortController().signal)
}

test('HTTP: says version and session with every message after the first, and deletes the session', async () => {
  const { server, transport, close, listening } = await overHttp({}, { 'X-Key': 'k', Accept: 'nothing' })
  await withClient(transport, async ({ client }) => {
    await listening()
    await echo(client)
    assert.is(server.sessions, 1)
  })
  assert.is(server.sessions, 0)
  const told = server.seen.map(({ method, says, headers }) => {
    return [
      method, says, headers['mcp-protocol-version'], headers['mcp-session-id'] !== undefined, headers.accept,
      headers['x-key'],
    ]
  })
  const both = 'application/json, text/event-stream'
  assert.equal(told[0], ['POST', 'initialize', undefined, false, both, 'k'])
  assert.equal(told[1], ['POST', 'notifications/initialized', '2025-06-18', true, both, 'k'])
  assert.equal(told.find(([method]) => method === 'GET'), [
    'GET', undefined, '2025-06-18', true, 'text/event-stream', 'k',
  ])
  assert.equal(told.at(-1)?.slice(0, 4), ['DELETE', undefined, '2025-06-18', true])
  await close()
})

test('HTTP: a session that the server has forgotten ends the connection and says so', async () => {
  const { server, transport, close } = await overHttp({})
  await withClient(transport, async ({ client }) => {
    server.forget()
    const error = await failure(echo(client))
    assert.ok(error instanceof RpcClosedError && error.cause instanceof SessionLostError)
    assert.is(await client.over, 'The server has forgotten the session')
    assert.ok(client.isOver)
  })
  assert.not(server.seen.some(({ method }) => method === 'DELETE'))
  await close()
})

test('HTTP: a session that is refused with 400 ends the connection too', async () => {
  const { server, transport, close } = await overHttp({ unknownStatus: 400 })
  await withClient(transport, async ({ client }) => {
    server.forget()
    assert.match(String(await failure(echo(client))), 'status 400: No such session')
    assert.ok(client.isOver)
  })
  await close()
})

test('HTTP: an answer whose stream breaks off is taken up again', async () => {
  const { server, transport, close } = await overHttp({ answers: 'stream', breaksStreams: true })
  await withClient(transport, async ({ client }) => {
    assert.equal(await echo(client, 'again'), { content: [{ type: 'text', text: 'again' }], isError: false })
    assert.is(server.seen.filter(({ headers }) => headers['last-event-id'] === '1').length, 1)
  })
  await close()
})

test('HTTP: an answer whose stream breaks off again before an event is taken up at the same place', async () => {
  const { server, transport, close } = await overHttp({ answers: 'stream', breaksStreams: true, breaksAgain: 2 })
  await withClient(transport, async ({ client }) => {
    assert.equal(await echo(client, 'again'), { content: [{ type: 'text', text: 'again' }], isError: false })
    assert.is(server.seen.filter(({ headers }) => headers['last-event-id'] === '1').length, 3)
  })
  await close()
})

test('HTTP: a stream of the server that ends without an event is taken up at the same place', async () => {
  const initialize = '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18","capabilities":{}}}'
  const json = { 'content-type': 'application/json' }
  const replies: WireReply[] = [
    { headers: json, chunks: [initialize] }, { status: 202, chunks: [] },
    { chunks: ['id: 7\ndata: {"jsonrpc":"2.0","method":"x"}\n\n'] }, { chunks: [': nothing\n\n'] },
  ]
  await withGetServer(replies, async (url, gets, places) => {
    let gaps = 0
    const onGap = (): void => void gaps++
    const client = await opening(new HttpTransport({ url, headers: {}, silenceMs: 60_000, retryMs: 1, onGap }))
    await until(() => gets() === 5)
    assert.equal(places(), [undefined, '7', '7', '7', '7'])
    assert.is(gaps, 1)
    await client.close()
  })
})

test('HTTP: does without a stream that the server does not offer', async () => {
  const { server, transport, close, listening } = await overHttp({ withoutStream: true })
  await withClient(transport, async ({ client }) => {
    await listening()
    await echo(client)
    assert.is(server.seen.filter(({ method }) => method === 'GET').length, 1)
  })
  await close()
})

test('HTTP: listens again when the stream of the server ends, and gives up after a while', async () => {
  const initialize = '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18","capabilities":{}}}'
  const json = { 'content-type': 'application/json' }
  const replies: WireReply[] = [
    { headers: json, chunks: [initialize] }, { status: 202, chunks: [] }, { chunks: [': nothing\n\n'] },
  ]
  await withGetServer(replies, async (url, gets) => {
    const client = await opening(new HttpTransport({ url, headers: {}, silenceMs: 60_000, retryMs: 1 }))
    await until(() => gets() === 5)
    await client.close()
  })
})

test('HTTP: a server that is gone ends the connection', async () => {
  const { transport, close } = await overHttp({ withoutStream: true })
  await withClient(transport, async ({ client }) => {
    await close()
    assert.match(String(await failure(echo(client))), /nothing listens there|closed the connection/)
    assert.match(await client.over, 'Could not get an answer from http://127.0.0.1')
  })
})

const refusals: readonly (readonly [name: string, reply: WireReply, expected: RegExp])[] = [
  ['missing credentials', { status: 401, chunks: ['<html>'] },
    /status 401 \(its credentials are missing or not accepted\)$/],
  ['an error in its own words', { status: 500, chunks: ['{"error":{"code":1,"message":"no room"}}'] },
    /status 500: no room$/],
  ['a page instead of an answer', { headers: { 'content-type': 'text/html' }, chunks: ['<html>'] },
    /answered with "text\/html", expected JSON/],
  ['an answer of no type', { headers: { 'content-type': '' }, chunks: ['x'] }, /answered with nothing/],
  ['a stream without the answer', { chunks: ['data: {"jsonrpc":"2.0","method":"x"}\n\n'] },
    /ended its answer before the result/],
  ['words that are no JSON', { chunks: ['data: hello\n\n'] }, /ended its answer before the result/],
  ['a long refusal', { status: 500, chunks: ['x'.repeat(70_000)] }, /status 500$/],
  ['an answer to something else',
    { headers: { 'content-type': 'application/json' }, chunks: ['[{"jsonrpc":"2.0","id":9,"result":{}}]'] },
    /ended its answer/],
]
for (const [name, reply, expected] of refusals) {
  test(`HTTP: tells of ${name}`, () => withWireServer([reply], async ({ url }) => {
    const transport = new HttpTransport({ url, headers: {}, silenceMs: 60_000 })
    assert.match(String(await failure(opening(transport))), expected)
  }))
}

test('HTTP: bears no silence for ever', () => withWireServer([{ chunks: [': wait\n\n'], then: 'silence' }], async (
  { url, left },
) => {
  assert.match(String(await failure(opening(new HttpTransport({ url, headers: {}, silenceMs: 100 })))), 'within 100 ms')
  await left
}))

test('HTTP: takes the messages of a batch one by one', async () => {
  const batch = '[{"jsonrpc":"2.0","method":"notifications/tools/list_changed"},{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-03-26","capabilities":{}}}]'
  await withWireServer(
    [{ headers: { 'content-type': 'application/json' }, chunks: [batch] }, { status: 202, chunks: [] }],
    async ({ url }) => {
      let changes = 0
      const transport = new HttpTransport({ url, headers: {}, silenceMs: 60_000, retryMs: 1 })
      const client = await openClient(
        { transport, version: '1', onToolsChanged: () => void changes++, onNoise: ignore },
        new AbortController().signal,
      )
      assert.is(changes, 1)
      await client.close()
    },
  )
})

test('SSE: sends nothing to an address that the server names elsewhere', async () => {
  const server = await startMcpHttp({ mode: 'elsewhere' })
  const transport = new SseTransport({ url: server.sseUrl, headers: { authorization: 'Bearer x' }, silenceMs: 60_000 })
  assert.match(String(await failure(opening(transport))), 'not of its own origin')
  await server.close()
})

test('SSE: the end of the stream is the end of the session', async () => {
  const server = await startMcpHttp({})
  await withClient(new SseTransport({ url: server.sseUrl, headers: {}, silenceMs: 60_000 }), async ({ client }) => {
    await server.close()
    assert.match(await client.over, /closed the connection|did not answer as expected|ended/)
  })
})

test('SSE: tells of a server that refuses the stream or a message', async () => {
  await withGetServer([{ status: 403, chunks: [] }], async (url) => {
    assert.match(
      String(await failure(opening(new SseTransport({ url, headers: {}, silenceMs: 60_000 })))), 'status 403',
    )
  })
  const server = await startMcpHttp({})
  await withClient(new SseTransport({ url: server.sseUrl, headers: {}, silenceMs: 60_000 }), async ({ client }) => {
    server.forget()
    assert.match(String(await failure(echo(client))), 'status 404')
  })
  await server.close()
})

test('stdio: tells how a program has ended, with its last words and without secrets', async () => {
  const error = await failure(opening(await startStdio('crashes', { API_KEY: 'the-secret' })))
  assert.match(String(error), 'The server exited with code 3: no good: <hidden>')
  await withClient(await startStdio('usual'), async ({ client }) => {
    await failure(client.callTool({ name: 'dies', args: {}, signal: new AbortController().signal, silenceMs: 60_000 }))
    assert.is(await client.over, 'The server exited with code 7: out of luck')
  })
})

test('stdio: a program that prints banners works, and they are told', async () => {
  await withClient(await startStdio('noisy'), async ({ client, noise }) => {
    await echo(client)
    assert.equal(noise, ['Welcome!', '{"half": '])
  })
})

test('stdio: a program that does not want to end is ended', async () => {
  let pid = 0
  const program = {
    command: process.execPath, args: [stdioProgram, 'stays'], cwd: '/', env: {}, marker: `test/${randomUUID()}`,
  }
  const transport = await startStdioTransport({
    start: async (options) => {
      const child = await startChild(options)
      pid = child.pid
      return child
    },
    program,
    mask: (text) => text,
  })
  await withClient(transport, async ({ client }) => void (await echo(client)))
  assert.not(isAlive(pid))
})

test('stdio: what a program left behind does not keep a session open', async () => {
  const script = 'sleep 600 & exit 5'
  const program = {
    command: 'sh', args: ['-c', script], cwd: '/', env: { PATH: process.env['PATH'] ?? '' },
    marker: `test/${randomUUID()}`,
  }
  const transport = await startStdioTransport({ start: startChild, program, mask: (text) => text })
  assert.match(String(await failure(opening(transport))), 'exited with code 5')
})

/** A server whose POSTs take the replies in turn. The GETs take the replies after them, and the last repeatedly. */
async function withGetServer(
  replies: readonly WireReply[],
  body: (url: string, gets: () => number, places: () => readonly unknown[]) => Promise<void>,
): Promise<void> {
  const places: unknown[] = []
  let posts = 0
  const server = createServer((request, response) => {
    const isGet = request.method === 'GET'
    const reply = isGet ? replies[Math.min(posts + places.length, replies.length - 1)] : replies[posts++]
    if (isGet) places.push(request.headers['last-event-id'])
    request.resume()
    response.writeHead(reply?.status ?? 200, { 'content-type': 'text/event-stream', ...reply?.headers })
    response.end((reply?.chunks ?? []).join(''))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new TypeError('Expected a port')
  try {
    await body(`http://127.0.0.1:${address.port}`, () => places.length, () => places)
  } finally {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
}

function ignore(): void {}

test.run()
