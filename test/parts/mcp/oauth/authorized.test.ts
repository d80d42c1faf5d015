/**
 * Sessions whose requests carry a token: over each transport, when it is renewed, and when a server sends them
 * elsewhere.
 */
import * as assert from 'uvu/assert'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { openClient } from '../../../../src/parts/mcp/client.ts'
import { HttpTransport } from '../../../../src/parts/mcp/http-transport.ts'
import { LoginRequiredError, type Bearer } from '../../../../src/parts/mcp/oauth/logins.ts'
import { SseTransport } from '../../../../src/parts/mcp/sse-transport.ts'
import type { Transport } from '../../../../src/parts/mcp/transport.ts'
import { startMcpHttp, type McpHttpServer } from '../../../fixtures/mcp-http.ts'
import { until } from '../../../support/processes.ts'
import { failure } from '../../../support/rpc.ts'
import { suite } from '../../../support/suite.ts'
import { withClient } from '../carriers.ts'
import { never } from './world.ts'

const test = suite('agents/mcp/oauth/authorized')
const transports: Readonly<Record<string, (server: McpHttpServer, bearer: Bearer) => Transport>> = {
  HTTP: ({ url }, bearer) => new HttpTransport({ url, headers: {}, bearer, silenceMs: 60_000, retryMs: 10 }),
  SSE: ({ sseUrl: url }, bearer) => new SseTransport({ url, headers: {}, bearer, silenceMs: 60_000 }),
}

/** Takes one token at a time. */
class Door {
  token = 'first'
  refusals = 0
  readonly gate = ({ headers }: IncomingMessage, response: ServerResponse): boolean => {
    if (headers.authorization === `Bearer ${this.token}`) return false
    this.refusals++
    response.writeHead(401).end()
    return true
  }
}

/** Holds a token, and gets the door's when that is refused. */
function keeper(door: Door): Bearer {
  let token = door.token
  return { token: async () => token, renewed: async () => (token = door.token) }
}

for (const [name, open] of Object.entries(transports)) {
  test(`${name}: every request carries the token, and one that is refused is sent again with another`, async () => {
    const door = new Door()
    const server = await startMcpHttp({ gate: door.gate })
    await withClient(open(server, keeper(door)), async ({ client }) => {
      const say = (text: string): Promise<unknown> =>
        client.callTool({ name: 'echo', args: { text }, signal: never(), silenceMs: 60_000 })
      await say('one')
      door.token = 'second'
      assert.match(JSON.stringify(await say('two')), '"two"')
      assert.is(door.refusals, 1)
    })
    assert.equal([...new Set(server.seen.map(({ headers }) => headers.authorization))], [
      'Bearer first', 'Bearer second',
    ])
    await server.close()
  })

  test(`${name}: a session without a login does not begin, and says why`, async () => {
    const server = await startMcpHttp({})
    const refuse = async (): Promise<string> => Promise.reject(new LoginRequiredError())
    const transport = open(server, { token: refuse, renewed: refuse })
    const error = await failure(
      openClient({ transport, version: '1', onToolsChanged: ignore, onNoise: ignore }, never()),
    )
    assert.match(String(error), 'Nobody is signed in to the server')
    assert.equal(server.seen, [])
    await server.close()
  })

  test(`${name}: a token that is refused twice is not renewed again`, async () => {
    const door = new Door()
    const server = await startMcpHttp({ gate: door.gate })
    let renewals = 0
    const bearer = { token: async () => 'x', renewed: async () => `y${++renewals}` }
    const error = await failure(
      openClient({ transport: open(server, bearer), version: '1', onToolsChanged: ignore, onNoise: ignore }, never()),
    )
    assert.match(String(error), 'status 401 (its credentials are missing or not accepted)')
    assert.equal([renewals, door.refusals], [1, 2])
    await server.close()
  })
}

test('a token does not follow a redirect to another origin', async () => {
  const far = await startMcpHttp({})
  const near = await startMcpHttp({
    gate: (_request, response) => {
      response.writeHead(307, { location: far.url }).end()
      return true
    },
  })
  const bearer = { token: async () => 'the-token', renewed: async () => 'the-other-token' }
  const transport = new HttpTransport({ url: near.url, headers: {}, bearer, silenceMs: 60_000 })
  await failure(openClient({ transport, version: '1', onToolsChanged: ignore, onNoise: ignore }, never()))
  assert.equal(far.seen.flatMap(({ headers }) => headers.authorization ?? []), [])
  await near.close()
  await far.close()
})

test('when a stream for what the server says by itself begins, something may have been missed', async () => {
  const server = await startMcpHttp({})
  let gaps = 0
  const transport = new HttpTransport({
    url: server.url, headers: {}, silenceMs: 60_000, retryMs: 10, onGap: () => void gaps++,
  })
  await withClient(transport, async () => until(() => gaps === 1))
  await server.close()
})

function ignore(): void {}

test.run()
