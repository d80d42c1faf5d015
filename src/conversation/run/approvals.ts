/**
 * Lists pending confirmations and applies the user's responses to them (decisions 15).
 *
 * There are two kinds: confirmations of the current turn, and actions of the built-in agent that wait between two runs.
 */
import { AppError } from '../../base/errors.ts'
import type { AgentSeat } from './agent-seat.ts'
import type { Gate } from './gate.ts'
import type { Journal } from '../log/journal.ts'
import { assertApproves, listPending, rejectPending } from './pending-actions.ts'
import type { PendingConfirmation, Confirmations } from './confirmations.ts'
import type { KeyedRequest } from '../log/requests.ts'
import type { Runner } from './runner.ts'
import type { OpenAction } from '../log/state.ts'

export interface Approval {
  readonly accept: boolean
  readonly reason: string
  /** Without an id, the pending confirmation is meant; if none is pending, all actions that wait between two runs. */
  readonly id?: string | undefined
}

export interface ApprovalsOptions {
  readonly journal: Journal
  readonly gate: Gate
  readonly seat: AgentSeat
  readonly runner: Runner
  readonly questions: Confirmations
}

export class Approvals {
  readonly #options: ApprovalsOptions

  constructor(options: ApprovalsOptions) {
    this.#options = options
  }

  list(): readonly PendingConfirmation[] {
    return [...this.#options.questions.list(), ...listPending(this.waiting())]
  }

  /** Returns the actions that wait for the user between two runs, already while the first run records its end. */
  waiting(): readonly OpenAction[] {
    const { journal: { state }, runner, seat, questions } = this.#options
    if (questions.list().length > 0) return []
    const mayWait = !runner.isRunning || seat.isStepping
    const isWaiting = mayWait && state.execution_status === 'waiting_for_confirmation'
    return isWaiting ? state.open_actions : []
  }

  /**
   * Applies the user's response to the pending confirmation, or else to the actions that wait between two runs. Without
   * a confirmation and waiting actions, a response without an id has no effect.
   * @throws AppError `not_found` for an unknown id; the errors of `assertApproves`, `Gate.assertWritable`,
   * `Runner.start`
   */
  async respond(approval: Approval, request: KeyedRequest | undefined): Promise<void> {
    const { journal, questions } = this.#options
    const { accept, reason, id } = approval
    const found = questions.answer(accept ? { outcome: 'accepted' } : { outcome: 'denied', reason }, id)
    if (!found && this.waiting().length > 0) return this.#respondLater(approval, request)
    if (!found && id !== undefined) throw new AppError('not_found', `Confirmation not found: ${id}`)
    journal.answered(request)
    await journal.durable()
  }

  /** Applies the response to the actions that wait between two runs, if any still wait when no run is under way. */
  async #respondLater({ accept, reason, id }: Approval, request: KeyedRequest | undefined): Promise<void> {
    const { journal, gate, runner } = this.#options
    await gate.assertWritable()
    await runner.settled()
    const waiting = this.waiting()
    if (waiting.length > 0 && accept) {
      assertApproves(waiting, id)
      return runner.start(request)
    }
    if (waiting.length > 0) rejectPending(journal, reason, id, request)
    else journal.answered(request)
    await journal.durable()
  }
}
