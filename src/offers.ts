/**
 * The offers: objects that parts give to the core and to other parts, by name.
 *
 * Other code gets an offer from `Core.use`, which loads the part. Without a part that has the offer, `use` rejects with
 * AppError `part_missing`.
 */
import type { Log } from './base/log.ts'
import type { HostModels, HostTool } from './agents/from-host.ts'
import type { Hooks, HookHost } from './agents/hooks.ts'
import type { ContextChoice, ConversationSkills } from './agents/skills.ts'
import type { ToolMaker, ToolSet } from './agents/tool.ts'
import type { IsUsed } from './conversation/list/service-options.ts'
import type { AgentHost } from './conversation/agent/host.ts'
import type { Agent, TitleByProfile } from './conversation/agent/agent.ts'
import type { BroughtByPlugins } from './conversation/list/plugins.ts'
import type { Agent as AgentConfig, PluginSource } from './schema/generated/conversations.ts'
import type { AgentSettings, McpServer } from './schema/generated/settings.ts'
import type { AgentDefinition } from './schema/generated/agent-definitions.ts'
import type { LookupRequest } from './settings/lookup.ts'
import type { ProviderCredentials } from './settings/profiles.ts'

export interface Offers {
  /** Creates agents for conversations of the agent kind "Agent". */
  readonly builtInAgent: BuiltInAgents
  /** Loads the skills of a conversation. */
  readonly skills: SkillSource
  /** Returns the folders of enabled installed skills, and the content of plugins. */
  readonly extensions: Extensions
  /** Creates the object that runs the hooks of a conversation. */
  readonly hooks: HookSource
  /** Adds tools of MCP servers to a tool set. */
  readonly mcpTools: McpTools
  /** Provides tokens for MCP servers to which users have signed in. */
  readonly mcpTokens: McpTokens
  /** Provides tools that drive a browser. */
  readonly browserTools: BrowserTools
  /** Provides the tool with which the built-in agent gives tasks to sub-agents. */
  readonly subAgents: SubAgents
  /** Finds out whether the files of a folder differ from a commit. */
  readonly patches: Patches
  /** Finds agent programs that are installed in the data folder. */
  readonly installedAgents: InstalledAgentPrograms
  /** Reads agent profiles, and changes the names of LLM profiles in them. */
  readonly agentProfiles: AgentProfiles
  /** Fetches the value of a secret from its address. @throws AppError, or the signal's reason */
  readonly fetchText: (request: LookupRequest) => Promise<string>
  /** Makes and removes the git worktrees of conversations. */
  readonly worktrees: Worktrees
  /** Finds provider connections: API keys for a model provider that several LLM profiles share. */
  readonly providerConnections: ProviderConnections
  /** Removes conversations that exceed the limits of retention, such as an age. */
  readonly retention: Retention
  /** Makes addresses that open the console, the server's own page. */
  readonly console: Console
  /** Models that the embedding program provides to the built-in agent. */
  readonly hostModels: HostModels
  /** Tools that the embedding program provides to the built-in agent. */
  readonly hostTools: readonly HostTool[]
}

export interface BuiltInAgents {
  create(host: AgentHost, log: Log): Agent
  /** Asks the model of a stored LLM profile for the title of a conversation. */
  readonly titleByProfile: TitleByProfile
}

export interface SkillSource {
  /** Reads the skills that the `agent_context` of the settings asks for. An unusable skill is logged and left out. */
  load(context: ContextChoice, workingDir: string): Promise<ConversationSkills>
  /** Returns the names of the enabled installed skills and of the skills in the user's home folder. */
  userSkillNames(): Promise<readonly string[]>
}

export interface Extensions {
  /** Returns the folders of the enabled installed skills. */
  enabledSkills(): Promise<readonly { readonly name: string; readonly folder: string }[]>
  /**
   * Returns the skills, sub-agents, hooks and MCP servers that plugins add to a new conversation.
   * @throws AppError `invalid_input` for an unusable plugin in `named`
   */
  pluginsFor(request: PluginRequest): Promise<PluginContent>
}

export interface PluginRequest {
  /** The plugins that the request names. */
  readonly named: readonly PluginSource[]
  /** True when the conversation also gets the installed plugins that are enabled. */
  readonly withInstalled: boolean
}

export type PluginContent = BroughtByPlugins

export interface HookSource {
  open(host: HookHost, log: Log): Hooks
}

export interface McpTools {
  /** Returns `set` with the tools of MCP servers added. Closing the returned set also ends these MCP servers. */
  extend(set: ToolSet, request: McpToolsRequest): ToolSet
}

export interface McpToolsRequest {
  /** MCP servers by name; at least one. */
  readonly settings: Readonly<Record<string, McpServer>>
  readonly conversation: Pick<AgentHost, 'workingDir' | 'secrets' | 'mask' | 'state'>
  /** Returns the tool names of `names` that the agent settings allow. @throws the signal's reason */
  readonly filter: (names: readonly string[], signal: AbortSignal) => Promise<readonly string[]>
  readonly log: Log
}

