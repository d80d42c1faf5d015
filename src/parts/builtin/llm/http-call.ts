/**
 * One model call over HTTP: posts a JSON body, and reads the answer as JSON objects.
 *
 * Each server-sent event except `[DONE]` is one object. A server that does not stream sends a single object.
 */
import { AppError } from '../../../base/errors.ts'
import {
  countValues, isJsonObject, parseJson, TooManyValuesError, usualValueLimit, type JsonObject,
} from '../../../base/json.ts'
import { parseJsonBytes, parseJsonText, turnBytes } from '../../../base/json-turns.ts'
import type { AddressRule } from '../../net/address.ts'
import { openRequest, type OutboundStream } from '../../net/outbound.ts'
import { failureOf } from './failures.ts'
import { ModelError, type ModelErrorCode } from './model.ts'
import { EventParser } from '../../net/event-stream.ts'

/** The size limits of an answer. */
export interface AnswerLimits {
  /** The most bytes of an answer that is not streamed. A streamed answer may have four times as many. */
  readonly limitBytes: number
  /** The most JSON values of an answer. In a stream, `freeValues` (200) values of each event do not count. */
  readonly valueLimit: number
}

export const usualAnswerLimits: AnswerLimits = { limitBytes: 16 * 1024 * 1024, valueLimit: usualValueLimit }

export interface ModelCall {
  readonly limits: AnswerLimits
  readonly provider: string
  readonly url: string
  /** Request headers, including the key. */
  readonly headers: Readonly<Record<string, string>>
  /** The JSON body, in chunks. */
  readonly body: readonly Uint8Array[]
  /** The longest wait for the next bytes of the server. A value above an hour is treated as an hour. */
  readonly timeoutMs: number
  readonly signal: AbortSignal
  /** The secrets to mask in error messages. */
  readonly secrets: readonly string[]
  readonly now: () => number
  readonly allowAddress?: AddressRule | undefined
}

/**
 * How an answer ended: `said` after `[DONE]` or a whole JSON answer; `closed` when a stream ended without `[DONE]`, as
 * the streams of some providers do.
 */
export type CallEnd = 'said' | 'closed'

/** The longest duration of a call, whatever `timeout` the settings have. */
export const callLimitMs = 3_600_000
const connectLimitMs = 30_000
const refusalLimitBytes = 64 * 1024
/** The factor by which a stream may exceed `limitBytes`: each token arrives in a JSON envelope. */
const envelopeFactor = 4
/** In each event of a stream, this number of JSON values does not count towards `valueLimit`. */
const freeValues = 200

/**
 * Posts the body, and calls `onEvent` with each object of the answer, in order. An error of `onEvent` ends the call.
 * @throws ModelError; the signal's reason
 */
export async function postForEvents(call: ModelCall, onEvent: (event: JsonObject) => void): Promise<CallEnd> {
  const stream = await open(call)
  try {
    if (stream.status < 200 || stream.status >= 300) throw await refusalOf(call, stream)
    const type = stream.headers['content-type'] ?? ''
    if (/\bhtml\b/.test(type)) {
      throw new ModelError(
        'LLMBadRequestError', `${call.provider} answered with a web page: expected the base URL of its API`,
      )
    }
    return /\bjson\b/.test(type) ? await readWhole(call, stream, onEvent) : await readEvents(call, stream, onEvent)
  } catch (error) {
    call.signal.throwIfAborted()
    throw error instanceof AppError ? brokenBy(error, 'LLMBrokenStreamError') : error
  } finally {
    stream.close()
  }
}

async function open({
  limits,
  url,
  headers,
  body,
  timeoutMs,
  signal,
  allowAddress,
}: ModelCall): Promise<OutboundStream> {
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
    signal.throwIfAborted()
    throw error instanceof AppError ? brokenBy(error, 'LLMServiceUnavailableError') : error
  }
}

/** Returns the ModelError for a failed request. If the failure is `upstream_failed`, the ModelError has `code`. */
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

async function readEvents(
  call: ModelCall, { chunks }: OutboundStream, onEvent: (event: JsonObject) => void,
): Promise<CallEnd> {
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

/** Counts the JSON values in a text, up to `most`. Returns 0 for a text that has at most `freeValues` characters. */
function valuesOf(text: string, most: number): number {
  return text.length <= freeValues ? 0 : countValues(text, most)
}

async function readWhole(
  call: ModelCall, { chunks }: OutboundStream, onEvent: (event: JsonObject) => void,
): Promise<CallEnd> {
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

/** Returns the error for an answer that is over a limit. */
export function tooMuch({ provider }: { readonly provider: string }, what: string): ModelError {
  return new ModelError('LLMBrokenStreamError', `Could not read the answer of ${provider}: it has ${what}`)
}

/** Parses the data of an event. Returns a promise for a long text, which is parsed over several event-loop turns. */
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
  if (isJsonObject(value)) return value
  throw unreadable(call, undefined)
}

/** Returns the error for an unreadable answer, whose text it does not quote. A ModelError is returned unchanged. */
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
    call.signal.throwIfAborted()
    // After an AppError the body has broken off: classify the refusal by its status and the bytes that arrived.
    if (!(error instanceof AppError)) throw error
  }
  const { provider, secrets, now } = call
  return failureOf({ provider, status, headers, body: jsonOrText(Buffer.concat(parts).toString()), secrets, now })
}

function jsonOrText(text: string): unknown {
  try {
    return parseJson(text)
  } catch {
    return text // The text is not JSON.
  }
}
