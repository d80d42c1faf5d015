/**
 * One tool call of an external agent on its way into the history: growing, recorded, answered. A call that changes several
 * files is one action with its answer for each change.
 *
 * While it grows its action waits: for `record`, for a time without a change (call-readiness), or for the last resort of
 * 30 s, after which it is marked as incomplete. It has its actions and their answers once; what the agent changes in between is told
 * in the observation. When something happens to it is decided by turn-calls.
 */
import type { Log } from '../../base/log.ts'
import { maskTextInTurns, turnWeight } from '../../base/mask-turns.ts'
import { andThen } from '../../base/wait.ts'
import type { Recorded } from '../../conversation/agent.ts'
import type { EventDraft } from '../../schema/generated/events.ts'
import { actionOf, argumentsOf, incompleteActionOf, toolNameOf } from './action-of.ts'
import { changeNote, partNote, summaryOf } from './call-notes.ts'
import type { CallMemory } from './call-memory.ts'
import { lastOf, observedPart, type RecordedPart } from './call-parts.ts'
import { isPartial, lengthens, quietMsOf } from './call-readiness.ts'
import { actionDraft, observationDraft, rejectionDraft, type RejectionSource } from './drafts.ts'
import { editTitle } from './edits.ts'
import type { TextHiding } from './growing-text.ts'
import { noteObservation, observationOf } from './observation-of.ts'
import { keptOutputOf, type Output } from './output.ts'
import { progressOf } from './progress.ts'
import { partsOf, shapeOf, type Part, type Shape, type ShapeOptions } from './shape.ts'
import type { Timer, Timers } from './timers.ts'
import { hasRun, type RanCall } from './unasked.ts'
import { diffsOf, isFinal, hasOutput, mergeToolCall, newToolCall, type ToolCall } from './tool-calls.ts'
import type { Fields } from '../../base/fields.ts'

export interface ReportedCallOptions extends ShapeOptions, TextHiding {
  readonly memory: CallMemory
  readonly observationsDir: string
  readonly record: (draft: EventDraft) => Recorded
  /** Keeps a long output and gives the name of its file. */
  readonly saveOutput: (text: string) => string
  readonly timers: Timers
  readonly log: Log
  /** Output of a tool call in an event. Default 30,000 characters. */
  readonly outputLimitChars?: number | undefined
  /** A call was answered. */
  readonly answered: (call: ReportedCall) => void
  /** A call runs, or has run: told at the first sign of it and at its end. */
  readonly ran: (ran: RanCall) => void
  /** Tells those who read along how far a call is that is not recorded yet. */
  readonly progress: (text: string) => void
}

/** Where a call stands among the messages. */
export interface CallPlace {
  readonly responseId: string
  /** Thoughts that led to the call and to no text. */
  readonly reasoning: string
}

/** A call as it stands in the history. */
export interface RecordedCall {
  /** The last of its actions: when it is durable, all are. */
  readonly event: Recorded
  readonly shape: Shape
  /** At least one. */
  readonly parts: readonly RecordedPart[]
  readonly call: ToolCall
  readonly isIncomplete: boolean
}

const lastResortMs = 30_000

export class ReportedCall {
  /** As events name it: the agent's own id, unless that was used before. */
  readonly id: string
  readonly #options: ReportedCallOptions
  readonly #place: CallPlace
  #call = newToolCall
  #recorded: RecordedCall | undefined
  #isOver = false
  /** The call was allowed, and whether something was heard of it since. */
  #isAllowed = false
  #isHeardOf = false
  #refused: ToolCall | undefined
  #quiet: Timer | undefined
  #lastResort: Timer | undefined
  #progress = ''

  constructor(id: string, place: CallPlace, options: ReportedCallOptions) {
    this.id = id
    this.#place = place
    this.#options = options
  }

  /** What is known of it. */
  get call(): ToolCall {
    return this.#call
  }

  get recorded(): RecordedCall | undefined {
    return this.#recorded
  }