export interface McpTokenTarget {
  readonly name: string
  readonly url: string
}

export interface McpTokens {
  /**
   * Returns the current bearer token for an MCP server.
   * @param state the server's `auth.state` in the settings
   * @throws AppError, or the signal's reason
   */
  tokenFor(server: McpTokenTarget, state: unknown, signal: AbortSignal): Promise<string>
}

export interface BrowserTools {
  /** Returns, by tool name, functions that make the browser tools of a conversation. These tools share one browser. */
  makers(host: Pick<AgentHost, 'observationsDir'>): Readonly<Record<string, ToolMaker>>
}

export interface Patches {
  /** Notes which commit is checked out in a folder. @throws AppError `bad_request` when git fails */
  open(folder: string, signal: AbortSignal): Promise<Patch>
}

/** Compares a folder with the commit that was checked out when `Patches.open` was called. */
export interface Patch {
  /** Returns true if no file differs, or if `open` found no git or no repository. @throws AppError `bad_request` */
  isEmpty(signal: AbortSignal): Promise<boolean>
}

export interface SubAgents {
  /** Returns the function that makes the tool `task`. @param agent returns the agent's settings, with plain secrets */
  taskTool(host: SubAgentHost, agent: () => AgentConfig): Promise<ToolMaker>
  /** Reads the definition of a sub-agent from its Markdown file. @throws AppError `invalid_input` */
  readDefinition(file: DefinitionText): AgentDefinition
}

/** A definition of a sub-agent in a Markdown file. */
export interface DefinitionText {
  readonly text: string
  /** The name of the sub-agent if the front matter of the file names none. */
  readonly name: string
}

/** The members of the parent conversation's `AgentHost` that the tool `task` uses. */
export type SubAgentHost = Pick<
  AgentHost, 'conversationId' | 'workingDir' | 'agentDefinitions' | 'policy' | 'rules' | 'mask'
>

export interface InstalledAgentPrograms {
  /**
   * Returns the command of an installed agent as words; undefined when the agent is not installed.
   * @throws AppError `agent_failed` (changed files), `storage_failed` (damaged record), `not_found` (impossible name)
   */
  commandOf(name: string): Promise<readonly string[] | undefined>
}

export interface AgentProfiles {
  /**
   * Returns the agent settings of a profile, with plain secrets.
   * @throws AppError `not_found`, `bad_request` for an unreadable LLM profile, `invalid_input` for an unusable profile
   */
  launch(profileId: string): Promise<LaunchedSettings>
  /** Returns the names of the agent profiles that refer to an LLM profile. */
  usersOf(llmProfile: string): Promise<readonly string[]>
  /** Replaces the name of an LLM profile in all agent profiles that refer to it. @throws AppError */
  renameLlmProfile(name: string, newName: string): Promise<void>
}

export interface LaunchedSettings {
  readonly agent_settings: AgentSettings
  readonly launched: { readonly agent_profile_id: string; readonly revision: number }
}

export interface Worktrees {
  /**
   * Makes a worktree of the repository that contains the folder, on a new branch. Returns the path of this folder in
   * the worktree; undefined when there is no repository or no commit. A second call for the conversation returns the
   * same path.
   * @throws AppError `bad_request` when git fails, `conflict` when `release` has kept a worktree of this conversation,
   * `invalid_input` when no worktree can be made
   */
  create(conversationId: string, folder: string): Promise<string | undefined>
  /**
   * Removes the worktree that contains the folder, if no conversation works in it. Keeps a worktree with changes, or
   * with commits that no other branch has. Returns the path of a worktree that is kept or cannot be removed.
   */
  release(folder: string, isUsed: IsUsed): Promise<string | undefined>
  /** Begins to `release` each worktree in which no conversation works any more. Does not wait until this is done. */
  releaseLeft(isUsed: IsUsed): Promise<void>
}

export interface ProviderConnections {
  /** Returns the key and the address of a provider connection; undefined for an unknown id. @throws AppError */
  find(id: string): Promise<ProviderCredentials | undefined>
}

export interface Retention {
  /**
   * Removes the unused conversations that exceed the limits of retention, as `DELETE` does. Returns all conversations
   * that exceeded the limits, also those that are kept.
   * @throws AppError `invalid_option` without a limit; the signal's reason; an error of the audit trail
   */
  prune(signal: AbortSignal): Promise<readonly Judged[]>
}

/** A conversation that exceeds a limit of retention. */
export interface Judged {
  readonly id: string
  /** The time of the conversation's last change, in ISO 8601. */
  readonly last_activity: string
  readonly bytes: number
  /** In words, the limit that the conversation exceeds. */
  readonly why: string
  /** The reason why the conversation is kept; null when it is removed. */
  readonly stays: string | null
}

export interface Console {
  /**
   * Returns an address that opens the console and, if the server requires a key, signs the browser in once. It begins
   * with the option `publicUrl`, or else with `url`. Returns undefined when the page is not built.
   */
  signInAddress(url: string): Promise<string | undefined>
}
