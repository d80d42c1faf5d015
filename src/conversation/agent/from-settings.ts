/**
 * Makes the description of a conversation's agent from agent settings. Pure.
 *
 * Secrets are copied as they are, sealed (encrypted) or plain.
 */
import { AppError } from '../../base/errors.ts'
import {
  toConversationAgent, type ACPAgent, type Agent, type ConversationAgent, type CriticInput,
} from '../../schema/generated/conversations.ts'
import {
  isAcpServer, type AcpAgentSettings, type AgentSettings, type Verification,
} from '../../schema/generated/settings.ts'
import { usualTools } from '../../settings/agent-settings.ts'
import { customServer, detectProvider, resolveAcp } from '../../settings/providers.ts'
import type { Provider } from '../../settings/provider.ts'

/** Converts settings to an agent. @throws AppError `invalid_input` for an external agent without a command */
export function agentOf(settings: AgentSettings, providers: readonly Provider[]): ConversationAgent {
  return settings.agent_kind === 'acp' ? resolved(acpAgentOf(settings), providers) : builtInAgentOf(settings)
}

function acpAgentOf(settings: AcpAgentSettings): ACPAgent {
  const llm = { model: 'acp-managed', usage_id: 'acp-managed' }
  const agent = toConversationAgent({ ...settings, kind: 'ACPAgent', llm })
  if (agent.kind !== 'ACPAgent') throw new TypeError('Expected the agent kind that was asked for')
  return agent
}

function builtInAgentOf(settings: Exclude<AgentSettings, AcpAgentSettings>): Agent {
  const { llm, tools, mcp_config, agent_context, tool_concurrency_limit, condenser, verification } = settings
  const usual = usualTools(settings.enable_sub_agents)
  const isCondensed = condenser.condenser_kind === 'llm_summarizing' && condenser.enabled
  const memory = { condenser: isCondensed ? condenser : null }
  const critic = criticOf(verification)
  const rest = { llm, tools: tools ?? usual, mcp_config, agent_context, tool_concurrency_limit, critic, ...memory }
  const agent = toConversationAgent({ kind: 'Agent', ...rest })
  if (agent.kind !== 'Agent') throw new TypeError('Expected the agent kind that was asked for')
  return agent
}

function criticOf(verification: Verification): CriticInput | null {
  if (!verification.critic_enabled) return null
  return {
    kind: 'APIBasedCritic',
    mode: verification.critic_mode,
    server_url: verification.critic_server_url,
    model_name: verification.critic_model_name,
    api_key: verification.critic_api_key,
    iterative_refinement: !verification.enable_iterative_refinement ? null : {
      success_threshold: verification.critic_threshold,
      max_iterations: verification.max_refinement_iterations,
    },
  }
}

/**
 * Fills in what the agent lacks: detects `acp_server` from the command, and takes the command and the model from the
 * provider.
 * @throws AppError `invalid_input` when neither the agent nor its provider has a command
 */
export function resolved(agent: ACPAgent, providers: readonly Provider[]): ACPAgent {
  const named = agent.acp_server ?? detectProvider(agent.acp_command, providers)?.name ?? customServer
  const acp_server = isAcpServer(named) ? named : customServer
  const chosen = { acp_server, acp_command: agent.acp_command, acp_model: agent.acp_model }
  const { command, model } = resolveAcp(chosen, providers)
  if (command.length === 0) {
    const problem = '"acp_command" is empty, expected the command of the custom agent'
    throw new AppError('invalid_input', `Cannot start the conversation: ${problem}`)
  }
  return { ...agent, acp_server, acp_command: command, acp_model: model ?? null }
}
