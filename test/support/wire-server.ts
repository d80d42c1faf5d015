/**
 * A stand-in for the API of a model that sends exactly the given bytes: one reply after another, the last reply over
 * again. It keeps the requests that it got, headers included, and notices when a client leaves in the middle of an
 * answer.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { once } from 'node:events'
import { isObject } from '../../src/base/json.ts'
import { deferred } from '../../src/base/wait.ts'

export interface WireReply {
  readonly status?: number
  /** `text/event-stream` unless given. */
  readonly headers?: Readonly<Record<string, string>>
  /** Sent one by one. */
  readonly chunks: readonly (string | Uint8Array)[]
  /** The event after the chunks: the end, a cut connection, or nothing. */
  readonly then?: 'end' | 'cut' | 'silence'
}

export interface SeenRequest {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Readonly<Record<string, unknown>>
}

export interface WireServer {
  /** Without a slash at its end. */
  readonly url: string
  readonly requests: readonly SeenRequest[]
  /** Resolves when a client has left before the end of an answer. */
  readonly left: Promise<void>
}

export async function withWireServer(
  replies: readonly WireReply[], body: (server: WireServer) => Promise<void>,
): Promise<void> {
  const requests: SeenRequest[] = []
  const left = deferred<void>()
  const server = createServer((request, response) => {
    void readRequest(request).then((seen) => {
      const reply = replies[Math.min(requests.push(seen), replies.length) - 1]
      if (reply === undefined) throw new TypeError('Expected a reply')
      response.once('close', () => {
        if (!response.writableFinished && reply.then !== 'cut') left.resolve()
      })
      return send(response, reply)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new TypeError('Expected a port')
  try {
    await body({ url: `http://127.0.0.1:${address.port}`, requests, left: left.promise })
  } finally {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
}

async function send(
  response: ServerResponse, { status = 200, headers, chunks, then = 'end' }: WireReply,
): Promise<void> {
  response.writeHead(status, { 'content-type': 'text/event-stream', ...headers })
  response.flushHeaders()
  for (const chunk of chunks) {
    if (response.destroyed) return
    // Each chunk goes in a packet of its own, as far as the system does not join chunks.
    await new Promise<void>((resolve) => response.write(chunk, () => setImmediate(resolve)))
  }
  if (then === 'end') response.end()
  if (then === 'cut') response.destroy()
}

async function readRequest(request: IncomingMessage): Promise<SeenRequest> {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(Buffer.from(part))
  const body: unknown = JSON.parse(Buffer.concat(parts).toString())
  if (!isObject(body)) throw new TypeError('Expected an object')
  const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]))
  return { path: request.url ?? '', headers, body }
}
