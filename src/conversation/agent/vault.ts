/**
 * Seals (encrypts) and opens (decrypts) the agent settings and the secrets of a conversation (decisions 12).
 *
 * Also gives the plain values to the masker, which hides them in texts.
 */
import { isDeepStrictEqual } from 'node:util'
import { AppError } from '../../base/errors.ts'
import { isObject, toJsonObject, type JsonObject } from '../../base/json.ts'
import {
  isConversationAgent, toConversationAgent, type ConfirmationPolicy, type ConversationAgent,
  type StartConversationRequest,
} from '../../schema/generated/conversations.ts'
import { isSecretSource, toSecretSource, type SecretSource } from '../../schema/generated/secrets.ts'
import type { LLM } from '../../schema/generated/llm.ts'
import { readAgentSettings } from '../../settings/agent-settings.ts'
import { isSealed, type Cipher } from '../../settings/cipher.ts'
import type { MaskedValues } from '../../settings/masked-values.ts'
import { criticPlace, isSamePlace, problemWithCritic } from '../../settings/model-home.ts'
import type { StoredAgent } from '../../settings/patch.ts'
import { problemWithAcpEnv } from '../../settings/acp-env.ts'
import { isOpenByName } from '../../settings/open-modes.ts'
import { detectProvider } from '../../settings/providers.ts'
import type { Provider } from '../../settings/provider.ts'
import type { SecretChange } from './host.ts'
import { mapSecrets, secretsToMask } from '../../settings/secret-fields.ts'
import { openOfKind } from '../../settings/secret-kinds.ts'
import { mapSourceSecrets, withoutUnset } from '../../settings/secret-source.ts'
import { maskedParts } from '../../settings/masked-parts.ts'
import { isUnset } from '../../settings/secret-values.ts'
import { mapSummarizers, summarizersOf } from './condensers.ts'
import { agentOf, resolved } from './from-settings.ts'

export interface AgentVaultOptions {
  readonly cipher: Cipher
  readonly providers: readonly Provider[]
  readonly setMasked: MaskedValues
  /** True for a variable that steers a program (base/loader-variable). A secret with such a name is refused. */
  readonly isLoaderVariable: (name: string) => boolean
}

/** Each `owner` is the id of the conversation that the secrets belong to. */
export interface AgentVault {
  /**
   * Chooses the agent of a new conversation, calls `extend` with it, and returns the result with its secrets sealed.
   * @throws AppError `invalid_input`; the errors of `extend` and `settings`
   */
  sealAgent(
    owner: string, request: StartConversationRequest, settings: StoredAgent, extend?: ExtendAgent,
  ): Promise<JsonObject>
  openAgent(owner: string, sealed: JsonObject): ConversationAgent
  /**
   * Returns the sealed agent with another model; `sealed` itself if nothing changes.
   * @throws AppError `invalid_input`
   */
  sealLlm(owner: string, sealed: JsonObject, llm: LLM): JsonObject
  /** Returns the secrets in `agent_context` of a sealed agent, sealed as in `sealSources`. @throws as `sealSources` */
  sealContextSecrets(owner: string, sealed: JsonObject): Record<string, JsonObject>
  /** Seals secrets. With `areTokens`, values may be sealed tokens of this server. @throws AppError `invalid_input` */
  sealSources(owner: string, sources: SecretSources, areTokens: boolean): Record<string, JsonObject>
  openSources(owner: string, sealed: Readonly<Record<string, JsonObject>>): Map<string, SecretSource>
  /** Returns the secret with its new value, sealed; undefined if it is not static or its value is not `change.lent`. */
  replaceSource(owner: string, sealed: SealedSources, change: SecretChange): Record<string, JsonObject> | undefined
  /** Begins to mask values for a conversation. `values` maps the names of secrets to their values. */
  hide(owner: string, values: ReadonlyMap<string, string>): void
  /** Marks a conversation's values as removed. Removed values stay masked for some time (settings/masked-values). */
  forget(owner: string): void
}

/** Adds skills and MCP servers of plugins to the agent of a new conversation, and returns the result. */
export type ExtendAgent = (agent: ConversationAgent) => Promise<ConversationAgent>

type SecretSources = Readonly<Record<string, SecretSource>>
type SealedSources = Readonly<Record<string, JsonObject>>
type SealedAgents = Pick<AgentVault, 'sealAgent' | 'openAgent' | 'sealLlm'>
type SourceVault = Pick<AgentVault, 'sealSources' | 'openSources' | 'replaceSource'>

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

/** Begins to mask values for a conversation (`owner`). New values under a name replace the name's current values. */
type HideAll = (owner: string, valuesByName: Iterable<readonly [string, readonly string[]]>) => void

