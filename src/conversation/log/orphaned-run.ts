/**
 * Ends a run whose server was killed or whose log failed (decisions 13, 14).
 *
 * Each open action gets an AgentErrorEvent. The conversation gets one error event with the reason.
 */
import type { AgentKind } from '../agent/agent.ts'
import type { Journal } from './journal.ts'

export interface OrphanReason {
  /** The code of the error event: `ServerRestarted`, `StorageFull` or `StorageFailed`. */
  readonly code: string
  readonly detail: string
}

/** Records changed `stats`. Ends the run that the stored status shows, if any. Must not be called during a run. */
export function endOrphanedRun(journal: Journal, kind: AgentKind, reason: OrphanReason): void {
  const { execution_status: status, pending_confirmations: pending, stats, has_new_stats: isNew } = journal.state
  if (isNew) journal.update('stats', stats)
  // The built-in agent ends its run before its actions wait for the user, so they go on waiting. A pending confirmation
  // was asked within a turn, and ends with it.
  const wasInTurn = !kind.waitsBetweenRuns || pending.length > 0
  const isOrphan = status === 'running' || (status === 'waiting_for_confirmation' && wasInTurn)
  if (!isOrphan) return
  answerOpenActions(journal, `The result is unknown: ${reason.detail}`)
  if (pending.length > 0) journal.update('pending_confirmations', [])
  journal.record({ kind: 'ConversationErrorEvent', source: 'environment', ...reason })
  journal.move('restarted')
}

/** Records an AgentErrorEvent for each action without a result. */
export function answerOpenActions(journal: Journal, error: string): void {
  for (const action of journal.state.open_actions) {
    const { tool_name, tool_call_id } = action
    journal.record({ kind: 'AgentErrorEvent', source: 'agent', tool_name, tool_call_id, error })
  }
}
