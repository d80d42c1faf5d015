/**
 * Turns what an external agent reports in one turn into events (decisions, 3).
 *
 * Text becomes one MessageEvent per contiguous message. A tool call becomes one ActionEvent and exactly one answer. Agents
 * announce a call before they know its input, so the action waits for the first of: a permission request, a status that
 * tells that it runs or ran, output, news about something else, a short silence, the end of the turn. The order of events
 * is the order of arrival. Nothing is sent and nothing decided here; every text that goes out is masked, joined first, so
 * that a secret cut into chunks is found.
 */
import type { Recorded } from '../../conversation/agent.ts'
import type { EventDraft } from '../../schema/generated/events.ts'
import { actionOf, argumentsOf, observationOf, shapeOf, type Shape } from './action-of.ts'
import { actionDraft, messageDraft, observationDraft, planDrafts, rejectionDraft, type Answered } from './drafts.ts'
import { objectOf, textOf, type Fields } from '../../base/fields.ts'
import { maskJson } from '../../base/mask-json.ts'
import { MessageBuffer } from './message-buffer.ts'
import { tasksOf } from './plan.ts'
import type { Timer, Timers } from './timers.ts'
import { describesCall, hasInput, hasOutput, isFinal, mergeToolCall, newToolCall, type ToolCall } from './tool-calls.ts'

export interface TurnEventsOptions {
  /** Begins the ids of model responses; unique for each turn. */
  readonly turnId: string
  readonly workingDir: string
  readonly titleIsCommand: boolean
  readonly observationsDir: string
  readonly record: (draft: EventDraft) => Recorded
  readonly delta: (piece: { readonly content?: string; readonly reasoning_content?: string }) => void
  readonly mask: (text: string) => string
  /** Hides what `delta` does not hide by itself. */
  readonly maskDelta: (text: string) => string
  /** Keeps a long output and gives the name of its file. */
  readonly saveOutput: (text: string) => string
  readonly timers: Timers
  /** How long an announced call may stay silent before its action is recorded. Default 500 ms. */
  readonly settleMs?: number
  /** Output of a tool call in an event. Default 30,000 characters. */
  readonly outputLimitChars?: number
  /** A longer message goes on in another event. Default 4,000,000 characters. */
  readonly messageLimitChars?: number
}

/** More open calls than this are given up: no agent runs so many tools beside each other. */
const openCallLimit = 1000

/** A tool call as events show it. */
interface Entry {
  /** The call's own id, unless it was used before. */
  readonly id: string
  readonly responseId: string
  /** Thoughts that led to the call and to no text. */
  readonly reasoning: string
  call: ToolCall
  asked: { readonly recorded: Recorded; readonly shape: Shape; readonly answered: Answered } | undefined
  /** Runs while the action is not recorded. */
  timer: Timer | undefined
}

export interface AskedCall {
  readonly id: string
  readonly title: string
  readonly recorded: Recorded
}

export class TurnEvents {
  readonly #options: TurnEventsOptions
  readonly #buffer: MessageBuffer
  /** The newest entry of each tool call id. */
  readonly #entries = new Map<string, Entry>()
  /** The entries without an answer, in order of arrival. */
  readonly #open = new Set<Entry>()
  #responses = 0
  #answeredInResponse = false
  #plans = 0
  #repeats = 0
  #lastPlan = ''
  #lastText = ''
  #isClosed = false

  constructor(options: TurnEventsOptions) {
    this.#options = options
    this.#buffer = new MessageBuffer(options.messageLimitChars ?? 4_000_000)
  }

  /** The text of the last message, masked. */
  get lastText(): string {
    return this.#lastText
  }

  /** True while a call of which the history knows has no answer, or one is announced. */
  get hasOpenCalls(): boolean {
    return this.#open.size > 0
  }

