/** Tells why the last run of a conversation failed: its newest ConversationErrorEvent, or a fixed text for `stuck`. */
import { parseOwnJsonBytes } from '../../base/json-turns.ts'
import type { EventReader } from './event-reader.ts'
import type { ConversationState } from './state.ts'
import { storedEvent } from './stored-event.ts'

export interface Failure {
  readonly code: string
  readonly detail: string
}

/** The failure of a conversation with the status `stuck`, for which no ConversationErrorEvent is recorded. */
export const stuck: Failure = { code: 'Stuck', detail: 'The agent repeated itself, so its run was ended' }

/** Returns why the status is `error` or `stuck`; undefined in another status or without a known reason. */
export async function failureOf(
  state: Readonly<Pick<ConversationState, 'execution_status'>>, events: EventReader,
): Promise<Failure | undefined> {
  if (state.execution_status === 'stuck') return stuck
  return state.execution_status === 'error' ? newestError(events) : undefined
}

/** Returns code and detail of the newest ConversationErrorEvent; undefined without one, or when it cannot be parsed. */
export async function newestError(events: EventReader): Promise<Failure | undefined> {
  const { items } = await events.page({ kind: 'ConversationErrorEvent', newestFirst: true, limit: 1 })
  const [json] = items
  const event = json === undefined ? undefined : storedEvent(await parseOwnJsonBytes(json))
  return event?.kind === 'ConversationErrorEvent' ? { code: event.code, detail: event.detail } : undefined
}
