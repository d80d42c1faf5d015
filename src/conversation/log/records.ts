/**
 * The private records of a log: lines that are stored like events, but never sent to clients (decisions 7).
 *
 * Names are part of the format on disk: add names, never rename a name. A log with an unknown record is refused.
 */
import type { JsonObject } from '../../base/json.ts'
import type { KeptKey } from '../agent/host.ts'
import type { UsageReport } from '../agent/agent.ts'
import { givenAfterMove } from './given-skills.ts'
import type { Created, Forked } from './origins.ts'
import { remember, type RequestRecord } from './requests.ts'
import { initialState, type ConversationState } from './state.ts'
import { addFigures, hasFigures } from './usage-figures.ts'
import { UsageLedger } from './usage.ts'

export interface PrivateRecords {
  readonly created: Created
  readonly forked: Forked
  readonly patched: { readonly at: string; readonly title?: string; readonly max_budget_per_task?: number }
  readonly head: string | null
  readonly agent: JsonObject
  readonly secrets: Readonly<Record<string, JsonObject>>
  readonly kept: { readonly key: KeptKey; readonly value: JsonObject }
  /** The figures of one usage report, which are added to `stats` and to `agent_state.usage`. */
  readonly spent: UsageReport
  /** Only in older logs: the figures of one usage report. They are added to `agent_state.usage`, but not to `stats`. */
  readonly usage: UsageReport
  /** State that an LLM provider returned with one response, to be sent back to the provider (decisions 27). */
  readonly response: { readonly id: string; readonly state: JsonObject }
  /** An action that waits for the user, encrypted: it may hold secrets. Its event, with masked secrets, precedes it. */
  readonly call: { readonly id: string; readonly sealed: string }
  /** A request with an idempotency key. The record precedes the event that the request caused, if any. */
  readonly request: RequestRecord
  /** Id of the newest user message that the agent has got. */
  readonly served: string
  /** The workspace's path after a move. A fork has this record too. */
  readonly moved: { readonly working_dir: string }
}

export type RecordName = keyof PrivateRecords

export type PrivateRecord = { readonly [Name in RecordName]: readonly [Name, PrivateRecords[Name]] }[RecordName]

type Folds = { readonly [Name in RecordName]: (state: ConversationState, payload: PrivateRecords[Name]) => void }

const folds: Folds = {
  created: (state, created) => void Object.assign(state, initialState(created)),
  forked: foldFork,
  patched(state, { at, title, max_budget_per_task }) {
    state.updated_at = at
    if (title !== undefined) state.title = title
    state.max_budget_per_task = max_budget_per_task ?? state.max_budget_per_task
  },
  head(state, eventId) {
    state.leaf_event_id = eventId
    state.given_skills = givenAfterMove(state.given_skills, eventId)
  },
  agent: (state, agent) => void (state.agent = agent),
  secrets: (state, secrets) => void (state.secrets = { ...state.secrets, ...secrets }),
  kept: (state, { key, value }) => void (state.kept[key] = value),
  spent(state, report) {
    folds.usage(state, report)
    if (!hasFigures(report)) return
    state.stats = new UsageLedger(state.stats).add(report, state.max_budget_per_task)
    state.has_new_stats = true
  },
  usage(state, report) {
    state.agent_state = { ...state.agent_state, usage: addFigures(state.agent_state['usage'], report) }
  },
  response: isNoPartOfTheState,
  call: isNoPartOfTheState,
  request: (state, request) => remember(state.requests, request),
  served: (state, id) => void (state.unserved = state.unserved.slice(state.unserved.indexOf(id) + 1)),
  moved: (state, { working_dir }) => void (state.working_dir = working_dir),
}

export function foldRecord<Name extends RecordName>(
  state: ConversationState,
  [name, payload]: readonly [Name, PrivateRecords[Name]],
): void {
  folds[name](state, payload)
}

/** True for a private record whose name this version knows. Its value is not checked. */
export function isPrivateRecord(value: unknown): value is PrivateRecord {
  return Array.isArray(value) && value.length === 2 && typeof value[0] === 'string' && Object.hasOwn(folds, value[0])
}

function isNoPartOfTheState(): void {}

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
  state.made_by = fork.made_by
  state.requests = []
  state.has_new_stats = false
  if (fork.reset_metrics) state.stats = { usage_to_metrics: {} }
}
