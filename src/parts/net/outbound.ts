/**
 * Sends HTTP requests. Every HTTP request that this server or one of its commands sends goes through this file.
 *
 * A request has time limits and a size limit for its response. Its address is checked (`address.ts`). An error names
 * only the origin of a URL, because paths and queries may hold keys.
 */
import { request as httpRequest, type ClientRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { AppError, messageOf, systemCodeOf } from '../../base/errors.ts'
import { assertLiteral, createLookup, type AddressRule } from './address.ts'
import { nextHop } from './redirect.ts'

export interface OutboundRequest {
  readonly method: string
  /** The URL, with `http:` or `https:` and without credentials. */
  readonly url: string | URL
  readonly headers?: Readonly<Record<string, string>>
  /** The body, in one piece or in several. */
  readonly body?: string | Uint8Array | readonly Uint8Array[]
  /** The most bytes of the response's body. Reading a longer body throws `upstream_failed`. */
  readonly limitBytes: number
  /** The time limit from the call to the last byte of the response, redirects included. */
  readonly timeoutMs: number
  /** The time limit to resolve the name and connect, anew for each redirect. Default: `timeoutMs`. */
  readonly connectTimeoutMs?: number
  /** The time limit without a byte in either direction. Default: `timeoutMs`. */
  readonly idleTimeoutMs?: number
  readonly signal?: AbortSignal
  /** The most redirects that are followed. Default 0: a redirect is returned like any response. */
  readonly redirectLimit?: number
  /** Returns false for an address to refuse. Addresses that `isAllowedAddress` refuses are refused in any case. */
  readonly allowAddress?: AddressRule
}

export interface OutboundResponse {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

export interface OutboundStream {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  /** The body. Read it to its end, or end it with `break` or `close`. Reading throws the errors of `sendRequest`. */
  readonly chunks: AsyncIterable<Buffer>
  close(): void
}

/**
 * Sends a request and returns its whole response.
 * @throws AppError `bad_request` (the request cannot be sent), `address_refused`, `upstream_timeout`,
 * `upstream_failed`; the signal's reason
 */
export async function sendRequest(request: OutboundRequest): Promise<OutboundResponse> {
  const { status, headers, chunks } = await openRequest(request)
  const parts: Buffer[] = []
  for await (const chunk of chunks) parts.push(chunk)
  return { status, headers, body: Buffer.concat(parts) }
}

/** Sends a request and returns its response when the headers have arrived. @throws the errors of `sendRequest` */
export async function openRequest(request: OutboundRequest): Promise<OutboundStream> {
  const { redirectLimit = 0 } = request
  const stop = new AbortController()
  const timer = setTimeout(() => stop.abort(timedOut(request, 'answer', request.timeoutMs)), request.timeoutMs)
  const onAbort = (): void => stop.abort(request.signal?.reason)
  const close = (): void => {
    clearTimeout(timer)
    request.signal?.removeEventListener('abort', onAbort)
    stop.abort(new AppError('upstream_failed', 'The request was closed'))
  }
  try {
    request.signal?.throwIfAborted()
    request.signal?.addEventListener('abort', onAbort, { once: true })
    let hop = { ...request, url: parseUrl(request.url) }
    for (let left = redirectLimit; ; left--) {
      const message = await sendHop(hop, stop)
      const next = redirectLimit === 0 ? undefined : nextHop(hop, message.statusCode ?? 0, message.headers.location)
      if (next === undefined) return streamOf(message, hop, stop.signal, close)
      message.destroy()
      if (left === 0) throw failed(hop, `it redirects more than ${redirectLimit} times`)
      hop = { ...hop, ...next }
    }
  } catch (error) {
    close()
    throw error
  }
}

type Hop = Omit<OutboundRequest, 'url'> & { readonly url: URL }

function parseUrl(text: string | URL): URL {
  if (!URL.canParse(String(text))) throw unsendable('the URL', 'expected an absolute URL')
  const url = new URL(text)
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw unsendable('the URL', 'expected http: or https:')
  if (url.username !== '' || url.password !== '') throw unsendable(url.origin, 'expected no credentials in the URL')
  return url
}

/** Sends a request and returns its response before the body is read. A connect or idle timeout aborts `stop`. */
function sendHop(hop: Hop, stop: AbortController): Promise<IncomingMessage> {
  const { url, allowAddress = () => true, connectTimeoutMs = hop.timeoutMs, idleTimeoutMs = hop.timeoutMs } = hop
  assertLiteral(url.hostname, allowAddress)
  return new Promise((resolve, reject) => {
    const request = startRequest(hop, createLookup(allowAddress))
    const onStop = (): void => void request.destroy(new Error('stopped'))
    const timer = setTimeout(() => stop.abort(timedOut(hop, 'connect', connectTimeoutMs)), connectTimeoutMs)
    request.setTimeout(idleTimeoutMs, () => stop.abort(timedOut(hop, 'send anything', idleTimeoutMs)))
    request.once('socket', (socket) => {
      socket.once(url.protocol === 'https:' ? 'secureConnect' : 'connect', () => clearTimeout(timer))
    })
    request.once('response', resolve)
    request.once('close', () => {
      clearTimeout(timer)
      stop.signal.removeEventListener('abort', onStop)
    })
    request.on('error', (error) => reject(stop.signal.aborted ? stop.signal.reason : explain(hop, error)))
    stop.signal.addEventListener('abort', onStop, { once: true })
    sendBody(request, hop.body)
  })
}

function startRequest(hop: Hop, lookup: ReturnType<typeof createLookup>): ClientRequest {
  const { url, method, headers } = hop
  const start = url.protocol === 'https:' ? httpsRequest : httpRequest
  try {
    return start(url, { method, headers: { 'accept-encoding': 'identity', ...headers }, agent: false, lookup })
  } catch (error) {
    // Node's message may name the method or a header, but quotes no value of a header.
    throw unsendable(url.origin, messageOf(error))
  }
}

/** Sends the body. Several requests may share its pieces, so they are not copied into one buffer. */
function sendBody(request: ClientRequest, body: OutboundRequest['body']): void {
  if (body === undefined || typeof body === 'string' || body instanceof Uint8Array) {
    request.end(body)
    return
  }
  request.setHeader('content-length', body.reduce((sum, piece) => sum + piece.length, 0))
  for (const piece of body) request.write(piece)
  request.end()
}

function streamOf(message: IncomingMessage, hop: Hop, signal: AbortSignal, close: () => void): OutboundStream {
  // Without this listener, an error of the response before `chunks` is read would end the process.
  message.on('error', () => undefined)
  const chunks = readChunks(message, hop, signal, close)
  return { status: message.statusCode ?? 0, headers: message.headers, chunks, close }
}

/** The number of bytes after which reading waits for the next turn of the event loop. */
const turnBytes = 64 * 1024

async function* readChunks(
  message: IncomingMessage,
  hop: Hop,
  signal: AbortSignal,
  close: () => void,
): AsyncGenerator<Buffer> {
  let left = hop.limitBytes
  let sinceTurn = 0
  try {
    const source: AsyncIterable<Buffer> = message
    for await (const chunk of source) {
      left -= chunk.length
      if (left < 0) throw failed(hop, `its answer is longer than ${hop.limitBytes} bytes`)
      yield chunk
      sinceTurn += chunk.length
      if (sinceTurn < turnBytes) continue
      await nextTurn()
      sinceTurn = 0
    }
  } catch (error) {
    throw signal.aborted ? signal.reason : explain(hop, error)
  } finally {
    close()
  }
}

function explain(hop: Hop, error: unknown): unknown {
  return error instanceof AppError ? error : failed(hop, reasonOf(error), error)
}

function reasonOf(error: unknown): string {
  switch (systemCodeOf(error)) {
    case 'ECONNREFUSED':
      return 'nothing listens there'
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return 'the name has no address'
    case 'ECONNRESET':
    case 'EPIPE':
      return 'it closed the connection'
    case undefined:
      return 'it did not answer as expected'
    default:
      // Only the code of the system, Node, OpenSSL or the HTTP parser is shown: the message may quote received data.
      return systemCodeOf(error) ?? ''
  }
}

function failed({ url }: Hop, reason: string, cause?: unknown): AppError {
  return new AppError('upstream_failed', `Could not get an answer from ${url.origin}: ${reason}`, { cause })
}

function timedOut({ url }: Pick<OutboundRequest, 'url'>, what: string, ms: number): AppError {
  const where = new URL(url).origin
  return new AppError('upstream_timeout', `Could not get an answer from ${where}: it did not ${what} within ${ms} ms`)
}

function unsendable(where: string, reason: string): AppError {
  return new AppError('bad_request', `Could not send a request to ${where}: ${reason}`)
}
