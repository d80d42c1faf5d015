/** Plans a fork of a conversation for `writeForked` (first-lines.ts). Nothing is written here. */
import type { ConversationLog } from '../../storage/log.ts'
import type { EventReader } from './event-reader.ts'
import type { ForkSource } from './first-lines.ts'
import type { Forked } from './origins.ts'
import type { ConversationState } from './state.ts'

export interface ForkRequest {
  readonly id: string
  readonly title: string | null
  readonly tags: Readonly<Record<string, string>>
  readonly resetMetrics: boolean
  /** Id of the last event to copy; null for all events. */
  readonly fromEventId: string | null
  /** The name of the named API key (parts/keys) that the client uses; undefined for a client without one. */
  readonly madeBy?: string | undefined
}

export interface Forkable {
  readonly log: ConversationLog
  /** The folder that holds the log. */
  readonly directory: string
  readonly events: EventReader
  readonly state: Readonly<ConversationState>
}

/** The arguments of `writeForked`: the source with the lines to copy, and the record that defines the fork. */
export interface ForkPlan {
  readonly from: ForkSource
  readonly forked: Forked
}

/**
 * Returns the plan of a fork. Lines that become durable after this call are not copied.
 * @param request its `fromEventId` is the id of an event of `source`, or null
 * @param now the fork's creation time, a timestamp as on the wire
 */
export function planFork(source: Forkable, request: ForkRequest, now: string): ForkPlan {
  const { log, directory: from, events, state } = source
  const { fromEventId } = request
  const event = fromEventId === null ? null : events.seqOf(fromEventId)
  const { id: sourceId, agent, secrets, working_dir: workingDir, leaf_event_id: leaf } = state
  const forked = {
    id: request.id,
    created_at: now,
    from_conversation_id: sourceId,
    from_event_id: fromEventId,
    leaf_event_id: fromEventId ?? leaf,
    title: request.title,
    tags: request.tags,
    reset_metrics: request.resetMetrics,
    made_by: request.madeBy,
  }
  return { from: { log, from, event, end: log.head.offset, agent, secrets, workingDir }, forked }
}
