/**
 * Delays the end of a connection whose request body was not read to its end, so that the client can read the response.
 *
 * Closing at once may destroy the response (RFC 9112, section 9.6). So up to `lingerBytes` of the body are read and
 * discarded first, for at most `lingerMs`.
 */
import type { IncomingMessage } from 'node:http'
import { announcesBody } from './headers.ts'

/** If Content-Length is at most this, Node reads and drops the rest of the body, and the connection stays open. */
const cheapBytes = 64 * 1024
const lingerBytes = 1024 * 1024
const lingerMs = 1000

/** True when the body has not arrived whole, and is longer than `cheapBytes` or of unknown length. */
export function hasUnwantedBody(request: IncomingMessage): boolean {
  if (request.complete || !announcesBody(request)) return false
  const length = request.headers['content-length']
  return length === undefined || Number(length) > cheapBytes
}

const lingering = new WeakSet<IncomingMessage>()

/** True when `linger` was called for the request. */
export function isLingering(request: IncomingMessage): boolean {
  return lingering.has(request)
}

/** Reads and drops the rest of a body, up to a limit. Calls `done` once: at the request's end or after `lingerMs`. */
export function linger(request: IncomingMessage, done: () => void): void {
  lingering.add(request)
  let left = lingerBytes
  const onData = (chunk: Buffer): void => {
    left -= chunk.length
    // Beyond the limit nothing more is read. The client can still read the response until `lingerMs` have passed.
    if (left < 0) request.pause()
  }
  const stop = (): void => {
    clearTimeout(timer)
    request.off('data', onData).off('close', stop)
    done()
  }
  const timer = setTimeout(stop, lingerMs)
  request.on('data', onData).on('close', stop).resume()
}
