/**
 * Ends a run that nobody drives any more: its server was killed, or its log failed under it (decisions 13, 14).
 *
 * Every action without an answer gets one, the conversation gets one error that says why, and it can be run again.
 */
import type { Journal } from './journal.ts'

export interface OrphanReason {
  /** `ServerRestarted`, `StorageFull`, `StorageFailed` */
  readonly code: string
  readonly detail: string
}

/** Does nothing unless the state says that a run is under way that cannot be. */
export function endOrphanedRun(journal: Journal, reason: OrphanReason): void {
  const { execution_status: status, agent, pending_confirmations: pending } = journal.state
  // The built-in agent can answer from its history later; the question of an external one died with its process.
  const isOrphan = status === 'running' || (status === 'waiting_for_confirmation' && agent['kind'] === 'ACPAgent')
  if (!isOrphan) return
  answerOpenActions(journal, `The result is unknown: ${reason.detail}`)
  if (pending.length > 0) journal.update('pending_confirmations', [])
  journal.record({ kind: 'ConversationErrorEvent', source: 'environment', ...reason })
  journal.move('restarted')
}

/** One AgentErrorEvent for every action that has no answer. */
export function answerOpenActions(journal: Journal, error: string): void {
  for (const action of journal.state.open_actions) {
    const { tool_name, tool_call_id } = action
    journal.record({ kind: 'AgentErrorEvent', source: 'agent', tool_name, tool_call_id, error })
  }
}
