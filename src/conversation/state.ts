/**
 * What a conversation *is* at one point of its log: the fold of its lines.
 *
 * Every field is decided by events and private records alone, so the same prefix of a log always gives the same state,
 * and `state.json` may be thrown away at any time. The object is plain JSON (it is stored as such) and is changed in
 * place by the two fold functions; whoever wants to keep a moment of it serialises it. Adding a field needs a default in
 * `initialState` and a thought for logs that were written before it existed.
 */
import type { Event, ConversationStateUpdateEvent } from '../schema/generated/events.ts'
import { isGoal, toGoal, type ExecutionStatus, type Goal } from '../schema/generated/conversations.ts'
import { isObject, type JsonObject, type JsonValue } from '../base/json.ts'
import { assertNever } from '../base/errors.ts'
import type { KeptKey, UsageReport } from './agent.ts'
import { blockedReason } from './blocked-message.ts'
import { givenAfterEvent, givenAfterMove, type GivenSkills } from './given-skills.ts'
import { remember, type KeyedRequest, type RequestRecord } from './requests.ts'
import { addFigures } from './usage-figures.ts'

/** What a create request came to. Secrets inside are sealed. */
export interface Created {
  readonly id: string
  readonly created_at: string
  readonly agent: JsonObject
  readonly working_dir: string
  readonly confirmation_policy: JsonObject
  readonly security_analyzer: JsonObject | null
  readonly max_iterations: number
  readonly stuck_detection: boolean
  readonly autotitle: boolean
  readonly tags: Readonly<Record<string, string>>
  readonly secrets: Readonly<Record<string, JsonObject>>
  readonly hook_config: JsonObject | null
  readonly client_tools: readonly JsonValue[]
  readonly parent_conversation_id: string | null
  readonly launched_agent_profile: JsonObject | null
  /** In US dollars. Absent in logs that were begun before there were budgets. */
  readonly max_budget_per_task?: number | null
  /** Absent when it carried no idempotency key. */
  readonly request?: KeyedRequest
  /** Absent in logs that were begun before there were profiles. */
  readonly title_llm_profile?: string | null
}

/** The line that makes a copied prefix a conversation of its own. */
export interface Forked {
  readonly id: string
  readonly created_at: string
  readonly from_conversation_id: string
  readonly from_event_id: string | null
  readonly leaf_event_id: string | null
  readonly title: string | null
  readonly tags: Readonly<Record<string, string>>
  readonly reset_metrics: boolean
}

/**
 * Private lines of the log (decisions 7): same chain and commit as events, never served. The names are part of the
 * format on disk: add, never rename.
 */
export type PrivateRecord =
  | readonly ['created', Created]
  | readonly ['forked', Forked]
  | readonly ['patched', { readonly at: string; readonly title?: string; readonly max_budget_per_task?: number }]
  | readonly ['head', string | null]
  | readonly ['agent', JsonObject]
  | readonly ['secrets', Readonly<Record<string, JsonObject>>]
  | readonly ['kept', { readonly key: KeptKey; readonly value: JsonObject }]
  /** The figures of one step, added up in `agent_state.usage`. Logs of before have them in updates of `agent_state` alone. */
  | readonly ['usage', UsageReport]
  /** What a model's provider wants back with one of its answers and no event can carry (decisions 27). No part of the state. */
  | readonly ['response', { readonly id: string; readonly state: JsonObject }]
  /** An action that waits for the user as it is to be executed, sealed, behind its masked event. No part of the state. */
  | readonly ['call', { readonly id: string; readonly sealed: string }]
  /** A request with an idempotency key, before the event that is its effect. */
  | readonly ['request', RequestRecord]
  /** All user messages up to this event id have been handed to the agent. */
  | readonly ['served', string]

export interface OpenAction {
  readonly action_id: string
  readonly tool_call_id: string
  readonly tool_name: string
}

