/**
 * The messages that a model gets from a conversation, made from the events of the active branch (contract/tests.md,
 * "Model input and tool-call repair").
 *
 * The view grows event by event. Content that a provider would refuse is left out or replaced.
 *
 * A view consists of units. A unit is a message, or a batch: the tool calls of one answer and their results (units.ts).
 * The units before the last batch are settled: only `#modelSwitched`, `#forget` and `#clear` change them.
 */
import type { JsonObject } from '../../../base/json.ts'
import type {
  ActionEvent, Condensation, Event, MessageEvent, SystemPromptEvent,
} from '../../../schema/generated/events.ts'
import type { Observation } from '../../../schema/generated/observations.ts'
import {
  toImageContent, toMessage, toTextContent, type Content, type Message,
} from '../../../schema/generated/values.ts'
import type { HistoryPart } from '../../../conversation/agent/host.ts'
import { blockedReason } from '../../../conversation/log/blocked-message.ts'
import type { ModelMessage } from '../llm/model.ts'
import { isCut, shownOfCut } from './cut-message.ts'
import { applyCondensation, countChars, countEvents, summaryUnit } from './applied.ts'
import { stuckWindow } from './stuck.ts'
import {
  addCall, addResult, batchUnit, charsOf, hasCall, messageUnit, startBatch, tell, unsignedUnit, withContent, withState,
  type ResultEvent, type Batch, type Unit,
} from './units.ts'

export interface ViewSize {
  /** The number of events in the view's units, plus 1 for a system prompt. */
  readonly events: number
  /** The number of characters in the view's messages, as `charsOf` counts them. */
  readonly chars: number
}

interface Prompt {
  readonly id: string
  readonly message: ModelMessage
}

export class View {
  #system: Prompt | undefined
  /** The units before `#batch`. If a condensation removed `#batch`: the units up to the last batch left, inclusive. */
  #settled: Unit[] = []
  /** The units of `#settled` as messages for the model (`tell`). */
  #told: ModelMessage[] = []
  #settledSize: ViewSize = { events: 0, chars: 0 }
  #batch: Batch | undefined
  /** The units after the last batch. Each of them is a message. */
  #said: Unit[] = []
  #isOpen = false
  #isCondensationRequested = false
  #responses = new Map<string, JsonObject>()
  /** The encrypted JSON of unmasked actions that wait for the user's approval (`keepCall`), by the action's id. */
  #calls = new Map<string, string>()
  #newest: Event[] = []
  #lastUserMessage: MessageEvent | undefined
  /** The ids of the model's responses and of their tool calls. */
  #ids = new Set<string>()
  /** User messages that were sent while the model was answering. The view shows them after the model's answer. */
  #late: MessageEvent[] = []

  /** Adds the next part of the history. A part with `isFresh` first clears the view. */
  add({ isFresh, events, responses, calls, late, switchedAt }: HistoryPart): void {
    if (isFresh) this.#clear()
    for (const [id, state] of responses) this.#responses.set(id, state)
    for (const [id, sealed] of calls ?? []) this.#calls.set(id, sealed)
    const here = new Set(late.size === 0 ? [] : events.map(({ id }) => id))
    const take = (event: Event): void => this.#addEvent(event, here.has(late.get(event.id) ?? ''))
    events.slice(0, switchedAt ?? 0).forEach(take)
    if (switchedAt !== undefined) this.#modelSwitched()
    events.slice(switchedAt ?? 0).forEach(take)
  }

  get hasSystemPrompt(): boolean {
    return this.#system !== undefined
  }

  /** The newest messages (except those that a hook blocked), actions and results, at most 20, the oldest first. */
  get newest(): readonly Event[] {
    return this.#newest
  }

  get lastUserMessage(): MessageEvent | undefined {
    return this.#lastUserMessage
  }

  /**
   * True when the model has something to answer. False before the first message and after a complete agent message.
   * Also false after the result of the tool `finish`, unless a message came between its call and its result.
   */
  get isOpen(): boolean {
    return this.#isOpen
  }

  /** True when a condensation has been requested since the last condensation. */
  get isCondensationRequested(): boolean {
    return this.#isCondensationRequested
  }

