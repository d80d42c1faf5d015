/**
 * Plans a fork: turns a request into the first lines to write (first-lines).
 *
 * Nothing is written here.
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
  /** Id of the last event to copy; null for all events. */
  readonly fromEventId: string | null
}

/** The folder of the source, and the time of the copy. */
export interface ForkPlace {
  readonly directory: string
  /** A timestamp as on the wire. */
  readonly now: string
}

/** @throws AppError `not_found` when the source does not have the event */
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