function hiding(
  { setMasked }: AgentVaultOptions,
): { readonly hideAll: HideAll; readonly forget: AgentVault['forget'] } {
  const hidden = new Map<string, Map<string, readonly string[]>>()
  return {
    /** If `setMasked` throws, the current values of the conversation stay masked. */
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

function sealedAgents(options: AgentVaultOptions, hideAll: HideAll): SealedAgents {
  const { cipher, providers } = options
  const seal = (agent: ConversationAgent): JsonObject => {
    return sealed(mapSecrets(agentType, agent, (value, path) => cipher.seal(value, path)))
  }
  return {
    async sealAgent(owner, request, settings, extend = (agent) => Promise.resolve(agent)) {
      const agent = await extend(await chooseAgent(request, settings, options))
      assertSound(agent, request.confirmation_policy, providers)
      hideAll(owner, [[agentType, secretsToMask(agentType, agent)]])
      return seal(agent)
    },

    openAgent(owner, stored) {
      const opened = mapSecrets(agentType, stored, (value, at) => (isSealed(value) ? cipher.open(value, at) : value))
      if (!isConversationAgent(opened)) throw new TypeError('The stored agent does not fit its schema')
      const agent = toConversationAgent(opened)
      hideAll(owner, [[agentType, secretsToMask(agentType, agent)]])
      return agent.kind === 'ACPAgent' ? resolved(agent, providers) : agent
    },

    sealLlm(owner, stored, llm) {
      const before = this.openAgent(owner, stored)
      const agent = withSwitched(before, withPlainSecrets({ ...before, llm }, cipher))
      if (isDeepStrictEqual(agent, before)) return stored
      // A step under way may still use the key of the old model, so the masking of this key goes on.
      hideAll(owner, [['model before', secretsToMask(agentType, before)], [agentType, secretsToMask(agentType, agent)]])
      return seal(agent)
    },
  }
}

function sealedSources(options: AgentVaultOptions, hideAll: HideAll): SourceVault {
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

/** Returns a source with plain values. @throws AppError `invalid_input` (`problemOf`, or a value cannot be unsealed) */
function plainSource(name: string, source: SecretSource, wasSealed: boolean, options: AgentVaultOptions): SecretSource {
  const plain = wasSealed ? openSource(withoutUnset(source), name, options.cipher) : withoutUnset(source)
  const problem = problemOf(name, plain, options)
  if (problem === undefined) return plain
  throw new AppError('invalid_input', `Cannot use the secret ${JSON.stringify(name)}: ${problem}`)
}

async function chooseAgent(
  request: StartConversationRequest,
  settings: StoredAgent,
  { cipher, providers }: AgentVaultOptions,
): Promise<ConversationAgent> {
  if (request.agent !== undefined) {
    const given = withPlainSecrets(request.agent, cipher)
    return given.kind === 'ACPAgent' ? resolved(given, providers) : given
  }
  const given = request.agent_settings
  if (given === undefined) return agentOf((await settings()).agent_settings, providers)
  const chosen = readAgentSettings(given, cipher)
  if (chosen.agent_kind === 'openhands' && given['llm'] === undefined) {
    const problem = '"agent_settings" names no model, expected "llm" with "model"'
    throw new AppError('invalid_input', `Cannot start the conversation: ${problem}`)
  }
  return agentOf(chosen, providers)
}

/** Returns an agent with its secrets decrypted, without blank or redacted secrets. @throws AppError `invalid_input` */
function withPlainSecrets(agent: ConversationAgent, cipher: Cipher): ConversationAgent {
  const plain = mapSecrets(agentType, agent, (value, path) => {
    if (isUnset(value)) return undefined
    const opened = isSealed(value) ? openOfKind(value, path, cipher) : value
    if (opened === undefined) throw new AppError('invalid_input', `Cannot open the encrypted secret "${path}"`)
    return opened
  })
  if (!isConversationAgent(plain)) throw new TypeError('An agent does not fit its schema without its unset secrets')
  return toConversationAgent(plain)
}

/**
 * Returns `agent`, which may have another model than `before`, with its condenser and critic adapted. A condenser with
 * the old model gets the new model. A critic that would now call another server loses its key (decisions 44).
 */
function withSwitched(before: ConversationAgent, agent: ConversationAgent): ConversationAgent {
  if (agent.kind !== 'Agent') return agent
  const condenser = mapSummarizers(agent.condenser, (one) => {
    if (one.llm === null || !isSameModel(one.llm, before.llm)) return one
    return { ...one, llm: { ...agent.llm, usage_id: one.llm.usage_id } }
  })
  const { critic } = agent
  if (critic?.kind !== 'APIBasedCritic') return { ...agent, condenser }
  const stays = isSamePlace(criticPlace(critic, before.llm), criticPlace(critic, agent.llm))
  return { ...agent, condenser, critic: stays ? critic : { ...critic, api_key: null } }
}

/** True for the same model, address and key. Usage ids are not compared: agent and condenser have different ones. */
function isSameModel(one: LLM, other: LLM): boolean {
  return one.model === other.model && one.base_url === other.base_url && one.api_key === other.api_key
}

function sourcesOf(secrets: Readonly<Record<string, unknown>>): Record<string, SecretSource> {
  return Object.fromEntries(Object.entries(secrets).map(([name, source]): [string, SecretSource] => {
    if (typeof source === 'string') return [name, { kind: 'StaticSecret', value: source }]
    if (isSecretSource(source)) return [name, toSecretSource(source)]
    const problem = 'expected a text or an object with a value'
    throw new AppError('invalid_input', `Cannot use the secret ${JSON.stringify(name)}: ${problem}`)
  }))
}

/** Checks an agent by the rules that its schema cannot express. @throws AppError `invalid_input` */
function assertSound(agent: ConversationAgent, policy: ConfirmationPolicy, providers: readonly Provider[]): void {
  assertMode(agent, policy, providers)
  assertVariables(agent)
  assertCondenses(agent)
  assertCritic(agent)
}

/** Refuses an external agent's variables that steer its program, or are too long or malformed (`problemWithAcpEnv`). */
function assertVariables(agent: ConversationAgent): void {
  const problem = agent.kind === 'ACPAgent' ? problemWithAcpEnv(agent.acp_env) : undefined
  if (problem !== undefined) throw new AppError('invalid_input', `Cannot start the conversation: ${problem}`)
}

/**
 * Refuses a session mode that allows more than the provider's mode `asking`. If the modes of the provider are unknown,
 * refuses a mode whose name means that the agent does not ask. Policy NeverConfirm permits every mode (decisions 24).
 */
function assertMode(agent: ConversationAgent, policy: ConfirmationPolicy, providers: readonly Provider[]): void {
  if (agent.kind !== 'ACPAgent' || agent.acp_session_mode === null || policy.kind === 'NeverConfirm') return
  const mode = agent.acp_session_mode
  const named = providers.find(({ name }) => name === agent.acp_server)
  const provider = named ?? detectProvider(agent.acp_command, providers)
  const isOpen = provider?.modes?.moreOpen.includes(mode) ?? isOpenByName(mode)
  if (!isOpen) return
  const problem = `the session mode "${mode}" is more open than the policy ${policy.kind}`
  throw new AppError('invalid_input', `Cannot start the conversation: ${problem}`)
}

/** Refuses a critic whose model needs a key of its own and has none (`problemWithCritic`, decisions 44). */
function assertCritic(agent: ConversationAgent): void {
  if (agent.kind !== 'Agent' || agent.critic?.kind !== 'APIBasedCritic') return
  const problem = problemWithCritic(agent.critic, agent.llm)
  if (problem !== undefined) throw new AppError('invalid_input', `Cannot start the conversation: ${problem}`)
}

/** Refuses a condenser whose kept events leave no room for a summary (contract/conversations.md, section 1). */
function assertCondenses(agent: ConversationAgent): void {
  if (agent.kind !== 'Agent') return
  for (const { keep_first, max_size } of summarizersOf(agent.condenser)) {
    if (keep_first + 1 < Math.floor(max_size / 2)) continue
    const kept = `the condenser keeps the first ${keep_first} events of ${max_size}`
    const expected = `expected a max_size of at least ${2 * keep_first + 4}`
    throw new AppError('invalid_input', `Cannot start the conversation: ${kept}, ${expected}`)
  }
}

/** Returns why a secret must not become an environment variable; undefined if it may. */
function problemOf(name: string, source: SecretSource, { isLoaderVariable }: AgentVaultOptions): string | undefined {
  const value = source.kind === 'StaticSecret' ? (source.value ?? '') : ''
  if (name === '' || /[=\0]/.test(name)) return 'expected a name without "=" or NUL'
  if (isLoaderVariable(name)) return 'a variable of this name decides which code programs load'
  if (value.includes('\0')) return 'expected a value without NUL characters'
  return undefined
}

function openSource(source: SecretSource, name: string, cipher: Cipher): SecretSource {
  return mapSourceSecrets(source, (value, path) => {
    if (!isSealed(value)) return value
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
