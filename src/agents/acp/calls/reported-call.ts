/**
 * Records the action and the observation of one tool call of an external agent. A call with several changes of files is
 * recorded as several actions, each with a result.
 */
import type { Fields } from '../../../base/fields.ts'
import type { Log } from '../../../base/log.ts'
import { maskTextInTurns, turnWeight } from '../../../base/mask-turns.ts'
import { andThen } from '../../../base/wait.ts'
import type { Recorded } from '../../../conversation/agent/agent.ts'
import type { EventDraft } from '../../../schema/generated/events.ts'
import { actionOf, argumentsOf, incompleteActionOf, toolNameOf } from './action-of.ts'
import type { CallMemory } from './call-memory.ts'
import { changeNote, partNote, summaryOf } from './call-notes.ts'
import { lastOf, observedPart, type RecordedPart } from './call-parts.ts'
import { isPartial, lengthens, quietMsOf } from './call-readiness.ts'
import { actionDraft, observationDraft, rejectionDraft, type RejectionSource } from './drafts.ts'
import { editTitle } from './edits.ts'
import type { TextHiding } from './growing-text.ts'
import { noteObservation, observationOf } from './observation-of.ts'
import { keptOutputOf, type Output } from './output.ts'
import { progressOf } from './progress.ts'
import { partsOf, shapeOf, type CallPart, type Shape, type ShapeOptions } from './shape.ts'
import type { Timer, Timers } from './timers.ts'
import { diffsOf, isFinal, hasOutput, mergeToolCall, newToolCall, type ToolCall } from './tool-calls.ts'
import { hasRun, type RanCall } from './unasked.ts'

export interface ReportedCallOptions extends ShapeOptions, TextHiding {
  readonly memory: CallMemory
  readonly observationsDir: string
  readonly record: (draft: EventDraft) => Recorded
  readonly saveOutput: (text: string) => string
  readonly timers: Timers
  readonly log: Log
  /** The longest output of a tool call in an event. Default 30,000 characters. */
  readonly outputLimitChars?: number | undefined
  /**
   * Called when the call first shows signs of running, when it ends with such signs, and when a refused call is
   * reported as completed.
   */
  readonly ran: (ran: RanCall) => void
}

export interface ReportedCallEvents {
  /** Called right before the result of the call is recorded. */
  readonly answered: (call: ReportedCall) => void
  /** Shows streaming clients the progress of a call that is not recorded yet. */
  readonly progress: (text: string) => void
}

/** The members of a call's action that come from the agent's messages before the call. */
export interface CallPlace {
  readonly responseId: string
  /** The agent's thoughts right before the call. */
  readonly reasoning: string
}

export interface RecordedCall {
  /** The event of the call's last action. When it is durable, all actions of the call are durable. */
  readonly event: Recorded
  readonly shape: Shape
  /** The parts of the call, each with its action. */
  readonly parts: readonly RecordedPart[]
  readonly call: ToolCall
  readonly isIncomplete: boolean
}

const lastResortMs = 30_000

export class ReportedCall {
  /** The id of the call in events (`CallMemory`). */
  readonly id: string
  readonly #options: ReportedCallOptions
  readonly #listener: ReportedCallEvents
  readonly #place: CallPlace
  #call = newToolCall
  #recorded: RecordedCall | undefined
  #isOver = false
  /** True when the answer to the newest permission request for the call was to allow it. */
  #isAllowed = false
  /** True when the call got an update. Once the call was allowed, only an update after the newest `allow` counts. */
  #isHeardOf = false
  #refused: ToolCall | undefined
  #quiet: Timer | undefined
  #lastResort: Timer | undefined
  #progress = ''

  constructor(id: string, place: CallPlace, options: ReportedCallOptions, listener: ReportedCallEvents) {
    this.id = id
    this.#place = place
    this.#options = options
    this.#listener = listener
  }

  /** The merged updates of the call. Once the call has a result, this is an empty call. */
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

  /** True when the call was allowed and has got no update since then. */
  get isUnheardOf(): boolean {
    return this.#isAllowed && !this.#isHeardOf
  }

