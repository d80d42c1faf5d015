/**
 * What a view is made of: units that stand or fall together.
 *
 * A message is one unit; the calls of one answer are one with all their results, since no provider takes a call without
 * its result. Plain messages of the user become one message when nothing but such stands between them; what is between
 * two of them but is not shown, as calls that nobody answered, keeps them apart.
 */
import type { JsonObject } from '../../base/json.ts'
import type { ActionEvent } from '../../schema/generated/events.ts'
import { toMessage, toTextContent, type Content, type Message, type MessageToolCall } from '../../schema/generated/values.ts'
import type { ModelMessage } from './llm/model.ts'
import { soundArguments } from './tool-arguments.ts'
import { soundName } from './tool-names.ts'
import { unsigned } from './unsigned.ts'

export interface Unit {
  /** Of its events. */
  readonly ids: readonly string[]
  /** What a model is shown of it. */
  readonly messages: readonly ModelMessage[]
  readonly isBatch: boolean
  /** Results of its calls may still come. */
  readonly isOpen: boolean
  /** What its messages hold, in characters of text. */
  readonly chars: number
}

/** The calls of one answer, and the results that have come so far. */
export interface Batch {
  readonly id: string
  /** Whether the model that is asked next may be another one than the one that gave this answer. */
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

/** What an event says a call has led to. */
export interface Answer {
  readonly id: string
  readonly tool_call_id: string
  readonly tool_name: string
}

export function addResult(batch: Batch, { id, tool_call_id, tool_name }: Answer, content: readonly Content[]): void {
  batch.ids.push(id)
  batch.results.set(tool_call_id, toMessage({ role: 'tool', content: content.map(wellFormed), tool_call_id, name: soundName(tool_name) }))
}

export function hasCall({ calls }: Batch, callId: string): boolean {
  return calls.some(({ id }) => id === callId)
}

/** @param state what the provider keeps of the answer */
export function batchUnit(batch: Batch, state: JsonObject | undefined): Unit {
  const messages = batchMessages(batch, state)
  const isOpen = batch.calls.some(({ id }) => !batch.results.has(id))
  return { ids: [...batch.ids], messages, isBatch: true, isOpen, chars: charsOf(messages) }
}

/** @param message undefined for one that is not shown */
export function messageUnit(id: string, message: ModelMessage | undefined): Unit {
  const messages = message === undefined ? [] : [message]
  return { ids: [id], messages, isBatch: false, isOpen: false, chars: charsOf(messages) }
}

/** Without what only the model that said it can read. */
export function unsignedUnit(unit: Unit): Unit {
  return { ...unit, messages: unit.messages.map(({ message }) => ({ message: unsigned(message) })) }
}

/** The messages of units that follow each other. */
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

/** Undefined for a message that says nothing; of the user's one is left at least that it came. */
export function withContent(message: Message): Message | undefined {
  const isSaying = message.content.some((part) => part.type === 'image' || part.text.trim() !== '')
  if (isSaying) return { ...message, content: message.content.map(wellFormed) }
  return message.role === 'assistant' ? undefined : { ...message, content: [toTextContent({ text: '[An empty message.]' })] }
}

export function withState(message: Message, state: JsonObject | undefined): ModelMessage {
  return state === undefined ? { message } : { message, state }
}

/** How much text messages hold; an image counts as the room that models take for one. */
export function charsOf(messages: readonly ModelMessage[]): number {
  return messages.reduce((sum, { message }) => {
    const content = message.content.reduce((chars, part) => chars + (part.type === 'text' ? part.text.length : imageChars), 0)
    const calls = (message.tool_calls ?? []).reduce((chars, call) => chars + call.name.length + call.arguments.length, 0)
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
  // What the provider keeps of its answer speaks of all its calls.
  return [withState(message, !isOfAnother && answered.length === calls.length ? state : undefined), ...tools.map((tool) => ({ message: tool }))]
}

/** Half of a pair of surrogates, as of an emoji that was cut, is no JSON to some providers. */
function wellFormed(part: Content): Content {
  return part.type === 'text' ? { ...part, text: Buffer.from(part.text).toString() } : part
}

function isPlainUserMessage({ role, name, tool_call_id, tool_calls }: Message): boolean {
  return role === 'user' && name === undefined && tool_call_id === undefined && tool_calls === undefined
}
