/**
 * The parts of Gemini's answers, and how they are sent back.
 *
 * Gemini signs parts of its answers. Each signature has to be sent back in its part. The message holds the text and the
 * calls; `state` holds the signatures, the borders between parts, and the thoughts that have a signature.
 *
 * Rules: ai.google.dev/gemini-api/docs, "Thought signatures".
 */
import { amountOf, objectOf, objectsOf, textOf } from '../../../base/fields.ts'
import type { JsonObject } from '../../../base/json.ts'
import type { MessageToolCall } from '../../../schema/generated/values.ts'
import { present } from './members.ts'
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

/** The signature that Gemini documents for a call that another model made. */
const signatureOfOthers = 'skip_thought_signature_validator'

/** Returns the `state` (model.ts) of an answer with these parts; undefined when no part has a signature. */
export function stateOf(parts: readonly AnswerPart[]): JsonObject | undefined {
  if (parts.every(({ signature }) => signature === undefined)) return undefined
  return { gemini: { parts: parts.flatMap(entryOf) } }
}

/**
 * Returns the parts of an answer to send back. Newer models (`wantsSignatures`) refuse an answer with calls if no call
 * has a signature. For these models, the first call of such an answer gets `signatureOfOthers`.
 */
export function partsOfAnswer(answer: ModelMessage, wantsSignatures: boolean): JsonObject[] {
  const parts = partsOf(answer)
  const calls = parts.filter((part) => part['functionCall'] !== undefined)
  const isUnsigned = calls.every((part) => part['thoughtSignature'] === undefined)
  const unsigned = isUnsigned && wantsSignatures ? calls[0] : undefined
  return parts.map((part) => part === unsigned ? { ...part, thoughtSignature: signatureOfOthers } : part)
}

function partsOf({ message, state }: ModelMessage): JsonObject[] {
  const texts = message.content.flatMap((part) => part.type === 'text' && part.text !== '' ? [part.text] : [])
  const calls = message.tool_calls ?? []
  const entries = objectsOf(objectOf(state?.['gemini'])['parts'])
  const ofText = entries.filter(({ kind }) => kind === 'text')
  const ofCalls = entries.filter(({ kind }) => kind === 'call')
  const isSameText = ofText.reduce((sum, entry) => sum + charsOf(entry), 0) === texts.join('').length
  const isSameCalls = ofCalls.length === calls.length
  if (isSameText && isSameCalls) return rebuilt(entries, texts.join(''), calls)
  const signatures = isSameCalls ? ofCalls.map(signatureOf) : []
  return [...texts.map((text) => ({ text })), ...calls.map((call, index) => callPart(call, signatures[index]))]
}

/** Returns one part for each entry of `state`, with the text and the calls of the message. */
function rebuilt(entries: readonly JsonObject[], text: string, calls: readonly MessageToolCall[]): JsonObject[] {
  let chars = 0
  let taken = 0
  return entries.flatMap((entry) => {
    const signature = signatureOf(entry)
    switch (entry['kind']) {
      case 'text':
        chars += charsOf(entry)
        return [present({ text: text.slice(chars - charsOf(entry), chars), thoughtSignature: signature })]
      case 'call':
        taken += 1
        return calls.slice(taken - 1, taken).map((call) => callPart(call, signature))
      default:
        return [present({ text: textOf(entry['text']) ?? '', thought: true, thoughtSignature: signature })]
    }
  })
}

function callPart(call: MessageToolCall, signature: string | undefined): JsonObject {
  const functionCall = { id: call.id, name: call.name, args: argumentsOf(call) }
  return present({ functionCall, thoughtSignature: signature })
}

/** Returns the part in the form that `state` keeps, as a list; an empty list for a thought without a signature. */
function entryOf(part: AnswerPart): JsonObject[] {
  const { kind, signature } = part
  if (kind === 'text') return [present({ kind, chars: part.text.length, signature })]
  if (kind === 'call') return [present({ kind, signature })]
  return signature === undefined ? [] : [{ kind, text: part.text, signature }]
}

function signatureOf(entry: JsonObject): string | undefined {
  return textOf(entry['signature'])
}

function charsOf(entry: JsonObject): number {
  return amountOf(entry['chars']) ?? 0
}
