/** Finds the unfinished work of a conversation. Retention does not remove a conversation with unfinished work. */
import { isEnded } from '../../conversation/log/status-table.ts'
import type { ConversationState } from '../../conversation/log/state.ts'

/** The members of the state that show whether the conversation has unfinished work. */
interface Work extends Pick<ConversationState, 'execution_status'> {
  readonly pending_confirmations: readonly unknown[]
  readonly goal: { readonly active: boolean } | null
  /** Ids of the user messages on which the agent has not worked yet. */
  readonly unserved: readonly string[]
}

/**
 * Returns the unfinished work of the conversation in words, such as `a run is under way`; undefined if there is none.
 * With the status `error`, the messages in `unserved` do not count.
 */
export function waitingWork(state: Readonly<Work>): string | undefined {
  const { execution_status: status, pending_confirmations: questions, goal, unserved } = state
  if (status === 'running') return 'a run is under way'
  if (!isEnded(status) || questions.length > 0) return 'a question waits for an answer'
  if (goal?.active === true) return 'a goal is pursued'
  return unserved.length > 0 && status !== 'error' ? 'a message waits for a run' : undefined
}
