/**
 * Agents and secrets as a conversation stores them: every secret value sealed (decisions 12).
 *
 * `sealAgent` chooses the agent of a new conversation and seals it; `openAgent` gives it back in plain when it is about
 * to run. A client may send tokens of this server in the place of an agent's secrets. Every value that passes in plain is
 * registered with the masker first, so that no text can show it.
 */
import { isDeepStrictEqual } from 'node:util'
import { AppError } from '../base/errors.ts'
import { isObject, toJsonObject, type JsonObject } from '../base/json.ts'
import {
  isConversationAgent,
  toConversationAgent,
  type ACPAgent,
  type Agent,
  type ConfirmationPolicy,
  type ConversationAgent,
  type CriticInput,
  type StartConversationRequest,
} from '../schema/generated/conversations.ts'
import { isSecretSource, toSecretSource, type SecretSource } from '../schema/generated/secrets.ts'
import type { LLM } from '../schema/generated/llm.ts'
import { isAcpServer, type AcpAgentSettings, type AgentSettings, type Verification } from '../schema/generated/settings.ts'
import { readAgentSettings } from '../settings/agent-settings.ts'
import { isToken, type Cipher } from '../settings/cipher.ts'
import type { MaskedValues } from '../settings/masked-values.ts'
import type { Settings } from '../settings/patch.ts'
import { problemWithAcpEnv } from '../settings/acp-env.ts'
import { isOpenByName } from '../settings/open-modes.ts'
import { customServer, detectProvider, resolveAcp } from '../settings/providers.ts'
import type { Provider } from '../settings/provider.ts'
import type { SecretChange } from './agent.ts'
import { mapSecrets, secretsToMask } from '../settings/secret-fields.ts'
import { mapSourceSecrets, withoutUnset } from '../settings/secret-source.ts'
import { maskedParts } from '../settings/masked-parts.ts'
import { isUnset } from '../settings/secret-values.ts'

export interface AgentVaultOptions {
  readonly cipher: Cipher
  readonly providers: readonly Provider[]
  readonly setMasked: MaskedValues
  /** Names that decide which code a program loads: no secret may be called that. */
  readonly isLoaderVariable: (name: string) => boolean
}

/** `owner` is the id of the conversation whose secrets they are. */
export interface AgentVault {
  /** @throws AppError `invalid_input` */
  sealAgent(owner: string, request: StartConversationRequest, settings: () => Promise<Settings>): Promise<JsonObject>
  openAgent(owner: string, sealed: JsonObject): ConversationAgent
  /** The sealed agent with another model; the same object if it is no other. @throws AppError `invalid_input` */
  sealLlm(owner: string, sealed: JsonObject, llm: LLM): JsonObject
  /** The secrets that the context of a sealed agent holds. @throws AppError `invalid_input` */
  sealContextSecrets(owner: string, sealed: JsonObject): Record<string, JsonObject>
  /** @throws AppError `invalid_input` */
  sealSources(owner: string, sources: Readonly<Record<string, SecretSource>>, areTokens: boolean): Record<string, JsonObject>
  openSources(owner: string, sealed: Readonly<Record<string, JsonObject>>): Map<string, SecretSource>
  /** The sealed source with the new value; undefined when the conversation has not this secret with the lent value of its own. */
  replaceSource(owner: string, sealed: Readonly<Record<string, JsonObject>>, change: SecretChange): Record<string, JsonObject> | undefined
  /** Has values that were fetched for a conversation masked as well. */
  hide(owner: string, values: ReadonlyMap<string, string>): void
  /** The conversation is closed: its values need not be masked for ever. */
  forget(owner: string): void
}

const agentType = 'ConversationAgent'

export function createAgentVault(options: AgentVaultOptions): AgentVault {
  const { hideAll, forget } = hiding(options)
  return {
    ...sealedAgents(options, hideAll),
    ...sealedSources(options, hideAll),

    sealContextSecrets(owner, stored) {
      const { agent_context: context } = this.openAgent(owner, stored)
      return this.sealSources(owner, sourcesOf(context?.secrets ?? {}), false)
    },

    hide(owner, values) {
      hideAll(owner, [...values].map(([name, value]) => [`value ${name}`, maskedParts(value)] as const))
    },

    forget,
  }
}

