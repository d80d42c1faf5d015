/**
 * The tool calls of an external agent's turn: which call a piece of news is about, and which action a question.
 *
 * A call that is asked about with more than its action says gets another action, and the first is answered with a word about
 * that: what is on record before a question is answered says all of the question (decisions, 3). A question that has no
 * call of its own and names no work is about the open calls that nobody was asked about (OpenHands): it is one question
 * for each of them. An id that had a call before begins another one only by an announcement: a late end is dropped with a
 * line in the log. Every text is masked before it is looked at.
 */
import type { Recorded } from '../../conversation/agent.ts'
import { isEmpty, objectOf, textOf, type Fields } from '../../base/fields.ts'
import { maskJson } from '../../base/mask-json.ts'
import { isTooLongToShow } from './action-of.ts'
import { allowedAndUnheardOf, askedAnew } from './call-notes.ts'
import { contains, hasMembers } from './call-readiness.ts'
import type { RejectionSource } from './drafts.ts'
import { editsOf } from './edits.ts'
import { ReportedCall, type CallPlace, type ReportedCallOptions } from './reported-call.ts'
import type { Shape } from './shape.ts'
import { describesCall, diffsOf, mergeToolCall, newToolCall, type ToolCall } from './tool-calls.ts'

export interface TurnCallsOptions extends Omit<ReportedCallOptions, 'answered'> {
  /** A call begins here among the messages. */
  readonly begins: () => CallPlace
  /** A call was answered. */
  readonly answered: () => void
}

/** A question as a client needs it, all of it masked. */
export interface AskedCall {
  readonly id: string
  readonly title: string
  readonly event: Recorded
  /** The call as it was recorded. */
  readonly call: ToolCall
  readonly shape: Shape
  /** The record leaves out what the call does. */
  readonly isTooLong: boolean
}

/** More open calls than this are given up: no agent runs so many tools beside each other. */
const openCallLimit = 1000
const lateLogLimit = 20

export class TurnCalls {
  readonly #options: ReportedCallOptions
  readonly #begins: () => CallPlace
  /** The newest call of each id of the agent's. */
  readonly #calls = new Map<string, ReportedCall>()
  /** The calls without an answer, by the id that events name, in order of arrival. */
  readonly #open = new Map<string, ReportedCall>()
  #late = 0

  constructor(options: TurnCallsOptions) {
    const answered = (call: ReportedCall): void => {
      this.#open.delete(call.id)
      options.answered()
    }
    this.#options = { ...options, answered }
    this.#begins = options.begins
  }

  /** True while a call of which the history knows has no answer, or one is announced. */
  get hasOpen(): boolean {
    return this.#open.size > 0
  }

  /** Takes a `tool_call` or `tool_call_update`. */
  update(update: Fields, isMasked: boolean): void | Promise<void> {
    const news = isMasked ? update : this.#masked(update)
    const id = idOf(news)
    return id === undefined ? undefined : this.#callFor(id, news)?.update(news)
  }

