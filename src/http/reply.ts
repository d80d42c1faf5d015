/**
 * Answers: the only place that writes status, headers and body.
 *
 * An `Exchange` is made first for every request and collects the headers of every possible answer, so that errors have
 * the CORS headers too. Bytes that are ready are sent as they are, with their length; HEAD gets the same headers and no
 * body. Every answer has the `guardHeaders`, and `Cache-Control: no-store` unless the caller sets that header. Headers
 * are one flat list, which Node writes without an object in between.
 *
 * A second answer to the same request is not an error: it cuts the connection, because a failure in the middle of a
 * body cannot be reported in any other way.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { headerValues } from './headers.ts'
import { hasUnwantedBody, linger } from './linger.ts'

export interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly requestId: string
  /** The headers of every possible answer: names and values in turn. Callers add theirs. */
  readonly headers: string[]
  /** The pattern of the route that was found, for the log; undefined while there is none. */
  route?: string | undefined
  /** Makes the error answers of the route that was found; undefined: they have the usual form. */
  errorForm?: ErrorForm | undefined
  /** The members of the body that were ignored, for the log. */
  ignored?: string | undefined
}

export interface HttpResponse {
  readonly status: number
  /** Names and values in turn. */
  readonly headers?: readonly string[]
  readonly body?: Buffer
  /** The body's media type; JSON unless said otherwise. */
  readonly type?: string
  /** Writes a body in pieces instead of `body`, waits when the response is full, and ends it. Not called for HEAD. */
  readonly stream?: (response: ServerResponse) => void
}

/** Makes the status and the JSON body of an error. `message` may be shown to a client. */
export type ErrorForm = (status: number, message: string) => { readonly status: number; readonly body: unknown }

/** For browsers: no content sniffing, no loading by pages of other origins, no frames. */
export const guardHeaders: readonly string[] = [
  'X-Content-Type-Options', 'nosniff',
  'Cross-Origin-Resource-Policy', 'same-origin',
  'Content-Security-Policy', "frame-ancestors 'none'",
]

/** Makes an exchange. `X-Request-Id` is the client's if it is one short plain word, else a new id. */
export function createExchange(request: IncomingMessage, response: ServerResponse, nextId: () => string): Exchange {
  const [given, second] = headerValues(request.rawHeaders, 'x-request-id')
  const isSane = given !== undefined && second === undefined && /^[A-Za-z0-9._-]{1,64}$/.test(given)
  const requestId = isSane ? given : nextId()
  const headers = ['X-Request-Id', requestId, ...guardHeaders]
  return { request, response, requestId, headers, route: undefined, ignored: undefined, errorForm: undefined }
}

/** Sends an answer. When one was begun already, it cuts the connection. */
export function send(exchange: Exchange, answer: HttpResponse): void {
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

export interface StreamedResponse {
  readonly status: number
  readonly type: string
  /** The length when it is known; otherwise the body is chunked. */
  readonly lengthBytes?: number
  readonly headers?: readonly string[]
}

/** Sends the head of an answer; the caller writes the body into the returned response, and waits when that is full. */
export function startStream(exchange: Exchange, answer: StreamedResponse): ServerResponse {
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

/** Sends an answer and closes the connection. The length is in the head, so the client has all before that. */
function sendAndClose(exchange: Exchange, status: number, headers: string[], body: Buffer | undefined): void {
  const { request, response } = exchange
  // Node adds `Connection: close`, and later requests are not served (`framing`).
  response.shouldKeepAlive = false
  response.writeHead(status, headers)
  if (body === undefined) response.flushHeaders()
  else response.write(body)
  linger(request, () => response.end())
}
