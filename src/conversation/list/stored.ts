/**
 * Lets parts read the conversations of the server. A read does not keep a conversation open.
 *
 * A history is read in pieces, so that its length costs no memory.
 */
import type { JsonObject } from '../../base/json.ts'
import type { ConversationService } from './service.ts'

export interface StoredConversations {
  /** Returns ConversationInfo. @throws AppError `not_found` */
  info(id: string): Promise<JsonObject>
  /** Yields the JSON of the stored events, in order; damaged ones are left out. @throws AppError `not_found` */
  events(id: string): AsyncGenerator<Buffer, void>
}

type Service = Pick<ConversationService, 'info' | 'read'>

const readBytes = 1024 * 1024

/** @param service returns the service, which is made after the parts */
export function storedConversations(service: () => Service): StoredConversations {
  return {
    info: (id) => service().info(id, false),
    events: (id) => storedEvents(service(), id),
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
