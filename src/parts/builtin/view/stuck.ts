/**
 * Detects an agent that repeats itself (contract/conversations.md, section 3).
 *
 * `judgeProgress` examines the newest events after the last user message. After repeated failures the agent gets a
 * nudge, a message from the server.
 */
import { isDeepStrictEqual } from 'node:util'
import type { ActionEvent, Event, MessageEvent } from '../../../schema/generated/events.ts'

export type Progress = 'moving' | 'nudge' | 'stuck'

/** The number of newest events that `judgeProgress` examines. */
export const stuckWindow = 20

/**
 * Judges whether the agent repeats itself.
 * @param newest the last events of the branch, oldest first; only the last 20 are examined
 */
export function judgeProgress(newest: readonly Event[]): Progress {
  const window = newest.slice(-stuckWindow)
  const events = window.slice(window.findLastIndex(isUserMessage) + 1)
  const steps = stepsOf(events)
  const failures = countAlike(steps.filter(isAnswered).map(failureOf))
  const failed = countAlike(steps.filter(isAnswered).map((step) => step.failed || undefined))
  if (failures >= 4 || isMonologue(events) || countAlike(steps.filter(isAnswered)) >= 4 || takesTurns(steps)) {
    return 'stuck'
  }
  const isFailing = failures === 3 || failed % 3 === 0 && failed > 0
  return isFailing && !wasNudged(events) ? 'nudge' : 'moving'
}

/** The parts of an action and its result that are compared. */
interface Step {
  readonly action: unknown
  readonly result: unknown
  readonly failed: boolean
}

function stepsOf(events: readonly Event[]): Step[] {
  return events.filter((event) => event.kind === 'ActionEvent').map((event) => stepOf(event, events))
}

function stepOf(event: ActionEvent, events: readonly Event[]): Step {
  const action = event.action ?? [event.tool_name, event.tool_call.arguments]
  for (const answer of events) {
    if (answer.kind === 'ObservationEvent' && answer.tool_call_id === event.tool_call_id) {
      return { action, result: answer.observation, failed: false }
    }
    if (answer.kind === 'AgentErrorEvent' && answer.tool_call_id === event.tool_call_id) {
      return { action, result: answer.error, failed: true }
    }
    if (
      answer.kind === 'UserRejectObservation' &&
      answer.rejection_source === 'hook' &&
      answer.action_id === event.id
    ) {
      return { action, result: answer.rejection_reason, failed: false }
    }
  }
  return { action, result: undefined, failed: false }
}

function isAnswered(step: Step): boolean {
  return step.result !== undefined
}

/** Returns the action of a failed step; undefined for any other step. Error texts differ, so results are left out. */
function failureOf(step: Step): unknown {
  return step.failed ? { action: step.action } : undefined
}

/** Returns how many values at the end of the list equal the last value; 0 if the last value is undefined or missing. */
function countAlike(values: readonly unknown[]): number {
  const last = values.at(-1)
  if (last === undefined) return 0
  const different = values.findLastIndex((value) => !isDeepStrictEqual(value, last))
  return values.length - 1 - different
}

/** Returns whether the last six steps with a result are the same two steps, three times. */
function takesTurns(steps: readonly Step[]): boolean {
  const six = steps.filter(isAnswered).slice(-6)
  return six.length === 6 && six.every((step, place) => isDeepStrictEqual(step, six[place % 2]))
}

function isMonologue(events: readonly Event[]): boolean {
  const said = events.filter((event) => event.kind === 'MessageEvent' ? event.source === 'agent' : isStep(event))
  return said.length >= 3 && said.slice(-3).every((event) => event.kind === 'MessageEvent')
}

function isStep(event: Event): boolean {
  switch (event.kind) {
    case 'ActionEvent':
    case 'ObservationEvent':
    case 'AgentErrorEvent':
    case 'UserRejectObservation':
      return true
    default:
      return false
  }
}

/** Returns whether the server has sent the agent a message since the last failed call. */
function wasNudged(events: readonly Event[]): boolean {
  const failure = events.findLastIndex((event) => event.kind === 'AgentErrorEvent')
  return events.slice(failure + 1).some((event) => event.kind === 'MessageEvent' && event.source === 'environment')
}

function isUserMessage(event: Event): event is MessageEvent {
  return event.kind === 'MessageEvent' && event.source === 'user'
}