  /** Takes the `update` of one `session/update`. Kinds that tell nothing about the work are ignored, known or not. */
  update(update: Fields): void {
    if (this.#isClosed) return
    switch (update.sessionUpdate) {
      case 'agent_message_chunk': return this.#chunk('text', update)
      case 'agent_thought_chunk': return this.#chunk('thought', update)
      case 'tool_call':
      case 'tool_call_update': return this.#toolCall(update)
      case 'plan': return this.#plan(update.entries)
    }
  }

  /** Records the action that the agent asks permission for, and gives what a question needs. */
  asks(toolCall: Fields): AskedCall | undefined {
    const news = this.#masked(toolCall)
    const id = textOf(news.toolCallId)
    if (id === undefined || this.#isClosed) return undefined
    // A call that is over and asks again is going to run again: it needs an action of its own.
    const known = this.#entries.get(id)
    if (known !== undefined && !this.#open.has(known)) this.#begin(id, `${id}~${++this.#repeats}`)
    const entry = this.#upsert(id, news)
    return { id: entry.id, title: entry.call.title, recorded: this.#recordAction(entry) }
  }

  /** The user or the policy has refused the call. */
  rejects(callId: string, reason: string): void {
    const entry = [...this.#open].find(({ id }) => id === callId)
    if (entry?.asked !== undefined) this.#answer(entry, rejectionDraft(entry.asked.answered, reason))
  }

  /** Records what is announced and answers every open call with an error: they are not waited for any more. */
  abandonCalls(error: string): void {
    this.#recordWaiting()
    for (const entry of this.#open) {
      const tool_name = entry.asked?.answered.toolName ?? entry.call.kind
      this.#answer(entry, { kind: 'AgentErrorEvent', tool_name, tool_call_id: entry.id, error })
    }
  }

  /** Records what is left; open calls are answered with `error`. Later updates are ignored. Idempotent. */
  close(error: string): void {
    if (this.#isClosed) return
    this.#recordWaiting()
    this.#endMessage()
    this.abandonCalls(error)
    this.#isClosed = true
  }

  #chunk(sort: 'text' | 'thought', update: Fields): void {
    this.#recordWaiting()
    if (this.#buffer.begins(sort, update)) this.#endMessage()
    if (this.#buffer.isEmpty) this.#nextResponse()
    const text = this.#options.maskDelta(this.#buffer.add(sort, update))
    if (text !== '') this.#options.delta(sort === 'text' ? { content: text } : { reasoning_content: text })
  }

  #toolCall(update: Fields): void {
    const news = this.#masked(update)
    const id = textOf(news.toolCallId)
    if (id === undefined) return
    const known = this.#entries.get(id)
    if (known === undefined ? !describesCall(news) : !this.#open.has(known)) return
    const entry = this.#upsert(id, news)
    const runs = entry.call.status === 'in_progress' && hasInput(entry.call)
    if (runs || isFinal(entry.call) || hasOutput(entry.call)) this.#recordAction(entry)
    else if (entry.asked === undefined) this.#startTimer(entry)
    if (isFinal(entry.call)) this.#observe(entry)
  }

  #upsert(id: string, news: Fields): Entry {
    this.#recordWaiting(id)
    const entry = this.#entries.get(id) ?? this.#begin(id, id)
    entry.call = mergeToolCall(entry.call, news, entry.asked !== undefined)
    return entry
  }

  #begin(id: string, shownId: string): Entry {
    const { reasoning } = this.#endMessage(false)
    if (this.#open.size >= openCallLimit) this.abandonCalls(`More than ${openCallLimit} tool calls were open at once`)
    if (this.#responses === 0 || this.#answeredInResponse) this.#nextResponse()
    const responseId = this.#responseId()
    const entry: Entry = { id: shownId, responseId, reasoning, call: newToolCall, asked: undefined, timer: undefined }
    this.#entries.set(id, entry)
    this.#open.add(entry)
    return entry
  }

  #startTimer(entry: Entry): void {
    entry.timer?.stop()
    entry.timer = this.#options.timers.after(this.#options.settleMs ?? 500, () => this.#recordAction(entry))
  }

  /** Records the actions that still wait, except that of one call. */
  #recordWaiting(exceptId?: string): void {
    const except = exceptId === undefined ? undefined : this.#entries.get(exceptId)
    for (const entry of this.#open) if (entry !== except) this.#recordAction(entry)
  }

  #recordAction(entry: Entry): Recorded {
    if (entry.asked !== undefined) return entry.asked.recorded
    entry.timer?.stop()
    const { id, responseId, reasoning, call } = entry
    const toolName = call.kind
    const shape = shapeOf(call, this.#options)
    const described = { id, responseId, reasoning, toolName, summary: call.title, arguments: argumentsOf(call) }
    const recorded = this.#options.record(actionDraft(described, actionOf(shape, call)))
    entry.asked = { recorded, shape, answered: { id, toolName, actionId: recorded.id } }
    return recorded
  }

  #observe(entry: Entry): void {
    if (entry.asked === undefined) return
    const { shape, answered } = entry.asked
    const { mask, saveOutput, observationsDir, outputLimitChars = 30_000 } = this.#options
    const limits = { toolName: answered.toolName, mask, saveOutput, observationsDir, outputLimitChars }
    this.#answer(entry, observationDraft(answered, observationOf(shape, entry.call, limits)))
  }

  #answer(entry: Entry, draft: EventDraft): void {
    entry.timer?.stop()
    this.#open.delete(entry)
    // What is kept of it is only that it is over.
    entry.call = newToolCall
    this.#answeredInResponse = true
    this.#options.record(draft)
  }

  #plan(entries: unknown): void {
    const masked = maskJson(entries ?? [], this.#options.mask)
    const plan = JSON.stringify(masked)
    if (plan === this.#lastPlan) return
    this.#lastPlan = plan
    this.#recordWaiting()
    const { reasoning } = this.#endMessage(false)
    if (this.#responses === 0 || this.#answeredInResponse) this.#nextResponse()
    const id = `${this.#options.turnId}-plan-${++this.#plans}`
    const drafts = planDrafts({ id, responseId: this.#responseId(), reasoning }, plan, tasksOf(masked))
    this.#options.record(drafts.observation(this.#options.record(drafts.action).id))
  }

  /** Ends the message that is being gathered. Thoughts without text go back to the caller unless they are to stand alone. */
  #endMessage(keepThoughts = true): { readonly reasoning: string } {
    const gathered = this.#buffer.take()
    const reasoning = this.#mask(gathered.reasoning)
    if (gathered.content.length === 0 && (reasoning === '' || !keepThoughts)) return { reasoning }
    const content = gathered.content.map((item) => ('text' in item ? { ...item, text: this.#mask(item.text) } : item))
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

  #masked(news: Fields): Fields {
    return objectOf(maskJson(news, this.#options.mask))
  }

  #mask(text: string): string {
    return this.#options.mask(text)
  }
}
