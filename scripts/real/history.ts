/**
 * Reads a conversation's history as a client does, which only knows the wire contract.
 */
import { listAt, memberAt } from './member.ts'

export function ofKind(events: readonly unknown[], kind: string): unknown[] {
  return events.filter((event) => memberAt(event, 'kind') === kind)
}

const answerKinds = ['ObservationEvent', 'AgentErrorEvent', 'UserRejectObservation']

export function isAnswer(event: unknown): boolean {
  return answerKinds.includes(String(memberAt(event, 'kind')))
}

export function answersTo(action: unknown, events: readonly unknown[]): unknown[] {
  const id = memberAt(action, 'tool_call_id')
  return events.filter((event) => isAnswer(event) && memberAt(event, 'tool_call_id') === id)
}

export function agentMessages(events: readonly unknown[]): unknown[] {
  return ofKind(events, 'MessageEvent').filter((event) => memberAt(event, 'source') === 'agent')
}

/** What the agent has said last. */
export function lastText(events: readonly unknown[]): string {
  return messageText(agentMessages(events).at(-1))
}

export function messageText(event: unknown): string {
  return listAt(event, 'llm_message', 'content').map((part) => memberAt(part, 'text')).join('')
}

/** What the server has said by itself. */
export function notes(events: readonly unknown[]): string[] {
  return ofKind(events, 'MessageEvent').filter((event) => memberAt(event, 'source') === 'environment').map(messageText)
}

export function errorCodes(events: readonly unknown[]): unknown[] {
  return ofKind(events, 'ConversationErrorEvent').map((event) => memberAt(event, 'code'))
}

/** Everything but changes of the state. */
export function withoutStates(events: readonly unknown[]): unknown[] {
  return events.filter((event) => memberAt(event, 'kind') !== 'ConversationStateUpdateEvent')
}

/** Decision 2: the other frames are pushed and never stored. */
export function isStored(frame: unknown): boolean {
  const isPushed = ['StreamingDeltaEvent', 'ServerErrorEvent'].includes(String(memberAt(frame, 'kind')))
  return !isPushed && memberAt(frame, 'key') !== 'full_state'
}
