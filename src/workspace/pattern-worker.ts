/**
 * The other side of pattern-thread: holds one regular expression and tells of each text whether it matches.
 *
 * A thread of its own, because an expression can take for ever, and ending its thread is the only way to stop it. It
 * reads and writes nothing. The first message out is `{ready}` or `{error}`, then one `{matches}` for each message in.
 */
import { parentPort, workerData } from 'node:worker_threads'
import { messageOf } from '../base/errors.ts'
import { isObject } from '../base/json.ts'

export interface Port {
  on(event: 'message', listener: (message: unknown) => void): unknown
  postMessage(message: unknown): void
}

export function serveExpression(data: unknown, port: Port): void {
  try {
    const expression = compile(data)
    port.on('message', (message) => port.postMessage({ matches: expression.test(textOf(message)) }))
    port.postMessage({ ready: true })
  } catch (thrown) {
    port.postMessage({ error: messageOf(thrown) })
  }
}

function compile(data: unknown): RegExp {
  if (isObject(data) && typeof data.source === 'string' && typeof data.flags === 'string') return new RegExp(data.source, data.flags)
  throw new TypeError('Expected the source and the flags of an expression')
}

function textOf(message: unknown): string {
  if (typeof message === 'string') return message
  if (message instanceof Uint8Array) return Buffer.from(message).toString()
  throw new TypeError('Expected a text or bytes')
}

if (parentPort !== null) serveExpression(workerData, parentPort)
