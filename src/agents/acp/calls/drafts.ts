/**
 * Builds the events of an external agent's turn (contract/spec: "Event variants"; decisions 3). Pure.
 *
 * Empty summaries and thoughts are left out, because the members are optional. The given texts must already be masked.
 */
import type { ActionInput, TaskItemInput } from '../../../schema/generated/actions.ts'
import type { EventDraft } from '../../../schema/generated/events.ts'
import type { ObservationInput } from '../../../schema/generated/observations.ts'
import type { ContentInput } from '../../../schema/generated/values.ts'
import { planSummary } from './plan.ts'

/** The members of an action event besides the action. */
export interface CallDraft {
  readonly id: string
  readonly toolName: string
  /** The input as JSON (`argumentsOf`). */
  readonly arguments: string
  readonly summary: string
  readonly responseId: string
  /** The agent's thoughts right before the call; empty without thoughts. */
  readonly reasoning: string
}

export function actionDraft(call: CallDraft, action: ActionInput): EventDraft {
  const { id, toolName, summary, reasoning } = call
  return {
    kind: 'ActionEvent',
    thought: [],
    ...(reasoning === '' ? {} : { reasoning_content: reasoning }),
    action,
    tool_name: toolName,
    tool_call_id: id,
    tool_call: { id, name: toolName, arguments: call.arguments, origin: 'completion' },
    llm_response_id: call.responseId,
    ...(summary === '' ? {} : { summary }),
  }
}

/** Identifies the action that a result answers. */
export interface Answered {
  readonly id: string
  readonly toolName: string
  readonly actionId: string
}

export function observationDraft({ id, toolName, actionId }: Answered, observation: ObservationInput): EventDraft {
  return { kind: 'ObservationEvent', tool_name: toolName, tool_call_id: id, observation, action_id: actionId }
}

/** `user` for a refusal by the user; `hook` for a refusal by the policy or this server. */
export type RejectionSource = 'user' | 'hook'

export function rejectionDraft(
  { id, toolName, actionId }: Answered,
  reason: string,
  source: RejectionSource,
): EventDraft {
  return {
    kind: 'UserRejectObservation',
    tool_name: toolName,
    tool_call_id: id,
    rejection_reason: reason,
    rejection_source: source,
    action_id: actionId,
  }
}

export function messageDraft(content: readonly ContentInput[], reasoning: string, responseId: string): EventDraft {
  return {
    kind: 'MessageEvent',
    source: 'agent',
    llm_message: { role: 'assistant', content, ...(reasoning === '' ? {} : { reasoning_content: reasoning }) },
    llm_response_id: responseId,
  }
}

/** Makes a message with the source `environment` from ACP's `notice`. A notice does not end the run. */
export function noticeDraft(severity: 'error' | 'warning', words: string): EventDraft {
  const text = `[The agent reports ${severity === 'error' ? 'an error' : 'a warning'}] ${words}`
  const content = [{ type: 'text', text } as const]
  return { kind: 'MessageEvent', source: 'environment', llm_message: { role: 'user', content } }
}

export function planDrafts(
  call: Pick<CallDraft, 'id' | 'responseId' | 'reasoning'>,
  plan: string,
  task_list: readonly TaskItemInput[],
): { readonly action: EventDraft; readonly observation: (actionId: string) => EventDraft } {
  const toolName = 'task_tracker'
  const summary = planSummary(task_list)
  const content: ContentInput[] = [{ type: 'text', text: summary }]
  const described = { ...call, toolName, summary, arguments: `{"entries":${plan}}` }
  return {
    action: actionDraft(described, { kind: 'TaskTrackerAction', command: 'plan', task_list }),
    observation: (actionId) => observationDraft(
      { id: call.id, toolName, actionId },
      { kind: 'TaskTrackerObservation', command: 'plan', task_list, content },
    ),
  }
}
