/**
 * Builds a request to Anthropic's Messages API from messages, tools and settings.
 *
 * Consecutive messages of one role become one message, with tool results first. Thinking is sent back unchanged, with
 * its signature. Content that the API refuses, such as blank text or thinking without a signature, is left out.
 *
 * Rules: platform.claude.com/docs, "Messages", "Thinking", "Tool use".
 */
import { objectOf } from '../../../base/fields.ts'
import { toJsonObject, type JsonObject, type JsonValue } from '../../../base/json.ts'
import type { LLM } from '../../../schema/generated/llm.ts'
import type { Content, MessageToolCall, ThinkingContent } from '../../../schema/generated/values.ts'
import { marked, withBreakpoints, type CachedTurn } from './anthropic-cache.ts'
import { defaultMaxTokens, samplingOf, thinkingOf } from './anthropic-thinking.ts'
import { argumentsOf, imageSource } from './message-parts.ts'
import type { ModelMessage, ModelRequest, ModelTool } from './model.ts'

/** The kind of a block. An answer consists of blocks. */
export type BlockKind = 'thinking' | 'text' | 'tool_use'

/** The order of blocks in most answers. If an answer has another order, `ModelAnswer.state` holds that order. */
export const usualOrder: readonly BlockKind[] = ['thinking', 'text', 'tool_use']

/** Returns the body of a streaming request. `messages` in the body begins with the message at index `from`. */
export function anthropicBody({ messages, tools }: ModelRequest, model: string, settings: LLM, from = 0): JsonObject {
  const canonical = settings.model_canonical_name ?? model
  const maxTokens = settings.max_output_tokens ?? defaultMaxTokens(canonical)
  const options = { model: canonical, settings, maxTokens }
  const reasoning = beganWithoutThinking(messages) ? withoutBudget(thinkingOf(options)) : thinkingOf(options)
  const prompt = withBreakpoints(
    {
      tools: tools.map(toolOf),
      system: messages
        .filter(({ message }) => message.role === 'system')
        .flatMap(({ message }) => blocksOf(message.content)),
      messages: turnsOf(messages.slice(from)),
    },
    settings.caching_prompt,
  )
  return {
    model,
    max_tokens: maxTokens,
    stream: true,
    ...reasoning,
    ...samplingOf(options, reasoning['thinking'] !== undefined),
    ...(prompt.system.length > 0 && { system: [...prompt.system] }),
    ...(prompt.tools.length > 0 && { tools: [...prompt.tools] }),
    messages: prompt.messages.map(itemOf),
    ...toJsonObject(settings.litellm_extra_body),
  }
}

/** Returns a history in the form of the body's member `messages`. */
export function anthropicItems(messages: readonly ModelMessage[]): JsonObject[] {
  return turnsOf(messages).map(itemOf)
}

function itemOf({ role, content }: CachedTurn): JsonObject {
  return { role, content: [...content] }
}

function turnsOf(messages: readonly ModelMessage[]): CachedTurn[] {
  const turns: { role: CachedTurn['role']; content: JsonObject[] }[] = []
  for (const each of messages) {
    if (each.message.role === 'system') continue
    const role = each.message.role === 'assistant' ? 'assistant' : 'user'
    const content = contentOf(each)
    if (content.length === 0) continue
    const last = turns.at(-1)
    if (last?.role === role) last.content.push(...content)
    else turns.push({ role, content })
  }
  return turns.map(({ role, content }) => ({ role, content: role === 'user' ? resultsFirst(content) : content }))
}

function contentOf({ message, state }: ModelMessage): JsonObject[] {
  switch (message.role) {
    case 'assistant':
      return answerBlocks({ message, ...(state && { state }) })
    case 'tool':
      return [resultOf(message.tool_call_id ?? '', message.content)]
    default:
      return blocksOf(message.content)
  }
}

