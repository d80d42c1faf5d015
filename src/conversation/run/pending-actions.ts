/**
 * The actions of the built-in agent that wait for the user between two runs (decisions 14, 15).
 *
 * A waiting action outlives a restart and has no deadline. The observation of a rejected action is recorded here.
 * Approved actions run in the next turn.
 */
import { AppError } from '../../base/errors.ts'
import type { Journal } from '../log/journal.ts'
import type { PendingConfirmation } from './confirmations.ts'
import type { KeyedRequest } from '../log/requests.ts'
import type { OpenAction } from '../log/state.ts'

const options = [
  { id: 'accept', name: 'Accept', kind: 'allow_once' },
  { id: 'reject', name: 'Reject', kind: 'reject_once' },
] as const

/** Members of a pending confirmation that are empty here, because clients find these details in the ActionEvent. */
const untold = { command: null, diff: null, locations: [] } as const

export function listPending(actions: readonly OpenAction[]): PendingConfirmation[] {
  return actions.map(({ action_id, tool_call_id, tool_name }) => {
    return { id: action_id, tool_call_id, action_id, title: tool_name, ...untold, options, deadline: null }
  })
}

export interface Rejection {
  readonly reason: string
  /** The id of the action to reject; undefined to reject all waiting actions. */
  readonly id: string | undefined
  readonly request: KeyedRequest | undefined
}

/**
 * Records a rejection, and returns the rejected actions. If no action is left waiting, the status becomes `idle`.
 * @throws AppError `not_found` when no waiting action has this id
 */
export function rejectPending(
  journal: Journal, waiting: readonly OpenAction[], { reason, id, request }: Rejection,
): readonly OpenAction[] {
  const refused = waiting.filter((action) => id === undefined || action.action_id === id)
  if (refused.length === 0 && id !== undefined) throw new AppError('not_found', `Confirmation not found: ${id}`)
  if (refused.length === waiting.length) journal.move('rejected')
  for (const { action_id, tool_call_id, tool_name } of refused) {
    const isLast = action_id === refused.at(-1)?.action_id
    journal.record({
      kind: 'UserRejectObservation',
      source: 'environment',
      tool_name,
      tool_call_id,
      action_id,
      rejection_reason: reason,
      rejection_source: 'user',
    }, isLast ? request : undefined)
  }
  return refused
}

/**
 * Checks an approval. Actions that wait together can only be approved together, so an `id` must name the only action.
 * @throws AppError `not_found` when no waiting action has this id; `bad_request` when other actions wait too
 */
export function assertApproves(actions: readonly OpenAction[], id: string | undefined): void {
  if (id === undefined) return
  const isWaiting = actions.some((action) => action.action_id === id)
  if (!isWaiting) throw new AppError('not_found', `Confirmation not found: ${id}`)
  if (actions.length > 1) {
    const remedy = 'reject the others first, or approve all'
    throw new AppError('bad_request', `Cannot approve one of ${actions.length} actions: ${remedy}`)
  }
}
