/**
 * The state machine of a conversation, as one table (contract: conversations.md section 3).
 *
 * A row is a status, a column is what happened; an absent entry means that it changes nothing. Whether a request is
 * allowed at all (409 for a second run, say) is decided by the conversation, which knows what is alive.
 */
import type { ExecutionStatus } from '../schema/generated/conversations.ts'

/** What can happen to a conversation. */
export type Trigger =
  | 'run'
  | 'message'
  | 'finished'
  | 'asked'
  | 'answered'
  | 'rejected'
  | 'paused'
  | 'interrupted'
  | 'failed'
  | 'stuck'
  | 'restarted'

type Row = Partial<Record<Trigger, ExecutionStatus>>

const table: Record<ExecutionStatus, Row> = {
  idle: { run: 'running', paused: 'paused', interrupted: 'paused', failed: 'error' },
  running: {
    finished: 'finished',
    asked: 'waiting_for_confirmation',
    paused: 'paused',
    interrupted: 'paused',
    failed: 'error',
    stuck: 'stuck',
    restarted: 'error',
  },
  waiting_for_confirmation: {
    run: 'running',
    answered: 'running',
    rejected: 'idle',
    // A pause leaves the question standing; an interrupt ends the turn that asked it.
    interrupted: 'paused',
    finished: 'finished',
    failed: 'error',
    restarted: 'error',
  },
  paused: { run: 'running' },
  finished: { message: 'idle' },
  error: { run: 'running' },
  stuck: { run: 'running', message: 'idle' },
  deleting: {},
}

/** The status after `trigger`, which is the same one when nothing changes. */
export function nextStatus(status: ExecutionStatus, trigger: Trigger): ExecutionStatus {
  return table[status][trigger] ?? status
}

/** Whether no run is under way, as everyone sees it. */
export function isEnded(status: ExecutionStatus): boolean {
  return status !== 'running' && status !== 'waiting_for_confirmation'
}

/** All statuses, for table tests and for the search filter. */
export const statuses = [
  'idle',
  'running',
  'paused',
  'waiting_for_confirmation',
  'finished',
  'error',
  'stuck',
  'deleting',
] as const satisfies readonly ExecutionStatus[]
