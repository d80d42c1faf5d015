/**
 * Turns an agent profile into the agent settings of a conversation (contract/settings.md, section 8). `diagnose` finds
 * out whether that is possible.
 *
 * Some members that profiles lack come from the stored settings: `load_memory` for the built-in agent; `acp_env` and
 * others for an external agent, if the settings have the same `acp_server`.
 */
import { AppError, messageOf } from '../../base/errors.ts'
import { isObject, type JsonObject, toJsonObject } from '../../base/json.ts'
import type { AgentProfileDiagnosis } from './generated.ts'
import type { LLM } from '../../schema/generated/llm.ts'
import type { AcpAgentSettings, AgentSettings, McpServer } from '../../schema/generated/settings.ts'
import { asAgentSettings, usualTools } from '../../settings/agent-settings.ts'
import type { Cipher } from '../../settings/cipher.ts'
import { splitCommand } from '../../settings/command.ts'
import { exposeAgentSettings } from '../../settings/expose.ts'
import type { Provider } from '../../settings/provider.ts'
import { isUnset } from '../../settings/secret-values.ts'
import { llmProfileOf, type StoredProfile } from './store.ts'

export interface ProfileSources {
  /** The stored agent settings, with plain secrets. */
  readonly agentSettings: () => Promise<AgentSettings>
  /** Returns the model of an LLM profile. @throws the errors of `ProfileStore.load` */
  readonly loadLlm: (name: string) => Promise<LLM>
  readonly usableTools: () => Promise<readonly string[]>
  readonly skillNames: () => Promise<readonly string[]>
  readonly cipher: Cipher
  readonly providers: readonly Provider[]
}

type Servers = Readonly<Record<string, McpServer>>
type AcpProfile = Extract<StoredProfile, { readonly agent_kind: 'acp' }>
type BuiltInProfile = Exclude<StoredProfile, AcpProfile>

const browserTools = 'browser_tool_set'

/**
 * Returns the agent settings of a profile, with plain secrets.
 * @throws AppError `invalid_input` for missing MCP servers or a missing command; the errors of `sources`
 */
export async function resolveProfile(profile: StoredProfile, sources: ProfileSources): Promise<AgentSettings> {
  const stored = await sources.agentSettings()
  const { servers, dangling } = chooseServers(profile.mcp_server_refs, stored.mcp_config)
  if (dangling.length > 0) throw new AppError('invalid_input', missingServers(dangling))
  if (profile.agent_kind === 'acp') return acpSettings(profile, servers, stored)
  const llm = await sources.loadLlm(profile.llm_profile_ref)
  return builtInSettings(profile, { llm, servers, stored, usable: await sources.usableTools() })
}

/** Finds out whether a profile can be used. The result has the errors, or the agent settings with redacted secrets. */
export async function diagnose(profile: StoredProfile, sources: ProfileSources): Promise<AgentProfileDiagnosis> {
  const errors: string[] = []
  const { mcp_config: configured } = await sources.agentSettings()
  const { servers, dangling } = chooseServers(profile.mcp_server_refs, configured)
  if (dangling.length > 0) errors.push(missingServers(dangling))
  const ref = llmProfileOf(profile)
  const llm = ref === null ? undefined : await unless(errors, () => sources.loadLlm(ref))
  const settings = errors.length > 0 ? undefined : await unless(errors, () => resolveProfile(profile, sources))
  return {
    agent_kind: profile.agent_kind,
    valid: settings !== undefined,
    errors,
    llm_profile_ref: ref,
    llm_profile_resolved: llm !== undefined,
    llm_api_key_set: !isUnset(llm?.api_key ?? ''),
    mcp_server_refs: profile.mcp_server_refs,
    resolved_mcp_config_keys: Object.keys(servers),
    dangling_mcp_server_refs: dangling,
    ...await skillsOf(profile, sources),
    ...credentialsOf(profile, sources.providers),
    resolved_settings: settings === undefined ? null : shown(settings, sources),
  }
}

function chooseServers(refs: readonly string[] | null, configured: Servers): { servers: Servers; dangling: string[] } {
  if (refs === null) return { servers: configured, dangling: [] }
  const names = [...new Set(refs)]
  const isThere = (name: string): boolean => Object.hasOwn(configured, name)
  const servers = Object.entries(configured).filter(([name]) => names.includes(name))
  return { servers: Object.fromEntries(servers), dangling: names.filter((name) => !isThere(name)) }
}

function missingServers(names: readonly string[]): string {
  return `MCP server(s) not configured: ${names.join(', ')}`
}

