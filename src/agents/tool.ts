/**
 * The contract between the built-in agent and its tools.
 *
 * An ordinary failure is an observation with `is_error`. A thrown error becomes an AgentErrorEvent, and the run goes
 * on, unless the turn was stopped (contract/payloads.md, section 5).
 */
import type { JsonObject } from '../base/json.ts'
import type { Turn } from '../conversation/agent/agent.ts'
import type { Action } from '../schema/generated/actions.ts'
import type { Observation } from '../schema/generated/observations.ts'
import type { McpTool, MCPToolDefinition, ToolDefinition } from '../schema/generated/tools.ts'
import type { TextContent } from '../schema/generated/values.ts'

export interface Tool {
  /** The name for the model, and for `tool_name` in events. */
  readonly name: string
  readonly description: string
  /** JSON Schema of the arguments. The agent adds `summary`, and `security_risk` unless the tool is read-only. */
  readonly parameters: JsonObject
  /** The description for clients in SystemPromptEvent. */
  readonly definition: ToolDefinition
  /** True for a tool that changes nothing; its calls carry no `security_risk`. */
  readonly isReadOnly: boolean
  /** True for a tool whose calls need no limit: a step with only such tools ignores `tool_concurrency_limit`. */
  readonly isConcurrent?: true
  /** Converts the arguments to an action, or returns the problem. The problem names parameters and no values. */
  read(args: JsonObject): ReadResult
  /** True for an action that needs the user's confirmation whatever its risk is. Default: false. */
  asks?(action: Action): Promise<boolean>
  /**
   * Runs the action; `call.signal` stops it. A tool with a shell may leave its programs running until `close`.
   * @throws the signal's reason
   */
  run(action: Action, call: ToolRun): Promise<Observation>
  /** Called when the confirmation policy has changed: applies the new policy to running actions of the tool. */
  policyChanged?(): void
  /** Called when a turn was stopped or paused: ends the programs that calls with this signal have left running. */
  turnStopped?(signal: AbortSignal): Promise<void>
}

export type ReadResult =
  | { readonly ok: true; readonly action: Action }
  | { readonly ok: false; readonly problem: string }

export interface ToolRun {
  readonly id: string
  readonly signal: AbortSignal
  /** True when the user has confirmed this action; otherwise false or absent. */
  readonly isApproved?: boolean
  /** The turn that the action belongs to; absent outside of a turn. */
  readonly turn?: ToolTurn
}

/** The turn of an action, with the members that a tool needs to start a sub-agent. */
export interface ToolTurn extends Pick<Turn, 'pausing' | 'ask' | 'usage' | 'record'> {
  readonly actionId: string
  /** Uses one of the turn's steps. Returns false when no step is left. */
  takeStep(): boolean
}

/** The tools of one open conversation, in the order in which the model gets them. */
export interface ToolSet {
  readonly tools: readonly Tool[]
  /**
   * Returns the current tools of a changing source, such as MCP servers. May wait a short time for the source.
   * @throws the signal's reason
   */
  readonly changing?: (signal: AbortSignal) => Promise<readonly Tool[]>
  /** The names of requested tools that this server does not have. */
  readonly missing: readonly string[]
  /** Releases the resources of the tools and ends their processes, such as a shell. Idempotent. */
  close(): Promise<void>
}

/** Returns the action, typed as the kind of the tool. @throws TypeError for an action of another kind */
export function actionOf<K extends Action['kind']>(action: Action, kind: K): Extract<Action, { kind: K }> {
  if (isOfKind(action, kind)) return action
  throw new TypeError(`A tool for ${kind} was given ${action.kind}`)
}

function isOfKind<K extends Action['kind']>(action: Action, kind: K): action is Extract<Action, { kind: K }> {
  return action.kind === kind
}

/** A tool that may have resources. `close` releases them. */
export interface ClosableTool extends Tool {
  close?(): Promise<void>
}

/** Makes a tool with parameters from the settings. */
export type ToolMaker = (params: Readonly<Record<string, unknown>>) => ClosableTool

/** Makes the definition that clients see of a tool for which the contract has no kind of its own (decisions 1). */
export function mcpToolDefinition(
  tool: McpTool, { description, annotations, meta }: Pick<MCPToolDefinition, 'description' | 'annotations' | 'meta'>,
): MCPToolDefinition {
  return {
    kind: 'MCPToolDefinition',
    description,
    action_type: 'MCPToolAction',
    observation_type: 'MCPToolObservation',
    ...(annotations === undefined ? {} : { annotations }),
    ...(meta === undefined ? {} : { meta }),
    title: annotations?.title ?? tool.name,
    mcp_tool: tool,
  }
}

/** Makes the content of an observation that is a single text. */
export function textContent(text: string): readonly [TextContent] {
  return [{ cache_prompt: false, type: 'text', text }]
}
