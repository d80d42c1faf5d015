/**
 * The tool calls of an external agent's turn: finds the call of an update, and the calls of a permission request.
 *
 * A permission request is called a question here. The work that a question describes is recorded before the answer
 * (decisions 3). A question that names no work (OpenHands) is about all open calls that are not allowed yet, if any.
 */
import { isEmpty, objectOf, textOf, type Fields } from '../../../base/fields.ts'
import { maskJson } from '../../../base/mask-json.ts'
import type { Recorded } from '../../../conversation/agent/agent.ts'
import { isTooLongToShow } from './action-of.ts'
import { Announcements } from './announcements.ts'
import { allowedAndUnheardOf, askedAnew } from './call-notes.ts'
import { contains, hasMembers } from './call-readiness.ts'
import type { RejectionSource } from './drafts.ts'
import { editsOf } from './edits.ts'
import { ReportedCall, type CallPlace, type ReportedCallEvents, type ReportedCallOptions } from './reported-call.ts'
import type { Shape } from './shape.ts'
import { describesCall, diffsOf, mergeToolCall, newToolCall, type ToolCall } from './tool-calls.ts'

export interface TurnCallsEvents extends Pick<ReportedCallEvents, 'progress'> {
  /** Ends the agent's message before a new call, and returns the response id and the thoughts for the call. */
  readonly begins: () => CallPlace
  /** Called right before the result of a call is recorded. */
  readonly answered: () => void
}

/** A call that a permission request asks about. Its texts are masked. */
export interface AskedCall {
  readonly id: string
  readonly title: string
  readonly event: Recorded
  /** The call as its action records it. */
  readonly call: ToolCall
  readonly shape: Shape
  /** True when the call is too long to be shown whole (`isTooLongToShow`). */
  readonly isTooLong: boolean
}

/** The most open calls of a turn. One more call ends all open calls with an error. */
const openCallLimit = 1000
const lateLogLimit = 20

export class TurnCalls {
  readonly #options: ReportedCallOptions
  readonly #listener: TurnCallsEvents
  /** The newest call for each call id that the agent used in this turn. */
  readonly #calls = new Map<string, ReportedCall>()
  /** The open calls, by the id in events, in order of arrival. */
  readonly #open = new Map<string, ReportedCall>()
  readonly #announcements: Announcements
  #late = 0

  constructor(options: ReportedCallOptions, listener: TurnCallsEvents) {
    this.#options = options
    this.#listener = listener
    this.#announcements = new Announcements(options.timers)
  }

  /** True while any call has no result. */
  get hasOpen(): boolean {
    return this.#open.size > 0
  }

  /** Processes a `tool_call` or `tool_call_update`. Returns a promise only if a long output has to be masked. */
  update(update: Fields, isMasked: boolean): void | Promise<void> {
    const news = isMasked ? update : this.#masked(update)
    const id = idOf(news)
    return id === undefined ? undefined : this.#callFor(id, news)?.update(news)
  }

  /**
   * Waits a limited time until the agent has announced the calls of a permission request that names no work
   * (`namesNoWork`). Returns undefined for any other request, and for one without an id or with the id of an open call.
   */
  untilAnnounced(toolCall: Fields, withdrawn: AbortSignal): Promise<void> | undefined {
    const id = idOf(toolCall)
    const isOpen = id !== undefined && this.#calls.get(id)?.isOver === false
    if (id === undefined || isOpen || !namesNoWork(toolCall)) return undefined
    return this.#announcements.settled(this.#unasked().length > 0, withdrawn)
  }