/** Has the values of an owner masked, by the name of what they belong to. */
type HideAll = (owner: string, valuesByName: Iterable<readonly [string, readonly string[]]>) => void

function hiding({ setMasked }: AgentVaultOptions): { readonly hideAll: HideAll; readonly forget: (owner: string) => void } {
  const hidden = new Map<string, Map<string, readonly string[]>>()
  return {
    /** All of them or, when the masker refuses, none: what is refused must not be in the way of what comes later. */
    hideAll(owner, valuesByName) {
      const own = new Map([...(hidden.get(owner) ?? []), ...valuesByName])
      setMasked(owner, [...own.values()].flat())
      hidden.set(owner, own)
    },
    forget(owner) {
      if (hidden.delete(owner)) setMasked(owner, [])
    },
  }
}

function sealedAgents(options: AgentVaultOptions, hideAll: HideAll): Pick<AgentVault, 'sealAgent' | 'openAgent' | 'sealLlm'> {
  const { cipher, providers } = options
  const seal = (agent: ConversationAgent): JsonObject => {
    return sealed(mapSecrets(agentType, agent, (value, path) => cipher.seal(value, path)))
  }
  return {
    async sealAgent(owner, request, settings) {
      const agent = await chooseAgent(request, settings, options)
      assertSound(agent, request.confirmation_policy, providers)
      hideAll(owner, [[agentType, secretsToMask(agentType, agent)]])
      return seal(agent)
    },

    openAgent(owner, stored) {
      const opened = mapSecrets(agentType, stored, (value, path) => (isToken(value) ? cipher.open(value, path) : value))
      if (!isConversationAgent(opened)) throw new TypeError('The stored agent does not fit its schema')
      const agent = toConversationAgent(opened)
      hideAll(owner, [[agentType, secretsToMask(agentType, agent)]])
      return agent.kind === 'ACPAgent' ? resolved(agent, providers) : agent
    },

    sealLlm(owner, stored, llm) {
      const before = this.openAgent(owner, stored)
      const agent = withCondenserOf(before, withPlainSecrets({ ...before, llm }, cipher))
      if (isDeepStrictEqual(agent, before)) return stored
      // The key before is in use for as long as a step runs with it.
      hideAll(owner, [['model before', secretsToMask(agentType, before)], [agentType, secretsToMask(agentType, agent)]])
      return seal(agent)
    },
  }
}

function sealedSources(options: AgentVaultOptions, hideAll: HideAll): Pick<AgentVault, 'sealSources' | 'openSources' | 'replaceSource'> {
  const { cipher } = options
  return {
    sealSources(owner, sources, areTokens) {
      const entries = Object.entries(sources)
      const plain = entries.map(([name, source]) => [name, plainSource(name, source, areTokens, options)] as const)
      hideAll(owner, plain.map(hiddenBySource))
      return Object.fromEntries(plain.map(([name, source]) => {
        return [name, toJsonObject(mapSourceSecrets(source, (value, path) => cipher.seal(value, `${name}.${path}`)))]
      }))
    },

    openSources(owner, stored) {
      const entries = Object.entries(stored).map(([name, source]): [string, SecretSource] => {
        if (!isSecretSource(source)) throw new TypeError('A stored secret does not fit its schema')
        return [name, openSource(toSecretSource(source), name, cipher)]
      })
      hideAll(owner, entries.map(hiddenBySource))
      return new Map(entries)
    },

    replaceSource(owner, stored, { name, lent, current }) {
      const source = this.openSources(owner, stored).get(name)
      if (source?.kind !== 'StaticSecret' || source.value !== lent) return undefined
      return this.sealSources(owner, { [name]: { ...source, value: current } }, false)
    },
  }
}

/** @throws AppError `invalid_input` for one that no program may be given. */
function plainSource(name: string, source: SecretSource, isToken: boolean, options: AgentVaultOptions): SecretSource {
  const plain = isToken ? openSource(withoutUnset(source), name, options.cipher) : withoutUnset(source)
  const problem = problemOf(name, plain, options)
  if (problem === undefined) return plain
  throw new AppError('invalid_input', `Cannot use the secret ${JSON.stringify(name)}: ${problem}`)
}

