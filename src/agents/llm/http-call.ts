/**
 * One call of a model over HTTP: a JSON body is posted, and the answer comes as objects, one for each server-sent event,
 * or a single one from a server that does not stream.
 *
 * It fails with a ModelError, or with the signal's own reason; when it has settled the connection is closed. `timeoutMs`
 * is the longest silence that is borne, before the answer and within it; a call takes no longer than an hour in all.
 * Proxies are not supported, redirects are not followed.
 */
import { AppError } from '../../base/errors.ts'
import { isObject, parseJson, type JsonObject } from '../../base/json.ts'
import type { AddressRule } from '../../net/address.ts'
import { openRequest, type OutboundStream } from '../../net/outbound.ts'
import { failureOf } from './failures.ts'
import { objectOf } from './fields.ts'
import { ModelError, type ModelErrorCode } from './model.ts'
import { EventParser } from '../../net/event-stream.ts'

export interface ModelCall {
  readonly provider: string
  readonly url: string
  /** The key among them. */
  readonly headers: Readonly<Record<string, string>>
  /** JSON, in pieces. */
  readonly body: readonly Uint8Array[]
  /** At most an hour counts. */
  readonly timeoutMs: number
  readonly signal: AbortSignal
  /** Values that no message may show. */
  readonly secrets: readonly string[]
  readonly now: () => number
  readonly allowAddress?: AddressRule | undefined
}

/** How an answer ended: `said` when the provider said that it was all, by `[DONE]` or by sending it in one piece. */
export type CallEnd = 'said' | 'closed'

/** For all of a call: the bound of one that has no time-out of its own. */
export const callLimitMs = 3_600_000
const connectLimitMs = 30_000
const answerLimitBytes = 256 * 1024 * 1024
const refusalLimitBytes = 64 * 1024

/** Hands on each object of the answer, in order; what `onEvent` throws ends the call and is thrown. @throws ModelError */
export async function postForEvents(call: ModelCall, onEvent: (event: JsonObject) => void): Promise<CallEnd> {
  const stream = await open(call)
  try {
    if (stream.status < 200 || stream.status >= 300) throw await refusalOf(call, stream)
    const type = stream.headers['content-type'] ?? ''
    if (/\bhtml\b/.test(type)) throw new ModelError('LLMBadRequestError', `${call.provider} answered with a web page: expected the base URL of its API`)
    return /\bjson\b/.test(type) ? await readWhole(call, stream, onEvent) : await readEvents(call, stream, onEvent)
  } catch (error) {
    throw error instanceof AppError ? brokenBy(error, 'LLMBrokenStreamError') : error
  } finally {
    stream.close()
  }
}

async function open({ url, headers, body, timeoutMs, signal, allowAddress }: ModelCall): Promise<OutboundStream> {
  const idleTimeoutMs = Math.min(timeoutMs, callLimitMs)
  try {
    return await openRequest({
      method: 'POST',
      url,
      headers: { 'content-type': 'application/json', accept: 'text/event-stream, application/json', ...headers },
      body,
      limitBytes: answerLimitBytes,
      timeoutMs: callLimitMs,
      connectTimeoutMs: Math.min(connectLimitMs, idleTimeoutMs),
      idleTimeoutMs,
      signal,
      ...(allowAddress === undefined ? {} : { allowAddress }),
    })
  } catch (error) {
    throw error instanceof AppError ? brokenBy(error, 'LLMServiceUnavailableError') : error
  }
}

/** What the network did to a call; `code` is what a failed connection means at this point. */
function brokenBy(error: AppError, code: ModelErrorCode): ModelError {
  const options = { cause: error }
  switch (error.code) {
    case 'upstream_timeout':
      return new ModelError('LLMTimeoutError', error.message, options)
    case 'upstream_failed':
      return new ModelError(code, error.message, options)
    default:
      return new ModelError('LLMBadRequestError', error.message, options)
  }
}

async function readEvents(call: ModelCall, { chunks }: OutboundStream, onEvent: (event: JsonObject) => void): Promise<CallEnd> {
  const parser = new EventParser()
  for await (const chunk of chunks) {
    for (const { data } of parser.push(chunk)) {
      if (data === '[DONE]') return 'said'
      onEvent(parseEvent(call, data))
    }
  }
  return 'closed'
}

async function readWhole(call: ModelCall, { chunks }: OutboundStream, onEvent: (event: JsonObject) => void): Promise<CallEnd> {
  const parts: Buffer[] = []
  for await (const chunk of chunks) parts.push(chunk)
  onEvent(parseEvent(call, Buffer.concat(parts).toString()))
  return 'said'
}

function parseEvent({ provider }: ModelCall, text: string): JsonObject {
  try {
    const value = parseJson(text)
    if (isObject(value)) return objectOf(value)
  } catch {
    // What the text was stays unsaid: it may hold anything.
  }
  throw new ModelError('LLMBrokenStreamError', `Could not read the answer of ${provider}: expected a JSON object`)
}

async function refusalOf(call: ModelCall, { status, headers, chunks }: OutboundStream): Promise<ModelError> {
  const parts: Buffer[] = []
  let left = refusalLimitBytes
  try {
    for await (const chunk of chunks) {
      parts.push(chunk.subarray(0, left))
      left -= chunk.length
      if (left <= 0) break
    }
  } catch (error) {
    // The status says enough when the body breaks off; a cancelled call stays a cancelled one.
    if (!(error instanceof AppError)) throw error
  }
  const { provider, secrets, now } = call
  return failureOf({ provider, status, headers, body: jsonOrText(Buffer.concat(parts).toString()), secrets, now })
}

function jsonOrText(text: string): unknown {
  try {
    return parseJson(text)
  } catch {
    return text
  }
}
