/**
 * The permissions that an agent asks for in one turn: recorded, decided by the policy or the user, answered once.
 *
 * Nothing is allowed that is not in the history yet, with all that the request says. What is too long to be recorded whole
 * is denied where the user would have to decide about it. Questions are handed to the conversation as they come, which
 * asks them one at a time. One request may be about several calls; it is granted when all of them are. After `close`
 * every answer is `cancelled`, as is that of a request that its agent has withdrawn: nobody is asked about it any more.
 * Options are chosen by kind (permissions).
 */
import { errorOf } from '../../base/errors.ts'
import { deferred } from '../../base/wait.ts'
import type { Log } from '../../base/log.ts'
import type { AgentHost, Answer, QuestionOption, Turn } from '../../conversation/agent.ts'
import { objectOf, type Fields } from '../../base/fields.ts'
import { isLong, maskedInTurns } from './long-updates.ts'
import { allowOnce, cancelledResult, decide, deny, readOptions, shownOptions, type PermissionResult } from './permissions.ts'
import type { RejectionSource } from './drafts.ts'
import { questionOf } from './question.ts'
import type { AskedCall } from './turn-calls.ts'
import type { TurnEvents } from './turn-events.ts'

export interface TurnPermissionsOptions {
  readonly events: TurnEvents
  readonly turn: Turn
  /** Stops the turn. */
  readonly signal: AbortSignal
  readonly host: AgentHost
  readonly log: Log
  /** A question was asked of the user, or has ended. */
  readonly onQuestions: () => void
}

export class TurnPermissions {
  readonly #options: TurnPermissionsOptions
  readonly #cancelled = deferred<Answer>()
  #openQuestions = 0
  #hasDenied = false
  #isClosed = false

  constructor(options: TurnPermissionsOptions) {
    this.#options = options
  }

  /** Questions that the user has not answered. */
  get openQuestions(): number {
    return this.#openQuestions
  }

  get hasDenied(): boolean {
    return this.#hasDenied
  }

  /** Whether nothing may be allowed any more: from the call that stops the turn on, or because the agent does not want it. */
  #isOver(withdrawn: AbortSignal): boolean {
    return this.#isClosed || this.#options.signal.aborted || withdrawn.aborted
  }

  /** The answer to one `session/request_permission`. */
  async answer(params: Fields, withdrawn: AbortSignal): Promise<PermissionResult> {
    const call = objectOf(params.toolCall)
    const masked = isLong(call) ? await maskedInTurns(call, this.#options.host) : undefined
    const asked = this.#isOver(withdrawn) ? [] : this.#options.events.asks(masked ?? call, masked !== undefined)
    if (asked.length === 0) return cancelledResult
    const options = readOptions(params.options)
    const request = { options, withdrawn }
    const decision = decide(this.#options.host.policy(), options)
    switch (decision.do) {
      case 'allow': return this.#allow(asked, request)
      case 'deny': return this.#deny(asked, options, { reason: `Refused without a question: ${decision.reason}`, source: 'hook' })
      case 'ask': return this.#ask(asked, request)
    }
  }

  /** What is open is answered with `cancelled`, as is what comes later. Idempotent. */
  close(): void {
    this.#isClosed = true
    this.#cancelled.resolve({ outcome: 'cancelled' })
  }

  /** Nothing is allowed that is not in the history yet. */
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

  /** The reason is that of the call that was refused; calls that the agent asked about with it fall with it. */
  #deny(asked: readonly AskedCall[], options: readonly QuestionOption[], refusal: Refusal, refused?: AskedCall): PermissionResult {
    this.#hasDenied = true
    for (const one of asked) {
      const { reason, source } = refused === undefined || one === refused ? refusal : refusedTogether
      this.#options.events.rejects(one.id, reason, source)
    }
    return deny(options)
  }

  /** Calls that the agent asks about together are asked about one after the other: one answer must not allow what is hidden. */
  async #ask(asked: readonly AskedCall[], request: Request): Promise<PermissionResult> {
    const { options } = request
    const long = asked.find(({ isTooLong }) => isTooLong)
    if (long !== undefined) return this.#deny(asked, options, tooLong, long)
    for (const one of asked) {
      const answer = await this.#askUser(one, request)
      if (this.#isOver(request.withdrawn) || answer.outcome === 'cancelled') return cancelledResult
      if (answer.outcome !== 'accepted') return this.#deny(asked, options, { reason: answer.reason, source: answer.by === undefined ? 'user' : 'hook' }, one)
    }
    return this.#allow(asked, request)
  }

  async #askUser(asked: AskedCall, { options, withdrawn }: Request): Promise<Answer> {
    const { turn, host, onQuestions } = this.#options
    this.#openQuestions++
    onQuestions()
    const question = turn.ask({ ...questionOf(asked), options: shownOptions(options, (text) => host.mask(text)) }, withdrawn)
    const answer = await Promise.race([question, this.#cancelled.promise])
    this.#openQuestions--
    onQuestions()
    return answer
  }
}

const refusedTogether: Refusal = { reason: 'The agent asked about this together with another call, which was refused', source: 'hook' }

/** What a permission request says besides the call. */
interface Request {
  readonly options: readonly QuestionOption[]
  /** Aborts when the agent cancels the request. */
  readonly withdrawn: AbortSignal
}

interface Refusal {
  readonly reason: string
  readonly source: RejectionSource
}

const tooLong: Refusal = { reason: 'Refused without a question: it is too long to be shown whole, so nobody can say yes to it', source: 'hook' }
