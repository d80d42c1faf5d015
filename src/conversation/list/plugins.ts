/**
 * Adds the skills and MCP servers of plugins to the agent of a new conversation. Joins lists of hooks. Pure.
 *
 * An MCP server of the agent replaces a plugin's server of the same name.
 */
import { AppError } from '../../base/errors.ts'
import type { JsonObject } from '../../base/json.ts'
import { toAgentContext } from '../../schema/generated/settings.ts'
import type { McpServer } from '../../schema/generated/settings.ts'
import type { ConversationAgent } from '../../schema/generated/conversations.ts'
import type { HookConfig } from '../../schema/generated/hooks.ts'
import type { AgentDefinition } from '../../schema/generated/agent-definitions.ts'
import type { AgentKind } from '../agent/agent.ts'

export interface BroughtByPlugins {
  /** Skills in the form of `agent_context.skills`. */
  readonly skills: readonly JsonObject[]
  /** The hooks of each plugin that has hooks. */
  readonly hooks: readonly HookConfig[]
  readonly agents: readonly AgentDefinition[]
  readonly servers: Readonly<Record<string, McpServer>>
}

/**
 * Returns the agent with the skills and MCP servers of the plugins.
 * @throws AppError `invalid_input` when plugins add something to an external agent
 */
export function withPlugins(
  agent: ConversationAgent, kind: AgentKind, { skills, servers, hooks, agents }: BroughtByPlugins,
): ConversationAgent {
  if ([skills, hooks, agents, Object.keys(servers)].every(({ length }) => length === 0)) return agent
  if (!kind.takesAdditions) {
    throw new AppError('invalid_input', 'Cannot use plugins with an external agent: expected the built-in agent')
  }
  const context = agent.agent_context ?? toAgentContext({})
  const withSkills = { ...context, skills: [...skills, ...context.skills] }
  return { ...agent, mcp_config: { ...servers, ...agent.mcp_config }, agent_context: withSkills }
}

/** Joins the hooks of `configs` in the order of `configs`. Returns undefined for an empty list. */
export function joinedHooks(configs: readonly HookConfig[]): HookConfig | undefined {
  const [first, ...others] = configs
  return first === undefined ? undefined : others.reduce((joined, more) => ({
    pre_tool_use: [...joined.pre_tool_use, ...more.pre_tool_use],
    post_tool_use: [...joined.post_tool_use, ...more.post_tool_use],
    user_prompt_submit: [...joined.user_prompt_submit, ...more.user_prompt_submit],
    session_start: [...joined.session_start, ...more.session_start],
    session_end: [...joined.session_end, ...more.session_end],
    stop: [...joined.stop, ...more.stop],
  }), first)
}
