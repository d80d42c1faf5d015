/**
 * Makes the first agent profile, `default`, from the stored agent settings (contract/settings.md, section 8).
 *
 * The built-in agent's model is stored as the LLM profile `default`, if it has a key, a subscription or a base URL. The
 * model is not stored when an LLM profile is active, or when there is already an LLM profile `default`.
 */
import { AppError } from '../../base/errors.ts'
import { isAgentProfile, toAgentProfile, type AgentProfile } from './generated.ts'
import type { AgentSettings } from '../../schema/generated/settings.ts'
import type { LLM } from '../../schema/generated/llm.ts'
import { joinCommand } from '../../settings/command.ts'
import type { Settings } from '../../settings/patch.ts'
import type { ProfileStore } from '../../settings/profiles.ts'
import { isUnset } from '../../settings/secret-values.ts'

export const firstName = 'default'

export type LlmProfiles = Pick<ProfileStore, 'save' | 'view'>

/**
 * Makes the first agent profile from the settings. May also store the settings' model as the LLM profile `default`.
 * @throws the errors of `llmProfiles.save`; TypeError for settings that do not fit a profile
 */
export async function firstProfile(settings: Settings, llmProfiles: LlmProfiles): Promise<AgentProfile> {
  const { agent_settings: agent, active_profile: active } = settings
  if (agent.agent_kind === 'openhands' && active === null) await keepModel(agent.llm, llmProfiles)
  const profile = agent.agent_kind === 'acp' ? acpFields(agent) : builtInFields(agent, active ?? firstName)
  if (!isAgentProfile(profile)) throw new TypeError('The settings do not fit an agent profile')
  return toAgentProfile(profile)
}

async function keepModel(llm: LLM, profiles: LlmProfiles): Promise<void> {
  const isOwn = !isUnset(llm.api_key ?? '') || llm.auth_type === 'subscription' || (llm.base_url ?? '').trim() !== ''
  const isFree = await profiles.view(firstName, 'redacted').then(() => false, isNotFound)
  if (isOwn && isFree) await profiles.save(firstName, { llm, include_secrets: true })
}

/**
 * True for the error of a missing profile. False for other AppErrors, so that an unreadable profile is not replaced.
 * @throws any error that is no AppError
 */
function isNotFound(thrown: unknown): boolean {
  if (thrown instanceof AppError) return thrown.code === 'not_found'
  throw thrown
}

function acpFields(settings: Extract<AgentSettings, { readonly agent_kind: 'acp' }>): object {
  const { agent_kind, acp_server, acp_command, acp_args, acp_model, acp_session_mode } = settings
  const { acp_prompt_timeout, acp_startup_timeout } = settings
  return {
    agent_kind,
    acp_server,
    acp_command: acp_command.length === 0 ? null : joinCommand(acp_command),
    acp_args: acp_args.length === 0 ? null : acp_args,
    acp_model,
    acp_session_mode,
    acp_prompt_timeout,
    acp_startup_timeout,
  }
}

function builtInFields(
  settings: Exclude<AgentSettings, { readonly agent_kind: 'acp' }>, llm_profile_ref: string,
): object {
  const { agent, tools, condenser, enable_sub_agents, enable_switch_llm_tool, tool_concurrency_limit } = settings
  const { critic_api_key: _key, ...verification } = settings.verification
  return {
    agent_kind: 'openhands',
    llm_profile_ref,
    agent,
    tools,
    system_message_suffix: settings.agent_context.system_message_suffix,
    condenser,
    verification,
    enable_sub_agents,
    enable_switch_llm_tool,
    tool_concurrency_limit,
  }
}
