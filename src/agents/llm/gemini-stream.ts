/**
 * An answer of Gemini, put together from the chunks of its stream. A pure fold.
 *
 * A chunk is a whole response with the next parts of the content, so an answer that was not streamed is a stream of one.
 * Pieces of a text become one part, but for those that are signed: they stay by themselves, as the API wants them back.
 * There is no last event: the answer is whole when it has told why it ended. Failures are left to the caller.
 * Rules: ai.google.dev/api/generate-content, and ai.google.dev/gemini-api/docs, "Thought signatures".
 */
import type { JsonObject } from '../../base/json.ts'
import type { Message, MessageToolCall } from '../../schema/generated/values.ts'
import { amountOf, objectOf, objectsOf, textOf } from './fields.ts'
import { stateOf, type AnswerPart } from './gemini-parts.ts'
import type { ModelAnswer, ModelUsage } from './model.ts'

export interface GeminiState {
  readonly id: string | undefined
  readonly parts: readonly AnswerPart[]
  readonly finishReason: string | undefined
  /** Why the prompt got no answer at all. */
  readonly blockReason: string | undefined
  readonly usage: JsonObject
  /** The member `error` of a chunk. */
  readonly error: JsonObject | undefined
}

export const emptyGeminiState: GeminiState = {
  id: undefined, parts: [], finishReason: undefined, blockReason: undefined, usage: {}, error: undefined,
}

/** Ends that are a provider's rules and not the model's. */
const refusals: ReadonlySet<string> = new Set([
  'SAFETY', 'RECITATION', 'BLOCKLIST', 'PROHIBITED_CONTENT', 'SPII', 'IMAGE_SAFETY', 'IMAGE_PROHIBITED_CONTENT',
  'IMAGE_RECITATION',
])

/** The model meant to call a tool, and nothing could be made of it. */
const brokenCalls: ReadonlySet<string> = new Set(['MALFORMED_FUNCTION_CALL', 'UNEXPECTED_TOOL_CALL', 'MALFORMED_RESPONSE'])

/** The state after one more chunk. */
export function foldGemini(state: GeminiState, chunk: JsonObject): GeminiState {
  const candidate = objectOf(objectsOf(chunk['candidates'])[0])
  return {
    id: state.id ?? textOf(chunk['responseId']),
    parts: partsIn(chunk).reduce(withPart, state.parts),
    finishReason: textOf(candidate['finishReason']) ?? state.finishReason,
    blockReason: textOf(objectOf(chunk['promptFeedback'])['blockReason']) ?? state.blockReason,
    usage: { ...state.usage, ...objectOf(chunk['usageMetadata']) },
    error: chunk['error'] === undefined ? state.error : objectOf(chunk['error']),
  }
}

/** What a chunk adds for those who read along, in its order. */
export function geminiDeltas(chunk: JsonObject): { content?: string; reasoning_content?: string }[] {
  return partsIn(chunk).flatMap((part) => {
    if (part.kind === 'call' || part.text === '') return []
    return [part.kind === 'thought' ? { reasoning_content: part.text } : { content: part.text }]
  })
}

/** The answer has told why it ended, or why there is none. */
export function isGeminiComplete({ finishReason, blockReason }: GeminiState): boolean {
  return finishReason !== undefined || blockReason !== undefined
}

/** The answer that the state holds; `newId` for what Gemini gave no id. */
export function geminiAnswer(state: GeminiState, newId: () => string): ModelAnswer {
  const calls = state.parts.flatMap((part) => part.kind === 'call' ? [callOf(part, newId)] : [])
  const kept = stateOf(state.parts)
  return {
    id: state.id ?? newId(),
    message: messageOf(state, calls),
    ...(kept !== undefined && { state: kept }),
    stop: stopOf(state, calls.length > 0),
    usage: usageOf(state.usage),
  }
}

/** Words that led to a call which was none are no answer: they count as thoughts, so that the run goes on. */
function messageOf(state: GeminiState, calls: readonly MessageToolCall[]): Message {
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

function stopOf({ finishReason = '', blockReason }: GeminiState, hasCalls: boolean): ModelAnswer['stop'] {
  if (blockReason !== undefined || refusals.has(finishReason)) return 'refusal'
  if (finishReason === 'MAX_TOKENS') return 'length'
  return hasCalls ? 'tool_calls' : 'end'
}

function partsIn(chunk: JsonObject): AnswerPart[] {
  const candidate = objectOf(objectsOf(chunk['candidates'])[0])
  return objectsOf(objectOf(candidate['content'])['parts']).flatMap(partOf)
}

/** Parts of other kinds (code that the provider ran, say) are of no use here. */
function partOf(part: JsonObject): AnswerPart[] {
  const signature = textOf(part['thoughtSignature'])
  if (part['functionCall'] !== undefined) {
    const call = objectOf(part['functionCall'])
    return [{ kind: 'call', id: textOf(call['id']), name: textOf(call['name']) ?? '', args: objectOf(call['args']), signature }]
  }
  const text = textOf(part['text']) ?? ''
  if (text === '' && signature === undefined) return []
  return [{ kind: part['thought'] === true ? 'thought' : 'text', text, signature }]
}

function withPart(parts: readonly AnswerPart[], part: AnswerPart): AnswerPart[] {
  const last = parts.at(-1)
  if (last === undefined || last.kind === 'call' || part.kind !== last.kind) return [...parts, part]
  if (last.signature !== undefined || part.signature !== undefined) return [...parts, part]
  return [...parts.slice(0, -1), { ...last, text: last.text + part.text }]
}

function callOf(part: Extract<AnswerPart, { kind: 'call' }>, newId: () => string): MessageToolCall {
  return { id: part.id ?? newId(), name: part.name, arguments: JSON.stringify(part.args), origin: 'completion' }
}

/** Thoughts are counted apart from the rest of what came out; what came from a cache is a part of the prompt. */
function usageOf(usage: JsonObject): ModelUsage {
  const prompt = amountOf(usage['promptTokenCount'])
  const output = amountOf(usage['candidatesTokenCount'])
  const thoughts = amountOf(usage['thoughtsTokenCount'])
  const read = amountOf(usage['cachedContentTokenCount'])
  const isOutputKnown = output !== undefined || thoughts !== undefined
  return {
    ...(prompt !== undefined && { promptTokens: prompt }),
    ...(isOutputKnown && { completionTokens: (output ?? 0) + (thoughts ?? 0) }),
    ...(read !== undefined && { cacheReadTokens: read }),
    ...(thoughts !== undefined && { reasoningTokens: thoughts }),
  }
}
