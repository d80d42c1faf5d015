/**
 * The contract between the built-in agent and a language model: one call, its answer, and every way it can fail.
 *
 * Messages are the wire's own `Message` (contract: payloads.md, section 1), so that what an event holds goes to a model
 * unchanged. What a provider wants back and no event can carry (a signature on a tool call, the id of a response item)
 * travels beside the message as an opaque `state` of that provider, is kept in the log privately (decisions 27), and is
 * ignored by every other provider. A figure that is absent is unknown, which is not zero.
 */
import type { JsonObject, JsonValue } from '../../../base/json.ts'
import type { Message } from '../../../schema/generated/values.ts'

/** A model that can be called. It holds no connection between calls, so there is nothing to close. */
export interface ModelClient {
  /** As the settings name it: `provider/model`. */
  readonly model: string
  /** Whether images may be sent; undefined where that is not known. */
  readonly takesImages: boolean | undefined
  /** The largest input in tokens; undefined where that is not known. */
  readonly contextWindow: number | undefined
  /**
   * Calls the model, again after failures that pass (rate limit, overload, a broken connection) as its settings say, but
   * never after a piece of an answer has been handed on. @throws ModelError; the signal's reason when it is aborted.
   */
  complete(request: ModelRequest): Promise<ModelAnswer>
}

export interface ModelRequest {
  /** System message first; a tool's answer names its `tool_call_id`. */
  readonly messages: readonly ModelMessage[]
  readonly tools: readonly ModelTool[]
  readonly signal: AbortSignal
  /** Pieces of the answer as they come, in order. Left out: nobody listens. */
  readonly onDelta?: (piece: { readonly content?: string; readonly reasoning_content?: string }) => void
  /** Told before each wait for another attempt. */
  readonly onRetry?: (retry: { readonly attempt: number; readonly waitMs: number; readonly error: ModelError }) => void
  /** Requests with the same key share a prompt cache where a provider has one: the id of the conversation. */
  readonly cacheKey?: string
}

export interface ModelMessage {
  readonly message: Message
  /** As it came with the answer that this message was. */
  readonly state?: JsonObject
}

export interface ModelTool {
  readonly name: string
  readonly description: string
  /** JSON Schema of an object. */
  readonly parameters: JsonObject
}

export interface ModelAnswer {
  /** The provider's id of the response, or one made here: `llm_response_id` of the events. */
  readonly id: string
  /** Role assistant; text, tool calls and reasoning in the members that the contract has for them. */
  readonly message: Message
  readonly state?: JsonObject
  readonly stop: 'end' | 'tool_calls' | 'length' | 'refusal'
  readonly usage: ModelUsage
  /** Of a backend that was asked for them (TokenEvent). */
  readonly tokenIds?: { readonly prompt: readonly number[]; readonly response: readonly number[] }
  /** The request and the answer in the provider's form, without credentials, if `log_completions` asks for them. */
  readonly exchange?: { readonly request: JsonValue; readonly response: JsonValue }
}

/** Tokens and cost of one call. */
export interface ModelUsage {
  /** All of the input, what came from a cache included. */
  readonly promptTokens?: number
  readonly completionTokens?: number
  readonly cacheReadTokens?: number
  readonly cacheWriteTokens?: number
  /** The part of the completion that was reasoning. */
  readonly reasoningTokens?: number
  /** In US dollars: what the provider reported, else tokens times a known price. */
  readonly cost?: number
}

/** Codes of ConversationErrorEvent (contract: events.md, section 2.4). */
export type ModelErrorCode =
  | 'LLMAuthenticationError'
  | 'LLMQuotaExceededError'
  | 'LLMRateLimitError'
  | 'LLMModelNotFoundError'
  | 'LLMContextWindowExceedError'
  | 'LLMContentPolicyViolationError'
  | 'LLMBadRequestError'
  | 'LLMServiceUnavailableError'
  | 'LLMTimeoutError'
  | 'LLMBrokenStreamError'
  | 'LLMNoResponseError'

/** Why a model gave no answer. The message names the provider and never a key, a header or a query. */
export class ModelError extends Error {
  override readonly name = 'ModelError'
  readonly code: ModelErrorCode
  /** What the provider asked to wait before the next attempt. */
  readonly retryAfterMs: number | undefined

  constructor(code: ModelErrorCode, detail: string, options: { readonly retryAfterMs?: number; readonly cause?: unknown } = {}) {
    super(detail, options.cause === undefined ? undefined : { cause: options.cause })
    this.code = code
    this.retryAfterMs = options.retryAfterMs
  }
}