  /** Merges a masked update. Records the action when the call seems complete, and the result when the call ends. */
  update(news: Fields): void | Promise<void> {
    const before = this.#call
    this.#call = mergeToolCall(before, news, this.#recorded !== undefined)
    this.#isHeardOf = true
    if (this.#recorded === undefined) this.#grow(before)
    if (hasRun(this.#call) && (isFinal(this.#call) || !hasRun(before))) this.#options.ran(this.#ran)
    return isFinal(this.#call) ? this.#observe() : undefined
  }

  /**
   * Records the call that a permission request asks about, if it is not recorded yet. When `isWhole` is false and the
   * call is partial, its action is marked as incomplete.
   */
  asks(call: ToolCall, isWhole: boolean): RecordedCall {
    this.#call = call
    this.#isAllowed = false
    return isWhole ? this.record(false) : this.recordLast()
  }

  allow(): void {
    this.#isAllowed = true
    this.#isHeardOf = false
  }

  reject(reason: string, source: RejectionSource): void {
    const { parts, call } = this.record(false)
    this.#refused = call
    this.#answer(parts.map(({ answered }) => rejectionDraft(answered, reason, source)))
  }

  /** Handles an update that comes after the call's result. Calls `ran` if a refused call is reported as completed. */
  updateLate(news: Fields): void {
    if (this.#refused === undefined || news['status'] !== 'completed') return
    this.#options.ran(ranCall(this.id, mergeToolCall(this.#refused, news, true), 'refused', this.#options))
  }

  /** Records the call without waiting for more updates. A partial call is marked as incomplete. */
  recordLast(): RecordedCall {
    return this.record(isPartial(this.#call, this.#options, this.#options.memory.lengthensTexts))
  }

  abandon(error: string): void {
    const { parts } = this.recordLast()
    this.#answer(parts.map(({ answered }) => ({
      kind: 'AgentErrorEvent', tool_name: answered.toolName, tool_call_id: answered.id, error,
    })))
  }

  /** Answers each action of the call with an observation whose text is `text`. */
  note(text: string): void {
    const { parts } = this.recordLast()
    this.#answer(parts.map(({ part, answered }) => {
      return observationDraft(answered, noteObservation(part, answered.toolName, text))
    }))
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
    part: CallPart,
    index: number,
    { shape, isIncomplete }: { readonly shape: Shape; readonly isIncomplete: boolean },
  ): RecordedPart & { readonly event: Recorded } {
    const { call } = this
    const id = index === 0 ? this.id : this.#options.memory.take(this.id)
    const toolName = toolNameOf(part, call)
    const title = shape.as === 'edits' && part.as === 'edit' ? editTitle(part.edit) : call.title
    const place = index === 0 ? this.#place : { ...this.#place, reasoning: '' }
    const summary = summaryOf(title, { isIncomplete, parent: call.parent })
    const described = { ...place, id, toolName, summary, arguments: argumentsOf(call) }
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

  /** Starts the timers for recording the call. Restarts them if the update changed the call (`hasChanged`). */
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
    return changeNote(this.#recorded, this.#call, this.#options, true) === '' ? 'allowed' : 'changed'
  }

  #tellProgress(): void {
    const progress = progressOf(this.#call)
    if (progress === this.#progress) return
    this.#progress = progress
    this.#listener.progress(progress)
  }

  /** Records the observation. Masks the output as a whole, because one secret may be split between two updates. */
  #observe(): void | Promise<void> {
    const { mask, maskDelta, stream } = this.#options
    const { text, images } = keptOutputOf(this.#call)
    const masked = text.length <= turnWeight ? mask(text) : maskTextInTurns(text, { mask, stream }).then(maskDelta)
    return andThen(masked, (hidden) => this.#observed({ text: hidden, images }))
  }

  /** Records the observation, unless the call got another result while its output was masked. */
  #observed(output: Output): void {
    if (this.#recorded === undefined || this.#isOver) return
    const { parts, call } = this.#recorded
    const note = changeNote(this.#recorded, this.#call, this.#options, this.#isAllowed)
    if (note !== '' && this.#isAllowed) {
      this.#options.log.warn('An agent changed a tool call after it was allowed', { call: this.id })
    }
    const lastParts = partsOf(shapeOf({ ...this.#call, kind: call.kind }, this.#options))
    this.#answer(parts.map((recorded, index) => {
      const end = index === 0 ? { note, output } : undefined
      return this.#observation(recorded, observedPart(recorded.part, lastParts), end)
    }))
  }

  /** Makes the observation of one part. Without `end`, it is a note that the first part of the call has the output. */
  #observation(
    { answered }: RecordedPart,
    part: CallPart,
    end: { readonly note: string; readonly output: Output } | undefined,
  ): EventDraft {
    const { saveOutput, observationsDir, outputLimitChars = 30_000 } = this.#options
    const { toolName } = answered
    if (end === undefined) {
      return observationDraft(answered, noteObservation(part, toolName, partNote(this.id), this.#call))
    }
    const kept = { toolName, saveOutput, observationsDir, outputLimitChars }
    return observationDraft(answered, observationOf(part, this.#call, { ...end, ...kept }))
  }

  #answer(drafts: readonly EventDraft[]): void {
    this.#stopTimers()
    this.#isOver = true
    this.#call = newToolCall
    this.#listener.answered(this)
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

/** True when the update brought another input, another status, or new content with diffs. */
function hasChanged(before: ToolCall, after: ToolCall): boolean {
  const isSameContent = before.content === after.content || diffsOf(after).length === 0
  return before.input !== after.input || before.status !== after.status || !isSameContent
}
