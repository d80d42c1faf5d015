/**
 * Makes a model call in any wire format: posts a body, and assembles the answer from the events of the stream.
 *
 * A format has a fold: an object that builds the answer from its events. Every attempt starts a new fold.
 */
import { randomUUID } from 'node:crypto'
import type { JsonObject, JsonValue } from '../../../base/json.ts'
import { sleep } from '../../../base/wait.ts'
import type { AddressRule } from '../../net/address.ts'
import type { LLM } from '../../../schema/generated/llm.ts'
import type { Message } from '../../../schema/generated/values.ts'
import { BodyEncoder, type BodyFormat } from './body-encoder.ts'
import { contextWindowOf } from './context-windows.ts'
import { failureOf } from './failures.ts'
import { callLimitMs, postForEvents, tooMuch, usualAnswerLimits, type AnswerLimits, type CallEnd } from './http-call.ts'
import { ModelError, type ModelAnswer, type ModelClient, type ModelRequest } from './model.ts'
import type { AnswerPiece } from './partial-answer.ts'
import { priced } from './pricing.ts'
import { withRetries } from './retry.ts'

/** A model at a server. */
export interface Target {
  /** The provider's name in error messages: `OpenAI`, `Anthropic` ... */
  readonly provider: string
  /** The base URL without a trailing slash. */
  readonly baseUrl: string
  /** The model's name at the server. */
  readonly model: string
}

/** A wire format, configured for one model. */
export interface Wire extends BodyFormat {
  readonly provider: string
  readonly url: string
  /** Request headers, including the key. */
  readonly headers: Readonly<Record<string, string>>
  readonly takesImages: boolean | undefined
  /** The names of members, such as signatures, that the log of a call (`ModelAnswer.exchange`) leaves out. */
  readonly privateMembers: readonly string[]
  startFold(context: FoldContext): AnswerFold
}

export interface FoldContext {
  /** Makes an id for a response or a tool call without an id. */
  readonly newId: () => string
  /** Returns the error that an event reports, with secrets masked. */
  readonly failureOf: (body: JsonObject) => ModelError
  /** Checks the number of parts that an answer has so far. @throws ModelError when there are too many */
  readonly limitParts: (count: number) => void
}

/** An answer that grows with the events of its stream. */
export interface AnswerFold {
  /**
   * Adds the next event. Returns the text and reasoning that the event adds.
   * @throws ModelError when the event reports a failure, or the answer has too many parts
   */
  push(event: JsonObject): AnswerPiece
  /** Returns the answer; undefined before its end. @throws ModelError for a failed answer */
  finish(): FoldedAnswer | undefined
}

/** A ModelAnswer without `exchange`, and the whole response from which `exchange` is made. */
export type FoldedAnswer = Omit<ModelAnswer, 'exchange'> & {
  /** The response in the provider's form, as one value. */
  readonly response: JsonValue
}

/** The dependencies of model calls. */
export interface ModelDeps {
  readonly newId: () => string
  /** Returns a random number, at least 0 and less than 1. */
  readonly random: () => number
  /** Returns the current time in milliseconds since 1970. */
  readonly now: () => number
  /** Waits, or rejects with the signal's reason when it is aborted. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>
  /** Returns false for an IP address that must not be called. Further addresses are refused by parts/net/address.ts. */
  readonly allowAddress?: AddressRule
  readonly limits?: AnswerLimits
}

export const defaultDeps: ModelDeps = { newId: randomUUID, random: Math.random, now: Date.now, sleep }

/** Returns a client that uses this wire format. */
export function createWireClient(settings: LLM, wire: Wire, deps: ModelDeps = defaultDeps): ModelClient {
  const bodies = new BodyEncoder(wire)
  return {
    model: settings.model,
    takesImages: settings.disable_vision === true ? false : wire.takesImages,
    contextWindow: settings.max_input_tokens ?? contextWindowOf(settings.model),
    async complete(request) {
      let isHandedOn = false
      const onDelta = (piece: AnswerPiece): void => {
        request.partial?.add(piece)
        if (request.onDelta === undefined || (piece.content === undefined && piece.reasoning_content === undefined)) {
          return
        }
        // Do not stream a piece of more than a million characters: the readers get it with the final message.
        if ((piece.content?.length ?? 0) + (piece.reasoning_content?.length ?? 0) > deltaLimitChars) return
        isHandedOn = true
        request.onDelta(piece)
      }
      const body = bodies.encode(request)
      const attempt = (): Promise<FoldedAnswer> => {
        request.partial?.begin()
        return call({ settings, wire, deps, body, signal: request.signal, onDelta })
      }
      const answer = await withRetries(attempt, {
        policy: {
          retries: settings.num_retries,
          multiplierMs: settings.retry_multiplier * 1000,
          minWaitMs: settings.retry_min_wait * 1000,
          maxWaitMs: settings.retry_max_wait * 1000,
        },
        signal: request.signal,
        sleep: deps.sleep,
        random: deps.random,
        mayRetry: () => !isHandedOn,
        onRetry: request.onRetry,
      })
      return answerOf(answer, request, settings, wire)
    },
  }
}

