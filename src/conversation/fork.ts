/**
 * What a fork takes from the conversation that it copies: from a request to what is written first (first-lines).
 *
 * Nothing is written or made here.
 */
import type { Conversation } from './conversation.ts'
import type { ForkSource } from './first-lines.ts'
import { sequenceOf } from './history.ts'
import type { Forked } from './origins.ts'

export interface ForkRequest {
  readonly id: string
  readonly title: string | null
  readonly tags: Readonly<Record<string, string>>
  readonly resetMetrics: boolean
  /** The last event to copy; null: all of them. */
  readonly fromEventId: string | null
}

/** Where the source is, and when it is copied. */
export interface ForkPlace {
  readonly directory: string
  /** As a timestamp of the wire. */
  readonly now: string
}

/** @throws AppError `not_found` for an event that the source has not */
export async function planFork(
  source: Conversation, request: ForkRequest, { directory, now }: ForkPlace,
): Promise<{ readonly from: ForkSource; readonly forked: Forked }> {
  const { log } = source
  const fromEventId = request.fromEventId === null ? null : await source.idOfEvent(request.fromEventId)
  const lastEvent = fromEventId === null ? log.eventCount - 1 : sequenceOf(log, fromEventId)
  const { id: sourceId, agent, secrets, leaf_event_id: leaf } = source.state
  const forked = {
    id: request.id,
    created_at: now,
    from_conversation_id: sourceId,
    from_event_id: fromEventId,
    leaf_event_id: fromEventId ?? leaf,
    title: request.title,
    tags: request.tags,
    reset_metrics: request.resetMetrics,
  }
  return { from: { log, directory, lastEvent, agent, secrets }, forked }
}
