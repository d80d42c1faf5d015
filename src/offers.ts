/**
 * What parts offer to the core and to each other, by name: the one list of the seams between them.
 *
 * A part that offers a name says so in its `part.ts` and gives it when it is started. Who needs one asks for it by name
 * (`Core.use`), which loads the part; a name that no part here offers is refused by an AppError `part_missing`.
 */
import type { Log } from './base/log.ts'
import type { Hooks, HookHost } from './agents/hooks.ts'
import type { ContextChoice, ConversationSkills } from './agents/skills.ts'
import type { ToolMaker, ToolSet } from './agents/tool.ts'
import type { Agent, AgentHost } from './conversation/agent.ts'
import type { TitleByProfile } from './conversation/agent-requests.ts'
import type { McpServer } from './schema/generated/settings.ts'

export interface Offers {
  /** The agent of conversations of the kind "Agent". */
  readonly builtInAgent: BuiltInAgents
  /** The skills of a conversation. */
  readonly skills: SkillSource
  /** The hooks of a conversation. */
  readonly hooks: HookSource
  /** Tools of MCP servers. */
  readonly mcpTools: McpTools
  /** Tokens for MCP servers, of the users who have signed in. */
  readonly mcpTokens: McpTokens
  /** Tools that drive a browser. */
  readonly browserTools: BrowserTools
  /** The programs of agents that were installed into the data folder. */
  readonly installedAgents: InstalledAgentPrograms
}

export interface BuiltInAgents {
  create(host: AgentHost, log: Log): Agent
  /** A title by the model of a stored profile. */
  readonly titleByProfile: TitleByProfile
}

export interface SkillSource {
  /** Reads the skills that an `agent_context` asks for. Never fails: an unusable skill is told in the log. */
  load(context: ContextChoice, workingDir: string): Promise<ConversationSkills>
}

export interface HookSource {
  open(host: HookHost, log: Log): Hooks
}

export interface McpTools {
  /** The set with the tools of the servers behind its own; closing it ends the servers. */
  extend(set: ToolSet, request: McpToolsRequest): ToolSet
}

export interface McpToolsRequest {
  /** By their names; at least one. */
  readonly settings: Readonly<Record<string, McpServer>>
  readonly conversation: Pick<AgentHost, 'workingDir' | 'secrets' | 'mask' | 'state'>
  /** The names of tools that the settings let through. */
  readonly filter: (names: readonly string[], signal: AbortSignal) => Promise<readonly string[]>
  readonly log: Log
}

export interface McpTokens {
  /** The bearer token of this moment for a server with this `auth.state`. @throws AppError, or the signal's reason */
  tokenFor(server: { readonly name: string; readonly url: string }, state: unknown, signal: AbortSignal): Promise<string>
}

export interface BrowserTools {
  /** The tools of one conversation, by name; they share one browser. */
  makers(host: Pick<AgentHost, 'observationsDir'>): Readonly<Record<string, ToolMaker>>
}

export interface InstalledAgentPrograms {
  /**
   * The words that start an installed agent; undefined when it is not installed.
   * @throws AppError `agent_failed` when its files differ from the installed ones, `storage_failed` for a damaged record
   */
  commandOf(name: string): Promise<readonly string[] | undefined>
}
