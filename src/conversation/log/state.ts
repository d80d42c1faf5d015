/**
 * The state of a conversation at one point of its log, computed ("folded") from the lines up to that point.
 *
 * The state is plain JSON. Every field follows from the log, so its cache `state.json` may be deleted. A new field
 * needs a default in `initialState` that also fits older logs.
 */
import type { Event, ConversationStateUpdateEvent } from '../../schema/generated/events.ts'
import {
  isExecutionStatus, isGoal, toGoal, type ExecutionStatus, type Goal,
} from '../../schema/generated/conversations.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts'
import { assertNever } from '../../base/errors.ts'
import type { KeptKey } from '../agent/host.ts'
import { blockedReason } from './blocked-message.ts'
import { givenAfterEvent, type GivenSkills } from './given-skills.ts'
import type { Created } from './origins.ts'
import type { KeyedRequest, RequestRecord } from './requests.ts'

export interface OpenAction {
  readonly action_id: string
  readonly tool_call_id: string
  readonly tool_name: string
}

export interface ConversationState {
  id: string
  created_at: string
  updated_at: string
  /** Time of the newest event, in microseconds since the epoch. The next event must get a later time (base/stamp). */
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
  agent_definitions: JsonValue[]
  parent_conversation_id: string | null
  launched_agent_profile: JsonObject | null
  max_budget_per_task: number | null
  title_llm_profile: string | null
  forked_from_conversation_id: string | null
  forked_from_event_id: string | null
  leaf_event_id: string | null
  last_user_message_id: string | null
  stats: JsonObject
  /** True when usage was recorded after the newest `stats` event. */
  has_new_stats: boolean
  agent_state: JsonObject
  /** The newest goal, active or ended. */
  goal: Goal | null
  activated_knowledge_skills: string[]
  /** The skills whose text is still in the model's context. */
  given_skills: GivenSkills
  /** Names of skills that the model asked for by itself. */
  invoked_skills: string[]
  pending_confirmations: JsonValue[]
  kept: Partial<Record<KeptKey, JsonObject>>
  open_actions: OpenAction[]
  /** Ids of the user messages that the agent has not got yet, oldest first. */
  unserved: string[]
  /** The create request, if it had an idempotency key; otherwise null. Null in a fork. */
  created_by: KeyedRequest | null
  /** The name of the API key (parts/keys) that made the conversation; absent for other clients and in old caches. */
  made_by?: string | undefined
  /**
   * The remembered records of requests with an idempotency key, oldest first. A create request has a record only if it
   * has an initial message.
   */
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
    agent_definitions: [...(created.agent_definitions ?? [])],
    parent_conversation_id: created.parent_conversation_id,
    launched_agent_profile: created.launched_agent_profile,
    max_budget_per_task: created.max_budget_per_task ?? null,
    title_llm_profile: created.title_llm_profile ?? null,
    forked_from_conversation_id: null,
    forked_from_event_id: null,
    leaf_event_id: null,
    last_user_message_id: null,
    stats: { usage_to_metrics: {} },
    has_new_stats: false,
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
    ...(created.made_by === undefined ? {} : { made_by: created.made_by }),
  }
}

/** Changes the state as one event demands. `micros` is the event's time in microseconds since the epoch. */
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

/**
 * Sets the field that `update.key` names, if there is a case for this key. A value of a wrong type leaves the field as
 * it is, except that `security_analyzer` becomes null. Tag values and skill names that are no strings are left out.
 */
function foldUpdate(state: ConversationState, update: ConversationStateUpdateEvent): void {
  const { value } = update
  switch (update.key) {
    case 'execution_status':
      if (isExecutionStatus(value)) state.execution_status = value
      return
    case 'last_user_message_id':
      if (typeof value === 'string') state.last_user_message_id = value
      return
    case 'stats':
      state.has_new_stats = false
      if (isJsonObject(value)) state.stats = value
      return
    case 'confirmation_policy':
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

function stringEntries(value: JsonObject): Record<string, string> {
  const entries = Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === 'string')
  return Object.fromEntries(entries)
}
