/**
 * The contract between the built-in agent and its tools.
 *
 * A tool says what it is (to clients as a ToolDefinition, to the model as a name, a description and a JSON Schema) and
 * does what one checked action asks. An ordinary failure is an observation with `is_error`; what is thrown instead becomes
 * an AgentErrorEvent and the run goes on (contract: payloads.md, section 5). Nothing is asked of a user here: whether an
 * action may run is decided before.
 */
import type { JsonObject } from '../base/json.ts'
import type { Action } from '../schema/generated/actions.ts'
import type { Observation } from '../schema/generated/observations.ts'
import type { McpTool, MCPToolDefinition, ToolDefinition } from '../schema/generated/tools.ts'
import type { TextContent } from '../schema/generated/values.ts'

export interface Tool {
  /** What the model calls it by and events say in `tool_name`: `terminal`, `file_editor` ... */
  readonly name: string
  readonly description: string
  /** JSON Schema of its arguments, without the members that every tool gets (`security_risk`, `summary`). */
  readonly parameters: JsonObject
  /** How clients see it in SystemPromptEvent. */
  readonly definition: ToolDefinition
  /** A tool that changes nothing has no risk to declare. */
  readonly isReadOnly: boolean
  /** The action that these arguments stand for, or what is wrong with them: names of parameters, never their values. */
  read(args: JsonObject): ReadResult
  /** True for an action that is done with the user's yes only, whatever its risk; a tool without it has none such. */
  asks?(action: Action): Promise<boolean>
  /** Does it. The signal ends it at once; nothing of it runs when the promise has settled. @throws the signal's reason */
  run(action: Action, call: ToolCall): Promise<Observation>
}

export type ReadResult =
  | { readonly ok: true; readonly action: Action }
  | { readonly ok: false; readonly problem: string }

export interface ToolCall {
  readonly id: string
  readonly signal: AbortSignal
  /** The user has said yes to this very action; absent when nobody was asked. */
  readonly isApproved?: boolean
}

/** The tools of one open conversation, in the order in which a model is told of them. */
export interface ToolSet {
  readonly tools: readonly Tool[]
  /** Tools besides them that come and go, as they are now. It may wait a little. @throws the signal's reason */
  readonly changing?: (signal: AbortSignal) => Promise<readonly Tool[]>
  /** Names that were asked for and that this server has no tool for. */
  readonly missing: readonly string[]
  /** Ends what the tools keep (a shell, say). Idempotent; nothing is left afterwards. */
  close(): Promise<void>
}

/** Narrows an action to the kind that a tool takes. @throws TypeError when the registry has mixed them up */
export function actionOf<K extends Action['kind']>(action: Action, kind: K): Extract<Action, { kind: K }> {
  if (isOfKind(action, kind)) return action
  throw new TypeError(`A tool for ${kind} was given ${action.kind}`)
}

function isOfKind<K extends Action['kind']>(action: Action, kind: K): action is Extract<Action, { kind: K }> {
  return action.kind === kind
}

/** A tool that may keep something, which its `close` ends. */
export interface ClosableTool extends Tool {
  close?(): Promise<void>
}

/** Makes a tool with the parameters that settings give it. */
export type ToolMaker = (params: Readonly<Record<string, unknown>>) => ClosableTool

/** How clients see a tool that is none of the closed list (decisions 1), by the words that describe it to them. */
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

/** The content of an observation that is one text. */
export function textContent(text: string): readonly [TextContent] {
  return [{ cache_prompt: false, type: 'text', text }]
}
