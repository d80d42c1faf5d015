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
  /** Id of the confirmation to answer. Default: the pending one or, if none, all actions that wait between two runs. */
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
  /** The ids of actions whose rejection is recorded and not durable yet. */
  readonly #rejected = new Set<string>()

  constructor(options: ApprovalsOptions) {
    this.#options = options
  }

  list(): readonly PendingConfirmation[] {
    return [...this.#options.questions.list(), ...listPending(this.waiting())]
  }

  /**
   * Returns the actions that wait for the user between two runs. The earlier run may still be recording its end. An
   * action waits until it is rejected or a run begins. The line that records this need not be durable yet.
   */
  waiting(): readonly OpenAction[] {
    const { journal: { state, status }, runner, seat, questions } = this.#options
    if (questions.list().length > 0) return []
    const mayWait = !runner.isRunning || seat.isStepping
    const isWaiting = [state.execution_status, status].every((one) => one === 'waiting_for_confirmation')
    if (!mayWait || !isWaiting) return []
    return state.open_actions.filter(({ action_id: id }) => !this.#rejected.has(id))
  }

  /**
   * Applies the user's response to the pending confirmation, or else to the actions that wait between two runs. If
   * nothing waits for the user, a response without an id has no effect.
   * @throws AppError `not_found` for an unknown id; the errors of `assertApproves`, `Gate.assertWritable`,
   * `Runner.start`
   */
  async respond(approval: Approval, request: KeyedRequest | undefined): Promise<void> {
    const { journal, questions } = this.#options
    const { accept, reason, id } = approval
    const found = questions.answer(accept ? { outcome: 'accepted' } : { outcome: 'denied', reason }, id)
    const asked = this.waiting()
    if (!found && asked.length > 0) return this.#respondLater(approval, asked, request)
    if (!found && id !== undefined) throw new AppError('not_found', `Confirmation not found: ${id}`)
    journal.answered(request)
    await journal.durable()
  }

  /**
   * Applies the response to the actions that wait between two runs. `asked` holds the actions that waited when the
   * request came. If no action waits now, or an action waits that is not in `asked`, nothing changes.
   */
  async #respondLater(
    { accept, reason, id }: Approval, asked: readonly OpenAction[], request: KeyedRequest | undefined,
  ): Promise<void> {
    const { journal, gate, runner } = this.#options
    await gate.assertWritable()
    await runner.settled()
    gate.assertOpen()
    const waiting = this.waiting()
    const isMeant = waiting.length > 0 && waiting.every((action) => asked.includes(action))
    if (isMeant && accept) {
      assertApproves(waiting, id)
      return runner.start(request)
    }
    if (isMeant) return this.#reject(rejectPending(journal, waiting, { reason, id, request }))
    journal.answered(request)
    await journal.durable()
  }

  /** Waits until the recorded rejection is durable. Until then, `waiting` leaves out the rejected actions. */
  async #reject(actions: readonly OpenAction[]): Promise<void> {
    for (const { action_id: id } of actions) this.#rejected.add(id)
    try {
      await this.#options.journal.durable()
    } finally {
      for (const { action_id: id } of actions) this.#rejected.delete(id)
    }
  }
}
