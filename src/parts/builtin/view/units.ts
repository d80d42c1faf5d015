/**
 * The units of a view, the history that a model is shown: events that are shown or forgotten together.
 *
 * A unit is a message, or a batch: the calls of one answer and all their results. Providers refuse a call without its
 * result.
 */
import type { JsonObject } from '../../../base/json.ts'
import type { ActionEvent } from '../../../schema/generated/events.ts'
import {
  toMessage, toTextContent, type Content, type Message, type MessageToolCall,
} from '../../../schema/generated/values.ts'
import type { ModelMessage } from '../llm/model.ts'
import { soundArguments } from '../calls/tool-arguments.ts'
import { soundName } from '../calls/tool-names.ts'
import { unsigned } from './unsigned.ts'

export interface Unit {
  /** The ids of the unit's events. */
  readonly ids: readonly string[]
  /** The unit's messages for a model; empty when the unit is not shown to the model. */
  readonly messages: readonly ModelMessage[]
  readonly isBatch: boolean
  /** True when results of the batch's calls may still arrive. */
  readonly isOpen: boolean
  /** The size of the unit's messages, as `charsOf` counts it. */
  readonly chars: number
}

/** The calls of one answer, and their results so far. */
export interface Batch {
  readonly id: string
  /** True when the agent's settings have changed since this answer, so the current model may be another model. */
  isOfAnother: boolean
  readonly ids: string[]
  readonly actions: ActionEvent[]
  readonly calls: MessageToolCall[]
  readonly results: Map<string, Message>
}

export function startBatch(id: string): Batch {
  return { id, isOfAnother: false, ids: [], actions: [], calls: [], results: new Map() }
}

export function addCall(batch: Batch, event: ActionEvent): void {
  const { tool_call_id, tool_call: call } = event
  batch.ids.push(event.id)
  batch.actions.push(event)
  batch.calls.push({ ...call, id: tool_call_id, name: soundName(call.name), arguments: soundArguments(call.arguments) })
}

/** The members that all events with a call's result have. */
export interface ResultEvent {
  readonly id: string
  readonly tool_call_id: string
  readonly tool_name: string
}

export function addResult(
  batch: Batch, { id, tool_call_id, tool_name }: ResultEvent, content: readonly Content[],
): void {
  batch.ids.push(id)
  batch.results.set(
    tool_call_id,
    toMessage({ role: 'tool', content: content.map(wellFormed), tool_call_id, name: soundName(tool_name) }),
  )
}

export function hasCall({ calls }: Batch, callId: string): boolean {
  return calls.some(({ id }) => id === callId)
}

/** Makes the unit of a batch. @param state the provider's private data about the answer */
export function batchUnit(batch: Batch, state: JsonObject | undefined): Unit {
  const messages = batchMessages(batch, state)
  const isOpen = batch.calls.some(({ id }) => !batch.results.has(id))
  return { ids: [...batch.ids], messages, isBatch: true, isOpen, chars: charsOf(messages) }
}

/** Makes the unit of one message event. @param messages empty when the model is not shown the message */
export function messageUnit(id: string, messages: readonly ModelMessage[]): Unit {
  return { ids: [id], messages, isBatch: false, isOpen: false, chars: charsOf(messages) }
}

/** Returns the unit without signatures and the provider's private data, which another model cannot read. */
export function unsignedUnit(unit: Unit): Unit {
  return { ...unit, messages: unit.messages.map(({ message }) => ({ message: unsigned(message) })) }
}

/** Returns the messages of consecutive units. Joins adjacent user messages, but not if a batch is between them. */
export function tell(units: readonly Unit[]): ModelMessage[] {
  const told: ModelMessage[] = []
  let merges = false
  for (const { messages, isBatch } of units) {
    for (const entry of messages) {
      const last = merges ? told.at(-1)?.message : undefined
      if (last !== undefined && isPlainUserMessage(last) && isPlainUserMessage(entry.message)) {
        told[told.length - 1] = { message: { ...entry.message, content: [...last.content, ...entry.message.content] } }
      } else {
        told.push(entry)
      }
    }
    merges = !isBatch
  }
  return told
}

/**
 * Returns the message with well-formed content. Returns undefined for an empty message of the assistant. An empty
 * message of another role gets a placeholder.
 */
export function withContent(message: Message): Message | undefined {
  const isSaying = message.content.some((part) => part.type === 'image' || part.text.trim() !== '')
  if (isSaying) return { ...message, content: message.content.map(wellFormed) }
  return message.role === 'assistant'
    ? undefined
    : { ...message, content: [toTextContent({ text: '[An empty message.]' })] }
}

export function withState(message: Message, state: JsonObject | undefined): ModelMessage {
  return state === undefined ? { message } : { message, state }
}

/** Returns the number of characters in the messages' texts and calls, without reasoning. An image part counts 6,000. */
export function charsOf(messages: readonly ModelMessage[]): number {
  return messages.reduce((sum, { message }) => {
    const content = message.content.reduce(
      (chars, part) => chars + (part.type === 'text' ? part.text.length : imageChars), 0,
    )
    const calls = (message.tool_calls ?? []).reduce(
      (chars, call) => chars + call.name.length + call.arguments.length, 0,
    )
    return sum + content + calls
  }, 0)
}

const imageChars = 6000

function batchMessages({ isOfAnother, actions, calls, results }: Batch, state: JsonObject | undefined): ModelMessage[] {
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
  const tools = answered.flatMap((call) => results.get(call.id) ?? [])
  const message = isOfAnother ? unsigned(answer) : answer
  // Another model cannot read the provider's data. They describe all calls, so drop them also if a result is missing.
  return [
    withState(message, !isOfAnother && answered.length === calls.length ? state : undefined),
    ...tools.map((tool) => ({ message: tool })),
  ]
}

/** Replaces lone surrogates in a text, because some providers refuse them. */
function wellFormed(part: Content): Content {
  return part.type === 'text' ? { ...part, text: Buffer.from(part.text).toString() } : part
}

function isPlainUserMessage({ role, name, tool_call_id, tool_calls }: Message): boolean {
  return role === 'user' && name === undefined && tool_call_id === undefined && tool_calls === undefined
}
