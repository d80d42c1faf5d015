/**
 * Framing that Node's parser takes and other programs read differently, and the order of what a connection carries.
 *
 * Where two programs disagree about the end of a request, what one of them takes for a body the other takes for the next
 * request (RFC 9112, section 11.2). So a request is refused unless its framing has one meaning, and behind an answer that
 * closes the connection nothing is served any more, whatever the parser still finds there.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { headerValues } from './headers.ts'

/** The status with which a request is refused for its framing, or undefined when that has one meaning. */
export function framingFault({ rawHeaders, httpVersion }: IncomingMessage): 400 | 501 | undefined {
  const codings = headerValues(rawHeaders, 'transfer-encoding')
  if (codings.length === 0) return undefined
  // RFC 9112, section 6.1: HTTP/1.0 has no transfer codings, and a message with one is framed faultily.
  if (httpVersion !== '1.1') return 400
  const names = codings.join(',').toLowerCase().split(',').map((name) => name.trim())
  // Section 6.3: without chunked at its end the length is not known. Section 6.1: chunked once, and 501 for others.
  if (names.at(-1) !== 'chunked' || names.indexOf('chunked') !== names.length - 1) return 400
  return names.length === 1 ? undefined : 501
}

const newest = new WeakMap<Duplex, ServerResponse>()

/** The answer to the newest request of a connection that was served. */
export function newestAnswer(connection: Duplex): ServerResponse | undefined {
  return newest.get(connection)
}

/** Notes a request as the newest of its connection; false when it stands behind an answer that closes, and is to be dropped. */
export function mayServe(request: IncomingMessage, response: ServerResponse): boolean {
  const before = newest.get(request.socket)
  if (before !== undefined && before !== response && !before.shouldKeepAlive) return false
  newest.set(request.socket, response)
  return true
}
