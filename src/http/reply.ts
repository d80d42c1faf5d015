/**
 * Answers: the one place where status, headers and body are written.
 *
 * An `Exchange` is made first thing for every request and collects the headers that any answer to it will carry, so
 * that errors have the CORS headers too. Bytes that are ready are sent as they are, with their length; HEAD gets the
 * same headers and no body. Whatever comes from this server is `nosniff`, for no frame, and not to be stored unless the caller says
 * otherwise. Headers are one flat list, which Node writes as it is, without an object in between.
 *
 * A second answer to the same request is not an error: it cuts the connection, since a failure in the middle of a body
 * cannot be told in any other way.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { headerValues } from './headers.ts'
import { hasUnwantedBody, linger } from './linger.ts'

export interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly requestId: string
  /** Names and values in turn; whoever learns of one that every answer must carry adds it. */
  readonly headers: string[]
  /** The pattern of the route that was found, for the log. */
  route?: string | undefined
  /** The members of the body that were ignored, for the log. */
  ignored?: string | undefined
}

export interface Answer {
  readonly status: number
  /** Names and values in turn. */
  readonly headers?: readonly string[]
  readonly body?: Buffer
  /** The body's media type; JSON unless said otherwise. */
  readonly type?: string
  /** Instead of a body: writes one that comes bit by bit, with regard to back-pressure, and ends it. */
  readonly stream?: (response: ServerResponse) => void
}

/** For browsers: nothing of this server is guessed at, loaded by pages of other origins or shown in a frame. */
export const guardHeaders: readonly string[] = [
  'X-Content-Type-Options', 'nosniff',
  'Cross-Origin-Resource-Policy', 'same-origin',
  'Content-Security-Policy', "frame-ancestors 'none'",
]

/** `X-Request-Id` is taken from the client when it is one short plain word, else made. */
export function createExchange(request: IncomingMessage, response: ServerResponse, nextId: () => string): Exchange {
  const [given, second] = headerValues(request.rawHeaders, 'x-request-id')
  const isSane = given !== undefined && second === undefined && /^[A-Za-z0-9._-]{1,64}$/.test(given)
  const requestId = isSane ? given : nextId()
  return { request, response, requestId, headers: ['X-Request-Id', requestId, ...guardHeaders], route: undefined, ignored: undefined }
}

/** Sends an answer. */
export function send(exchange: Exchange, answer: Answer): void {
  const { request, response } = exchange
  if (response.headersSent) {
    response.destroy()
    return
  }
  const { status, body, type = 'application/json', stream } = answer
  if (stream !== undefined) {
    const started = startStream(exchange, { ...answer, type })
    if (request.method === 'HEAD') started.end()
    else stream(started)
    return
  }
  const headers = headersOf(exchange, answer)
  if (body !== undefined) headers.push('Content-Type', type, 'Content-Length', String(body.length))
  else if (status !== 204 && status !== 304) headers.push('Content-Length', '0')
  const shownBody = request.method === 'HEAD' ? undefined : body
  if (hasUnwantedBody(request)) return sendAndClose(exchange, status, headers, shownBody)
  response.writeHead(status, headers)
  response.end(shownBody)
}

export interface StreamAnswer {
  readonly status: number
  readonly type: string
  /** When it is known; otherwise the body is chunked. */
  readonly lengthBytes?: number
  readonly headers?: readonly string[]
}

/** Sends the head of an answer; the caller writes the body into what is returned, with regard to its back-pressure. */
export function startStream(exchange: Exchange, answer: StreamAnswer): ServerResponse {
  const { response } = exchange
  const headers = headersOf(exchange, answer)
  headers.push('Content-Type', answer.type)
  if (answer.lengthBytes !== undefined) headers.push('Content-Length', String(answer.lengthBytes))
  response.writeHead(answer.status, headers)
  response.flushHeaders()
  return response
}

function headersOf(exchange: Exchange, answer: { readonly headers?: readonly string[] }): string[] {
  const { headers = [] } = answer
  const all = [...exchange.headers, ...headers]
  if (!headers.includes('Cache-Control')) all.push('Cache-Control', 'no-store')
  return all
}

/** The length is in the head, so the answer is whole for the client before it is ended here. */
function sendAndClose(exchange: Exchange, status: number, headers: string[], body: Buffer | undefined): void {
  const { request, response } = exchange
  // Node adds `Connection: close`, and what comes behind is not served (`framing`).
  response.shouldKeepAlive = false
  response.writeHead(status, headers)
  if (body === undefined) response.flushHeaders()
  else response.write(body)
  linger(request, () => response.end())
}
