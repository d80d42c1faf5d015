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

/** Returns the last message of the agent. */
export function lastText(events: readonly unknown[]): string {
  return messageText(agentMessages(events).at(-1))
}

export function messageText(event: unknown): string {
  return listAt(event, 'llm_message', 'content').map((part) => memberAt(part, 'text')).join('')
}

/** Returns the notes that the server has written by itself. */
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

/** Returns the ids of the stored events of a socket. The id of a pushed frame ends as that of the first frame does. */
export function storedIds(frames: readonly unknown[]): string[] {
  const ids = frames.map((frame) => String(memberAt(frame, 'id')))
  return ids.filter((id) => id.slice(19) !== ids[0]?.slice(19))
}
