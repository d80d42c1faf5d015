/**
 * Answers the permission requests of an agent in one turn. The calls of a request are recorded, then the policy or
 * the user decides.
 *
 * No call is allowed before its action is durable. If the user would have to decide, a call that is too long to be
 * shown whole is denied.
 */
import { errorOf } from '../../../base/errors.ts'
import { objectOf, type Fields } from '../../../base/fields.ts'
import type { Log } from '../../../base/log.ts'
import { deferred } from '../../../base/wait.ts'
import type { ConfirmationAnswer, QuestionOption, Turn } from '../../../conversation/agent/agent.ts'
import type { AgentHost } from '../../../conversation/agent/host.ts'
import type { RejectionSource } from '../calls/drafts.ts'
import type { AskedCall } from '../calls/turn-calls.ts'
import {
  allowOnce, cancelledResult, decide, deny, readOptions, shownOptions, type PermissionResult,
} from '../session/permissions.ts'
import { isLong, maskedInTurns } from './long-updates.ts'
import { questionOf } from './question.ts'
import type { TurnEvents } from './turn-events.ts'

export interface TurnPermissionsOptions {
  readonly events: TurnEvents
  readonly turn: Turn
  readonly signal: AbortSignal
  readonly host: AgentHost
  readonly log: Log
  /** Called when a question to the user begins or ends. */
  readonly onQuestions: () => void
}

export class TurnPermissions {
  readonly #options: TurnPermissionsOptions
  readonly #cancelled = deferred<ConfirmationAnswer>()
  #openQuestions = 0
  #hasDenied = false
  #isClosed = false

  constructor(options: TurnPermissionsOptions) {
    this.#options = options
  }

  /** The number of questions that wait for the user's answer. */
  get openQuestions(): number {
    return this.#openQuestions
  }

  get hasDenied(): boolean {
    return this.#hasDenied
  }

  /** True when the turn is being stopped, `close` was called, or `withdrawn` is aborted. */
  #isOver(withdrawn: AbortSignal): boolean {
    return this.#isClosed || this.#options.signal.aborted || withdrawn.aborted
  }

  /** Answers a `session/request_permission`. A request that names no call is answered with `cancelled`. */
  async answer(params: Fields, withdrawn: AbortSignal): Promise<PermissionResult> {
    const call = objectOf(params['toolCall'])
    const masked = isLong(call) ? await maskedInTurns(call, this.#options.host) : undefined
    const announced = this.#options.events.untilAnnounced(call, withdrawn)
    if (announced !== undefined) await announced
    const asked = this.#isOver(withdrawn) ? [] : this.#options.events.asks(masked ?? call, masked !== undefined)
    if (asked.length === 0) return cancelledResult
    const options = readOptions(params['options'])
    const request = { options, withdrawn }
    const decision = decide(this.#options.host.policy(), options)
    switch (decision.do) {
      case 'allow': return this.#allow(asked, request)
      case 'deny': {
        const refusal: Refusal = { reason: `Refused without a question: ${decision.reason}`, source: 'hook' }
        return this.#deny(asked, options, refusal)
      }
      case 'ask': return this.#ask(asked, request)
    }
  }

  /** Answers open and later requests with `cancelled`. Idempotent. */
  close(): void {
    this.#isClosed = true
    this.#cancelled.resolve({ outcome: 'cancelled' })
  }

  /** Allows the calls once their actions are durable. Returns `cancelled` if this fails, or if `#isOver` is true. */
  async #allow(asked: readonly AskedCall[], { options, withdrawn }: Request): Promise<PermissionResult> {
    try {
      for (const { event } of asked) await event.durable()
    } catch (error) {
      this.#options.log.error('A tool call was not allowed: its action could not be stored', { error: errorOf(error) })
      return cancelledResult
    }
    if (this.#isOver(withdrawn)) return cancelledResult
    for (const { id } of asked) this.#options.events.allowed(id)
    return allowOnce(options)
  }

  /** Denies all calls of a request with `refusal`. With `refused`, gives other calls the refusal `refusedTogether`. */
  #deny(
    asked: readonly AskedCall[],
    options: readonly QuestionOption[],
    refusal: Refusal,
    refused?: AskedCall,
  ): PermissionResult {
    this.#hasDenied = true
    for (const one of asked) {
      const { reason, source } = refused === undefined || one === refused ? refusal : refusedTogether
      this.#options.events.rejects(one.id, reason, source)
    }
    return deny(options)
  }

  /**
   * Asks the user about one call after the other, until a call is not accepted. Denies all calls if one is too long to
   * show: no answer may allow a call that the user did not see whole.
   */
  async #ask(asked: readonly AskedCall[], request: Request): Promise<PermissionResult> {
    const { options } = request
    const long = asked.find(({ isTooLong }) => isTooLong)
    if (long !== undefined) return this.#deny(asked, options, tooLong, long)
    for (const one of asked) {
      const answer = await this.#askUser(one, request)
      if (this.#isOver(request.withdrawn) || answer.outcome === 'cancelled') return cancelledResult
      if (answer.outcome !== 'accepted') {
        const source = answer.by === undefined ? 'user' : 'hook'
        return this.#deny(asked, options, { reason: answer.reason, source }, one)
      }
    }
    return this.#allow(asked, request)
  }

  async #askUser(asked: AskedCall, { options, withdrawn }: Request): Promise<ConfirmationAnswer> {
    const { turn, host, onQuestions } = this.#options
    this.#openQuestions++
    onQuestions()
    const shown = shownOptions(options, (text) => host.mask(text))
    const question = turn.ask({ ...questionOf(asked), options: shown }, withdrawn)
    const answer = await Promise.race([question, this.#cancelled.promise])
    this.#openQuestions--
    onQuestions()
    return answer
  }
}

const refusedTogether: Refusal = {
  reason: 'The agent asked about this together with another call, which was refused',
  source: 'hook',
}

/** The options of a permission request, and the signal of its withdrawal. */
interface Request {
  readonly options: readonly QuestionOption[]
  /** Aborts when the agent cancels the request or the connection ends. */
  readonly withdrawn: AbortSignal
}

interface Refusal {
  readonly reason: string
  readonly source: RejectionSource
}

const tooLong: Refusal = {
  reason: 'Refused without a question: it is too long to be shown whole, so nobody can say yes to it',
  source: 'hook',
}
