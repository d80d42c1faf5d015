/**
 * Assembles an answer of OpenAI Responses from the events of its stream.
 *
 * Deltas are passed on as they arrive. The answer is made from the complete items.
 *
 * Format: platform.openai.com/docs/api-reference/responses-streaming.
 */
import { amountOf, objectOf, objectsOf, textOf } from '../../../base/fields.ts'
import { isJsonObject, type JsonObject } from '../../../base/json.ts'
import type { Message, MessageToolCall, ReasoningItemModel } from '../../../schema/generated/values.ts'
import { present } from './members.ts'
import { ModelError, type ModelAnswer, type ModelUsage } from './model.ts'
import { known } from './pricing.ts'
import type { AnswerPiece } from './partial-answer.ts'
import type { AnswerFold, FoldContext, FoldedAnswer } from './wire.ts'

export function foldResponse(context: FoldContext): AnswerFold {
  const done: JsonObject[] = []
  let response: JsonObject | undefined
  let summaryParts = 0
  return {
    push(event) {
      switch (event['type']) {
        case 'response.output_text.delta':
        case 'response.refusal.delta':
          return piece('content', event)
        case 'response.reasoning_summary_part.added':
          return summaryParts++ === 0 ? {} : { reasoning_content: '\n\n' }
        case 'response.reasoning_summary_text.delta':
        case 'response.reasoning_text.delta':
          return piece('reasoning_content', event)
        case 'response.output_item.done':
          if (isJsonObject(event['item'])) done.push(event['item'])
          context.limitParts(done.length)
          return {}
        case 'response.completed':
        case 'response.incomplete':
          response = withItems(objectOf(event['response']), done)
          return {}
        case 'response.failed':
          throw context.failureOf({ error: objectOf(objectOf(event['response'])['error']) })
        case 'error':
          // OpenAI documents the members of this event beside `type`; some servers put them into `error`.
          throw context.failureOf(
            isJsonObject(event['error']) ? event : { error: { ...event, type: event['code'] ?? '' } },
          )
        default:
          if (isJsonObject(event['error'])) throw context.failureOf(event)
          if (event['object'] !== 'response') return {}
          response = event
          return wholePiece(event)
      }
    },
    finish: () => response === undefined ? undefined : finished(response, context),
  }
}

function piece(name: keyof AnswerPiece, { delta }: JsonObject): AnswerPiece {
  const text = textOf(delta)
  return text === undefined ? {} : { [name]: text }
}

/** Returns the final event's response. Replaces an empty `output` with `done`, the items of earlier events. */
function withItems(response: JsonObject, done: JsonObject[]): JsonObject {
  return objectsOf(response['output']).length > 0 ? response : { ...response, output: done }
}

function wholePiece(response: JsonObject): AnswerPiece {
  const { text, reasoning } = readItems(response)
  return { ...(text === '' ? {} : { content: text }), ...(reasoning === '' ? {} : { reasoning_content: reasoning }) }
}

interface Items {
  readonly text: string
  readonly isRefusal: boolean
  readonly reasoning: string
  readonly thoughts: readonly JsonObject[]
  readonly calls: readonly JsonObject[]
}

function readItems({ output }: JsonObject): Items {
  const items = objectsOf(output)
  const parts = items.filter(({ type }) => type === 'message').flatMap(({ content }) => objectsOf(content))
  const thoughts = items.filter(({ type }) => type === 'reasoning')
  return {
    text: parts.map((part) => textOf(part['text']) ?? textOf(part['refusal']) ?? '').join(''),
    isRefusal: parts.some((part) => part['type'] === 'refusal'),
    reasoning: thoughts.flatMap((item) => [...textsOf(item['summary']), ...textsOf(item['content'])]).join('\n\n'),
    thoughts,
    calls: items.filter(({ type }) => type === 'function_call'),
  }
}

function textsOf(parts: JsonObject[string] | undefined): string[] {
  return objectsOf(parts).flatMap((part) => textOf(part['text']) ?? [])
}

function finished(response: JsonObject, context: FoldContext): FoldedAnswer {
  if (response['status'] === 'failed') throw context.failureOf({ error: objectOf(response['error']) })
  if (response['status'] === 'cancelled') {
    throw new ModelError('LLMNoResponseError', 'The response was cancelled at the provider')
  }
  const items = readItems(response)
  const calls = items.calls.map((item) => callOf(item, context))
  const state = stateOf(response)
  return {
    id: textOf(response['id']) ?? context.newId(),
    message: messageOf(items, calls),
    ...(state === undefined ? {} : { state: { openai_responses: state } }),
    stop: stopOf(response, items),
    usage: usageOf(objectOf(response['usage'])),
    response,
  }
}

function callOf(item: JsonObject, { newId }: FoldContext): MessageToolCall {
  const id = textOf(item['call_id']) ?? textOf(item['id']) ?? newId()
  return { id, name: textOf(item['name']) ?? '', arguments: textOf(item['arguments']) ?? '', origin: 'responses' }
}

function messageOf({ text, reasoning, thoughts }: Items, calls: readonly MessageToolCall[]): Message {
  const thought = thoughts[0]
  return {
    role: 'assistant',
    content: text === '' ? [] : [{ cache_prompt: false, type: 'text', text }],
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
    ...(reasoning === '' ? {} : { reasoning_content: reasoning }),
    thinking_blocks: [],
    ...(thought === undefined ? {} : { responses_reasoning_item: reasoningItem(thought) }),
  }
}

/** Returns the reasoning item in the form for events, without the encrypted content, which is kept in `state`. */
function reasoningItem(item: JsonObject): ReasoningItemModel {
  const content = textsOf(item['content'])
  const id = textOf(item['id'])
  const status = textOf(item['status'])
  return {
    ...(id === undefined ? {} : { id }),
    summary: textsOf(item['summary']),
    ...(content.length === 0 ? {} : { content }),
    ...(status === undefined ? {} : { status }),
  }
}

/** Returns the encrypted reasoning, and the ids of texts and calls, in order; undefined without encrypted reasoning. */
function stateOf({ output }: JsonObject): JsonObject | undefined {
  const items = objectsOf(output).flatMap((item): JsonObject[] => {
    const { type, id, summary = [], call_id, encrypted_content } = item
    if (type === 'reasoning') return encrypted_content ? [present({ type, id, summary, encrypted_content })] : []
    return type === 'message' || type === 'function_call' ? [present({ type, id, call_id })] : []
  })
  return items.some(({ type }) => type === 'reasoning') ? { items } : undefined
}

function stopOf({ status, incomplete_details }: JsonObject, { isRefusal, calls }: Items): ModelAnswer['stop'] {
  const { reason } = objectOf(incomplete_details)
  if (isRefusal || reason === 'content_filter') return 'refusal'
  if (status === 'incomplete') return 'length'
  return calls.length > 0 ? 'tool_calls' : 'end'
}

function usageOf(usage: JsonObject): ModelUsage {
  return known({
    promptTokens: amountOf(usage['input_tokens']),
    completionTokens: amountOf(usage['output_tokens']),
    cacheReadTokens: amountOf(objectOf(usage['input_tokens_details'])['cached_tokens']),
    reasoningTokens: amountOf(objectOf(usage['output_tokens_details'])['reasoning_tokens']),
    cost: amountOf(usage['cost']),
  })
}
