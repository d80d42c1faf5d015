/** Tells whether a conversation has work. Retention does not remove it then. */
import { isEnded } from '../../conversation/log/status-table.ts'
import type { ConversationState } from '../../conversation/log/state.ts'

/** The members of the state that show whether the conversation has work. */
interface Work extends Pick<ConversationState, 'execution_status'> {
  readonly pending_confirmations: readonly unknown[]
  readonly goal: { readonly active: boolean } | null
  /** Ids of user messages that no turn has served. */
  readonly unserved: readonly string[]
}

/** Returns the work of the conversation in words; undefined without work. A message is no work after a failed run. */
export function waitingWork(state: Readonly<Work>): string | undefined {
  const { execution_status: status, pending_confirmations: questions, goal, unserved } = state
  if (status === 'running') return 'a run is under way'
  if (!isEnded(status) || questions.length > 0) return 'a question waits for an answer'
  if (goal?.active === true) return 'a goal is pursued'
  return unserved.length > 0 && status !== 'error' ? 'a message waits for a run' : undefined
}
