/**
 * An answer of Anthropic's Messages API, put together from the events of its stream. A pure fold.
 *
 * Events and blocks of unknown types are passed over, as the API asks of its clients. Every kind of failure is left to the
 * caller: an `error` event and a missing `message_stop` show in the state. A whole message, from a server that does not
 * stream, is folded as the events it stands for.
 * Rules: platform.claude.com/docs, "Streaming messages" and "Stop reasons".
 */
import { assertNever } from '../../base/errors.ts'
import type { JsonObject, JsonValue } from '../../base/json.ts'
import type { MessageToolCall, TextContent, ThinkingContent } from '../../schema/generated/values.ts'
import { usualOrder, type BlockKind } from './anthropic-request.ts'
import { amountOf, objectOf, objectsOf, textOf } from './fields.ts'
import type { ModelAnswer, ModelUsage } from './model.ts'

export interface AnthropicState {
  readonly id: string | undefined
  readonly blocks: ReadonlyMap<number, Block>
  readonly stopReason: string | undefined
  readonly usage: JsonObject
  /** `message_stop` has come. */
  readonly isComplete: boolean
  /** The member `error` of an event of that type. */
  readonly error: JsonObject | undefined
}

type Block =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'thinking'; readonly text: string; readonly signature: string }
  | { readonly kind: 'redacted_thinking'; readonly data: string }
  | { readonly kind: 'tool_use'; readonly id: string; readonly name: string; readonly json: string }

export const emptyAnthropicState: AnthropicState = {
  id: undefined, blocks: new Map(), stopReason: undefined, usage: {}, isComplete: false, error: undefined,
}

/** The state after one more event. */
export function foldAnthropic(state: AnthropicState, event: JsonObject): AnthropicState {
  switch (event['type']) {
    case 'message_start': {
      const message = objectOf(event['message'])
      return { ...state, id: textOf(message['id']), usage: merged(state.usage, message['usage']) }
    }
    case 'content_block_start':
      return withBlock(state, event['index'], blockOf(objectOf(event['content_block'])))
    case 'content_block_delta': {
      const block = state.blocks.get(amountOf(event['index']) ?? -1)
      return withBlock(state, event['index'], block && grown(block, objectOf(event['delta'])))
    }
    case 'message_delta':
      return {
        ...state,
        stopReason: textOf(objectOf(event['delta'])['stop_reason']) ?? state.stopReason,
        usage: merged(state.usage, event['usage']),
      }
    case 'message_stop':
      return { ...state, isComplete: true }
    case 'error':
      return { ...state, error: objectOf(event['error']) }
    default:
      return state
  }
}

/** What an event adds for those who read along. */
export function anthropicDelta(event: JsonObject): { content?: string; reasoning_content?: string } | undefined {
  if (event['type'] !== 'content_block_delta') return undefined
  const delta = objectOf(event['delta'])
  const text = delta['type'] === 'text_delta' ? textOf(delta['text']) : undefined
  if (text !== undefined) return { content: text }
  const thinking = delta['type'] === 'thinking_delta' ? textOf(delta['thinking']) : undefined
  return thinking === undefined ? undefined : { reasoning_content: thinking }
}

/** The events that would have brought this message. */
export function eventsOfAnthropicMessage(message: JsonObject): JsonObject[] {
  return [
    { type: 'message_start', message },
    ...objectsOf(message['content']).map((block, index) => ({ type: 'content_block_start', index, content_block: block })),
    { type: 'message_delta', delta: { stop_reason: message['stop_reason'] ?? null } },
    { type: 'message_stop' },
  ]
}

/** The answer that the state holds; `id` for a server that gave none. */
export function anthropicAnswer(state: AnthropicState, id: string): ModelAnswer {
  const blocks = [...state.blocks.values()]
  const calls = blocks.flatMap(callOf)
  const thinking = blocks.flatMap(thinkingOf)
  const reasoning = thinking.flatMap((block) => block.type === 'thinking' && block.thinking || []).join('\n\n')
  const order = blocks.flatMap(kindOf)
  return {
    id: state.id ?? id,
    message: {
      role: 'assistant',
      content: blocks.flatMap(textContentOf),
      ...(calls.length > 0 && { tool_calls: calls }),
      ...(reasoning !== '' && { reasoning_content: reasoning }),
      thinking_blocks: thinking,
    },
    ...(!isUsual(order) && { state: { anthropic: { order } } }),
    stop: stopOf(state.stopReason, calls.length > 0),
    usage: usageOf(state.usage),
  }
}

