/**
 * Turns the updates of an external agent in one turn into events (decisions 3).
 *
 * A message becomes MessageEvents. A new plan becomes a TaskTrackerAction with its result. A tool call becomes
 * ActionEvents, each with one result (calls/turn-calls). Texts are masked across chunks, which may split a secret.
 */
import { objectOf, textOf, type Fields } from '../../../base/fields.ts'
import type { Log } from '../../../base/log.ts'
import { maskJson } from '../../../base/mask-json.ts'
import type { Recorded } from '../../../conversation/agent/agent.ts'
import type { EventDraft } from '../../../schema/generated/events.ts'
import type { CallMemory } from '../calls/call-memory.ts'
import { messageDraft, noticeDraft, planDrafts, type RejectionSource } from '../calls/drafts.ts'
import type { TextHiding } from '../calls/growing-text.ts'
import { blockText, imageUrl } from '../calls/output.ts'
import { limitedEntries, tasksOf } from '../calls/plan.ts'
import type { Timers } from '../calls/timers.ts'
import { TurnCalls, type AskedCall } from '../calls/turn-calls.ts'
import type { RanCall } from '../calls/unasked.ts'
import { MessageBuffer } from './message-buffer.ts'

export interface TurnEventsOptions extends TextHiding {
  /** The prefix of the ids of model responses and plans; unique for each turn. */
  readonly turnId: string
  readonly workingDir: string
  readonly titleIsCommand: boolean
  readonly observationsDir: string
  /** Remembers the ids of the conversation's tool calls. */
  readonly memory: CallMemory
  readonly record: (draft: EventDraft) => Recorded
  readonly delta: (piece: { readonly content?: string; readonly reasoning_content?: string }) => void
  readonly saveOutput: (text: string) => string
  readonly ran: (ran: RanCall) => void
  readonly timers: Timers
  readonly log: Log
  /** The longest output of a tool call in an event. Default 30,000 characters. */
  readonly outputLimitChars?: number
  /** At this length a message ends, and later text goes into another event. Default 1,000,000 characters. */
  readonly messageLimitChars?: number
}

const noticeLimitChars = 4000

export class TurnEvents {
  readonly #options: TurnEventsOptions
  readonly #buffer: MessageBuffer
  readonly #calls: TurnCalls
  #responses = 0
  #answeredInResponse = false
  #plans = 0
  #lastPlan = ''
  #lastText = ''
  #isClosed = false

