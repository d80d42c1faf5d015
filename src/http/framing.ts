/**
 * Tells which requests to refuse and which to drop, so that no part of a request is read as the next request (RFC 9112,
 * section 11.2). A request is refused if another program, such as a proxy, could see its end at another byte. A request
 * is dropped if an earlier response closes the connection.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { headerValues } from './headers.ts'

/** Returns the status that refuses the Transfer-Encoding; undefined without one, or for only `chunked` in HTTP/1.1. */
export function framingFault({ rawHeaders, httpVersion }: IncomingMessage): 400 | 501 | undefined {
  const codings = headerValues(rawHeaders, 'transfer-encoding')
  if (codings.length === 0) return undefined
  // RFC 9112, section 6.1: in HTTP/1.0, a Transfer-Encoding makes the framing of the message faulty.
  if (httpVersion !== '1.1') return 400
  const names = codings.join(',').toLowerCase().split(',').map((name) => name.trim())
  // Section 6.3: without chunked as the last coding, the length is unknown. Section 6.1: chunked may be applied once,
  // and 501 is the status for other codings.
  if (names.at(-1) !== 'chunked' || names.indexOf('chunked') !== names.length - 1) return 400
  return names.length === 1 ? undefined : 501
}

const newest = new WeakMap<Duplex, ServerResponse>()

/** Returns the response to the newest request of a connection; undefined before the first request. */
export function newestAnswer(connection: Duplex): ServerResponse | undefined {
  return newest.get(connection)
}

/** False when an earlier response closes the connection. Otherwise true, and `response` is recorded as the newest. */
export function mayServe(request: IncomingMessage, response: ServerResponse): boolean {
  const before = newest.get(request.socket)
  if (before === response) return true
  if (before !== undefined && !before.shouldKeepAlive) return false
  newest.set(request.socket, response)
  return true
}
