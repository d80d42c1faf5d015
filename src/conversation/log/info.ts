/**
 * Makes the public views of a conversation, with redacted secrets: ConversationInfo for REST, and the `full_state`
 * value for streams (contract/conversations.md, section 2, and contract/events.md, section 4). Pure.
 */
import { isJsonObject, isObject, type JsonObject, type JsonValue } from '../../base/json.ts'
import type { ConversationState } from './state.ts'
import { UsageLedger } from './usage.ts'

/** The usage id (a key of `usage_to_metrics`) of a condenser that has no own model and uses the agent's model. */
export const condenserUsageId = 'condenser'

/** The text that clients see in place of a secret value. */
const redacted = '**********'

export interface InfoOptions {
  readonly includeSkills: boolean
  readonly persistenceDir: string
  readonly subConversationIds: readonly string[]
}

/** Returns ConversationInfo in wire form. Members that are null are included. */
export function conversationInfo(state: Readonly<ConversationState>, options: InfoOptions): JsonObject {
  const agentState = state.agent_state
  return {
    id: state.id,
    ...shared(state, options.includeSkills),
    persistence_dir: options.persistenceDir,
    title: state.title,
    metrics: shownBudget(state),
    created_at: state.created_at,
    updated_at: state.updated_at,
    forked_from_conversation_id: state.forked_from_conversation_id,
    forked_from_event_id: state.forked_from_event_id,
    parent_conversation_id: state.parent_conversation_id,
    sub_conversation_ids: [...options.subConversationIds],
    current_model_id: agentState['acp_current_model_id'] ?? state.agent['acp_model'] ?? null,
    available_models: agentState['acp_available_models'] ?? [],
    supports_runtime_model_switch: agentState['acp_supports_runtime_model_switch'] ?? false,
    launched_agent_profile: state.launched_agent_profile,
    client_tools: state.client_tools,
  }
}

/** Returns the value of the `full_state` update, which is never stored. Its members that are null are left out. */
export function fullState(state: Readonly<ConversationState>, persistenceDir: string): JsonObject {
  const value: JsonObject = {
    id: state.id,
    ...shared(state, true),
    persistence_dir: persistenceDir,
    head_is_empty: state.leaf_event_id === null,
    pending_confirmations: state.pending_confirmations,
  }
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== null))
}

function shared(state: Readonly<ConversationState>, includeSkills: boolean): JsonObject {
  return {
    agent: shownAgent(state.agent, includeSkills),
    workspace: { working_dir: state.working_dir, kind: 'LocalWorkspace' },
    max_iterations: state.max_iterations,
    stuck_detection: state.stuck_detection,
    execution_status: state.execution_status,
    confirmation_policy: state.confirmation_policy,
    security_analyzer: state.security_analyzer,
    activated_knowledge_skills: state.activated_knowledge_skills,
    invoked_skills: state.invoked_skills,
    blocked_actions: {},
    blocked_messages: {},
    last_user_message_id: state.last_user_message_id,
    leaf_event_id: state.leaf_event_id,
    stats: shownStats(state.stats),
    secret_registry: { secret_sources: shownSecrets(state.secrets) },
    agent_state: state.agent_state,
    hook_config: state.hook_config,
    tags: state.tags,
  }
}

/**
 * Returns the agent settings with redacted secrets. A condenser whose model is null shows the agent's model. Skills in
 * `agent_context` are shown only with `includeSkills`.
 */
export function shownAgent(agent: JsonObject, includeSkills: boolean): JsonObject {
  const redactedAgent = redactTokens(agent)
  if (!isObject(redactedAgent)) return {}
  const shown = { ...redactedAgent, ...shownCondenser(redactedAgent) }
  const context = shown['agent_context']
  if (includeSkills || !isObject(context)) return shown
  return { ...shown, agent_context: { ...context, skills: [] } }
}

/**
 * Returns the condenser with `llm` in place of each null model, because published clients refuse null. Returns `{}`
 * if there is no condenser or no `llm`.
 */
function shownCondenser({ condenser, llm }: JsonObject): JsonObject {
  if (!isJsonObject(condenser) || !isJsonObject(llm)) return {}
  const { condensers } = condenser
  const inner: JsonObject = Array.isArray(condensers)
    ? { condensers: condensers.map((one) => withModel(one, llm)) }
    : {}
  return { condenser: withModel({ ...condenser, ...inner }, llm) }
}

function withModel(condenser: JsonValue, llm: JsonObject): JsonValue {
  if (!isJsonObject(condenser) || condenser['llm'] !== null) return condenser
  return { ...condenser, llm: { ...llm, usage_id: condenserUsageId } }
}

/** Returns the value with `redacted` in place of each sealed (encrypted) secret, a text that begins with `as1:`. */
function redactTokens(value: JsonValue): JsonValue {
  if (typeof value === 'string') return value.startsWith('as1:') ? redacted : value
  if (Array.isArray(value)) return value.map(redactTokens)
  if (value === null || typeof value !== 'object') return value
  // A spread copy is made and printed faster than an object from `Object.fromEntries`.
  const shown = { ...value }
  for (const [key, member] of Object.entries(value)) shown[key] = redactTokens(member)
  return shown
}

function shownSecrets(secrets: Readonly<Record<string, JsonObject>>): JsonObject {
  const entries = Object.entries(secrets).map(([name, source]) => {
    const { kind = 'StaticSecret', description = null, url = '', headers = {} } = source
    const where = { url: redactTokens(url), headers: redactTokens(headers) }
    return [name, { kind, description, ...(kind === 'LookupSecret' ? where : { value: redacted }) }]
  })
  return Object.fromEntries(entries)
}

/** Returns the budget and the cost so far, in US dollars; null without a budget. */
function shownBudget({ max_budget_per_task, stats }: Readonly<ConversationState>): JsonObject | null {
  if (max_budget_per_task === null) return null
  const accumulated_cost = new UsageLedger(stats).cost
  return { model_name: 'default', accumulated_cost, max_budget_per_task, accumulated_token_usage: null }
}

/** Returns `stats` with an empty list in each member that is for figures of single model calls (decisions 18). */
function shownStats(stats: JsonObject): JsonObject {
  const metrics = stats['usage_to_metrics']
  if (!isObject(metrics)) return { usage_to_metrics: {} }
  const entries = Object.entries(metrics).map(([usageId, value]) => [
    usageId,
    isObject(value) ? { ...value, costs: [], response_latencies: [], token_usages: [] } : value,
  ])
  return { usage_to_metrics: Object.fromEntries(entries) }
}
