/**
 * A server on a free port for the tests of this folder, made of the parts under test as a real owner would join them:
 * every throw becomes `{"detail": ...}` with the status of its code.
 */
import type { ServerResponse } from 'node:http'
import { AppError, messageOf } from '../../src/base/errors.ts'
import { createExchange, send, type Exchange } from '../../src/http/reply.ts'
import { HttpServer, type HttpServerOptions } from '../../src/http/server.ts'

export interface TestServer {
  readonly server: HttpServer
  readonly port: number
}

export async function serve(
  answer: (exchange: Exchange) => unknown,
  options: Omit<HttpServerOptions, 'handle'> = {},
): Promise<TestServer> {
  let count = 0
  const nextId = (): string => `request-${++count}`
  const server = new HttpServer({
    ...options,
    handle: (request, response) => {
      const exchange = createExchange(request, response, nextId)
      void run(exchange, answer)
    },
  })
  const { port } = await server.listen({ host: '127.0.0.1', port: 0 })
  return { server, port }
}

/** Serves for as long as `body` runs. */
export async function serving(
  answer: (exchange: Exchange) => unknown,
  body: (port: number, server: HttpServer) => Promise<void>,
  options: Omit<HttpServerOptions, 'handle'> = {},
): Promise<void> {
  const { server, port } = await serve(answer, options)
  try {
    await body(port, server)
  } finally {
    await server.close(0)
  }
}

export function closed(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => (response.closed ? resolve() : response.once('close', resolve)))
}

async function run(exchange: Exchange, answer: (exchange: Exchange) => unknown): Promise<void> {
  try {
    await answer(exchange)
  } catch (error) {
    sendJson(exchange, statusOf(error), { detail: messageOf(error) })
  }
}

function statusOf(error: unknown): number {
  if (!(error instanceof AppError)) return 500
  switch (error.code) {
    case 'body_too_large':
      return 413
    case 'unsupported_media_type':
      return 415
    case 'request_timeout':
      return 408
    case 'bad_request':
      return 400
    default:
      return 500
  }
}

export function sendJson(exchange: Exchange, status: number, value: unknown, headers: readonly string[] = []): void {
  send(exchange, { status, headers, body: Buffer.from(JSON.stringify(value)) })
}