  get isOver(): boolean {
    return this.#isOver
  }

  get isAllowed(): boolean {
    return this.#isAllowed
  }

  /** True when it was allowed and nothing was heard of it since. */
  get isUnheardOf(): boolean {
    return this.#isAllowed && !this.#isHeardOf
  }

  /** Takes news of the agent in, masked; records the action and the answer when they tell of them, a long one later. */
  update(news: Fields): void | Promise<void> {
    const before = this.#call
    this.#call = mergeToolCall(before, news, this.#recorded !== undefined)
    this.#isHeardOf = true
    if (this.#recorded === undefined) this.#grow(before)
    if (hasRun(this.#call) && (isFinal(this.#call) || !hasRun(before))) this.#options.ran(this.#ran)
    return isFinal(this.#call) ? this.#observe() : undefined
  }

  /** The agent asks for permission with this, all of it or what was told so far: it is recorded, unless it is. */
  asks(call: ToolCall, isWhole: boolean): RecordedCall {
    this.#call = call
    this.#isAllowed = false
    return isWhole ? this.record(false) : this.recordLast()
  }

  /** The call may run. */
  allow(): void {
    this.#isAllowed = true
    this.#isHeardOf = false
  }

  /** The call was refused. */
  reject(reason: string, source: RejectionSource): void {
    const { parts, call } = this.record(false)
    this.#refused = call
    this.#answer(parts.map(({ answered }) => rejectionDraft(answered, reason, source)))
  }

  /** Takes news of it after it was answered: what was refused must not end well. */
  updateLate(news: Fields): void {
    if (this.#refused === undefined || news.status !== 'completed') return
    this.#options.ran(ranCall(this.id, mergeToolCall(this.#refused, news, true), 'refused', this.#options))
  }

  /** Nothing more will be heard of it before it is recorded. */
  recordLast(): RecordedCall {
    return this.record(isPartial(this.#call, this.#options, this.#options.memory.lengthensTexts))
  }

  /** Answers with an error. */
  abandon(error: string): void {
    const { parts } = this.recordLast()
    this.#answer(parts.map(({ answered }) => ({
      kind: 'AgentErrorEvent', tool_name: answered.toolName, tool_call_id: answered.id, error,
    })))
  }

  /** Answers with words of this server. */
  note(text: string): void {
    const { parts } = this.recordLast()
    this.#answer(parts.map(({ part, answered }) => observationDraft(answered, noteObservation(part, answered.toolName, text))))
  }

  record(isIncomplete: boolean): RecordedCall {
    if (this.#recorded !== undefined) return this.#recorded
    this.#stopTimers()
    const { call } = this
    const shape: Shape = isIncomplete ? { as: 'tool' } : shapeOf(call, this.#options)
    const recorded = partsOf(shape).map((part, index) => this.#recordPart(part, index, { shape, isIncomplete }))
    const parts = recorded.map(({ part, answered }) => ({ part, answered }))
    this.#recorded = { event: lastOf(recorded), shape, parts, call, isIncomplete }
    return this.#recorded
  }

  #recordPart(
    part: Part,
    index: number,
    { shape, isIncomplete }: { readonly shape: Shape; readonly isIncomplete: boolean },
  ): RecordedPart & { readonly event: Recorded } {
    const { call } = this
    const id = index === 0 ? this.id : this.#options.memory.take(this.id)
    const toolName = toolNameOf(part, call)
    const title = shape.as === 'edits' && part.as === 'edit' ? editTitle(part.edit) : call.title
    const place = index === 0 ? this.#place : { ...this.#place, reasoning: '' }
    const described = { ...place, id, toolName, summary: summaryOf(title, { isIncomplete, parent: call.parent }), arguments: argumentsOf(call) }
    const action = isIncomplete ? incompleteActionOf(call) : actionOf(part, call)
    const event = this.#options.record(actionDraft(described, action))
    return { event, part, answered: { id, toolName, actionId: event.id } }
  }

  #grow(before: ToolCall): void {
    const { memory } = this.#options
    if (lengthens(before, this.#call)) memory.lengthensTexts = true
    if (isFinal(this.#call) || hasOutput(this.#call)) this.record(false)
    else this.#wait(before)
  }

  /** Records the call later, unless something happens to it before. */
  #wait(before: ToolCall): void {
    this.#tellProgress()
    const { timers, memory } = this.#options
    if (this.#lastResort !== undefined && !hasChanged(before, this.#call)) return
    this.#stopTimers()
    const quietMs = quietMsOf(this.#call, this.#options, memory.lengthensTexts)
    if (quietMs !== undefined) this.#quiet = timers.after(quietMs, () => void this.record(false))
    this.#lastResort = timers.after(lastResortMs, () => void this.record(true))
  }

  get #ran(): RanCall {
    return ranCall(this.id, this.#call, this.#permission, this.#options)
  }

  get #permission(): RanCall['permission'] {
    if (!this.#isAllowed || this.#recorded === undefined) return 'none'
    return changeNote(this.#recorded, this.#call, { ...this.#options, isAllowed: true }) === '' ? 'allowed' : 'changed'
  }

  #tellProgress(): void {
    const progress = progressOf(this.#call)
    if (progress === this.#progress) return
    this.#progress = progress
    this.#options.progress(progress)
  }

  /** What was joined from pieces is masked once more, as a whole. */
  #observe(): void | Promise<void> {
    const { mask, maskDelta, stream } = this.#options
    const { text, images } = keptOutputOf(this.#call)
    const masked = text.length <= turnWeight ? mask(text) : maskTextInTurns(text, { mask, stream }).then(maskDelta)
    return andThen(masked, (hidden) => this.#observed({ text: hidden, images }))
  }

  /** The call may have been given up while its output was masked. */
  #observed(output: Output): void {
    if (this.#recorded === undefined || this.#isOver) return
    const { parts, call } = this.#recorded
    const note = changeNote(this.#recorded, this.#call, { ...this.#options, isAllowed: this.#isAllowed })
    if (note !== '' && this.#isAllowed) this.#options.log.warn('An agent changed a tool call after it was allowed', { call: this.id })
    const lastParts = partsOf(shapeOf({ ...this.#call, kind: call.kind }, this.#options))
    this.#answer(parts.map((recorded, index) => this.#observation(recorded, observedPart(recorded.part, lastParts), index === 0 ? { note, output } : undefined)))
  }

  /** The first part says what came of the call, the others that they belong to it. */
  #observation({ answered }: RecordedPart, part: Part, end: { readonly note: string; readonly output: Output } | undefined): EventDraft {
    const { saveOutput, observationsDir, outputLimitChars = 30_000 } = this.#options
    const { toolName } = answered
    if (end === undefined) return observationDraft(answered, noteObservation(part, toolName, partNote(this.id), this.#call))
    return observationDraft(answered, observationOf(part, this.#call, { ...end, toolName, saveOutput, observationsDir, outputLimitChars }))
  }

  #answer(drafts: readonly EventDraft[]): void {
    this.#stopTimers()
    this.#isOver = true
    // What is kept of it is only that it is over.
    this.#call = newToolCall
    this.#options.answered(this)
    for (const draft of drafts) this.#options.record(draft)
  }

  #stopTimers(): void {
    this.#quiet?.stop()
    this.#lastResort?.stop()
  }
}

function ranCall(id: string, call: ToolCall, permission: RanCall['permission'], options: ShapeOptions): RanCall {
  return { id, call, permission, shape: shapeOf(call, options) }
}

/** True when the input, a diff, or the status is another. */
function hasChanged(before: ToolCall, after: ToolCall): boolean {
  const isSameContent = before.content === after.content || diffsOf(after).length === 0
  return before.input !== after.input || before.status !== after.status || !isSameContent
}
