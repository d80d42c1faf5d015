/** Lets parts (`part.ts`) read the conversations of the server, and informs them of changes. */
import type { JsonObject } from '../../base/json.ts'
import type { ConversationFollower, ReadEvents } from './followers.ts'
import type { ConversationState } from '../log/state.ts'
import type { ConversationService } from './service.ts'

export interface StoredConversations {
  /** Returns ConversationInfo. @throws AppError, such as `not_found` */
  info(id: string): Promise<JsonObject>
  /** Yields the JSON of the stored events in order, without damaged events. @throws AppError, such as `not_found` */
  events(id: string): AsyncGenerator<Buffer, void>
  /** Returns the ids of all conversations, in no order. */
  ids(): readonly string[]
  /** Returns the states of the conversations with a run under way. */
  running(): readonly Readonly<ConversationState>[]
  readonly read: ReadEvents
  /** True when the conversation or one of its 19 nearest ancestors has the tag. */
  readonly hasTag: ConversationService['hasTag']
  /** Informs `follower` until the returned function is called. After the server's start, `started` is not called. */
  follow(follower: ConversationFollower): () => void
}

type Service = Pick<ConversationService, 'info' | 'read' | 'entries' | 'hasTag' | 'opened'>

const readBytes = 1024 * 1024

/**
 * Makes `Core.conversations`, the object that parts use.
 * @param service returns the service; called by each method, because the service may not exist yet
 * @param followers the followers that the service informs of changes
 */
export function storedConversations(service: () => Service, followers: Set<ConversationFollower>): StoredConversations {
  return {
    info: (id) => service().info(id, false),
    events: (id) => storedEvents(service(), id),
    ids: () => service().entries().map(({ id }) => id),
    running: () => service().opened().filter(({ isRunning }) => isRunning).map(({ state }) => state),
    read: (id, read) => service().read(id, read),
    hasTag: (id, tag) => service().hasTag(id, tag),
    follow(follower) {
      followers.add(follower)
      return () => followers.delete(follower)
    },
  }
}

async function* storedEvents(service: Service, id: string): AsyncGenerator<Buffer, void> {
  const count = await service.read(id, (log) => log.eventCount)
  for (let from = 0; from < count;) {
    const { events, next } = await service.read(id, (log) => log.readRange(from, count, readBytes))
    for (const { json } of events) yield json
    from = next
  }
}
