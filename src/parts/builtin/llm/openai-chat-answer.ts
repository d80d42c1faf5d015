/**
 * Assembles an answer of OpenAI Chat Completions from the chunks of its stream.
 *
 * A whole answer is read as a single chunk. Some compatible servers send calls without an id, or reasoning under
 * another name.
 *
 * Format: platform.openai.com/docs/api-reference/chat/streaming.
 */
import { amountOf, objectOf, objectsOf, textOf } from '../../../base/fields.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../../base/json.ts'
import type { MessageToolCall } from '../../../schema/generated/values.ts'
import { present } from './members.ts'
import type { ModelAnswer, ModelUsage } from './model.ts'
import { known } from './pricing.ts'
import type { AnswerPiece } from './partial-answer.ts'
import type { AnswerFold, FoldContext, FoldedAnswer } from './wire.ts'

export function foldChat(context: FoldContext): AnswerFold {
  const answer: Growing = {
    text: '',
    reasoning: '',
    refusal: '',
    calls: [],
    callsByIndex: new Map(),
    callsById: new Map(),
    details: [],
    promptIds: [],
    responseIds: [],
    usage: {},
  }
  return {
    push(chunk) {
      if (chunk['error'] !== undefined && chunk['error'] !== null) throw context.failureOf(chunk)
      answer.id ??= textOf(chunk['id'])
      answer.promptIds.push(...idsOf(chunk['prompt_token_ids']))
      if (isJsonObject(chunk['usage'])) answer.usage = chunk['usage']
      // Only the first choice is read.
      const choice = objectsOf(chunk['choices'])[0]
      return choice === undefined ? {} : addChoice(answer, choice, context)
    },
    finish: () => answer.finish === undefined ? undefined : finished(answer, answer.finish, context),
  }
}

interface Growing {
  id?: string | undefined
  text: string
  reasoning: string
  /** The name of the member in which the reasoning arrived; absent before any reasoning arrives. */
  reasoningName?: string
  refusal: string
  readonly calls: GrowingCall[]
  /** The calls by the `index` of their chunks. Some servers send no index: see `callOf`. */
  readonly callsByIndex: Map<number, GrowingCall>
  readonly callsById: Map<string, GrowingCall>
  readonly details: JsonObject[]
  readonly promptIds: number[]
  readonly responseIds: number[]
  usage: JsonObject
  finish?: string | undefined
}

interface GrowingCall {
  readonly id: string
  name: string
  args: string
}

function addChoice(answer: Growing, choice: JsonObject, context: FoldContext): AnswerPiece {
  const delta = objectOf(choice['delta'] ?? choice['message'])
  for (const call of objectsOf(delta['tool_calls'])) addCall(answer, call, context)
  context.limitParts(answer.calls.length)
  answer.details.push(...objectsOf(delta['reasoning_details']))
  answer.responseIds.push(...idsOf(choice['token_ids']))
  answer.finish = textOf(choice['finish_reason']) ?? answer.finish
  if (answer.finish === 'error') throw context.failureOf(choice)
  const text = textIn(delta['content'])
  const refusal = textOf(delta['refusal']) ?? ''
  const thought = reasoningIn(delta)
  answer.text += text
  answer.refusal += refusal
  const piece = text + refusal === '' ? {} : { content: text + refusal }
  if (thought === undefined) return piece
  answer.reasoning += thought.text
  answer.reasoningName = thought.name
  return { ...piece, reasoning_content: thought.text }
}

function reasoningIn(delta: JsonObject): { readonly name: string; readonly text: string } | undefined {
  for (const name of ['reasoning_content', 'reasoning']) {
    const text = textOf(delta[name])
    if (text !== undefined) return { name, text }
  }
  return undefined
}

/** Adds a chunk of a call. Usually, the first chunk has the id and the name, and each has a part of the arguments. */
function addCall(answer: Growing, piece: JsonObject, { newId }: FoldContext): void {
  const { name, arguments: args } = objectOf(piece['function'])
  const call = callOf(answer, amountOf(piece['index']), textOf(piece['id'])) ?? newCall(answer, piece, newId)
  if (call.name === '') call.name = textOf(name) ?? ''
  call.args += isJsonObject(args) ? JSON.stringify(args) : textOf(args) ?? ''
}

