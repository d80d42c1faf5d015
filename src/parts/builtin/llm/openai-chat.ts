/**
 * OpenAI Chat Completions, and compatible servers such as vLLM, Ollama, LiteLLM and OpenRouter.
 *
 * `openai-chat-body` builds the body. `openai-chat-answer` reads the answer.
 */
import type { LLM } from '../../../schema/generated/llm.ts'
import { foldChat } from './openai-chat-answer.ts'
import { chatBodyOf, chatItems } from './openai-chat-body.ts'
import { headersOf, type OpenAiTarget } from './openai-target.ts'
import type { Wire } from './wire.ts'

export function openAiChat(target: OpenAiTarget, settings: LLM): Wire {
  return {
    provider: target.provider,
    url: `${target.baseUrl}/chat/completions`,
    headers: headersOf(settings),
    takesImages: undefined,
    // OpenRouter puts the encrypted reasoning of the models that it relays into this member.
    privateMembers: ['reasoning_details'],
    historyMember: 'messages',
    itemsOf: chatItems,
    bodyOf: (request, from) => chatBodyOf(request, target, settings, from),
    startFold: foldChat,
  }
}
