/**
 * One call of a model over HTTP: a JSON body is posted, and the answer comes as objects, one for each server-sent event,
 * or a single one from a server that does not stream.
 *
 * It fails with a ModelError, or with the signal's own reason; when it has settled the connection is closed. `timeoutMs`
 * is the longest silence that is borne, before the answer and within it; a call takes no longer than an hour in all.
 * Bytes and JSON values of an answer are limited. Of each event some values are free: every token has an envelope.
 * Proxies are not supported, redirects are not followed.
 */
import { AppError } from '../../../base/errors.ts'
import { countValues, isObject, parseJson, TooManyValuesError, usualValueLimit, type JsonObject } from '../../../base/json.ts'
import { parseJsonBytes, parseJsonText, turnBytes } from '../../../base/json-turns.ts'
import type { AddressRule } from '../../../net/address.ts'
import { openRequest, type OutboundStream } from '../../../net/outbound.ts'
import { failureOf } from './failures.ts'
import { objectOf } from './fields.ts'
import { ModelError, type ModelErrorCode } from './model.ts'
import { EventParser } from '../../../net/event-stream.ts'

/** What an answer may hold at most. */
export interface AnswerLimits {
  /** Of what the model says, and of an answer that is no stream. */
  readonly limitBytes: number
  readonly valueLimit: number
}

export const usualAnswerLimits: AnswerLimits = { limitBytes: 16 * 1024 * 1024, valueLimit: usualValueLimit }

export interface ModelCall {
  readonly limits: AnswerLimits
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
const refusalLimitBytes = 64 * 1024
/** A stream has so many times the bytes of what it says: an envelope stands around every token. */
const envelopeFactor = 4
/** How many values of an event count for nothing. Real ones have less than a hundred. */
const freeValues = 200

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

async function open({ limits, url, headers, body, timeoutMs, signal, allowAddress }: ModelCall): Promise<OutboundStream> {
  const idleTimeoutMs = Math.min(timeoutMs, callLimitMs)
  try {
    return await openRequest({
      method: 'POST',
      url,
      headers: { 'content-type': 'application/json', accept: 'text/event-stream, application/json', ...headers },
      body,
      limitBytes: limits.limitBytes * envelopeFactor,
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
  const { limitBytes, valueLimit } = call.limits
  const parser = new EventParser({ limitChars: limitBytes })
  let values = valueLimit
  for await (const chunk of chunks) {
    for (const { data } of parser.push(chunk)) {
      if (data === '[DONE]') return 'said'
      const event = parseObject(call, data, values + freeValues)
      onEvent(event instanceof Promise ? await event : event)
      values -= Math.max(0, valuesOf(data, valueLimit) - freeValues)
    }
  }
  return 'closed'
}

/** A text has more characters than values. */
function valuesOf(text: string, most: number): number {
  return text.length <= freeValues ? 0 : countValues(text, most)
}

async function readWhole(call: ModelCall, { chunks }: OutboundStream, onEvent: (event: JsonObject) => void): Promise<CallEnd> {
  const { limitBytes, valueLimit } = call.limits
  const parts: Buffer[] = []
  let left = limitBytes
  for await (const chunk of chunks) {
    left -= chunk.length
    if (left < 0) throw tooMuch(call, `more than ${limitBytes} bytes`)
    parts.push(chunk)
  }
  onEvent(await objectIn(call, () => parseJsonBytes(Buffer.concat(parts), valueLimit)))
  return 'said'
}

/** The error for an answer that is over a limit. */
export function tooMuch({ provider }: { readonly provider: string }, what: string): ModelError {
  return new ModelError('LLMBrokenStreamError', `Could not read the answer of ${provider}: it has ${what}`)
}

/** Only a long text takes time. */
function parseObject(call: ModelCall, text: string, valueLimit: number): JsonObject | Promise<JsonObject> {
  try {
    if (text.length > turnBytes) return objectIn(call, () => parseJsonText(text, valueLimit))
    return asObject(call, parseJson(text, valueLimit))
  } catch (error) {
    throw unreadable(call, error)
  }
}

async function objectIn(call: ModelCall, parse: () => unknown): Promise<JsonObject> {
  try {
    return asObject(call, await parse())
  } catch (error) {
    throw unreadable(call, error)
  }
}

function asObject(call: ModelCall, value: unknown): JsonObject {
  if (isObject(value)) return objectOf(value)
  throw unreadable(call, undefined)
}

/** What the text was stays unsaid: it may hold anything. */
function unreadable(call: ModelCall, error: unknown): ModelError {
  if (error instanceof ModelError) return error
  if (error instanceof TooManyValuesError) return tooMuch(call, `more than ${call.limits.valueLimit} JSON values`)
  return new ModelError('LLMBrokenStreamError', `Could not read the answer of ${call.provider}: expected a JSON object`)
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