export interface ConversationState {
  id: string
  created_at: string
  updated_at: string
  /** Time of the newest event in microseconds: the next stamp comes after it. */
  last_micros: number
  agent: JsonObject
  working_dir: string
  execution_status: ExecutionStatus
  confirmation_policy: JsonObject
  security_analyzer: JsonObject | null
  max_iterations: number
  stuck_detection: boolean
  autotitle: boolean
  title: string | null
  tags: Record<string, string>
  secrets: Record<string, JsonObject>
  hook_config: JsonObject | null
  client_tools: JsonValue[]
  parent_conversation_id: string | null
  launched_agent_profile: JsonObject | null
  max_budget_per_task: number | null
  title_llm_profile: string | null
  forked_from_conversation_id: string | null
  forked_from_event_id: string | null
  leaf_event_id: string | null
  last_user_message_id: string | null
  stats: JsonObject
  agent_state: JsonObject
  /** The newest one, whatever became of it. */
  goal: Goal | null
  activated_knowledge_skills: string[]
  /** Of these, what the model is told still. */
  given_skills: GivenSkills
  /** Skills that the model has asked for by itself. */
  invoked_skills: string[]
  pending_confirmations: JsonValue[]
  kept: Partial<Record<KeptKey, JsonObject>>
  open_actions: OpenAction[]
  /** Ids of user messages that no turn has served, oldest first. */
  unserved: string[]
  /** The keyed request that has made the conversation. */
  created_by: KeyedRequest | null
  /** Later ones that are remembered, oldest first. */
  requests: RequestRecord[]
}

export function initialState(created: Created): ConversationState {
  return {
    id: created.id,
    created_at: created.created_at,
    updated_at: created.created_at,
    last_micros: 0,
    agent: created.agent,
    working_dir: created.working_dir,
    execution_status: 'idle',
    confirmation_policy: created.confirmation_policy,
    security_analyzer: created.security_analyzer,
    max_iterations: created.max_iterations,
    stuck_detection: created.stuck_detection,
    autotitle: created.autotitle,
    title: null,
    tags: { ...created.tags },
    secrets: { ...created.secrets },
    hook_config: created.hook_config,
    client_tools: [...created.client_tools],
    parent_conversation_id: created.parent_conversation_id,
    launched_agent_profile: created.launched_agent_profile,
    max_budget_per_task: created.max_budget_per_task ?? null,
    title_llm_profile: created.title_llm_profile ?? null,
    forked_from_conversation_id: null,
    forked_from_event_id: null,
    leaf_event_id: null,
    last_user_message_id: null,
    stats: { usage_to_metrics: {} },
    agent_state: {},
    goal: null,
    activated_knowledge_skills: [],
    given_skills: {},
    invoked_skills: [],
    pending_confirmations: [],
    kept: {},
    open_actions: [],
    unserved: [],
    created_by: created.request ?? null,
    requests: [],
  }
}

/** Applies one event; `micros` is its time. */
export function foldEvent(state: ConversationState, event: Event, micros: number): void {
  state.last_micros = micros
  state.leaf_event_id = event.id
  if (event.kind === 'ConversationStateUpdateEvent') return foldUpdate(state, event)
  state.updated_at = event.timestamp
  state.given_skills = givenAfterEvent(state.given_skills, event)
  switch (event.kind) {
    case 'MessageEvent':
      if (event.source === 'user' && blockedReason(event) === undefined) state.unserved.push(event.id)
      for (const skill of event.activated_skills) {
        if (!state.activated_knowledge_skills.includes(skill)) state.activated_knowledge_skills.push(skill)
      }
      return
    case 'ActionEvent':
      if (event.action === null) return
      state.open_actions.push({ action_id: event.id, tool_call_id: event.tool_call_id, tool_name: event.tool_name })
      return
    case 'ObservationEvent':
    case 'UserRejectObservation':
    case 'AgentErrorEvent':
      state.open_actions = state.open_actions.filter((action) => action.tool_call_id !== event.tool_call_id)
      return
    case 'Condensation':
    case 'CondensationRequest':
    case 'CondensationSummaryEvent':
    case 'ConversationErrorEvent':
    case 'LLMCompletionLogEvent':
    case 'SystemPromptEvent':
    case 'TokenEvent':
    case 'PauseEvent':
      return
    default:
      assertNever(event)
  }
}

