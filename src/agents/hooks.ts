/**
 * The contract between the built-in agent and the hooks of a conversation: at which points it asks them, and for what
 * (contract: conversations.md, section 10). The part `hooks` implements it.
 */
import type { AgentHost } from '../conversation/agent.ts'
import type { Action } from '../schema/generated/actions.ts'
import type { Observation } from '../schema/generated/observations.ts'
import type { Message, TextContent } from '../schema/generated/values.ts'

/** An action and the tool that it is for. */
export interface ToolUse {
  readonly tool: string
  readonly action: Action
}

/** The answer of the hooks before a tool is used. */
export interface ToolWord {
  /** Why the tool must not run. */
  readonly refusal: string | undefined
  /** For the model, after the result. */
  readonly notes: readonly string[]
}

/** The hooks of one open conversation. Every method but `close` throws the reason of its signal when that is aborted. */
export interface Hooks {
  /** Runs the hooks of the beginning, once. */
  begin(signal?: AbortSignal): Promise<void>
  /** The words of the hooks of the beginning for the model, unless they went with a message; given once. */
  takeOpening(): readonly string[]
  /** The content that goes into the history with a message: why it is refused, or the words that hooks add to it. */
  contextOf(message: Message): Promise<readonly TextContent[]>
  beforeTool(use: ToolUse, signal: AbortSignal): Promise<ToolWord>
  /** Gives notes for the model. */
  afterTool(use: ToolUse, observation: Observation, signal: AbortSignal): Promise<readonly string[]>
  /** Why a turn must go on that wants to end; `objections` counts the objections before. */
  objectionToStop(objections: number, signal: AbortSignal): Promise<string | undefined>
  /** Ends the programs that a turn has left running beside the work. */
  endTurn(turn: AbortSignal): Promise<void>
  /** Ends the programs that run, runs the hooks of the end within a limit, and leaves nothing. Idempotent. */
  close(): Promise<void>
}

/** What hooks need of their conversation. */
export type HookHost = Pick<AgentHost, 'conversationId' | 'workingDir' | 'mask' | 'hookConfig'>