  /** All units, in the order in which a model is shown them. The system prompt is no unit. */
  get units(): readonly Unit[] {
    return [...this.#settled, ...this.#batchUnits(), ...this.#said]
  }

  get size(): ViewSize {
    const end = [...this.#batchUnits(), ...this.#said]
    const prompt = this.#system === undefined ? [] : [this.#system.message]
    return {
      events: this.#settledSize.events + countEvents(end) + prompt.length,
      chars: this.#settledSize.chars + countChars(end) + charsOf(prompt),
    }
  }

  /** Returns whether the branch has a response of a model or a tool call with this id. */
  hasId(id: string): boolean {
    return this.#ids.has(id)
  }

  /** Returns the actions of the last batch that are named in `ids` and have no result. */
  openActions(ids: readonly string[]): ActionEvent[] {
    const batch = this.#batch
    if (batch === undefined) return []
    return batch.actions.filter(({ id, tool_call_id }) => ids.includes(id) && !batch.results.has(tool_call_id))
  }

  /** Returns the encrypted JSON that `keepCall` stored for an action of the last batch; undefined if there is none. */
  keptCall(actionId: string): string | undefined {
    return this.#calls.get(actionId)
  }

  /**
   * Returns all messages for the model. When `withImages` is false, a copy with notes in place of the images replaces
   * each message with images. Other messages of `#settled` stay the same objects until `#clear`, a condensation or a
   * change of the agent's settings. So `llm/body-encoder` can keep their bytes.
   */
  messages(options: { readonly withImages: boolean }): ModelMessage[] {
    const system = this.#system === undefined ? [] : [this.#system.message]
    const all = [...system, ...this.#told, ...tell([...this.#batchUnits(), ...this.#said])]
    return options.withImages ? all : all.map(withoutImages)
  }

  #clear(): void {
    this.#system = undefined
    this.#settled = []
    this.#told = []
    this.#settledSize = { events: 0, chars: 0 }
    this.#batch = undefined
    this.#said = []
    this.#isOpen = false
    this.#isCondensationRequested = false
    this.#responses = new Map()
    this.#calls = new Map()
    this.#newest = []
    this.#lastUserMessage = undefined
    this.#ids = new Set()
    this.#late = []
  }

  #addEvent(event: Event, isLate: boolean): void {
    switch (event.kind) {
      case 'SystemPromptEvent':
        this.#system = { id: event.id, message: { message: systemMessage(event) } }
        return
      case 'Condensation':
        this.#forget(event)
        return
      case 'CondensationRequest':
        this.#isCondensationRequested = true
        return
      case 'CondensationSummaryEvent':
        this.#said.push(summaryUnit(event.id, event.summary))
        return
      case 'MessageEvent':
        if (blockedReason(event) !== undefined) return
        if (event.source === 'user') this.#lastUserMessage = event
        if (isLate) this.#late.push(event)
        else this.#addMessage(event)
        if (event.source === 'agent') this.#addLate()
        break
      case 'ActionEvent':
        this.#addAction(event)
        this.#addLate()
        break
      case 'ObservationEvent': {
        const { content, is_error } = event.observation
        const shown = [...content, ...suffixOf(event.observation), ...screenshotOf(event.observation)]
        this.#addResult(event, is_error ? [toTextContent({ text: errorHeader }), ...shown] : shown)
        if (event.observation.kind === 'FinishObservation') this.#finish(event.tool_call_id)
        break
      }
      case 'UserRejectObservation':
        this.#addResult(event, [toTextContent({ text: `The action was rejected: ${event.rejection_reason}` })])
        break
      case 'AgentErrorEvent':
        this.#addResult(event, [toTextContent({ text: event.error })])
        break
      default:
        return
    }
    this.#newest.push(event)
    if (this.#newest.length > stuckWindow) this.#newest.shift()
  }

  #addLate(): void {
    for (const event of this.#late.splice(0)) this.#addMessage(event)
  }

  /** Drops signatures and the provider's private data, because a provider may refuse those of another model. */
  #modelSwitched(): void {
    this.#settled = this.#settled.map(unsignedUnit)
    this.#said = this.#said.map(unsignedUnit)
    this.#told = tell(this.#settled)
    if (this.#batch !== undefined) this.#batch.isOfAnother = true
  }

  #addMessage(event: MessageEvent): void {
    if (isCut(event)) {
      const shown = shownOfCut(event).flatMap((message) => withContent(message) ?? [])
      this.#said.push(messageUnit(event.id, shown.map((message) => ({ message }))))
      this.#isOpen = true
      return
    }
    const { id, llm_message, extended_content, llm_response_id: response } = event
    const message = withContent({ ...llm_message, content: [...llm_message.content, ...extended_content] })
    if (response !== undefined) this.#ids.add(response)
    const state = response === undefined ? undefined : this.#responses.get(response)
    this.#said.push(messageUnit(id, message === undefined ? [] : [withState(message, state)]))
    if (message !== undefined) this.#isOpen = message.role !== 'assistant'
  }

  #addAction(event: ActionEvent): void {
    const { llm_response_id: id, tool_call_id } = event
    this.#ids.add(id).add(tool_call_id)
    if (this.#batch?.id !== id) {
      this.#settle()
      this.#batch = startBatch(id)
    }
    addCall(this.#batch, event)
    this.#isOpen = true
  }

  /** Moves `#batch` and `#said` to `#settled`, because a new batch begins. A settled batch takes no more results. */
  #settle(): void {
    const units = [...this.#batchUnits().map((unit) => ({ ...unit, isOpen: false })), ...this.#said]
    this.#settled.push(...units)
    this.#told.push(...tell(units))
    const { events, chars } = this.#settledSize
    this.#settledSize = { events: events + countEvents(units), chars: chars + countChars(units) }
    this.#dropBatch()
    this.#said = []
  }

  #dropBatch(): void {
    if (this.#batch !== undefined) this.#responses.delete(this.#batch.id)
    for (const { id } of this.#batch?.actions ?? []) this.#calls.delete(id)
    this.#batch = undefined
  }

  /** Applies a condensation, which may also remove the system prompt and `#batch`. */
  #forget(condensation: Condensation): void {
    const forgotten = new Set(condensation.forgotten_event_ids)
    this.#isCondensationRequested = false
    if (forgotten.has(this.#system?.id ?? '')) this.#system = undefined
    const left = applyCondensation(this.units, condensation, this.#system === undefined ? 0 : 1)
    const isBatchLeft = this.#batch !== undefined && !this.#batch.ids.some((id) => forgotten.has(id))
    const end = left.findLastIndex(({ isBatch }) => isBatch)
    if (!isBatchLeft) this.#dropBatch()
    this.#settled = left.slice(0, isBatchLeft ? end : end + 1)
    this.#said = left.slice(end + 1)
    this.#told = tell(this.#settled)
    this.#settledSize = { events: countEvents(this.#settled), chars: countChars(this.#settled) }
    this.#late = this.#late.filter(({ id }) => !forgotten.has(id))
  }

  #finish(callId: string): void {
    const isLast = this.#said.every(({ messages }) => messages.length === 0)
    if (isLast && this.#batch !== undefined && hasCall(this.#batch, callId)) this.#isOpen = false
  }

  #addResult(answer: ResultEvent, content: readonly Content[]): void {
    if (this.#batch !== undefined && hasCall(this.#batch, answer.tool_call_id)) addResult(this.#batch, answer, content)
  }

  #batchUnits(): Unit[] {
    return this.#batch === undefined ? [] : [batchUnit(this.#batch, this.#responses.get(this.#batch.id))]
  }
}

const errorHeader = '[An error occurred during execution.]\n'

/**
 * Returns the note (`suffix`) that follows a terminal's output for the model. Returns an empty list when the content
 * already ends with the note. This is so for a refused tool call, and in an older history.
 */
function suffixOf(observation: Observation): readonly Content[] {
  if (observation.kind !== 'TerminalObservation') return []
  const { content, metadata } = observation
  const [suffix, last] = [metadata?.suffix ?? '', content.at(-1)]
  return suffix === '' || (last?.type === 'text' && last.text === suffix) ? [] : [toTextContent({ text: suffix })]
}

/** Returns the screenshot of a browser observation as an image, if any. */
function screenshotOf(observation: Observation): readonly Content[] {
  if (observation.kind !== 'BrowserObservation' || observation.screenshot_data === undefined) return []
  return [toImageContent({ image_urls: [`data:image/png;base64,${observation.screenshot_data}`] })]
}

function systemMessage({ system_prompt, dynamic_context }: SystemPromptEvent): Message {
  return toMessage({
    role: 'system', content: dynamic_context === undefined ? [system_prompt] : [system_prompt, dynamic_context],
  })
}

function withoutImages(entry: ModelMessage): ModelMessage {
  const { content } = entry.message
  if (!content.some((part) => part.type === 'image')) return entry
  const texts = content.map((part) =>
    part.type === 'image' ? toTextContent({ text: '[An image that the model cannot see.]' }) : part,
  )
  return { ...entry, message: { ...entry.message, content: texts } }
}
