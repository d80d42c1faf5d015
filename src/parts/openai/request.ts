/**
 * Reads a chat completion request: the last user message, the system texts, and whether the answer is streamed.
 *
 * All other messages are ignored, because the conversation has its own history.
 */
import { AppError } from '../../base/errors.ts'
import type { ChatCompletionRequest } from './generated.ts'
import { objectOf, textOf } from '../../base/fields.ts'
import type { JsonObject } from '../../base/json.ts'
import { isMessage, toMessage, type Message } from '../../schema/generated/values.ts'

export interface Completion {
  readonly model: string
  /** The last user message, which the agent gets. */
  readonly message: Message
  /** The texts of messages with the role `system` or `developer`. */
  readonly system: readonly string[]
  readonly isStreamed: boolean
  /** True when a streamed answer has the token counts in its last chunk. */
  readonly includesUsage: boolean
}

/** Reads a request. @throws AppError `bad_request` without a user message, or for unusable content */
export function readCompletion({ model, messages, stream, stream_options }: ChatCompletionRequest): Completion {
  const last = messages.findLast(({ role }) => role === 'user')
  if (last === undefined) throw new AppError('bad_request', 'messages: expected a message with the role "user"')
  const system = messages.filter(({ role }) => role === 'system' || role === 'developer')
  return {
    model,
    message: userMessage(partsOf(last)),
    system: system.map((message) => partsOf(message).map(textIn).join('\n')),
    isStreamed: stream,
    includesUsage: stream_options?.include_usage === true,
  }
}

function partsOf({ content }: { readonly content?: unknown }): readonly JsonObject[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  if (Array.isArray(content) && content.length > 0) return content.map(partOf)
  throw new AppError('bad_request', 'messages: expected content, as text or as a list of parts')
}

function partOf(part: unknown): JsonObject {
  const { type, text, image_url: image } = objectOf(part)
  if (type === 'text' && typeof text === 'string') return { type, text }
  const url = textOf(objectOf(image)['url'])
  if (type === 'image_url' && url !== undefined) return { type: 'image', image_urls: [url] }
  throw new AppError('bad_request', 'messages: expected parts of the types "text" and "image_url"')
}

function textIn({ text }: JsonObject): string {
  if (typeof text === 'string') return text
  throw new AppError('bad_request', 'messages: expected only text in a system message')
}

function userMessage(content: readonly JsonObject[]): Message {
  const message = { role: 'user', content }
  if (isMessage(message) && content.some((part) => part['type'] !== 'text' || part['text'] !== '')) {
    return toMessage(message)
  }
  throw new AppError('bad_request', 'messages: expected content in the last user message')
}