async function chooseAgent(
  request: StartConversationRequest,
  settings: () => Promise<Settings>,
  { cipher, providers }: AgentVaultOptions,
): Promise<ConversationAgent> {
  if (request.agent !== undefined) {
    const given = withPlainSecrets(request.agent, cipher)
    return given.kind === 'ACPAgent' ? resolved(given, providers) : given
  }
  const chosen = request.agent_settings === undefined ? (await settings()).agent_settings : readAgentSettings(request.agent_settings, cipher)
  return agentOf(chosen, providers)
}

/** What a client may send: tokens of ours are opened, and what stands for no value is left out. @throws AppError `invalid_input` */
function withPlainSecrets(agent: ConversationAgent, cipher: Cipher): ConversationAgent {
  const plain = mapSecrets(agentType, agent, (value, path) => {
    if (isUnset(value)) return undefined
    const opened = isToken(value) ? cipher.open(value, path) : value
    if (opened === undefined) throw new AppError('invalid_input', `Cannot open the encrypted secret "${path}"`)
    return opened
  })
  if (!isConversationAgent(plain)) throw new TypeError('An agent does not fit its schema without what is unset')
  return toConversationAgent(plain)
}

/** A condenser that had the agent's own model goes on with the new one; one that was given another keeps it. */
function withCondenserOf(before: ConversationAgent, agent: ConversationAgent): ConversationAgent {
  if (agent.kind !== 'Agent' || agent.condenser?.kind !== 'LLMSummarizingCondenser') return agent
  const { condenser, llm } = agent
  if (condenser.llm === null || !isSameModel(condenser.llm, before.llm)) return agent
  return { ...agent, condenser: { ...condenser, llm: { ...llm, usage_id: condenser.llm.usage_id } } }
}

/** The same model at the same place with the same key: clients send such copies under a usage id of their own. */
function isSameModel(one: LLM, other: LLM): boolean {
  return one.model === other.model && one.base_url === other.base_url && one.api_key === other.api_key
}

function sourcesOf(secrets: Readonly<Record<string, unknown>>): Record<string, SecretSource> {
  return Object.fromEntries(Object.entries(secrets).map(([name, source]): [string, SecretSource] => {
    if (typeof source === 'string') return [name, { kind: 'StaticSecret', value: source }]
    if (isSecretSource(source)) return [name, toSecretSource(source)]
    throw new AppError('invalid_input', `Cannot use the secret ${JSON.stringify(name)}: expected a text or an object with a value`)
  }))
}

function agentOf(settings: AgentSettings, providers: readonly Provider[]): ConversationAgent {
  return settings.agent_kind === 'acp' ? resolved(acpAgentOf(settings), providers) : builtInAgentOf(settings)
}

function acpAgentOf(settings: AcpAgentSettings): ACPAgent {
  const agent = toConversationAgent({ ...settings, kind: 'ACPAgent', llm: { model: 'acp-managed', usage_id: 'acp-managed' } })
  if (agent.kind !== 'ACPAgent') throw new TypeError('Expected the agent kind that was asked for')
  return agent
}

function builtInAgentOf(settings: Exclude<AgentSettings, AcpAgentSettings>): Agent {
  const { llm, tools, mcp_config, agent_context, tool_concurrency_limit, condenser, verification } = settings
  // There is no such tool here. Asked for by its name, it is told to the agent and in the history as missing.
  const subAgents = settings.enable_sub_agents ? ['task_tool_set'] : []
  const usual = ['terminal', 'file_editor', 'task_tracker', ...subAgents].map((name) => ({ name, params: {} }))
  const isCondensed = condenser.condenser_kind === 'llm_summarizing' && condenser.enabled
  const memory = { condenser: isCondensed ? condenser : null }
  const rest = { llm, tools: tools ?? usual, mcp_config, agent_context, tool_concurrency_limit, critic: criticOf(verification), ...memory }
  const agent = toConversationAgent({ kind: 'Agent', ...rest })
  if (agent.kind !== 'Agent') throw new TypeError('Expected the agent kind that was asked for')
  return agent
}

