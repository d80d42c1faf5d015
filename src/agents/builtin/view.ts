/**
 * What a model is told of a conversation: the events of the active branch as messages (contract: tests.md, "Model input").
 *
 * It grows with the history, event by event, so a late step costs what an early one does. The calls of one answer become
 * one message, their results follow it in the order of the calls, and what the user said meanwhile comes after them. What
 * a provider would refuse is never shown: a call without a result, arguments that are no JSON, a message without content;
 * nor is a message that a hook refused. Nothing is masked here: what the log holds is masked already.
 */
import type { JsonObject } from '../../base/json.ts'
import type { ActionEvent, Event, MessageEvent, SystemPromptEvent } from '../../schema/generated/events.ts'
import type { Observation } from '../../schema/generated/observations.ts'
import { toImageContent, toMessage, toTextContent, type Content, type Message, type MessageToolCall } from '../../schema/generated/values.ts'
import type { HistoryPart } from '../../conversation/agent.ts'
import { blockedReason } from '../../conversation/blocked-message.ts'
import type { ModelMessage } from '../llm/model.ts'
import { stuckWindow } from './stuck.ts'
import { soundArguments } from './tool-arguments.ts'
import { soundName } from './tool-names.ts'
import { unsigned } from './unsigned.ts'

/** The calls of one answer, and the results that have come so far. */
interface Batch {
  readonly id: string
  /** Whether the model that is asked next may be another one than the one that gave this answer. */
  isOfAnother: boolean
  readonly actions: ActionEvent[]
  readonly calls: MessageToolCall[]
  readonly results: Map<string, Message>
  isFinished: boolean
}

export class View {
  #system: ModelMessage | undefined
  /** What is before the last batch, and never changes again. */
  #settled: ModelMessage[] = []
  #batch: Batch | undefined
  /** What was said since the last batch. */
  #said: ModelMessage[] = []
  #responses = new Map<string, JsonObject>()
  #newest: Event[] = []
  #lastUserMessage: MessageEvent | undefined
  /** Of responses and their calls. */
  #ids = new Set<string>()
  /** Said while the model was answering: they have their place after the answer, which is still to come. */
  #late: MessageEvent[] = []

  /** Takes in what is new in the history. */
  add({ isFresh, events, responses, late, switchedAt }: HistoryPart): void {
    if (isFresh) this.#clear()
    for (const [id, state] of responses) this.#responses.set(id, state)
    const here = new Set(late.size === 0 ? [] : events.map(({ id }) => id))
    const take = (event: Event): void => this.#addEvent(event, here.has(late.get(event.id) ?? ''))
    events.slice(0, switchedAt ?? 0).forEach(take)
    if (switchedAt !== undefined) this.#modelSwitched()
    events.slice(switchedAt ?? 0).forEach(take)
  }

  get hasSystemPrompt(): boolean {
    return this.#system !== undefined
  }

  /** The end of the branch, for judging progress. */
  get newest(): readonly Event[] {
    return this.#newest
  }

  get lastUserMessage(): MessageEvent | undefined {
    return this.#lastUserMessage
  }

  /** Whether a model has anything to answer: nothing when the last word was its own, or the result of `finish`. */
  get isOpen(): boolean {
    const last = this.#said.at(-1)
    return last === undefined ? this.#batch?.isFinished === false : last.message.role !== 'assistant'
  }

  /** Whether a response of the branch, or a call of one, has this id. */
  hasId(id: string): boolean {
    return this.#ids.has(id)
  }

  /** Actions without an answer among those with these ids. */
  openActions(ids: readonly string[]): ActionEvent[] {
    const batch = this.#batch
    if (batch === undefined) return []
    return batch.actions.filter(({ id, tool_call_id }) => ids.includes(id) && !batch.results.has(tool_call_id))
  }

  /** Without images for a model that takes none. What is before the last batch is the same objects every time. */
  messages(options: { readonly withImages: boolean }): ModelMessage[] {
    const system = this.#system === undefined ? [] : [this.#system]
    const all = [...system, ...this.#settled, ...this.#batchMessages(), ...this.#said]
    return options.withImages ? all : all.map(withoutImages)
  }

  #clear(): void {
    this.#system = undefined
    this.#settled = []
    this.#batch = undefined
    this.#said = []
    this.#responses = new Map()
    this.#newest = []
    this.#lastUserMessage = undefined
    this.#ids = new Set()
    this.#late = []
  }

