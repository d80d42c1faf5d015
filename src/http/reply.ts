/**
 * Sends the response to a request: status, headers and body.
 *
 * An `Exchange` collects the headers that each response to a request must have, errors included. A second response,
 * such as an error in the middle of a body, cuts the connection: the client cannot learn of the failure otherwise.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { headerValues } from './headers.ts'
import { hasUnwantedBody, linger } from './linger.ts'
import type { EndDeed } from './trail.ts'

export interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly requestId: string
  /** The headers that any response to the request gets: names and values in turn. Handlers may add headers. */
  readonly headers: string[]
  /** The pattern of the matching route; undefined when no route matches. */
  route?: string | undefined
  /** The form of the matching route's error responses; undefined for the usual form (`api/problem`). */
  errorForm?: ErrorForm | undefined
  /** Records the result in the audit trail; undefined when the request is not recorded. */
  endDeed?: EndDeed | undefined
  /** The name of the global secret that the request stores, for the audit trail. */
  subject?: string | undefined
  /** The principal's `name`; undefined if the request was not admitted, or its route has the right `open` or `init`. */
  keyName?: string | undefined
  /** The members of the body that were ignored, for the log. */
  ignored?: string | undefined
}

export interface HttpResponse {
  readonly status: number
  /** Headers of this response: names and values in turn. */
  readonly headers?: readonly string[]
  readonly body?: Buffer
  /** The media type of the body. Default: JSON. */
  readonly type?: string
  /** Writes the body at the pace of the client, then ends the response. Replaces `body`. Not called for HEAD. */
  readonly stream?: (response: ServerResponse) => void
}

/** Makes the status and the JSON body of an error response. `code` is given only for an AppError with a `limit`. */
export type ErrorForm = (
  status: number, message: string, code?: string,
) => { readonly status: number; readonly body: unknown }

/** The headers that forbid content sniffing, loading by pages of other origins, and display in a frame. */
export const guardHeaders: readonly string[] = [
  'X-Content-Type-Options', 'nosniff',
  'Cross-Origin-Resource-Policy', 'same-origin',
  'Content-Security-Policy', "frame-ancestors 'none'",
]

export function createExchange(request: IncomingMessage, response: ServerResponse, nextId: () => string): Exchange {
  const requestId = requestIdOf(request, nextId)
  const headers = ['X-Request-Id', requestId, ...guardHeaders]
  return { request, response, requestId, headers, route: undefined, ignored: undefined, errorForm: undefined }
}

/** Returns the `X-Request-Id` if it was sent once, with 1 to 64 letters, digits and `._-`; otherwise a new id. */
export function requestIdOf({ rawHeaders }: IncomingMessage, nextId: () => string): string {
  const [given, second] = headerValues(rawHeaders, 'x-request-id')
  const isSane = given !== undefined && second === undefined && /^[A-Za-z0-9._-]{1,64}$/.test(given)
  return isSane ? given : nextId()
}

/** Sends a response. If a response to the same request has begun already, cuts the connection instead. */
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
  /** The length of the body. Without it the body is chunked. */
  readonly lengthBytes?: number
  readonly headers?: readonly string[]
}

/** Sends the head of a response. The caller writes the body, at the pace of the client. */
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

/** Sends a response. Then drops the rest of the request's body (`linger`), and closes the connection. */
function sendAndClose(exchange: Exchange, status: number, headers: string[], body: Buffer | undefined): void {
  const { request, response } = exchange
  // Node then adds `Connection: close`, and `mayServe` refuses later requests on the connection.
  response.shouldKeepAlive = false
  response.writeHead(status, headers)
  if (body === undefined) response.flushHeaders()
  else response.write(body)
  linger(request, () => response.end())
}
