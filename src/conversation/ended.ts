/** Waits until no run of a conversation is at work, for programs that embed the server. */
import { AppError } from '../base/errors.ts'
import { deferred, untilAborted } from '../base/wait.ts'
import type { ExecutionStatus } from '../schema/generated/conversations.ts'
import type { Conversation } from './conversation.ts'
import type { FeedEnd } from './log/feed.ts'
import { isEnded } from './log/status-table.ts'

/**
 * Resolves to the status when no run is at work. A run that waits for a confirmation is not at work.
 * @throws the signal's reason; AppError `not_found` when the conversation is deleted, `unavailable` when it is closed
 * while a run is at work, or has too many readers
 */
export async function ended(conversation: Conversation, signal: AbortSignal | undefined): Promise<ExecutionStatus> {
  let changed = deferred<void>()
  let end: FeedEnd | undefined
  const sink = {
    write(): boolean {
      changed.resolve()
      return true
    },
    end(reason: FeedEnd): void {
      end = reason
      changed.resolve()
    },
  }
  signal?.throwIfAborted()
  const reader = conversation.join({ from: 'now', encode: (json) => json, sink })
  try {
    for (;;) {
      if (end === 'deleted') throw new AppError('not_found', `Conversation not found: ${conversation.id}`)
      const { execution_status: status } = conversation.state
      if (!conversation.isRunning || status === 'waiting_for_confirmation') return status
      if (end !== undefined) throw new AppError('unavailable', 'The conversation was closed')
      changed = deferred<void>()
      // A run whose end is published may still save its state. No frame tells when the state is saved: `settled` does.
      const next = isEnded(status) ? Promise.race([changed.promise, conversation.settled()]) : changed.promise
      await (signal === undefined ? next : untilAborted(next, signal))
    }
  } finally {
    reader.close()
  }
}