  #addEvent(event: Event, isLate: boolean): void {
    switch (event.kind) {
      case 'SystemPromptEvent':
        this.#system = { message: systemMessage(event) }
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
        const shown = [...content, ...screenshotOf(event.observation)]
        this.#addResult(event, is_error ? [toTextContent({ text: errorHeader }), ...shown] : shown)
        if (event.observation.kind === 'FinishObservation') this.#finishBatch(event.tool_call_id)
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

  /** No model gets what another one has signed: a server may refuse the whole request for it. */
  #modelSwitched(): void {
    const plain = ({ message }: ModelMessage): ModelMessage => ({ message: unsigned(message) })
    this.#settled = this.#settled.map(plain)
    this.#said = this.#said.map(plain)
    if (this.#batch !== undefined) this.#batch.isOfAnother = true
  }

  #addMessage(event: MessageEvent): void {
    const message = withContent({ ...event.llm_message, content: [...event.llm_message.content, ...event.extended_content] })
    if (event.llm_response_id !== undefined) this.#ids.add(event.llm_response_id)
    if (message === undefined) return
    const last = this.#said.at(-1)
    if (last !== undefined && isPlainUserMessage(last.message) && isPlainUserMessage(message)) {
      const content = [...last.message.content, ...message.content]
      this.#said[this.#said.length - 1] = { message: { ...message, content } }
      return
    }
    const state = event.llm_response_id === undefined ? undefined : this.#responses.get(event.llm_response_id)
    this.#said.push(withState(message, state))
  }

  #addAction(event: ActionEvent): void {
    const { llm_response_id: id, tool_call_id, tool_call: call } = event
    const sound = { ...call, id: tool_call_id, name: soundName(call.name), arguments: soundArguments(call.arguments) }
    this.#ids.add(id).add(tool_call_id)
    if (this.#batch?.id !== id) {
      this.#settle()
      this.#batch = { id, isOfAnother: false, actions: [], calls: [], results: new Map(), isFinished: false }
    }
    this.#batch.actions.push(event)
    this.#batch.calls.push(sound)
  }

  /** The calls of the next answer are about to come, so nothing before them changes any more. */
  #settle(): void {
    this.#settled.push(...this.#batchMessages(), ...this.#said)
    if (this.#batch !== undefined) this.#responses.delete(this.#batch.id)
    this.#batch = undefined
    this.#said = []
  }

  #finishBatch(callId: string): void {
    const batch = this.#batch
    if (batch?.calls.some(({ id }) => id === callId)) batch.isFinished = true
  }

  #addResult({ tool_call_id, tool_name }: { readonly tool_call_id: string; readonly tool_name: string }, content: readonly Content[]): void {
    this.#batch?.results.set(tool_call_id, toMessage({ role: 'tool', content: content.map(wellFormed), tool_call_id, name: soundName(tool_name) }))
  }

  #batchMessages(): ModelMessage[] {
    if (this.#batch === undefined) return []
    const { id, isOfAnother, actions, calls, results } = this.#batch
    const answered = calls.filter((call) => results.has(call.id))
    const first = actions[0]
    if (first === undefined || answered.length === 0) return []
    const answer = toMessage({
      role: 'assistant',
      content: first.thought,
      tool_calls: answered,
      reasoning_content: first.reasoning_content,
      thinking_blocks: first.thinking_blocks,
      responses_reasoning_item: first.responses_reasoning_item,
    })
    const message = isOfAnother ? unsigned(answer) : answer
    // What the provider keeps of its answer speaks of all its calls.
    const state = !isOfAnother && answered.length === calls.length ? this.#responses.get(id) : undefined
    const tools = answered.flatMap((call) => results.get(call.id) ?? [])
    return [withState(message, state), ...tools.map((tool) => ({ message: tool }))]
  }
}

const errorHeader = '[An error occurred during execution.]\n'

/** For clients it is a member of its own. */
function screenshotOf(observation: Observation): readonly Content[] {
  if (observation.kind !== 'BrowserObservation' || observation.screenshot_data === undefined) return []
  return [toImageContent({ image_urls: [`data:image/png;base64,${observation.screenshot_data}`] })]
}

function systemMessage({ system_prompt, dynamic_context }: SystemPromptEvent): Message {
  return toMessage({ role: 'system', content: dynamic_context === undefined ? [system_prompt] : [system_prompt, dynamic_context] })
}

/** Undefined for a message that says nothing; of the user's one is left at least that it came. */
function withContent(message: Message): Message | undefined {
  const isSaying = message.content.some((part) => part.type === 'image' || part.text.trim() !== '')
  if (isSaying) return { ...message, content: message.content.map(wellFormed) }
  return message.role === 'assistant' ? undefined : { ...message, content: [toTextContent({ text: '[An empty message.]' })] }
}

/** Half of a pair of surrogates, as of an emoji that was cut, is no JSON to some providers. */
function wellFormed(part: Content): Content {
  return part.type === 'text' ? { ...part, text: Buffer.from(part.text).toString() } : part
}

function isPlainUserMessage({ role, name, tool_call_id, tool_calls }: Message): boolean {
  return role === 'user' && name === undefined && tool_call_id === undefined && tool_calls === undefined
}

function withState(message: Message, state: JsonObject | undefined): ModelMessage {
  return state === undefined ? { message } : { message, state }
}

function withoutImages(entry: ModelMessage): ModelMessage {
  const { content } = entry.message
  if (!content.some((part) => part.type === 'image')) return entry
  const texts = content.map((part) => (part.type === 'image' ? toTextContent({ text: '[An image that the model cannot see.]' }) : part))
  return { ...entry, message: { ...entry.message, content: texts } }
}
