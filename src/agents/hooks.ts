/**
 * The contract between the built-in agent and the hooks of a conversation (contract/conversations.md, section 10).
 *
 * A hook is a command that runs at a fixed point of the agent's work. It can refuse the message, the tool call or the
 * end of the turn at this point, or add text for the model.
 */
import type { AgentHost } from '../conversation/agent/host.ts'
import type { Action } from '../schema/generated/actions.ts'
import type { Observation } from '../schema/generated/observations.ts'
import type { Message, TextContent } from '../schema/generated/values.ts'

export interface ToolUse {
  readonly tool: string
  readonly action: Action
}

/** The result of the hooks that run before a tool. */
export interface ToolWord {
  /** Why the tool must not run; undefined when it may. */
  readonly refusal: string | undefined
  /** Texts for the model, added after the tool's result, error or refusal. */
  readonly notes: readonly string[]
}

/**
 * The hooks of one open conversation. A method with the parameter `signal` throws the signal's reason when the signal
 * is aborted.
 */
export interface Hooks {
  /** Runs the hooks for the start of the conversation, once. */
  begin(signal?: AbortSignal): Promise<void>
  /** Returns the start hooks' texts, for the model. Empty after this method or `contextOf` has returned them. */
  takeOpening(): readonly string[]
  /** Runs the start hooks (once), then the hooks of a message. Returns their texts, or after a refusal its text. */
  contextOf(message: Message): Promise<readonly TextContent[]>
  /** Runs the hooks that precede a tool; returns their notes, and the refusal if a hook refuses the tool. */
  beforeTool(use: ToolUse, signal: AbortSignal): Promise<ToolWord>
  /** Runs the hooks that follow a tool; returns notes for the model. */
  afterTool(use: ToolUse, observation: Observation, signal: AbortSignal): Promise<readonly string[]>
  /** Returns why a turn must go on; undefined when it may end. `objections`: the earlier objections in this turn. */
  objectionToStop(objections: number, signal: AbortSignal): Promise<string | undefined>
  /** Ends the hooks that a turn left running in the background. `turn` is the signal of that turn. */
  endTurn(turn: AbortSignal): Promise<void>
  /** Aborts start and message hooks. Then, if the start hooks have run, runs the end hooks for a limited time. */
  close(): Promise<void>
}

/** The members of the conversation that hooks use. */
export type HookHost = Pick<AgentHost, 'conversationId' | 'workingDir' | 'mask' | 'hookConfig'>