  /** Records and returns the calls of a permission request; an empty list if the request has no usable call id. */
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
      return { ...asked, title: [textOf(news['title']), asked.title].filter(Boolean).join(': ') }
    })
  }

  allowed(callId: string): void {
    this.#open.get(callId)?.allow()
  }

  /** Answers an open call with a rejection. `source` says who rejected the call. */
  rejects(callId: string, reason: string, source: RejectionSource): void {
    this.#open.get(callId)?.reject(reason, source)
  }

  /** Ends each open call that was allowed and got no update since. Its result is a note, as its id may have changed. */
  settleUnheardOf(): void {
    for (const call of this.#open.values()) if (call.isUnheardOf) call.note(allowedAndUnheardOf)
  }

  /** Records the open calls that are not recorded yet. */
  recordAll(): void {
    for (const call of this.#open.values()) call.recordLast()
  }

  /** Records the open calls that are not recorded yet, then answers every open call with an error. */
  abandon(error: string): void {
    this.recordAll()
    for (const call of this.#open.values()) call.abandon(error)
  }

  /** Ends the waits for announcements, and abandons every open call. */
  close(error: string): void {
    this.#announcements.close()
    this.abandon(error)
  }

  /** Returns the open call of an update, or a new call if the update announces one. Otherwise returns undefined. */
  #callFor(id: string, news: Fields): ReportedCall | undefined {
    const known = this.#calls.get(id)
    if (known?.isOver === false) return known
    known?.updateLate(news)
    const isOld = known !== undefined || this.#options.memory.has(id)
    if (isOld ? announcesAnew(news, known !== undefined) : describesCall(news)) return this.#begin(id)
    if (isOld && ++this.#late <= lateLogLimit) {
      this.#options.log.info('An update of a tool call that has already ended was dropped', { call: id })
    }
    return undefined
  }

  /** Returns the open calls that are not allowed, each with the id that the agent gave to the call. */
  #unasked(): readonly (readonly [id: string, call: ReportedCall])[] {
    return [...this.#calls].filter(([, call]) => !call.isOver && !call.isAllowed)
  }

  /**
   * Returns `call` with the members of the permission request (`news`) merged in. A request without diffs does not
   * remove the diffs of `call`, unless the input of the request describes other changes of files.
   */
  #askedCall(call: ToolCall, news: Fields): ToolCall {
    const own = mergeToolCall({ ...call, content: [] }, news, false)
    if (diffsOf(own).length > 0 || diffsOf(call).length === 0) return mergeToolCall(call, news, false)
    const isOther = !isEmpty(news['rawInput']) && !hasMembers(call.input, own.input)
    if (isOther && editsOf(own, this.#options.workingDir).length > 0) return own
    return { ...own, content: [...call.content, ...own.content] }
  }

  /** Records `asked`, the call of a permission request. `isWhole`: the request describes the whole call. */
  #ask(id: string, open: ReportedCall | undefined, asked: ToolCall, isWhole: boolean): AskedCall {
    const reported = open === undefined ? this.#begin(id) : this.#callToAsk(id, open, asked, isWhole)
    const { event, shape, call } = reported.asks(asked, isWhole)
    return { id: reported.id, title: asked.title, event, shape, call, isTooLong: isTooLongToShow(call) }
  }

  /**
   * Returns the call to ask about. This is `open` if it has no action yet, or if its action shows all of `asked`. With
   * `isWhole`, the action must also be complete. Otherwise it is a new call, and `open` gets a note as its result.
   */
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
    const call = new ReportedCall(this.#options.memory.take(id), this.#listener.begins(), this.#options, {
      answered: () => {
        this.#open.delete(call.id)
        this.#listener.answered()
      },
      progress: this.#listener.progress,
    })
    this.#calls.set(id, call)
    this.#open.set(call.id, call)
    this.#announcements.announced()
    return call
  }

  #masked(news: Fields): Fields {
    return objectOf(maskJson(news, this.#options.mask))
  }
}

/**
 * True when an update with a used id begins another call. Its status must be `pending` or `in_progress`. It must be a
 * `tool_call`, or have an input and an id that only earlier turns have used.
 */
function announcesAnew(news: Fields, isOfThisTurn: boolean): boolean {
  if (news['status'] !== 'pending' && news['status'] !== 'in_progress') return false
  return news['sessionUpdate'] === 'tool_call' || (!isOfThisTurn && !isEmpty(news['rawInput']))
}

/** True if a request describes no work: it lacks input, content and locations, and its kind is missing or `other`. */
function namesNoWork({ kind, rawInput, content, locations }: Fields): boolean {
  const isOther = kind === undefined || kind === null || kind === 'other'
  // An empty list counts as a description, because Gemini sends empty lists when it describes a call.
  return isOther && isEmpty(rawInput) && !Array.isArray(content) && !Array.isArray(locations)
}

function idOf(news: Fields): string | undefined {
  const id = textOf(news['toolCallId'])
  return id === undefined || id.length > idLimitChars ? undefined : id
}

const idLimitChars = 1000