function criticOf(verification: Verification): CriticInput | null {
  if (!verification.critic_enabled) return null
  return {
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

/** With the command and the model that its preset means. @throws AppError `invalid_input` for one without a command. */
function resolved(agent: ACPAgent, providers: readonly Provider[]): ACPAgent {
  const named = agent.acp_server ?? detectProvider(agent.acp_command, providers)?.name ?? customServer
  const acp_server = isAcpServer(named) ? named : customServer
  const { command, model } = resolveAcp({ acp_server, acp_command: agent.acp_command, acp_model: agent.acp_model }, providers)
  if (command.length === 0) {
    throw new AppError('invalid_input', 'Cannot start the conversation: "acp_command" is empty, expected the command of the custom agent')
  }
  return { ...agent, acp_server, acp_command: command, acp_model: model ?? null }
}

/** What no schema can say of an agent. @throws AppError `invalid_input` */
function assertSound(agent: ConversationAgent, policy: ConfirmationPolicy, providers: readonly Provider[]): void {
  assertMode(agent, policy, providers)
  assertVariables(agent)
  assertCondenses(agent)
}

/** Variables of the program must not steer it. */
function assertVariables(agent: ConversationAgent): void {
  const problem = agent.kind === 'ACPAgent' ? problemWithAcpEnv(agent.acp_env) : undefined
  if (problem !== undefined) throw new AppError('invalid_input', `Cannot start the conversation: ${problem}`)
}

/** A session mode that is named must not allow unasked what the policy wants to be asked about (decisions 24). */
function assertMode(agent: ConversationAgent, policy: ConfirmationPolicy, providers: readonly Provider[]): void {
  if (agent.kind !== 'ACPAgent' || agent.acp_session_mode === null || policy.kind === 'NeverConfirm') return
  const mode = agent.acp_session_mode
  const provider = providers.find(({ name }) => name === agent.acp_server) ?? detectProvider(agent.acp_command, providers)
  const isOpen = provider?.modes?.moreOpen.includes(mode) ?? isOpenByName(mode)
  if (!isOpen) return
  const problem = `the session mode "${mode}" is more open than the policy ${policy.kind}`
  throw new AppError('invalid_input', `Cannot start the conversation: ${problem}`)
}

/** What stays of a view has to fit beside a summary (contract: conversations.md, section 1). */
function assertCondenses(agent: ConversationAgent): void {
  if (agent.kind !== 'Agent' || agent.condenser?.kind !== 'LLMSummarizingCondenser') return
  const { keep_first, max_size } = agent.condenser
  if (keep_first + 1 < Math.floor(max_size / 2)) return
  const message = `Cannot start the conversation: the condenser keeps the first ${keep_first} events of ${max_size}, expected less than half but one`
  throw new AppError('invalid_input', message)
}

/** What cannot become a variable of a program would fail every turn, since secrets are never taken away. */
function problemOf(name: string, source: SecretSource, { isLoaderVariable }: AgentVaultOptions): string | undefined {
  const value = source.kind === 'StaticSecret' ? (source.value ?? '') : ''
  if (name === '' || /[=\0]/.test(name)) return 'expected a name without "=" or NUL'
  if (isLoaderVariable(name)) return 'a variable of this name decides what programs load'
  if (value.includes('\0')) return 'expected a value without NUL characters'
  return undefined
}

function openSource(source: SecretSource, name: string, cipher: Cipher): SecretSource {
  return mapSourceSecrets(source, (value, path) => {
    if (!isToken(value)) return value
    const opened = cipher.open(value, `${name}.${path}`) ?? cipher.open(value, name)
    if (opened === undefined) throw new AppError('invalid_input', `Cannot open the encrypted secret "${name}"`)
    return opened
  })
}

function hiddenBySource([name, source]: readonly [string, SecretSource]): readonly [string, readonly string[]] {
  return [`secret ${name}`, valuesIn(source)]
}

function valuesIn(source: SecretSource): string[] {
  const values: string[] = []
  mapSourceSecrets(source, (value) => {
    values.push(...maskedParts(value))
    return value
  })
  return values
}

function sealed(value: unknown): JsonObject {
  if (!isObject(value)) throw new TypeError('Expected an agent')
  return toJsonObject(value)
}