/** Applies one private record. */
export function foldRecord(state: ConversationState, record: PrivateRecord): void {
  switch (record[0]) {
    case 'created':
      Object.assign(state, initialState(record[1]))
      return
    case 'forked':
      return foldFork(state, record[1])
    case 'patched':
      state.updated_at = record[1].at
      if (record[1].title !== undefined) state.title = record[1].title
      state.max_budget_per_task = record[1].max_budget_per_task ?? state.max_budget_per_task
      return
    case 'head':
      state.leaf_event_id = record[1]
      state.given_skills = givenAfterMove(state.given_skills, record[1])
      return
    case 'agent':
      state.agent = record[1]
      return
    case 'secrets':
      state.secrets = { ...state.secrets, ...record[1] }
      return
    case 'kept':
      state.kept[record[1].key] = record[1].value
      return
    case 'usage':
      state.agent_state = { ...state.agent_state, usage: addFigures(state.agent_state['usage'], record[1]) }
      return
    case 'response':
    case 'call':
      return
    case 'request':
      return remember(state.requests, record[1])
    case 'served':
      state.unserved = state.unserved.slice(state.unserved.indexOf(record[1]) + 1)
      return
    default:
      assertNever(record)
  }
}

/** The names of private records, for telling ours from damage when a log is read. */
const recordNames: readonly string[] = ['created', 'forked', 'patched', 'head', 'agent', 'secrets', 'kept', 'usage', 'response', 'call', 'request', 'served']

/** Whether a parsed line is one of our private records. The chain vouches for what is inside. */
export function isPrivateRecord(value: unknown): value is PrivateRecord {
  return Array.isArray(value) && value.length === 2 && typeof value[0] === 'string' && recordNames.includes(value[0])
}

function foldFork(state: ConversationState, fork: Forked): void {
  state.id = fork.id
  state.created_at = fork.created_at
  state.updated_at = fork.created_at
  state.forked_from_conversation_id = fork.from_conversation_id
  state.forked_from_event_id = fork.from_event_id
  state.leaf_event_id = fork.leaf_event_id
  state.given_skills = givenAfterMove(state.given_skills, fork.leaf_event_id)
  state.title = fork.title
  state.tags = { ...fork.tags }
  state.execution_status = 'idle'
  state.last_user_message_id = null
  state.pending_confirmations = []
  state.goal = null
  state.invoked_skills = []
  state.kept = {}
  state.open_actions = []
  state.unserved = []
  state.created_by = null
  state.requests = []
  if (fork.reset_metrics) state.stats = { usage_to_metrics: {} }
}

/** State updates whose key is a field of the state; other keys are for clients only. */
function foldUpdate(state: ConversationState, update: ConversationStateUpdateEvent): void {
  const { value } = update
  switch (update.key) {
    case 'execution_status':
      if (isStatus(value)) state.execution_status = value
      return
    case 'last_user_message_id':
      if (typeof value === 'string') state.last_user_message_id = value
      return
    case 'confirmation_policy':
    case 'stats':
    case 'agent_state':
      if (isJsonObject(value)) state[update.key] = value
      return
    case 'invoked_skills':
      if (Array.isArray(value)) state.invoked_skills = value.filter((name) => typeof name === 'string')
      return
    case 'goal':
      if (isGoal(value)) state.goal = toGoal(value)
      return
    case 'security_analyzer':
      state.security_analyzer = isJsonObject(value) ? value : null
      return
    case 'tags':
      if (isJsonObject(value)) state.tags = stringEntries(value)
      return
    case 'pending_confirmations':
      if (Array.isArray(value)) state.pending_confirmations = value
  }
}

function isStatus(value: unknown): value is ExecutionStatus {
  const known: readonly unknown[] = ['idle', 'running', 'paused', 'waiting_for_confirmation', 'finished', 'error', 'stuck']
  return known.includes(value)
}

function isJsonObject(value: unknown): value is JsonObject {
  return isObject(value)
}

function stringEntries(value: JsonObject): Record<string, string> {
  const entries = Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === 'string')
  return Object.fromEntries(entries)
}
