/**
 * Turns what an external agent reports in one turn into events (decisions, 3).
 *
 * Text becomes one MessageEvent per contiguous message, a plan a TaskTrackerAction with its answer, a tool call one
 * ActionEvent and exactly one answer (turn-calls). A call ends the message before it where it is announced; it may be
 * recorded later. Nothing is sent and nothing decided here; every text that goes out is masked as a whole, so that a
 * secret cut into chunks is found. A long output is masked in several turns of the event loop.
 */
import type { Log } from '../../base/log.ts'
import type { Recorded } from '../../conversation/agent.ts'
import type { EventDraft } from '../../schema/generated/events.ts'
import type { CallMemory } from './call-memory.ts'
import { messageDraft, noticeDraft, planDrafts, type RejectionSource } from './drafts.ts'
import { objectOf, textOf, type Fields } from '../../base/fields.ts'
import { maskJson } from '../../base/mask-json.ts'
import type { TextHiding } from './growing-text.ts'
import { MessageBuffer } from './message-buffer.ts'
import { blockText, imageUrl } from './output.ts'
import { limitedEntries, tasksOf } from './plan.ts'
import type { Timers } from './timers.ts'
import { TurnCalls, type AskedCall } from './turn-calls.ts'
import type { RanCall } from './unasked.ts'

export interface TurnEventsOptions extends TextHiding {
  /** Begins the ids of model responses; unique for each turn. */
  readonly turnId: string
  readonly workingDir: string
  readonly titleIsCommand: boolean
  readonly observationsDir: string
  /** The calls of the turns before. */
  readonly memory: CallMemory
  readonly record: (draft: EventDraft) => Recorded
  readonly delta: (piece: { readonly content?: string; readonly reasoning_content?: string }) => void
  /** Keeps a long output and gives the name of its file. */
  readonly saveOutput: (text: string) => string
  /** A call runs, or has run. */
  readonly ran: (ran: RanCall) => void
  readonly timers: Timers
  readonly log: Log
  /** Output of a tool call in an event. Default 30,000 characters. */
  readonly outputLimitChars?: number
  /** A longer message goes on in another event. Default 1,000,000 characters. */
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
    this.#calls = new TurnCalls({
      ...options,
      begins: () => this.#beginsCall(),
      answered: () => (this.#answeredInResponse = true),
      progress: (text) => options.delta({ reasoning_content: text }),
    })
  }

  /** The text of the last message, masked. */
  get lastText(): string {
    return this.#lastText
  }

  /** True while a call of which the history knows has no answer, or one is announced. */
  get hasOpenCalls(): boolean {
    return this.#calls.hasOpen
  }

  /**
   * Takes the `update` of one `session/update`, which may be masked already. Kinds that tell nothing about the work are
   * ignored, known or not. No other update may be given before a promise has resolved.
   */
  update(update: Fields, isMasked = false): void | Promise<void> {
    if (this.#isClosed) return undefined
    switch (update.sessionUpdate) {
      case 'agent_message_chunk': return this.#chunk('text', update)
      case 'agent_thought_chunk': return this.#chunk('thought', update)
      case 'tool_call':
      case 'tool_call_update': return this.#calls.update(update, isMasked)
      case 'plan': return this.#plan(isMasked ? update.entries : maskJson(update.entries, this.#options.mask))
      case 'notice': return this.#notice(update)
      default: return undefined
    }
  }

  /** As `TurnCalls.asks`. */
  asks(toolCall: Fields, isMasked = false): readonly AskedCall[] {
    return this.#isClosed ? [] : this.#calls.asks(toolCall, isMasked)
  }

  /** As `TurnCalls.allowed`. */
  allowed(callId: string): void {
    this.#calls.allowed(callId)
  }

  /** The user or the policy has refused the call. */
  rejects(callId: string, reason: string, source: RejectionSource = 'user'): void {
    this.#calls.rejects(callId, reason, source)
  }

  /** Answers every open call with an error: they are not waited for any more. */
  abandonCalls(error: string): void {
    this.#calls.abandon(error)
  }

  /** The agent says that its turn is over: as `close`, but what was allowed and not heard of again is no error. */
  finish(error: string): void {
    if (this.#isClosed) return
    this.#recordAll()
    this.#calls.settleUnheardOf()
    this.close(error)
  }

  /** Records what is left; open calls are answered with `error`. Later updates are ignored. Idempotent. */
  close(error: string): void {
    if (this.#isClosed) return
    this.#recordAll()
    this.#calls.abandon(error)
    this.#isClosed = true
  }

  /** A message that is being gathered began after every call that is open. */
  #recordAll(): void {
    this.#calls.recordAll()
    this.#endMessage()
  }

  #chunk(sort: 'text' | 'thought', update: Fields): void {
    // Qwen sends empty chunks between the pieces of a call.
    if (isEmptyChunk(update)) return
    if (this.#buffer.begins(sort, update)) this.#endMessage()
    if (this.#buffer.isEmpty) this.#nextResponse()
    const text = this.#options.maskDelta(this.#buffer.add(sort, update))
    if (text !== '') this.#options.delta(sort === 'text' ? { content: text } : { reasoning_content: text })
  }

  /** What an agent reports of itself beside its work; what it only remarks is left out. */
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

  /** Ends the message that is being gathered. Thoughts without text go back to the caller unless they are to stand alone. */
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
