/**
 * Builds the body of a request to OpenAI Chat Completions and compatible servers.
 *
 * Content without images is sent as a string. Images of tool results follow in a user message, because a tool result
 * cannot hold an image.
 *
 * Format: platform.openai.com/docs/api-reference/chat/create.
 */
import { isJsonObject, toJsonObject, type JsonObject, type JsonValue } from '../../../base/json.ts'
import type { LLM } from '../../../schema/generated/llm.ts'
import type { Content, Message } from '../../../schema/generated/values.ts'
import { present } from './members.ts'
import type { ModelMessage, ModelRequest, ModelTool } from './model.ts'
import { cachingOf, isReasoningModel, samplingOf, type OpenAiTarget } from './openai-target.ts'

/** Returns the body. Its `messages` begin with the message at index `from`. */
export function chatBodyOf(request: ModelRequest, target: OpenAiTarget, settings: LLM, from = 0): JsonObject {
  const takesEffort = !settings.drop_params || isReasoningModel(target, settings)
  return {
    ...present({
      model: target.model,
      messages: chatItems(request.messages.slice(from)),
      tools: request.tools.length === 0 ? undefined : request.tools.map(toolOf),
      stream: true,
      stream_options: { include_usage: true },
      // OpenAI renamed `max_tokens`; other servers know the old name.
      [target.isOpenAi ? 'max_completion_tokens' : 'max_tokens']: settings.max_output_tokens ?? undefined,
      seed: settings.seed ?? undefined,
      reasoning_effort: takesEffort ? settings.reasoning_effort ?? undefined : undefined,
    }),
    ...samplingOf(target, settings),
    ...cachingOf(target, settings, request.cacheKey),
    ...toJsonObject(settings.litellm_extra_body),
  }
}

function toolOf({ name, description, parameters }: ModelTool): JsonObject {
  return { type: 'function', function: { name, description, parameters } }
}

/** Returns a history in the form of the body's member `messages`. */
export function chatItems(messages: readonly ModelMessage[]): JsonObject[] {
  const sent: JsonObject[] = []
  let images: JsonObject[] = []
  const flush = (): void => {
    if (images.length > 0) sent.push({ role: 'user', content: images })
    images = []
  }
  for (const { message, state } of messages) {
    if (message.role === 'tool') images.push(...message.content.flatMap(imagePartsOf))
    else flush()
    sent.push(messageOf(message, state))
  }
  flush()
  return sent
}

function messageOf(message: Message, state: JsonObject | undefined): JsonObject {
  switch (message.role) {
    case 'system':
      return { role: 'system', content: textOf(message.content) }
    case 'tool':
      return present({ role: 'tool', tool_call_id: message.tool_call_id, content: textOf(message.content) })
    case 'user':
      return { role: 'user', content: userContentOf(message.content) }
    case 'assistant':
      return assistantOf(message, state)
  }
}

function assistantOf(
  { content, tool_calls = [], reasoning_content }: Message, state: JsonObject | undefined,
): JsonObject {
  const text = textOf(content)
  const { reasoning_name, reasoning_details } = chatStateOf(state)
  return {
    role: 'assistant',
    // The content of a message with calls and without text is null.
    content: text === '' && tool_calls.length > 0 ? null : text,
    ...(typeof reasoning_name === 'string' && reasoning_content !== undefined
      ? { [reasoning_name]: reasoning_content }
      : {}),
    ...present({ reasoning_details }),
    ...(tool_calls.length === 0
      ? {}
      : {
          tool_calls: tool_calls.map(({ id, name, arguments: args }) => ({
            id,
            type: 'function',
            function: { name, arguments: args },
          })),
        }),
  }
}

/** Returns the state that `foldChat` made for the answer, or an empty object. */
function chatStateOf(state: JsonObject | undefined): JsonObject {
  return isJsonObject(state?.['openai_chat']) ? state['openai_chat'] : {}
}

function textOf(content: readonly Content[]): string {
  return content.flatMap((part) => part.type === 'text' ? [part.text] : []).join('\n\n')
}

function userContentOf(content: readonly Content[]): JsonValue {
  if (content.every((part) => part.type === 'text')) return textOf(content)
  return content.flatMap((part) => part.type === 'text' ? [{ type: 'text', text: part.text }] : imagePartsOf(part))
}

function imagePartsOf(part: Content): JsonObject[] {
  return part.type === 'image' ? part.image_urls.map((url) => ({ type: 'image_url', image_url: { url } })) : []
}
