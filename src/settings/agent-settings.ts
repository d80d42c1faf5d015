/**
 * Decodes the agent settings of files and requests: migrates and validates them, and opens (decrypts) sealed secrets
 * (contract/settings.md, sections 2 and 3). Error messages do not show values that may be secret.
 */
import { AppError } from '../base/errors.ts'
import { isObject } from '../base/json.ts'
import {
  agentSettingsKinds, isAgentSettings, toAcpAgentSettings, toAgentSettings, type AcpAgentSettings, type AgentSettings,
  type McpServer, type ToolSpec,
} from '../schema/generated/settings.ts'
import { problemWithAcpEnv } from './acp-env.ts'
import { isSealed, type Cipher } from './cipher.ts'
import { splitCommand } from './command.ts'
import { isSoundServer, migrateServers } from './mcp-servers.ts'
import { mergePatch } from './merge.ts'
import {
  criticPlace, isSamePlace, problemWithCritic, withoutSecretsOfOldPlace, type CriticChoice,
} from './model-home.ts'
import { completeAcpChoice, customServer } from './providers.ts'
import type { Provider } from './provider.ts'
import { mapSecrets } from './secret-fields.ts'
import { openOfKind } from './secret-kinds.ts'
import { isUnset } from './secret-values.ts'

/** The `schema_version` that is written, and the newest that is read. */
export const agentSettingsVersion = 5

export interface AgentSettingsContext {
  readonly cipher: Cipher
  readonly providers: readonly Provider[]
}

/** Returns the agent settings of a new server, which choose the demo agent (decisions 21). */
export function freshAgentSettings(): AcpAgentSettings {
  return toAcpAgentSettings({ agent_kind: 'acp', acp_server: customServer, acp_command: ['agent-server-demo-agent'] })
}

/**
 * Reads complete agent settings. Without `schema_version` they are read as version 0.
 * @throws AppError `invalid_input`, with no list of issues
 */
export function readAgentSettings(value: unknown, cipher: Cipher): AgentSettings {
  if (!isObject(value)) throw settingsFailure()
  const { schema_version: version = 0 } = value
  const current = typeof version === 'number' && version >= agentSettingsVersion ? value : migrateServers(value)
  return normalise({ ...current, ...(value['agent_kind'] === 'llm' ? { agent_kind: 'openhands' } : {}) }, cipher)
}

/** Reads one MCP server's settings (see `readAgentSettings`). @throws AppError `invalid_input`, without issues */
export function readMcpServer(value: unknown, cipher: Cipher): McpServer {
  const settings = readAgentSettings({ agent_kind: 'openhands', mcp_config: { server: value } }, cipher)
  const { mcp_config: { server } } = settings
  if (server === undefined) throw settingsFailure()
  return server
}

/** Seals every string in the `auth.state` of an MCP server, in the form that `readMcpServer` opens. */
export function sealMcpState(state: Readonly<Record<string, unknown>>, cipher: Cipher): Record<string, unknown> {
  const seal = (secret: string, path: string): string => cipher.seal(secret, `mcp_config.*.auth.${path}`)
  const auth = mapSecrets('McpAuth', { strategy: 'oauth2', state }, seal)
  return isObject(auth) && isObject(auth['state']) ? auth['state'] : {}
}

/**
 * Applies a diff to the stored settings. A diff with another `agent_kind` applies to the defaults of that kind.
 * @throws AppError `invalid_input`, with no list of issues
 */
export function applyAgentDiff(
  stored: AgentSettings,
  diff: Readonly<Record<string, unknown>>,
  { cipher, providers }: AgentSettingsContext,
): AgentSettings {
  const kind = diff['agent_kind'] === null ? 'openhands' : diff['agent_kind']
  const switches = kind !== undefined && kind !== stored.agent_kind
  const merged = (base: object, agentKind: unknown): Record<string, unknown> => {
    return mergePatch({ ...base }, { ...diff, agent_kind: agentKind })
  }
  const next = switches
    ? readAgentSettings(merged(defaultsOf(kind), kind), cipher)
    : withoutKeysOfOldPlace(stored, normalise(merged(stored, stored.agent_kind), cipher), diff)
  if (isObject(diff['verification'])) assertCritic(next)
  if (next.agent_kind !== 'acp') return next
  const previous = !switches && stored.agent_kind === 'acp' ? stored.acp_server : undefined
  return { ...next, ...completeAcpChoice(next, diff, previous, providers) }
}

