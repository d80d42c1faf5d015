/** The present load of all conversations, for operators. */
import { executionStatusValues, type ExecutionStatus } from '../../schema/generated/conversations.ts'
import type { ConversationLoad } from '../conversation.ts'
import type { ListEntry } from './sorted-entries.ts'

export interface ConversationsLoad {
  /** The number of all conversations, open and closed, by status. */
  readonly statuses: ReadonlyMap<ExecutionStatus, number>
  readonly open: number
  /** The load of all open conversations, added up. */
  readonly sums: ConversationLoad
}

/** Counts all conversations by status, and adds up the load of the open conversations. */
export function conversationsLoad(
  entries: readonly ListEntry[], opened: readonly { readonly load: ConversationLoad }[],
): ConversationsLoad {
  const statuses = new Map<ExecutionStatus, number>(executionStatusValues.map((status) => [status, 0]))
  for (const { status } of entries) statuses.set(status, (statuses.get(status) ?? 0) + 1)
  const sums = { readers: 0, readersBehind: 0, queuedBytes: 0, waitingMessages: 0 }
  for (const { load } of opened) {
    sums.readers += load.readers
    sums.readersBehind += load.readersBehind
    sums.queuedBytes += load.queuedBytes
    sums.waitingMessages += load.waitingMessages
  }
  return { statuses, open: opened.length, sums }
}