  constructor(options: TurnEventsOptions) {
    this.#options = options
    this.#buffer = new MessageBuffer(options.messageLimitChars ?? 1_000_000, options)
    this.#calls = new TurnCalls(options, {
      begins: () => this.#beginsCall(),
      answered: () => (this.#answeredInResponse = true),
      progress: (text) => options.delta({ reasoning_content: text }),
    })
  }

  /** The text of the last message that had a text, masked. */
  get lastText(): string {
    return this.#lastText
  }

  /** True while any call has no result. */
  get hasOpenCalls(): boolean {
    return this.#calls.hasOpen
  }

  /**
   * Records the `update` of a `session/update`. Ignores kinds of updates that no event records. `isMasked` says that
   * the caller has masked the update. Call this method again only after the returned promise has resolved.
   */
  update(update: Fields, isMasked = false): void | Promise<void> {
    if (this.#isClosed) return undefined
    switch (update['sessionUpdate']) {
      case 'agent_message_chunk': return this.#chunk('text', update)
      case 'agent_thought_chunk': return this.#chunk('thought', update)
      case 'tool_call':
      case 'tool_call_update': return this.#calls.update(update, isMasked)
      case 'plan': return this.#plan(isMasked ? update['entries'] : maskJson(update['entries'], this.#options.mask))
      case 'notice': return this.#notice(update)
      default: return undefined
    }
  }

  /** Waits for the calls of a permission request (`TurnCalls.untilAnnounced`). Returns undefined after `close`. */
  untilAnnounced(toolCall: Fields, withdrawn: AbortSignal): Promise<void> | undefined {
    return this.#isClosed ? undefined : this.#calls.untilAnnounced(toolCall, withdrawn)
  }

  /** Records and returns the calls of a permission request (`TurnCalls.asks`). Returns no calls after `close`. */
  asks(toolCall: Fields, isMasked = false): readonly AskedCall[] {
    return this.#isClosed ? [] : this.#calls.asks(toolCall, isMasked)
  }

  allowed(callId: string): void {
    this.#calls.allowed(callId)
  }

  rejects(callId: string, reason: string, source: RejectionSource = 'user'): void {
    this.#calls.rejects(callId, reason, source)
  }

  /** Records the message that the agent is writing. Later text begins another message. */
  endText(): void {
    if (!this.#isClosed) this.#endMessage()
  }

  abandonCalls(error: string): void {
    this.#calls.abandon(error)
  }

  /**
   * Ends a turn that the agent has finished. An open call that was allowed and then got no update is answered with a
   * note. Everything else is as with `close`.
   */
  finish(error: string): void {
    if (this.#isClosed) return
    this.#recordAll()
    this.#calls.settleUnheardOf()
    this.close(error)
  }

  /** Records pending calls and text, and answers open calls with `error`. Ignores later updates. Idempotent. */
  close(error: string): void {
    if (this.#isClosed) return
    this.#recordAll()
    this.#calls.close(error)
    this.#isClosed = true
  }

  /** Records the open calls, then the pending message. It is newer, because a new call ends the message before it. */
  #recordAll(): void {
    this.#calls.recordAll()
    this.#endMessage()
  }

  #chunk(sort: 'text' | 'thought', update: Fields): void {
    // Qwen sends empty chunks between the pieces of a call. An empty chunk must not begin a message.
    if (isEmptyChunk(update)) return
    if (this.#buffer.begins(sort, update)) this.#endMessage()
    if (this.#buffer.isEmpty) this.#nextResponse()
    const text = this.#options.maskDelta(this.#buffer.add(sort, update))
    if (text !== '') this.#options.delta(sort === 'text' ? { content: text } : { reasoning_content: text })
  }

  /** Records the text of a notice that reports an error or a warning. Ignores other notices. */
  #notice({ severity, title, description }: Fields): void {
    const words = [title, description].flatMap((text) => textOf(text) ?? []).join(': ')
    if ((severity !== 'error' && severity !== 'warning') || words === '') return
    this.#endMessage()
    this.#options.record(noticeDraft(severity, this.#options.mask(words).slice(0, noticeLimitChars)))
  }

  #beginsCall(): { readonly responseId: string; readonly reasoning: string } {
    const { reasoning } = this.#endMessage(false)
    if (this.#responses === 0 || this.#answeredInResponse) this.#nextResponse()
    return { responseId: this.#responseId(), reasoning }
  }

  #plan(entries: unknown): void {
    const tasks = limitedEntries(entries)
    const plan = JSON.stringify(tasks)
    if (plan === this.#lastPlan) return
    this.#lastPlan = plan
    const { responseId, reasoning } = this.#beginsCall()
    const id = `${this.#options.turnId}-plan-${++this.#plans}`
    const drafts = planDrafts({ id, responseId, reasoning }, plan, tasksOf(tasks))
    this.#options.record(drafts.observation(this.#options.record(drafts.action).id))
  }

  /** Records the pending message. If it has only thoughts and `keepThoughts` is false, returns them unrecorded. */
  #endMessage(keepThoughts = true): { readonly reasoning: string } {
    const { content, reasoning } = this.#buffer.take()
    if (content.length === 0 && (reasoning === '' || !keepThoughts)) return { reasoning }
    this.#lastText = content.map((item) => ('text' in item ? item.text : '')).join('') || this.#lastText
    this.#options.record(messageDraft(content, reasoning, this.#responseId()))
    return { reasoning: '' }
  }

  #nextResponse(): void {
    this.#responses++
    this.#answeredInResponse = false
  }

  #responseId(): string {
    return `${this.#options.turnId}-${this.#responses}`
  }
}

function isEmptyChunk({ content }: Fields): boolean {
  const block = objectOf(content)
  return blockText(block) === '' && imageUrl(block) === undefined
}
