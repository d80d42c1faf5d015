/**
 * The other side of pattern-thread: holds one regular expression and tells of each text whether it matches.
 *
 * A thread of its own, because an expression can take for ever, and ending its thread is the only way to stop it. It
 * reads and writes nothing.
 */
import { parentPort, workerData } from 'node:worker_threads'
import { messageOf } from '../base/errors.ts'
import { isObject } from '../base/json.ts'

const expression = compile(workerData)
parentPort?.on('message', (message: unknown) => {
  if (expression !== undefined) parentPort?.postMessage({ matches: expression.test(textOf(message)) })
})

function compile(data: unknown): RegExp | undefined {
  if (!isObject(data) || typeof data.source !== 'string' || typeof data.flags !== 'string') return undefined
  try {
    const compiled = new RegExp(data.source, data.flags)
    parentPort?.postMessage({ ready: true })
    return compiled
  } catch (thrown) {
    parentPort?.postMessage({ error: messageOf(thrown) })
    return undefined
  }
}

function textOf(message: unknown): string {
  if (typeof message === 'string') return message
  return message instanceof Uint8Array ? Buffer.from(message).toString() : ''
}
