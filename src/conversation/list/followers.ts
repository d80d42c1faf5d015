/**
 * The contract of a follower: an object that is informed of changes in all conversations.
 *
 * A follower gets the id of a changed conversation, and reads the change from the log.
 */
import type { JsonObject } from '../../base/json.ts'
import type { EventReader } from '../log/event-reader.ts'

/** Calls `read` with a conversation's events and returns its result. @throws as `ConversationService.read` */
export type ReadEvents = <T>(id: string, read: (events: EventReader) => T | Promise<T>) => T | Promise<T>

export interface ConversationFollower {
  /** Called at the server's start, when all conversations can be read. Earlier calls of `changed` may be ignored. */
  started(): void
  /** Called after a conversation was created, and after each commit to its log. Must return at once. */
  changed(id: string): void
  /**
   * Called during a removal: the conversation has stopped, its files still exist. `info` is its ConversationInfo.
   * Must not reject.
   */
  removing(id: string, info: JsonObject, read: ReadEvents): Promise<void>
  /** Called when all conversations are closed, if this server still owns the data folder. Must not reject. */
  closing(read: ReadEvents): Promise<void>
}