function withBlock(state: AnthropicState, index: unknown, block: Block | undefined): AnthropicState {
  if (block === undefined || typeof index !== 'number') return state
  return { ...state, blocks: new Map(state.blocks).set(index, block) }
}

/** How a block begins: empty in a stream, whole in a message. */
function blockOf(block: JsonObject): Block | undefined {
  switch (block['type']) {
    case 'text':
      return { kind: 'text', text: textOf(block['text']) ?? '' }
    case 'thinking':
      return { kind: 'thinking', text: textOf(block['thinking']) ?? '', signature: textOf(block['signature']) ?? '' }
    case 'redacted_thinking':
      return { kind: 'redacted_thinking', data: textOf(block['data']) ?? '' }
    case 'tool_use': {
      const input = objectOf(block['input'])
      const json = Object.keys(input).length === 0 ? '' : JSON.stringify(input)
      return { kind: 'tool_use', id: textOf(block['id']) ?? '', name: textOf(block['name']) ?? '', json }
    }
    default:
      return undefined
  }
}

/** A delta of a type that the block does not take changes nothing. */
function grown(block: Block, delta: JsonObject): Block {
  const added = (type: string, member: string): string => delta['type'] === type ? textOf(delta[member]) ?? '' : ''
  switch (block.kind) {
    case 'text':
      return { ...block, text: block.text + added('text_delta', 'text') }
    case 'thinking':
      return {
        ...block,
        text: block.text + added('thinking_delta', 'thinking'),
        signature: block.signature + added('signature_delta', 'signature'),
      }
    case 'tool_use':
      return { ...block, json: block.json + added('input_json_delta', 'partial_json') }
    case 'redacted_thinking':
      return block
    default:
      return assertNever(block)
  }
}

/** Figures come piece by piece, each the sum so far. */
function merged(usage: JsonObject, update: JsonValue | undefined): JsonObject {
  const known = Object.entries(objectOf(update)).filter(([, value]) => value !== null)
  return { ...usage, ...Object.fromEntries(known) }
}

/** The members of the input do not overlap: what came from a cache is no part of `input_tokens`. */
function usageOf(usage: JsonObject): ModelUsage {
  const input = amountOf(usage['input_tokens'])
  const read = amountOf(usage['cache_read_input_tokens'])
  const write = amountOf(usage['cache_creation_input_tokens'])
  const output = amountOf(usage['output_tokens'])
  const reasoning = amountOf(objectOf(usage['output_tokens_details'])['thinking_tokens'])
  return {
    ...(input !== undefined && { promptTokens: input + (read ?? 0) + (write ?? 0) }),
    ...(output !== undefined && { completionTokens: output }),
    ...(read !== undefined && { cacheReadTokens: read }),
    ...(write !== undefined && { cacheWriteTokens: write }),
    ...(reasoning !== undefined && { reasoningTokens: reasoning }),
  }
}

function stopOf(reason: string | undefined, hasCalls: boolean): ModelAnswer['stop'] {
  switch (reason) {
    case 'refusal':
      return 'refusal'
    case 'max_tokens':
    case 'model_context_window_exceeded':
      return 'length'
    default:
      return hasCalls ? 'tool_calls' : 'end'
  }
}

function textContentOf(block: Block): TextContent[] {
  return hasText(block) ? [{ cache_prompt: false, type: 'text', text: block.text }] : []
}

/** Models put blank lines between thoughts as blocks of their own. */
function hasText(block: Block): block is Extract<Block, { kind: 'text' }> {
  return block.kind === 'text' && block.text.trim() !== ''
}

function thinkingOf(block: Block): ThinkingContent[] {
  if (block.kind === 'redacted_thinking') return [{ type: 'redacted_thinking', data: block.data }]
  if (block.kind !== 'thinking') return []
  return [{ type: 'thinking', thinking: block.text, ...(block.signature !== '' && { signature: block.signature }) }]
}

function callOf(block: Block): MessageToolCall[] {
  if (block.kind !== 'tool_use') return []
  return [{ id: block.id, name: block.name, arguments: block.json === '' ? '{}' : block.json, origin: 'completion' }]
}

function kindOf(block: Block): BlockKind[] {
  if (block.kind === 'text') return hasText(block) ? ['text'] : []
  return [block.kind === 'redacted_thinking' ? 'thinking' : block.kind]
}

/** Each kind in one run, the runs in the usual order. */
function isUsual(order: readonly BlockKind[]): boolean {
  const ranks = order.map((kind) => usualOrder.indexOf(kind))
  return ranks.every((rank, index) => rank >= (ranks[index - 1] ?? 0))
}
