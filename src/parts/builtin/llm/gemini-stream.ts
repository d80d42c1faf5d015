/**
 * Assembles an answer of Gemini from the chunks of its stream. A chunk is a response with the next parts of the
 * content.
 *
 * Signed parts stay separate, because the API requires them unchanged. There is no final event: a finish reason or a
 * block reason completes the answer.
 *
 * Format: ai.google.dev/api/generate-content, and ai.google.dev/gemini-api/docs, "Thought signatures".
 */
import { amountOf, objectOf, objectsOf, textOf } from '../../../base/fields.ts'
import type { JsonObject } from '../../../base/json.ts'
import type { Message, MessageToolCall } from '../../../schema/generated/values.ts'
import { present, withFew } from './members.ts'
import { stateOf, type AnswerPart } from './gemini-parts.ts'
import type { ModelAnswer, ModelUsage } from './model.ts'
import { known } from './pricing.ts'
import type { AnswerPiece } from './partial-answer.ts'
import type { AnswerFold, FoldContext, FoldedAnswer } from './wire.ts'

export function foldGemini({ newId, failureOf, limitParts }: FoldContext): AnswerFold {
  // The parts of the answer. The list is changed in place for speed.
  const all: AnswerPart[] = []
  let state: State = { id: undefined, parts: all, finishReason: undefined, blockReason: undefined, usage: {} }
  return {
    push(chunk) {
      if (chunk['error'] !== undefined) throw failureOf(chunk)
      const parts = partsIn(chunk, newId)
      for (const part of parts) addPart(all, part)
      limitParts(all.length)
      state = after(state, chunk)
      return pieceOf(parts)
    },
    finish: () => state.finishReason === undefined && state.blockReason === undefined
      ? undefined
      : answerOf(state, state.id ?? newId()),
  }
}

interface State {
  readonly id: string | undefined
  readonly parts: readonly AnswerPart[]
  readonly finishReason: string | undefined
  /** The reason why the provider blocked the prompt, if it did. */
  readonly blockReason: string | undefined
  readonly usage: JsonObject
}

/** Finish reasons that mean refused content. */
const refusals: ReadonlySet<string> = new Set([
  'SAFETY', 'RECITATION', 'BLOCKLIST', 'PROHIBITED_CONTENT', 'SPII', 'IMAGE_SAFETY', 'IMAGE_PROHIBITED_CONTENT',
  'IMAGE_RECITATION',
])

/** Finish reasons that mean that the model made an unusable tool call. */
const brokenCalls: ReadonlySet<string> = new Set([
  'MALFORMED_FUNCTION_CALL', 'UNEXPECTED_TOOL_CALL', 'MALFORMED_RESPONSE',
])

function after(state: State, chunk: JsonObject): State {
  return {
    id: state.id ?? textOf(chunk['responseId']),
    parts: state.parts,
    finishReason: textOf(candidateOf(chunk)['finishReason']) ?? state.finishReason,
    blockReason: textOf(objectOf(chunk['promptFeedback'])['blockReason']) ?? state.blockReason,
    usage: withFew(state.usage, objectOf(chunk['usageMetadata'])),
  }
}

function pieceOf(parts: readonly AnswerPart[]): AnswerPiece {
  const content = textOfKind(parts, 'text')
  const reasoning = textOfKind(parts, 'thought')
  return { ...(content !== '' && { content }), ...(reasoning !== '' && { reasoning_content: reasoning }) }
}

function answerOf(state: State, id: string): FoldedAnswer {
  const calls = state.parts.flatMap((part) => part.kind === 'call' ? [callOf(part)] : [])
  const kept = stateOf(state.parts)
  return {
    id,
    message: messageOf(state, calls),
    ...(kept !== undefined && { state: kept }),
    stop: stopOf(state, calls.length > 0),
    usage: usageOf(state.usage),
    response: responseOf(state, id),
  }
}

