/**
 * Receives the messages of an agent. While no turn runs, asks for a turn when the agent has begun work by itself.
 *
 * Claude and Qwen begin such work when a background command or a sub-agent ends. The updates of the work wait for the
 * new turn (decisions 3). Late updates of the previous turn are dropped.
 */
import { isEmpty, textOf, type Fields } from '../../../base/fields.ts'
import { deferred, type Deferred } from '../../../base/wait.ts'
import type { Timer, Timers } from '../calls/timers.ts'
import { describesCall } from '../calls/tool-calls.ts'
import type { AgentListener } from './connection.ts'
import { cancelledResult } from './permissions.ts'
import { saysSomething } from './updates.ts'

export interface OwnBeginningOptions {
  readonly timers: Timers
  /** True for the id of a call from an earlier turn. */
  readonly isKnownCall: (id: string) => boolean
  /** Begins a turn for the work that the agent has begun by itself. Rejects when no turn may begin. */
  readonly begin: () => Promise<void>
  /** Called after `begin` has rejected while updates or questions of the agent still wait for a turn. */
  readonly refused: () => void
}

/** The tail of a turn: the time after its end in which new text counts as late text of the turn. */
const tailMs = 2000
/** The most updates that wait for a turn. At the limit no more messages are read from the agent. */
const heldLimit = 1000
const rememberedMessages = 50

export class OwnBeginning {
  readonly #options: OwnBeginningOptions
  #listener: AgentListener | undefined
  #held: Fields[] = []
  #questions: HeldQuestion[] = []
  #room: Deferred<void> | undefined
  #tail: Timer | undefined
  #isTail = false
  /** True when the last turn was stopped. */
  #wasStopped = false
  /** True once a turn of the session has had a prompt. */
  #wasPrompted = false
  #hasBegun = false
  readonly #messages = new Set<string>()

  constructor(options: OwnBeginningOptions) {
    this.#options = options
  }

  /** True while updates or permission requests (questions) wait for a turn. */
  get isHolding(): boolean {
    return this.#hasBegun
  }

  /** Passes the stored messages to a turn, then new messages until `detach`. `isPrompt`: the turn has a prompt. */
  attach(listener: AgentListener, isPrompt: boolean): void {
    this.#listener = listener
    this.#wasPrompted ||= isPrompt
    this.#tail?.stop()
    this.#isTail = false
    const { held, questions } = this.#letGo()
    for (const update of held) void listener.onUpdate(update)
    for (const { params, withdrawn, answer } of questions) {
      listener.onPermission(params, withdrawn).then(answer.resolve, answer.reject)
    }
  }

  /** Ends the turn. An update in the next `tailMs` asks for another turn only if it begins a new call. */
  detach(wasStopped: boolean): void {
    this.#listener = undefined
    this.#wasStopped = wasStopped
    this.#isTail = true
    this.#tail?.stop()
    this.#tail = this.#options.timers.after(tailMs, () => (this.#isTail = false))
  }

  /**
   * Passes an update to the turn. Between turns, stores the update if it begins work or a turn is already requested;
   * otherwise drops it. At `heldLimit` stored updates, returns a promise that resolves when none is stored any more.
   */
  hear(update: Fields): void | Promise<void> {
    const isNew = this.#isNewMessage(update)
    if (this.#listener !== undefined) return this.#listener.onUpdate(update)
    if (!this.#hasBegun && !this.#isWork(update, isNew)) return undefined
    this.#held.push(update)
    this.#begin()
    if (this.#held.length < heldLimit) return undefined
    this.#room ??= deferred<void>()
    return this.#room.promise
  }

  /**
   * Passes a permission request to the turn. Between turns, stores the request and requests a turn. Within `tailMs`
   * after a stopped turn, cancels the request instead, if no update has requested a turn since the stop.
   */
  asked(params: Fields, withdrawn: AbortSignal): Promise<unknown> {
    if (this.#listener !== undefined) return this.#listener.onPermission(params, withdrawn)
    if (this.#isTail && this.#wasStopped && !this.#hasBegun) return Promise.resolve(cancelledResult)
    const answer = deferred<unknown>()
    this.#questions.push({ params, withdrawn, answer })
    this.#begin()
    return answer.promise
  }

  /** Drops the stored updates and cancels the stored permission requests. Idempotent. */
  close(): void {
    this.#tail?.stop()
    for (const { answer } of this.#letGo().questions) answer.resolve(cancelledResult)
  }

  #begin(): void {
    if (this.#hasBegun) return
    this.#hasBegun = true
    this.#options.begin().catch(() => {
      if (!this.#hasBegun) return // `attach` or `close` has taken the stored messages meanwhile.
      this.close()
      this.#options.refused()
    })
  }

  #letGo(): { readonly held: readonly Fields[]; readonly questions: readonly HeldQuestion[] } {
    const gone = { held: this.#held, questions: this.#questions }
    this.#held = []
    this.#questions = []
    this.#hasBegun = false
    this.#room?.resolve()
    this.#room = undefined
    return gone
  }

  #isWork(update: Fields, isNewMessage: boolean): boolean {
    const { sessionUpdate: kind } = update
    if (kind === 'tool_call' || kind === 'tool_call_update') return this.#isNewCall(update)
    return this.#wasPrompted && !this.#isTail && isNewMessage && saysSomething(update)
  }

  /**
   * True when an update about a call begins new work. With a new id, the update must describe the call. If the call has
   * already ended, the tail (`tailMs`) must be over, and the session must have had a prompt. With a known id, the
   * update must come after the tail, be a `tool_call` and have a status that is not final.
   */
  #isNewCall(update: Fields): boolean {
    const id = textOf(update['toolCallId'])
    const isOver = update['status'] === 'completed' || update['status'] === 'failed'
    if (id === undefined || (isOver && (this.#isTail || !this.#wasPrompted))) return false
    if (!this.#options.isKnownCall(id)) return describesCall(update)
    return !isOver && !this.#isTail && update['sessionUpdate'] === 'tool_call' && !isEmpty(update['status'])
  }

  /** Between turns, false for a remembered `messageId`; else true. Remembers the newest `rememberedMessages` ids. */
  #isNewMessage(update: Fields): boolean {
    const id = textOf(update['messageId'])
    if (id === undefined || (this.#listener === undefined && this.#messages.has(id))) return id === undefined
    this.#messages.add(id)
    const [oldest] = this.#messages
    if (this.#messages.size > rememberedMessages && oldest !== undefined) this.#messages.delete(oldest)
    return true
  }
}

interface HeldQuestion {
  readonly params: Fields
  readonly withdrawn: AbortSignal
  readonly answer: Deferred<unknown>
}
