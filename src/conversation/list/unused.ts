/** Lets a part (`part.ts`) remove conversations that are closed and have not changed since the part listed them. */
import type { ConversationService } from './service.ts'
import type { ListEntry } from './sorted-entries.ts'

export interface UnusedConversations extends Pick<ConversationService, 'entries' | 'isOpen' | 'state'> {
  /**
   * Removes a closed conversation as a `DELETE` request does. Returns the result of `ConversationService.remove`.
   * @throws AppError `conflict` for a conversation that is open or has changed since `entries` returned `entry`; the
   * errors of `ConversationService.remove`
   */
  remove(entry: ListEntry): Promise<string | undefined>
}

/** Returns the object that parts use. Each method calls `service`: parts may start before the service exists. */
export function unusedConversations(service: () => ConversationService): UnusedConversations {
  return {
    entries: () => service().entries(),
    isOpen: (id) => service().isOpen(id),
    state: (id) => service().state(id),
    remove: (entry) => service().remove(entry.id, entry),
  }
}
