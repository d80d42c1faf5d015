/**
 * The state machine of a conversation's status (contract/conversations.md, section 3).
 *
 * A row is a status, a column is a trigger. A missing entry leaves the status unchanged.
 */
import type { ExecutionStatus } from '../../schema/generated/conversations.ts'

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
    // `paused` is missing: a pause keeps the pending confirmation. An interrupt ends the turn that asked for it.
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

/** Returns the status after `trigger`, which may be the same status. */
export function nextStatus(status: ExecutionStatus, trigger: Trigger): ExecutionStatus {
  return table[status][trigger] ?? status
}

/** True for each status except the two in which clients see a run: `running` and `waiting_for_confirmation`. */
export function isEnded(status: ExecutionStatus): boolean {
  return status !== 'running' && status !== 'waiting_for_confirmation'
}
