/**
 * The code that runs in the thread of `PatternThread`: tests each text against one regular expression.
 *
 * The first message of the thread is `{ready}` or `{error}`. Later messages are `{matches}`.
 */
import { parentPort, workerData } from 'node:worker_threads'
import { messageOf } from '../../base/errors.ts'
import { isObject } from '../../base/json.ts'

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
  const { source, flags } = isObject(data) ? data : {}
  if (typeof source === 'string' && typeof flags === 'string') return new RegExp(source, flags)
  throw new TypeError('Expected the source and the flags of an expression')
}

function textOf(message: unknown): string {
  if (typeof message === 'string') return message
  if (message instanceof Uint8Array) return Buffer.from(message).toString()
  throw new TypeError('Expected a text or bytes')
}

if (parentPort !== null) serveExpression(workerData, parentPort)
