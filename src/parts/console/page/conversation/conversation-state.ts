/**
 * The state of a conversation, computed from its state updates: `full_state`, then an update for each changed key. Pure
 * functions.
 *
 * A value that the server has not sent is read as an empty text, an empty list, 0 or false.
 */
import { isObject, listAt, memberAt, type Members, numberAt, objectAt, textAt } from '../values.ts'
import { objectsAt } from './fields.ts'

export interface ConversationState {
  /** The members of the last `full_state`, with the updates that came after it. */
  readonly members: Members
  /** The time of the last change of the status, in ISO 8601; undefined when it is unknown. */
  readonly since: string | undefined
}

export interface Usage {
  /** The cost in US dollars; 0 when no price is known. */
  readonly cost: number
  readonly inputTokens: number
  readonly outputTokens: number
  /** The last reported number of used tokens in the context window (`per_turn_token`); 0 when unknown. */
  readonly context: number
  /** The largest context window of the entries in `usage_to_metrics`, in tokens; 0 when unknown. */
  readonly contextWindow: number
}

/** An entry of a menu, such as a model. */
export interface Choice {
  readonly id: string
  readonly name: string
}

export const emptyState: ConversationState = { members: {}, since: undefined }

/** Returns the state after a ConversationStateUpdateEvent. */
export function foldState(state: ConversationState, update: unknown): ConversationState {
  const key = textAt(update, 'key')
  const value = memberAt(update, 'value')
  if (key === 'full_state') {
    const members = isObject(value) ? value : {}
    const isSame = textAt(members, 'execution_status') === statusOfState(state)
    return { members, since: isSame ? state.since : undefined }
  }
  const members = { ...state.members, [key]: value }
  return key === 'execution_status' ? { members, since: textAt(update, 'timestamp') } : { ...state, members }
}

export function statusOfState({ members }: ConversationState): string {
  return textAt(members, 'execution_status')
}

export function isWorking(state: ConversationState): boolean {
  return ['running', 'waiting_for_confirmation'].includes(statusOfState(state))
}

export function usageOf({ members }: ConversationState): Usage {
  const all = Object.values(objectAt(members, 'stats', 'usage_to_metrics'))
  const sum = (...path: readonly string[]): number => {
    return all.reduce((total: number, metrics) => total + (numberAt(metrics, ...path) ?? 0), 0)
  }
  const tokens = 'accumulated_token_usage'
  const largest = all.reduce((most: unknown, metrics) => {
    const window = numberAt(metrics, tokens, 'context_window') ?? 0
    return window > (numberAt(most, tokens, 'context_window') ?? 0) ? metrics : most
  }, undefined)
  return {
    cost: sum('accumulated_cost'),
    inputTokens: sum(tokens, 'prompt_tokens'),
    outputTokens: sum(tokens, 'completion_tokens'),
    context: numberAt(largest, tokens, 'per_turn_token') ?? 0,
    contextWindow: numberAt(largest, tokens, 'context_window') ?? 0,
  }
}

export function policyOf({ members }: ConversationState): string {
  return textAt(members, 'confirmation_policy', 'kind')
}

export function isExternal({ members }: ConversationState): boolean {
  return textAt(members, 'agent', 'kind') === 'ACPAgent'
}

/** Tells whether an external agent waits in the queue for the start of its program. */
export function waitsForPlace({ members }: ConversationState): boolean {
  return memberAt(members, 'agent_state', 'acp_waiting_for_slot') === true
}

/** Returns the id of the current model; an empty text when it is unknown. */
export function modelOf(state: ConversationState): string {
  const { members } = state
  if (!isExternal(state)) return textAt(members, 'agent', 'llm', 'model')
  return textAt(members, 'agent_state', 'acp_current_model_id') || textAt(members, 'agent', 'acp_model')
}

/** Returns the models that an external agent offers. */
export function modelsOf({ members }: ConversationState): readonly Choice[] {
  return objectsAt(objectAt(members, 'agent_state'), 'acp_available_models').map((model) => {
    const id = textAt(model, 'model_id')
    return { id, name: textAt(model, 'name') || id }
  }).filter(({ id }) => id !== '')
}

export function modeOf({ members }: ConversationState): string {
  return textAt(members, 'agent_state', 'acp_current_mode_id')
}

/** Returns the modes that an external agent offers. */
export function modesOf({ members }: ConversationState): readonly Choice[] {
  return listAt(members, 'agent_state', 'acp_available_modes').map((mode) => {
    const id = textAt(mode, 'id') || textAt(mode, 'mode_id')
    return { id, name: textAt(mode, 'name') || id }
  }).filter(({ id }) => id !== '')
}

/** Returns the agent's name for people; an empty text before the first `full_state`. */
export function agentNameOf(state: ConversationState): string {
  const { members } = state
  if (!isExternal(state)) return statusOfState(state) === '' ? '' : 'Built-in agent'
  const told = textAt(members, 'agent_state', 'acp_agent_name')
  const preset = textAt(members, 'agent', 'acp_server')
  if (told !== '' || preset !== '' && preset !== 'custom') return told || preset
  return textAt({ first: listAt(members, 'agent', 'acp_command')[0] }, 'first') || 'External agent'
}