  /** Records the actions that the agent asks permission for, and gives what a question about each needs; mostly one. */
  asks(toolCall: Fields, isMasked: boolean): readonly AskedCall[] {
    const news = isMasked ? toolCall : this.#masked(toolCall)
    const id = idOf(news)
    if (id === undefined) return []
    const known = this.#calls.get(id)
    const open = known?.isOver === false ? known : undefined
    const others = open === undefined && namesNoWork(news) ? this.#unasked() : []
    if (others.length === 0) return [this.#ask(id, open, this.#askedCall(open?.call ?? newToolCall, news), true)]
    return others.map(([otherId, other]) => {
      const asked = this.#ask(otherId, other, other.call, false)
      return { ...asked, title: [textOf(news.title), asked.title].filter(Boolean).join(': ') }
    })
  }

  /** The call was allowed: it may run. */
  allowed(callId: string): void {
    this.#open.get(callId)?.allow()
  }

  /** The user or the policy has refused the call. */
  rejects(callId: string, reason: string, source: RejectionSource): void {
    this.#open.get(callId)?.reject(reason, source)
  }

  /** Answers calls that were allowed and not heard of again: their agent reports the work under another id, or not at all. */
  settleUnheardOf(): void {
    for (const call of this.#open.values()) if (call.isUnheardOf) call.note(allowedAndUnheardOf)
  }

  /** Records what is announced: nothing more will be heard of it. */
  recordAll(): void {
    for (const call of this.#open.values()) call.recordLast()
  }

  /** Records what is announced and answers every open call with an error: they are not waited for any more. */
  abandon(error: string): void {
    this.recordAll()
    for (const call of this.#open.values()) call.abandon(error)
  }

  /** The open call that the news is about; undefined for news about nothing that is open. */
  #callFor(id: string, news: Fields): ReportedCall | undefined {
    const known = this.#calls.get(id)
    if (known?.isOver === false) return known
    known?.updateLate(news)
    const isOld = known !== undefined || this.#options.memory.has(id)
    if (isOld ? announcesAnew(news, known !== undefined) : describesCall(news)) return this.#begin(id)
    if (isOld && ++this.#late <= lateLogLimit) {
      this.#options.log.info('An agent reported something of a tool call that is over; it was dropped', { call: id })
    }
    return undefined
  }

  /** The open calls that nobody has said yes to, each with the id that the agent gave it. */
  #unasked(): readonly (readonly [id: string, call: ReportedCall])[] {
    return [...this.#calls].filter(([, call]) => !call.isOver && !call.isAllowed)
  }

  /**
   * The call as the question tells it. Words beside it do not replace a diff that was told before; another input with a change
   * of its own does.
   */
  #askedCall(call: ToolCall, news: Fields): ToolCall {
    const own = mergeToolCall({ ...call, content: [] }, news, false)
    if (diffsOf(own).length > 0 || diffsOf(call).length === 0) return mergeToolCall(call, news, false)
    const isOther = !isEmpty(news.rawInput) && !hasMembers(call.input, own.input)
    if (isOther && editsOf(own, this.#options.workingDir).length > 0) return own
    return { ...own, content: [...call.content, ...own.content] }
  }

  /** `isWhole` says that the question itself has told all of the call. */
  #ask(id: string, open: ReportedCall | undefined, asked: ToolCall, isWhole: boolean): AskedCall {
    const reported = open === undefined ? this.#begin(id) : this.#callToAsk(id, open, asked, isWhole)
    const { event, shape, call } = reported.asks(asked, isWhole)
    return { id: reported.id, title: asked.title, event, shape, call, isTooLong: isTooLongToShow(call) }
  }

  /** An action that says less than the question, or is marked as incomplete, is not the action of the question. */
  #callToAsk(id: string, open: ReportedCall, asked: ToolCall, isWhole: boolean): ReportedCall {
    const { recorded } = open
    if (recorded === undefined) return open
    if (contains(recorded.call, asked, this.#options) && !(isWhole && recorded.isIncomplete)) return open
    const next = this.#begin(id)
    open.note(askedAnew(next.id))
    return next
  }

  #begin(id: string): ReportedCall {
    if (this.#open.size >= openCallLimit) this.abandon(`More than ${openCallLimit} tool calls were open at once`)
    const call = new ReportedCall(this.#options.memory.take(id), this.#begins(), this.#options)
    this.#calls.set(id, call)
    this.#open.set(call.id, call)
    return call
  }

  #masked(news: Fields): Fields {
    return objectOf(maskJson(news, this.#options.mask))
  }
}

/** An id that was used begins another call when it is announced, or told whole in a later turn, as one that is not over. */
function announcesAnew(news: Fields, isOfThisTurn: boolean): boolean {
  if (news.status !== 'pending' && news.status !== 'in_progress') return false
  return news.sessionUpdate === 'tool_call' || (!isOfThisTurn && !isEmpty(news.rawInput))
}

/** True for a question without an input, a diff, a place or a kind: its title asks about something that was told before. */
function namesNoWork({ kind, rawInput, content, locations }: Fields): boolean {
  const isOther = kind === undefined || kind === null || kind === 'other'
  // Gemini sends its lists also where they are empty, and its questions are about themselves.
  return isOther && isEmpty(rawInput) && !Array.isArray(content) && !Array.isArray(locations)
}

/** A longer one is none: it stands in every event of its call. */
function idOf(news: Fields): string | undefined {
  const id = textOf(news.toolCallId)
  return id === undefined || id.length > idLimitChars ? undefined : id
}

const idLimitChars = 1000