interface Attempt {
  readonly settings: LLM
  readonly wire: Wire
  readonly deps: ModelDeps
  readonly body: readonly Uint8Array[]
  readonly signal: AbortSignal
  readonly onDelta: (piece: AnswerPiece) => void
}

async function call({ settings, wire, deps, body, signal, onDelta }: Attempt): Promise<FoldedAnswer> {
  const { provider, url, headers } = wire
  const { now, newId, allowAddress, limits = usualAnswerLimits } = deps
  const secrets = secretsOf(settings)
  const failureOfEvent = (event: JsonObject): ModelError => failureOf({ provider, body: event, secrets, now })
  const fold = wire.startFold({ newId, failureOf: failureOfEvent, limitParts: (count) => limitParts(wire, count) })
  const timeoutMs = settings.timeout === null || settings.timeout <= 0 ? callLimitMs : settings.timeout * 1000
  const end = await postForEvents(
    { limits, provider, url, headers, body, timeoutMs, signal, secrets, now, allowAddress },
    (event) => {
      onDelta(fold.push(event))
    },
  )
  const answer = fold.finish() ?? unfinished(provider, end)
  const { content, thinking_blocks, tool_calls = [] } = answer.message
  if (sizeOf(answer.message) > textLimitChars) throw tooMuch(wire, `more than ${textLimitChars} characters`)
  limitParts(wire, Math.max(content.length, thinking_blocks.length, tool_calls.length))
  return answer
}

/** The longest answer in characters. Serializing a longer answer would hold the event loop for too long. */
const textLimitChars = 4_000_000
const deltaLimitChars = 1_000_000
/** The most parts (calls, texts and thoughts) of one answer. */
const partLimit = 1000

function limitParts(wire: Wire, count: number): void {
  if (count > partLimit) throw tooMuch(wire, `more than ${partLimit} parts`)
}

/** Returns the number of characters of a message's texts, thoughts and call arguments. */
function sizeOf({ content, reasoning_content = '', thinking_blocks, tool_calls = [] }: Message): number {
  const texts = [
    reasoning_content,
    ...content.map((part) => (part.type === 'text' ? part.text : '')),
    ...thinking_blocks.map((block) => (block.type === 'thinking' ? block.thinking : block.data)),
    ...tool_calls.map((call) => call.arguments),
  ]
  return texts.reduce((sum, text) => sum + text.length, 0)
}

function unfinished(provider: string, end: CallEnd): never {
  if (end === 'said') throw new ModelError('LLMNoResponseError', `${provider} ended its answer without giving one`)
  throw new ModelError('LLMBrokenStreamError', `${provider} closed the connection before its answer was complete`)
}

/** Returns the secrets of the settings: the key, and the value of every extra header. */
function secretsOf({ api_key, extra_headers }: LLM): string[] {
  return [...(api_key === null ? [] : [api_key]), ...Object.values(extra_headers ?? {})]
}

function answerOf(
  { response, ...answer }: FoldedAnswer, request: ModelRequest, settings: LLM, wire: Wire,
): ModelAnswer {
  const usage = priced(answer.usage, settings)
  if (!settings.log_completions) return { ...answer, usage }
  const hidden = new Set(wire.privateMembers)
  return {
    ...answer,
    usage,
    exchange: { request: without(hidden, wire.bodyOf(request)), response: without(hidden, response) },
  }
}

/** Returns a copy of the value without the members of these names, at any depth. */
function without(names: ReadonlySet<string>, value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map((element) => without(names, element))
  if (typeof value !== 'object' || value === null) return value
  const kept = Object.entries(value).filter(([name]) => !names.has(name))
  return Object.fromEntries(kept.map(([name, member]) => [name, without(names, member)]))
}