/** Returns the chunks joined to one response in the API's form, without the signatures of the parts. */
function responseOf({ parts, finishReason, blockReason, usage }: State, id: string): JsonObject {
  return present({
    responseId: id,
    candidates: [present({ content: { role: 'model', parts: parts.map(partAsSent) }, finishReason })],
    promptFeedback: blockReason === undefined ? undefined : { blockReason },
    usageMetadata: usage,
  })
}

function partAsSent(part: AnswerPart): JsonObject {
  if (part.kind === 'call') return { functionCall: { id: part.id, name: part.name, args: part.args } }
  return { text: part.text, ...(part.kind === 'thought' && { thought: true }) }
}

/** Returns the answer's message. After an unusable call, text becomes reasoning: text alone would end the turn. */
function messageOf(state: State, calls: readonly MessageToolCall[]): Message {
  const thoughts = textOfKind(state.parts, 'thought')
  const text = textOfKind(state.parts, 'text')
  const isBroken = calls.length === 0 && brokenCalls.has(state.finishReason ?? '')
  const reasoning = isBroken ? thoughts + text : thoughts
  return {
    role: 'assistant',
    content: text.trim() === '' || isBroken ? [] : [{ cache_prompt: false, type: 'text', text }],
    ...(calls.length > 0 && { tool_calls: calls }),
    ...(reasoning.trim() !== '' && { reasoning_content: reasoning }),
    thinking_blocks: [],
  }
}

function textOfKind(parts: readonly AnswerPart[], kind: 'text' | 'thought'): string {
  return parts.map((part) => part.kind === kind ? part.text : '').join('')
}

function stopOf({ finishReason = '', blockReason }: State, hasCalls: boolean): ModelAnswer['stop'] {
  if (blockReason !== undefined || refusals.has(finishReason)) return 'refusal'
  if (finishReason === 'MAX_TOKENS') return 'length'
  return hasCalls ? 'tool_calls' : 'end'
}

function candidateOf(chunk: JsonObject): JsonObject {
  return objectOf(objectsOf(chunk['candidates'])[0])
}

function partsIn(chunk: JsonObject, newId: () => string): AnswerPart[] {
  return objectsOf(objectOf(candidateOf(chunk)['content'])['parts']).flatMap((part) => partOf(part, newId))
}

/** Returns a part of a chunk as a list with one AnswerPart; `[]` for a part without call, text and signature. */
function partOf(part: JsonObject, newId: () => string): AnswerPart[] {
  const signature = textOf(part['thoughtSignature'])
  if (part['functionCall'] !== undefined) {
    const { id, name, args } = objectOf(part['functionCall'])
    return [{ kind: 'call', id: textOf(id) ?? newId(), name: textOf(name) ?? '', args: objectOf(args), signature }]
  }
  const text = textOf(part['text']) ?? ''
  if (text === '' && signature === undefined) return []
  return [{ kind: part['thought'] === true ? 'thought' : 'text', text, signature }]
}

function addPart(parts: AnswerPart[], part: AnswerPart): void {
  const last = parts.at(-1)
  const goesOn = last !== undefined && last.kind !== 'call' && part.kind === last.kind
  if (!goesOn || last.signature !== undefined || part.signature !== undefined) parts.push(part)
  else parts[parts.length - 1] = { ...last, text: last.text + part.text }
}

function callOf(part: Extract<AnswerPart, { kind: 'call' }>): MessageToolCall {
  return { id: part.id, name: part.name, arguments: JSON.stringify(part.args), origin: 'completion' }
}

/** Returns the usage. Gemini counts thinking apart from the other output. */
function usageOf(usage: JsonObject): ModelUsage {
  const output = amountOf(usage['candidatesTokenCount'])
  const thoughts = amountOf(usage['thoughtsTokenCount'])
  return known({
    promptTokens: amountOf(usage['promptTokenCount']),
    completionTokens: output === undefined && thoughts === undefined ? undefined : (output ?? 0) + (thoughts ?? 0),
    cacheReadTokens: amountOf(usage['cachedContentTokenCount']),
    reasoningTokens: thoughts,
  })
}