function callOf(answer: Growing, index: number | undefined, id: string | undefined): GrowingCall | undefined {
  if (index !== undefined) return answer.callsByIndex.get(index)
  return id === undefined ? answer.calls.at(-1) : answer.callsById.get(id)
}

function newCall({ calls, callsByIndex, callsById }: Growing, piece: JsonObject, newId: () => string): GrowingCall {
  const index = amountOf(piece['index'])
  const call = { id: textOf(piece['id']) ?? newId(), name: '', args: '' }
  calls.push(call)
  if (index !== undefined) callsByIndex.set(index, call)
  // If several calls have the same id, a later chunk with this id and without an index belongs to the first of them.
  if (!callsById.has(call.id)) callsById.set(call.id, call)
  return call
}

function textIn(content: JsonValue | undefined): string {
  if (typeof content === 'string') return content
  return objectsOf(content).map((part) => part['type'] === 'text' ? textOf(part['text']) ?? '' : '').join('')
}

function idsOf(value: JsonValue | undefined): number[] {
  return Array.isArray(value) ? value.filter((id) => typeof id === 'number') : []
}

function usageOf(usage: JsonObject): ModelUsage {
  const input = objectOf(usage['prompt_tokens_details'])
  return known({
    promptTokens: amountOf(usage['prompt_tokens']),
    completionTokens: amountOf(usage['completion_tokens']),
    cacheReadTokens: amountOf(input['cached_tokens']),
    cacheWriteTokens: amountOf(input['cache_write_tokens']),
    reasoningTokens: amountOf(objectOf(usage['completion_tokens_details'])['reasoning_tokens']),
    cost: amountOf(usage['cost']),
  })
}

function finished(answer: Growing, finish: string, { newId }: FoldContext): FoldedAnswer {
  const text = answer.text + answer.refusal
  const calls = answer.calls.map(({ id, name, args }): MessageToolCall => ({
    id,
    name,
    arguments: args,
    origin: 'completion',
  }))
  const id = answer.id ?? newId()
  const kept = present({
    reasoning_name: answer.reasoningName,
    reasoning_details: answer.details.length === 0 ? undefined : answer.details,
  })
  return {
    id,
    message: {
      role: 'assistant',
      content: text === '' ? [] : [{ cache_prompt: false, type: 'text', text }],
      ...(calls.length === 0 ? {} : { tool_calls: calls }),
      ...(answer.reasoning === '' ? {} : { reasoning_content: answer.reasoning }),
      thinking_blocks: [],
    },
    ...(Object.keys(kept).length === 0 ? {} : { state: { openai_chat: kept } }),
    stop: stopOf(answer, finish),
    usage: usageOf(answer.usage),
    ...(answer.responseIds.length === 0
      ? {}
      : { tokenIds: { prompt: answer.promptIds, response: answer.responseIds } }),
    response: responseOf(answer, id, finish),
  }
}

function stopOf({ refusal, calls }: Growing, finish: string): ModelAnswer['stop'] {
  if (finish === 'length') return 'length'
  if (finish === 'content_filter' || refusal !== '') return 'refusal'
  return calls.length > 0 ? 'tool_calls' : 'end'
}

/** Returns the response in the form that the API has without streaming. */
function responseOf(answer: Growing, id: string, finish_reason: string): JsonObject {
  const message = present({
    role: 'assistant',
    content: answer.text,
    refusal: answer.refusal === '' ? undefined : answer.refusal,
    reasoning_content: answer.reasoning === '' ? undefined : answer.reasoning,
    tool_calls:
      answer.calls.length === 0
        ? undefined
        : answer.calls.map((call) => ({
            id: call.id,
            type: 'function',
            function: { name: call.name, arguments: call.args },
          })),
  })
  return { id, object: 'chat.completion', choices: [{ index: 0, message, finish_reason }], usage: answer.usage }
}