/** Returns `after` without secrets of a model whose requests went to another place before. Secrets in `diff` stay. */
export function withoutKeysOfOldPlace(
  before: AgentSettings, after: AgentSettings, diff: Readonly<Record<string, unknown>>,
): AgentSettings {
  const next = asAgentSettings({ ...after, llm: withoutSecretsOfOldPlace(before.llm, after.llm, diff['llm']) })
  if (before.agent_kind === 'acp' || next.agent_kind === 'acp') return next
  const given = diff['verification']
  if (isObject(given) && Object.hasOwn(given, 'critic_api_key')) return next
  const [place, nextPlace] = [criticPlace(criticOf(before), before.llm), criticPlace(criticOf(next), next.llm)]
  if (isSamePlace(place, nextPlace)) return next
  return { ...next, verification: { ...next.verification, critic_api_key: null } }
}

/** @throws AppError `invalid_input` when the critic is enabled and `problemWithCritic` returns a problem */
function assertCritic(settings: AgentSettings): void {
  if (settings.agent_kind === 'acp' || !settings.verification.critic_enabled) return
  const problem = problemWithCritic(criticOf(settings), settings.llm)
  if (problem !== undefined) throw new AppError('invalid_input', `Settings validation failed: ${problem}`)
}

function criticOf({ verification }: Exclude<AgentSettings, AcpAgentSettings>): CriticChoice {
  const { critic_server_url: server_url, critic_model_name: model_name, critic_api_key: api_key } = verification
  return { server_url, model_name, api_key }
}

/** Returns the tools of a built-in agent whose `tools` setting is null. */
export function usualTools(hasSubAgents: boolean): ToolSpec[] {
  const subAgents = hasSubAgents ? ['task_tool_set'] : []
  return ['terminal', 'file_editor', 'task_tracker', ...subAgents].map((name) => ({ name, params: {} }))
}

/** Returns a value as agent settings, with defaults. @throws AppError `invalid_input` if the value is not valid */
export function asAgentSettings(value: unknown): AgentSettings {
  if (!isAgentSettings(value)) throw settingsFailure()
  return toAgentSettings(value)
}

/**
 * Returns the plain value of a secret that may be sealed; undefined for an unset secret (`isUnset`).
 * @throws AppError `invalid_input`, with no list of issues, for a token that does not open
 */
export function readSecret(secret: string, context: string, cipher: Cipher): string | undefined {
  if (isUnset(secret)) return undefined
  if (!isSealed(secret)) return secret
  const opened = openOfKind(secret, context, cipher)
  if (opened === undefined) throw settingsFailure()
  return opened
}

/** Returns the error for settings that fail validation (contract/settings.md, section 2.9). */
export function settingsFailure(): AppError {
  return new AppError('invalid_input', 'Settings validation failed')
}

export function newerVersion(version: number, newest: number): AppError {
  const problem = `"schema_version" is ${version}, newer than ${newest}, the newest that this server knows`
  return new AppError('invalid_input', `Settings validation failed: ${problem}`)
}

/** Returns the defaults of an agent kind, without `schema_version`: a diff that is merged into them may have one. */
function defaultsOf(kind: unknown): Record<string, unknown> {
  const known = kind === 'llm' ? 'openhands' : agentSettingsKinds.find((one) => one === kind)
  if (known === undefined) throw settingsFailure()
  const { schema_version: _version, ...defaults } = toAgentSettings({ agent_kind: known })
  return defaults
}

function normalise(value: Readonly<Record<string, unknown>>, cipher: Cipher): AgentSettings {
  const { schema_version: version, acp_command: command } = value
  if (typeof version === 'number' && version > agentSettingsVersion) throw newerVersion(version, agentSettingsVersion)
  const split = typeof command === 'string' ? { ...value, acp_command: splitCommand(command) } : value
  const opened = mapSecrets('AgentSettings', split, (secret, context) => readSecret(secret, context, cipher))
  const settings = asAgentSettings(opened)
  if (!Object.values(settings.mcp_config).every(isSoundServer)) throw settingsFailure()
  const problem = settings.agent_kind === 'acp' ? problemWithAcpEnv(settings.acp_env) : undefined
  if (problem !== undefined) throw new AppError('invalid_input', `Settings validation failed: ${problem}`)
  return { ...settings, schema_version: agentSettingsVersion }
}