function answerBlocks({ message, state }: ModelMessage): JsonObject[] {
  const blocks = {
    thinking: message.thinking_blocks.flatMap(thinkingBlock),
    text: blocksOf(message.content),
    tool_use: (message.tool_calls ?? []).map(callOf),
  }
  if (blocks.text.length + blocks.tool_use.length === 0) return []
  return inOrder(blocks, orderOf(state))
}

/** Returns the blocks in `order`, or in the usual order if `order` does not have as many of each kind as `blocks`. */
function inOrder(
  blocks: Readonly<Record<BlockKind, readonly JsonObject[]>>, order: readonly BlockKind[],
): JsonObject[] {
  const kinds = usualOrder.every((kind) => order.filter((each) => each === kind).length === blocks[kind].length)
    ? order
    : usualOrder.flatMap((kind) => blocks[kind].map(() => kind))
  return kinds.flatMap((kind, index) => {
    const taken = kinds.slice(0, index).filter((each) => each === kind).length
    return blocks[kind].slice(taken, taken + 1)
  })
}

function orderOf(state: JsonObject | undefined): BlockKind[] {
  const order = objectOf(state?.['anthropic'])['order']
  return Array.isArray(order) ? order.filter(isBlockKind) : []
}

function isBlockKind(value: JsonValue): value is BlockKind {
  return usualOrder.some((kind) => kind === value)
}

function thinkingBlock(block: ThinkingContent): JsonObject[] {
  if (block.type === 'redacted_thinking') return [{ type: block.type, data: block.data }]
  return block.signature ? [{ type: block.type, thinking: block.thinking, signature: block.signature }] : []
}

function callOf(call: MessageToolCall): JsonObject {
  return { type: 'tool_use', id: safeId(call.id), name: call.name, input: argumentsOf(call) }
}

function resultOf(id: string, content: readonly Content[]): JsonObject {
  const inner = blocksOf(content.map((part) => ({ ...part, cache_prompt: false })))
  const result = { type: 'tool_result', tool_use_id: safeId(id), ...(inner.length > 0 && { content: inner }) }
  return content.some((part) => part.cache_prompt) ? marked(result) : result
}

/** Puts `_` in place of characters that this API refuses in a call's id: another provider may have made the id. */
function safeId(id: string): string {
  return id.replace(/[^A-Za-z0-9_-]/g, '_')
}

function blocksOf(content: readonly Content[]): JsonObject[] {
  return content.flatMap((part) => {
    const blocks = part.type === 'text' ? textBlocks(part.text) : part.image_urls.map(imageBlock)
    return part.cache_prompt
      ? blocks.map((block, index) => (index === blocks.length - 1 ? marked(block) : block))
      : blocks
  })
}

function textBlocks(text: string): JsonObject[] {
  return text.trim() === '' ? [] : [{ type: 'text', text }]
}

function imageBlock(url: string): JsonObject {
  const source = imageSource(url)
  if ('url' in source) return { type: 'image', source: { type: 'url', url: source.url } }
  return { type: 'image', source: { type: 'base64', media_type: source.mediaType, data: source.base64 } }
}

function toolOf({ name, description, parameters }: ModelTool): JsonObject {
  return { name, description, input_schema: parameters }
}

function resultsFirst(content: readonly JsonObject[]): JsonObject[] {
  const isResult = (block: JsonObject): boolean => block['type'] === 'tool_result'
  return [...content.filter(isResult), ...content.filter((block) => !isResult(block))]
}

/** Returns whether the first answer after the newest user message has no thinking to send. */
function beganWithoutThinking(messages: readonly ModelMessage[]): boolean {
  const start = messages.findLastIndex(({ message }) => message.role === 'user')
  const first = messages.slice(start + 1).find(({ message }) => message.role === 'assistant')
  return first !== undefined && first.message.thinking_blocks.flatMap(thinkingBlock).length === 0
}

/** Leaves out thinking with a budget, which the API refuses in a turn that began without thinking. */
function withoutBudget(reasoning: JsonObject): JsonObject {
  return objectOf(reasoning['thinking'])['type'] === 'enabled' ? {} : reasoning
}
