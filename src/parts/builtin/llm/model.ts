/**
 * The contract between the built-in agent and a language model: one call, its answer and its failures.
 *
 * Messages have the type `Message` (contract/payloads.md, section 1). `state` holds a provider's data that no event can
 * carry, such as a signature. The log stores the state in private records (decisions 27).
 */
import type { JsonObject, JsonValue } from '../../../base/json.ts'
import type { Message } from '../../../schema/generated/values.ts'
import type { AnswerPiece, PartialAnswer } from './partial-answer.ts'

/** A client of one model. */
export interface ModelClient {
  /** The model's name in the settings, such as `provider/model`. */
  readonly model: string
  /** True when the model accepts images; undefined when unknown. */
  readonly takesImages: boolean | undefined
  /** The largest input in tokens; undefined when unknown. */
  readonly contextWindow: number | undefined
  /**
   * Calls the model. Retries transient failures as the settings say, unless a piece of the answer was passed to
   * `onDelta`. A call of a model of the embedding program (host-model.ts) is not retried.
   * @throws ModelError; the signal's reason
   */
  complete(request: ModelRequest): Promise<ModelAnswer>
}

export interface ModelRequest {
  /** The messages, system message first. A tool result names its `tool_call_id`. */
  readonly messages: readonly ModelMessage[]
  readonly tools: readonly ModelTool[]
  readonly signal: AbortSignal
  /** Called with the pieces of the answer as they arrive, in order. Very long pieces are left out (wire.ts). */
  readonly onDelta?: (piece: AnswerPiece) => void
  /** Collects the text of the answer as it arrives, so that the text is not lost when the call is cut off. */
  readonly partial?: PartialAnswer
  /** Called before each wait for another attempt. */
  readonly onRetry?: (retry: { readonly attempt: number; readonly waitMs: number; readonly error: ModelError }) => void
  /** The conversation's id, for a provider whose prompt cache takes a key. */
  readonly cacheKey?: string
}

export interface ModelMessage {
  readonly message: Message
  /** The provider's private data of an answer, if any. */
  readonly state?: JsonObject
}

export interface ModelTool {
  readonly name: string
  readonly description: string
  /** The parameters: the JSON Schema of an object. */
  readonly parameters: JsonObject
}

export interface ModelAnswer {
  /** The provider's id of the response, or a new id. It becomes `llm_response_id` of the events. */
  readonly id: string
  /** The assistant message: text, tool calls and reasoning. */
  readonly message: Message
  readonly state?: JsonObject
  readonly stop: 'end' | 'tool_calls' | 'length' | 'refusal'
  readonly usage: ModelUsage
  /** The token ids for a TokenEvent; absent when the server sends none. */
  readonly tokenIds?: { readonly prompt: readonly number[]; readonly response: readonly number[] }
  /** The request and the response in the provider's form, if `log_completions` is set. */
  readonly exchange?: { readonly request: JsonValue; readonly response: JsonValue }
}

/** Tokens and cost of one call. */
export interface ModelUsage {
  /** All input tokens, including cached tokens. */
  readonly promptTokens?: number
  readonly completionTokens?: number
  readonly cacheReadTokens?: number
  readonly cacheWriteTokens?: number
  /** Reasoning tokens, which are part of the completion. */
  readonly reasoningTokens?: number
  /** The cost in US dollars (see pricing.ts). */
  readonly cost?: number
}

/** The codes of failed model calls (contract/events.md, section 2.4). */
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

/** The failure of a model call. Known secrets are masked in a message that a provider sent. */
export class ModelError extends Error {
  override readonly name = 'ModelError'
  readonly code: ModelErrorCode
  /** The wait that the provider asked for before the next attempt, if any. */
  readonly retryAfterMs: number | undefined

  constructor(
    code: ModelErrorCode, detail: string, options: { readonly retryAfterMs?: number; readonly cause?: unknown } = {},
  ) {
    super(detail, options.cause === undefined ? undefined : { cause: options.cause })
    this.code = code
    this.retryAfterMs = options.retryAfterMs
  }
}
