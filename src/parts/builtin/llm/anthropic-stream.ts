/**
 * Assembles an answer of Anthropic's Messages API from the events of its stream.
 *
 * Events, blocks and deltas of unknown types are ignored, as the API asks of its clients. A message that a server sends
 * whole, without streaming, is converted into events.
 *
 * Format: platform.claude.com/docs, "Streaming messages" and "Stop reasons".
 */
import { amountOf, objectOf, objectsOf, textOf } from '../../../base/fields.ts'
import type { JsonObject, JsonValue } from '../../../base/json.ts'
import type { MessageToolCall, TextContent, ThinkingContent } from '../../../schema/generated/values.ts'
import { usualOrder, type BlockKind } from './anthropic-request.ts'
import { withFew } from './members.ts'
import type { ModelAnswer, ModelUsage } from './model.ts'
import { known } from './pricing.ts'
import type { AnswerPiece } from './partial-answer.ts'
import type { AnswerFold, FoldContext, FoldedAnswer } from './wire.ts'

export function foldAnthropic({ newId, failureOf, limitParts }: FoldContext): AnswerFold {
  const blocks = new Map<number, Block>()
  let state: State = { id: undefined, stopReason: undefined, usage: {}, isComplete: false }
  return {
    push(event) {
      if (event['type'] === 'error') throw failureOf(event)
      const events = event['type'] === 'message' ? eventsOf(event) : [event]
      for (const each of events) {
        growBlocks(blocks, each, newId)
        limitParts(blocks.size)
        state = after(state, each)
      }
      return joined(events.map(pieceOf))
    },
    finish: () => state.isComplete ? answerOf(state, [...blocks.values()], state.id ?? newId()) : undefined,
  }
}

/** The answer so far, except its blocks. */
interface State {
  readonly id: string | undefined
  readonly stopReason: string | undefined
  readonly usage: JsonObject
  /** True once `message_stop` has arrived. */
  readonly isComplete: boolean
}

type Block =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'thinking'; readonly text: string; readonly signature: string }
  | { readonly kind: 'redacted_thinking'; readonly data: string }
  | { readonly kind: 'tool_use'; readonly id: string; readonly name: string; readonly json: string }

/** Starts or extends the block at the event's index. */
function growBlocks(blocks: Map<number, Block>, event: JsonObject, newId: () => string): void {
  const { index } = event
  if (typeof index !== 'number') return
  const before = blocks.get(index)
  const block = event['type'] === 'content_block_start' ? blockOf(objectOf(event['content_block']), newId)
    : event['type'] === 'content_block_delta' ? before && grown(before, objectOf(event['delta']))
    : undefined
  if (block !== undefined) blocks.set(index, block)
}

function after(state: State, event: JsonObject): State {
  switch (event['type']) {
    case 'message_start': {
      const message = objectOf(event['message'])
      return { ...state, id: textOf(message['id']), usage: merged(state.usage, message['usage']) }
    }
    case 'message_delta': {
      const stopReason = textOf(objectOf(event['delta'])['stop_reason']) ?? state.stopReason
      return { ...state, stopReason, usage: merged(state.usage, event['usage']) }
    }
    case 'message_stop':
      return { ...state, isComplete: true }
    default:
      return state
  }
}

/** Returns the events of a stream that would give this message. */
function eventsOf(message: JsonObject): JsonObject[] {
  return [
    { type: 'message_start', message },
    ...objectsOf(message['content'])
      .map((block, index) => ({ type: 'content_block_start', index, content_block: block })),
    { type: 'message_delta', delta: { stop_reason: message['stop_reason'] ?? null } },
    { type: 'message_stop' },
  ]
}

