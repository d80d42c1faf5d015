/** The contract for models and tools that a host (a program that embeds this server) provides to the built-in agent. */
import type { JsonObject } from '../base/json.ts'
import type { Message } from '../schema/generated/values.ts'

/** A tool that runs in the host's process. Settings enable it by its name in `tools`. */
export interface HostTool {
  /** 1 to 64 letters, digits, `_` and `-`, without `Tool` at the end. */
  readonly name: string
  readonly description: string
  /** The JSON Schema of the arguments, of type `object`. The tool checks the arguments itself. */
  readonly parameters: JsonObject
  /** True for a tool that changes nothing; its calls carry no `security_risk`. Default false. */
  readonly isReadOnly?: boolean
  /** Returns the result for the model. A thrown error is reported to the model as a failed call. */
  run(args: JsonObject, call: HostToolCall): Promise<string>
}

export interface HostToolCall {
  readonly conversationId: string
  readonly workingDir: string
  /** Aborted when the call is stopped. */
  readonly signal: AbortSignal
}

/**
 * Answers as the model of the built-in agent. A call without tools may serve another purpose than a step of a turn, for
 * example a title or a summary of the conversation. A thrown error is logged, unless the call was aborted. In a step
 * the error also ends the run, and a ConversationErrorEvent records it.
 */
export type HostModel = (call: HostModelCall) => Promise<HostModelAnswer>

/** Returns the host's model with this name; undefined for a model that the built-in agent calls itself. */
export type HostModels = (name: string) => HostModel | undefined

export interface HostModelCall {
  /** The messages for the model, the system message first. */
  readonly messages: readonly Message[]
  readonly tools: readonly HostModelTool[]
  /** Aborted when the answer is no longer wanted. */
  readonly signal: AbortSignal
  /** Takes a piece of the answer, for live readers of a step. The returned answer must still have the whole text. */
  readonly onText: (piece: string) => void
}

export interface HostModelTool {
  readonly name: string
  readonly description: string
  /** The JSON Schema of the arguments. */
  readonly parameters: JsonObject
}

/** An answer without a text and without calls counts as an empty text. */
export interface HostModelAnswer {
  /** The text of the answer; absent for an answer that only calls tools. */
  readonly text?: string
  /** The calls of tools. The turn may end after an answer without calls. */
  readonly calls?: readonly HostModelToolCall[]
  readonly usage?: HostModelUsage
}

export interface HostModelToolCall {
  readonly name: string
  readonly arguments: JsonObject
}

export interface HostModelUsage {
  readonly promptTokens?: number
  readonly completionTokens?: number
  /** The cost in US dollars. */
  readonly cost?: number
}
