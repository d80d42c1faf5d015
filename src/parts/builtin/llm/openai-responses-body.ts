/**
 * Builds the body of a request to OpenAI Responses.
 *
 * OpenAI is asked to store nothing, so every request sends the whole conversation. Encrypted reasoning is sent back
 * unchanged, in the position that it had in the answer.
 *
 * Format: platform.openai.com/docs/api-reference/responses/create, guide "Reasoning" (keeping reasoning items).
 */
import { objectOf, objectsOf } from '../../../base/fields.ts'
import { toJsonObject, type JsonObject } from '../../../base/json.ts'
import type { LLM } from '../../../schema/generated/llm.ts'
import type { Content, Message, ReasoningItemModel } from '../../../schema/generated/values.ts'
import { present } from './members.ts'
import type { ModelMessage, ModelRequest, ModelTool } from './model.ts'
import { cachingOf, isReasoningModel, samplingOf, type OpenAiTarget } from './openai-target.ts'

/** Returns the body. Its `input` begins with the message at index `from`. */
export function responsesBodyOf(request: ModelRequest, target: OpenAiTarget, settings: LLM, from = 0): JsonObject {
  const system = request.messages.filter(({ message }) => message.role === 'system')
  const instructions = system.map(({ message }) => plainText(message.content)).join('\n\n')
  return {
    ...present({
      model: target.model,
      instructions: instructions === '' ? undefined : instructions,
      input: responsesItems(request.messages.slice(from)),
      tools: request.tools.length === 0 ? undefined : request.tools.map(toolOf),
      stream: true,
      store: false,
      max_output_tokens: settings.max_output_tokens ?? undefined,
    }),
    ...reasoningOf(target, settings),
    ...samplingOf(target, settings),
    ...cachingOf(target, settings, request.cacheKey),
    ...toJsonObject(settings.litellm_extra_body),
  }
}

function reasoningOf(target: OpenAiTarget, settings: LLM): JsonObject {
  if (settings.drop_params && !isReasoningModel(target, settings)) return {}
  const reasoning = present({
    effort: settings.reasoning_effort ?? undefined,
    summary: settings.reasoning_summary ?? undefined,
  })
  return present({
    reasoning: Object.keys(reasoning).length === 0 ? undefined : reasoning,
    include: settings.enable_encrypted_reasoning ? ['reasoning.encrypted_content'] : undefined,
  })
}

/** Returns the tool in the API's form. `strict` is false, because strict mode refuses optional parameters. */
function toolOf({ name, description, parameters }: ModelTool): JsonObject {
  return { type: 'function', name, description, parameters, strict: false }
}

/** Returns a history in the form of the body's member `input`. */
export function responsesItems(messages: readonly ModelMessage[]): JsonObject[] {
  return messages.flatMap(itemsOf)
}

function itemsOf({ message, state }: ModelMessage): JsonObject[] {
  switch (message.role) {
    case 'system':
      return []
    case 'user':
      return [{ role: 'user', content: message.content.flatMap(inputPartsOf) }]
    case 'tool':
      return [
        present({ type: 'function_call_output', call_id: message.tool_call_id, output: outputOf(message.content) }),
      ]
    case 'assistant':
      return assistantItems(message, state)
  }
}

/** Returns the items of an assistant message in the order of `state`; without `state`: reasoning, text, calls. */
function assistantItems(message: Message, state: JsonObject | undefined): JsonObject[] {
  const kept = objectsOf(objectOf(state?.['openai_responses'])['items'])
  if (kept.length === 0) {
    return [...reasoningItem(message.responses_reasoning_item), ...textItem(message), ...callItems(message)]
  }
  const text = textItem(message)
  const calls = callItems(message)
  const placed = kept.flatMap((item): JsonObject[] => {
    if (item['type'] === 'reasoning') return [item]
    if (item['type'] === 'message') return text.splice(0).map((own) => ({ ...own, ...item, status: 'completed' }))
    const index = calls.findIndex(({ call_id }) => call_id === item['call_id'])
    return index === -1 ? [] : calls.splice(index, 1).map((own) => ({ ...own, ...item }))
  })
  return [...placed, ...text, ...calls]
}

function textItem({ content }: Message): JsonObject[] {
  const text = plainText(content)
  return text === '' ? [] : [{ role: 'assistant', content: [{ type: 'output_text', text, annotations: [] }] }]
}

function callItems({ tool_calls = [] }: Message): JsonObject[] {
  return tool_calls.map(({ id, name, arguments: args }) => ({
    type: 'function_call',
    call_id: id,
    name,
    arguments: args,
  }))
}

/** Returns the item as a list; `[]` without encrypted content, because OpenAI stores no reasoning under its id. */
function reasoningItem(item: ReasoningItemModel | undefined): JsonObject[] {
  if (item?.encrypted_content === undefined) return []
  const { id, summary, encrypted_content } = item
  const parts = summary.map((text) => ({ type: 'summary_text', text }))
  return [present({ type: 'reasoning', id, summary: parts, encrypted_content })]
}

/** Returns the result of a tool: a string for text alone, parts for content with images. */
function outputOf(content: readonly Content[]): JsonObject[] | string {
  return content.every((part) => part.type === 'text') ? plainText(content) : content.flatMap(inputPartsOf)
}

function inputPartsOf(part: Content): JsonObject[] {
  if (part.type === 'text') return [{ type: 'input_text', text: part.text }]
  return part.image_urls.map((image_url) => ({ type: 'input_image', image_url, detail: 'auto' }))
}

function plainText(content: readonly Content[]): string {
  return content.flatMap((part) => part.type === 'text' ? [part.text] : []).join('\n\n')
}