/** Returns the text or reasoning that an event adds, from a block or a delta; empty for other events. */
function pieceOf(event: JsonObject): AnswerPiece {
  const { type, text, thinking } = objectOf(event['content_block'] ?? event['delta'])
  const isText = type === 'text' || type === 'text_delta'
  const isThinking = type === 'thinking' || type === 'thinking_delta'
  const piece = {
    content: isText ? textOf(text) : undefined,
    reasoning_content: isThinking ? textOf(thinking) : undefined,
  }
  return {
    ...(piece.content !== undefined && { content: piece.content }),
    ...(piece.reasoning_content !== undefined && { reasoning_content: piece.reasoning_content }),
  }
}

function answerOf(state: State, blocks: readonly Block[], id: string): FoldedAnswer {
  const calls = blocks.flatMap(callOf)
  const thinking = blocks.flatMap(thinkingOf)
  const reasoning = thinking.flatMap((block) => block.type === 'thinking' ? [block.thinking] : []).join('')
  const order = blocks.flatMap(kindOf)
  return {
    id,
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
    response: responseOf(state, blocks, id),
  }
}

/** Returns the response in the form that the API has without streaming. */
function responseOf({ stopReason, usage }: State, blocks: readonly Block[], id: string): JsonObject {
  const content = blocks.map((block): JsonObject => {
    switch (block.kind) {
      case 'text':
        return { type: block.kind, text: block.text }
      case 'thinking':
        return { type: block.kind, thinking: block.text, signature: block.signature }
      case 'redacted_thinking':
        return { type: block.kind, data: block.data }
      case 'tool_use':
        // The input stays a text, because its JSON may have been cut off.
        return { type: block.kind, id: block.id, name: block.name, input: block.json }
    }
  })
  return { id, type: 'message', role: 'assistant', content, stop_reason: stopReason ?? null, usage }
}

/** Returns a new block with the content that its first event has; undefined for an unknown type. */
function blockOf(block: JsonObject, newId: () => string): Block | undefined {
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
      return { kind: 'tool_use', id: textOf(block['id']) ?? newId(), name: textOf(block['name']) ?? '', json }
    }
    default:
      return undefined
  }
}

/** Returns the block with a delta added. A delta that does not fit the block's type changes nothing. */
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
  }
}

/** Replaces figures of the usage by those of a later event, because each figure is a total of the call so far. */
function merged(usage: JsonObject, update: JsonValue | undefined): JsonObject {
  const known = Object.entries(objectOf(update)).filter(([, value]) => value !== null)
  return withFew(usage, Object.fromEntries(known))
}

/** Returns the usage. `input_tokens` excludes cached tokens, so the three input figures are added up. */
function usageOf(usage: JsonObject): ModelUsage {
  const input = amountOf(usage['input_tokens'])
  const read = amountOf(usage['cache_read_input_tokens'])
  const write = amountOf(usage['cache_creation_input_tokens'])
  return known({
    promptTokens: input === undefined ? undefined : input + (read ?? 0) + (write ?? 0),
    completionTokens: amountOf(usage['output_tokens']),
    cacheReadTokens: read,
    cacheWriteTokens: write,
    reasoningTokens: amountOf(objectOf(usage['output_tokens_details'])['thinking_tokens']),
  })
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

/** Returns the text and reasoning of several events as one piece. */
function joined(pieces: readonly AnswerPiece[]): AnswerPiece {
  const content = pieces.map((piece) => piece.content ?? '').join('')
  const reasoning = pieces.map((piece) => piece.reasoning_content ?? '').join('')
  return { ...(content !== '' && { content }), ...(reasoning !== '' && { reasoning_content: reasoning }) }
}

function textContentOf(block: Block): TextContent[] {
  return hasText(block) ? [{ cache_prompt: false, type: 'text', text: block.text }] : []
}

/** Returns whether the block has text that is not blank. Models send blank text blocks between thinking blocks. */
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

/** Returns whether the kinds are in the usual order: all thinking, then all text, then all calls. */
function isUsual(order: readonly BlockKind[]): boolean {
  const ranks = order.map((kind) => usualOrder.indexOf(kind))
  return ranks.every((rank, index) => rank >= (ranks[index - 1] ?? 0))
}
