/**
 * The parts of an answer of Gemini, as they go back to it.
 *
 * Gemini signs parts of its answers, and a signature has to go back in the part that it came with. The message holds the
 * text and the calls; `state` holds what it cannot: the signatures, where one part ends and the next begins, and thoughts
 * that are signed. A message whose text was changed since (a secret masked, say) keeps the signatures of its calls, which
 * are those that newer models insist on.
 * Rules: ai.google.dev/gemini-api/docs, "Thought signatures".
 */
import type { JsonObject } from '../../../base/json.ts'
import type { MessageToolCall } from '../../../schema/generated/values.ts'
import { amountOf, objectOf, objectsOf, present, textOf } from './fields.ts'
import { argumentsOf } from './message-parts.ts'
import type { ModelMessage } from './model.ts'

export type AnswerPart =
  | { readonly kind: 'text' | 'thought'; readonly text: string; readonly signature: string | undefined }
  | {
    readonly kind: 'call'
    readonly id: string
    readonly name: string
    readonly args: JsonObject
    readonly signature: string | undefined
  }

/** What the documentation names for a call that Gemini has not made itself: another model has, before a switch. */
const signatureOfOthers = 'skip_thought_signature_validator'

/** The state of an answer; undefined when nothing in it is signed. */
export function stateOf(parts: readonly AnswerPart[]): JsonObject | undefined {
  if (parts.every(({ signature }) => signature === undefined)) return undefined
  return { gemini: { parts: parts.flatMap(entryOf) } }
}

/** The parts that an answer goes back in. Newer models want a call of every answer that calls to be signed. */
export function partsOfAnswer(answer: ModelMessage, wantsSignatures: boolean): JsonObject[] {
  const parts = partsOf(answer)
  const calls = parts.filter((part) => part.functionCall !== undefined)
  const unsigned = calls.every((part) => part.thoughtSignature === undefined) && wantsSignatures ? calls[0] : undefined
  return parts.map((part) => part === unsigned ? { ...part, thoughtSignature: signatureOfOthers } : part)
}

function partsOf({ message, state }: ModelMessage): JsonObject[] {
  const texts = message.content.flatMap((part) => part.type === 'text' && part.text !== '' ? [part.text] : [])
  const calls = message.tool_calls ?? []
  const entries = objectsOf(objectOf(state?.gemini).parts)
  const ofText = entries.filter(({ kind }) => kind === 'text')
  const ofCalls = entries.filter(({ kind }) => kind === 'call')
  const isSameText = ofText.reduce((sum, entry) => sum + charsOf(entry), 0) === texts.join('').length
  const isSameCalls = ofCalls.length === calls.length
  if (isSameText && isSameCalls) return rebuilt(entries, texts.join(''), calls)
  const signatures = isSameCalls ? ofCalls.map(signatureOf) : []
  return [...texts.map((text) => ({ text })), ...calls.map((call, index) => callPart(call, signatures[index]))]
}

/** One part for every entry; texts and calls are taken in their order. */
function rebuilt(entries: readonly JsonObject[], text: string, calls: readonly MessageToolCall[]): JsonObject[] {
  let chars = 0
  let taken = 0
  return entries.flatMap((entry) => {
    const signature = signatureOf(entry)
    switch (entry.kind) {
      case 'text':
        chars += charsOf(entry)
        return [present({ text: text.slice(chars - charsOf(entry), chars), thoughtSignature: signature })]
      case 'call':
        taken += 1
        return calls.slice(taken - 1, taken).map((call) => callPart(call, signature))
      default:
        return [present({ text: textOf(entry.text) ?? '', thought: true, thoughtSignature: signature })]
    }
  })
}

function callPart(call: MessageToolCall, signature: string | undefined): JsonObject {
  const functionCall = { id: call.id, name: call.name, args: argumentsOf(call) }
  return present({ functionCall, thoughtSignature: signature })
}

/** A thought that is not signed is not sent back. */
function entryOf(part: AnswerPart): JsonObject[] {
  const { kind, signature } = part
  if (kind === 'text') return [present({ kind, chars: part.text.length, signature })]
  if (kind === 'call') return [present({ kind, signature })]
  return signature === undefined ? [] : [{ kind, text: part.text, signature }]
}

function signatureOf(entry: JsonObject): string | undefined {
  return textOf(entry.signature)
}

function charsOf(entry: JsonObject): number {
  return amountOf(entry.chars) ?? 0
}