function acpSettings(profile: AcpProfile, mcp_config: Servers, stored: AgentSettings): AgentSettings {
  const { acp_server, acp_model, acp_session_mode, acp_prompt_timeout, acp_startup_timeout } = profile
  const acp_command = splitCommand(profile.acp_command ?? '')
  if (acp_server === 'custom' && acp_command.length === 0) {
    throw new AppError('invalid_input', 'acp_command is required when acp_server is "custom"')
  }
  return asAgentSettings({
    ...(stored.agent_kind === 'acp' && stored.acp_server === acp_server ? outsideOfProfiles(stored) : {}),
    agent_kind: 'acp',
    acp_server,
    acp_command,
    acp_args: profile.acp_args ?? [],
    acp_model,
    acp_session_mode,
    acp_prompt_timeout,
    acp_startup_timeout,
    mcp_config,
  })
}

/** Returns the members of an external agent's settings that agent profiles do not have. */
function outsideOfProfiles(settings: AcpAgentSettings): Partial<AcpAgentSettings> {
  const { acp_env, acp_unasked_calls, acp_isolate_data_dir, acp_file_secrets } = settings
  return { acp_env, acp_unasked_calls, acp_isolate_data_dir, acp_file_secrets }
}

interface BuiltInSources {
  readonly llm: LLM
  readonly servers: Servers
  readonly stored: AgentSettings
  readonly usable: readonly string[]
}

function builtInSettings(profile: BuiltInProfile, { llm, servers, stored, usable }: BuiltInSources): AgentSettings {
  const { agent, condenser, verification, enable_sub_agents, enable_switch_llm_tool, tool_concurrency_limit } = profile
  const browser = usable.includes(browserTools) ? [{ name: browserTools, params: {} }] : []
  const { disabled_skills, system_message_suffix } = profile
  const load_memory = stored.agent_context?.load_memory ?? false
  const files = { load_user_skills: true, load_project_skills: true, load_memory }
  return asAgentSettings({
    agent_kind: 'openhands',
    agent,
    llm: { ...llm, stream: true },
    tools: profile.tools ?? [...usualTools(enable_sub_agents), ...browser],
    mcp_config: servers,
    agent_context: { ...files, disabled_skills, system_message_suffix },
    condenser,
    verification,
    enable_sub_agents,
    enable_switch_llm_tool,
    tool_concurrency_limit,
  })
}

type Skills = Pick<AgentProfileDiagnosis, 'disabled_skills' | 'resolved_skills'>

async function skillsOf(profile: StoredProfile, { skillNames }: ProfileSources): Promise<Skills> {
  if (profile.agent_kind === 'acp') return { disabled_skills: [], resolved_skills: [] }
  const { disabled_skills: disabled } = profile
  return { disabled_skills: disabled, resolved_skills: (await skillNames()).filter((name) => !disabled.includes(name)) }
}

type Credentials = Pick<
  AgentProfileDiagnosis, 'acp_api_key_secret_name' | 'acp_base_url_secret_name' | 'acp_file_secret_names'
>

/**
 * Returns the names of the secrets with which an external agent signs in: for its API key, its base URL and its
 * credential files. There are none for the built-in agent, and for an `acp_server` that is not in `providers`.
 */
function credentialsOf(profile: StoredProfile, providers: readonly Provider[]): Credentials {
  const provider = profile.agent_kind === 'acp' ? providers.find(({ name }) => name === profile.acp_server) : undefined
  const settings = provider === undefined ? undefined : asAgentSettings({ agent_kind: 'acp' })
  const files = settings?.agent_kind === 'acp' ? settings.acp_file_secrets : []
  return {
    acp_api_key_secret_name: provider?.apiKeyVariable ?? null,
    acp_base_url_secret_name: provider?.baseUrlVariable ?? null,
    acp_file_secret_names: files.filter(({ subdir }) => subdir === provider?.name).map((file) => file.secret_name),
  }
}

/** Returns the result of `work`. When it throws an AppError, adds the message to `errors` and returns undefined. */
async function unless<T>(errors: string[], work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work()
  } catch (thrown) {
    if (!(thrown instanceof AppError)) throw thrown
    errors.push(messageOf(thrown))
    return undefined
  }
}

function shown(settings: AgentSettings, { cipher, providers }: ProfileSources): JsonObject | null {
  const redacted: unknown = exposeAgentSettings(settings, 'redacted', { cipher, providers })
  return isObject(redacted) ? toJsonObject(redacted) : null
}
