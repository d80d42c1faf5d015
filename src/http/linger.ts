/**
 * Closes a connection whose request body is not read to its end.
 *
 * If it closed at once, the kernel would send a reset as long as bytes arrive, and a reset can destroy an answer that
 * the client has not read yet (RFC 9112, section 9.6). So the answer goes out first, some more of the body is read
 * and discarded, and the connection is closed when the client has finished or closed, or after a time-out. The bytes
 * and the time are small and fixed: a client that goes on sending is cut off.
 */
import type { IncomingMessage } from 'node:http'
import { announcesBody } from './headers.ts'

/** A rest of a body whose length is at most this is left to Node, which drops it and keeps the connection. */
const cheapBytes = 64 * 1024
const lingerBytes = 1024 * 1024
const lingerMs = 1000

/** True while a body is coming in that is too long, or of unknown length, to be read just to keep the connection. */
export function hasUnwantedBody(request: IncomingMessage): boolean {
  if (request.complete || !announcesBody(request)) return false
  const length = request.headers['content-length']
  return length === undefined || Number(length) > cheapBytes
}

const lingering = new WeakSet<IncomingMessage>()

/** True for a request that has its whole answer and whose connection is about to close. */
export function isLingering(request: IncomingMessage): boolean {
  return lingering.has(request)
}

/** Reads and drops the rest of a request. Calls `done` once, when the connection may be closed. */
export function linger(request: IncomingMessage, done: () => void): void {
  lingering.add(request)
  let left = lingerBytes
  const onData = (chunk: Buffer): void => {
    left -= chunk.length
    // Stop reading: the client can send no more and may read its answer.
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
