/**
 * Answers actions that have no result with an AgentErrorEvent: at the end of a turn, and at the end of a run that a
 * killed server left or whose log could not be read or written (decisions 13, 14). Such a run also gets a
 * ConversationErrorEvent with the reason.
 */
import type { AgentKind } from '../agent/agent.ts'
import type { Journal } from './journal.ts'

export interface OrphanReason {
  /** The code of the error event: `ServerRestarted`, `StorageFull` or `StorageFailed`. */
  readonly code: string
  readonly detail: string
}

/** Records `stats` that no event holds yet. If a run is under way by the status, ends the run. Call between turns. */
export function endOrphanedRun(journal: Journal, kind: AgentKind, reason: OrphanReason): void {
  const { execution_status: status, pending_confirmations: pending, stats, has_new_stats: isNew } = journal.state
  if (isNew) journal.update('stats', stats)
  // Actions of the built-in agent wait for the user after the end of a run, so they go on waiting. But a pending
  // confirmation belongs to a turn, and ends with the turn.
  const wasInTurn = !kind.waitsBetweenRuns || pending.length > 0
  const isOrphan = status === 'running' || (status === 'waiting_for_confirmation' && wasInTurn)
  if (!isOrphan) return
  answerOpenActions(journal, `The result is unknown: ${reason.detail}`)
  if (pending.length > 0) journal.update('pending_confirmations', [])
  journal.record({ kind: 'ConversationErrorEvent', source: 'environment', ...reason })
  journal.move('restarted')
}

/** Records an AgentErrorEvent with this text for each action without a result. */
export function answerOpenActions(journal: Journal, error: string): void {
  for (const action of journal.state.open_actions) {
    const { tool_name, tool_call_id } = action
    journal.record({ kind: 'AgentErrorEvent', source: 'agent', tool_name, tool_call_id, error })
  }
}
