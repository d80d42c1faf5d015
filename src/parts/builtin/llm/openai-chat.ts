/**
 * OpenAI Chat Completions, and every server compatible with it: vLLM, Ollama, LiteLLM, OpenRouter ...
 *
 * The body is made in openai-chat-body, the answer read in openai-chat-answer. It always asks for a stream, so that a
 * cancelled call ends at once, and takes a whole answer from a server that does not stream.
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
    // Where OpenRouter puts the encrypted reasoning of other providers.
    privateMembers: ['reasoning_details'],
    historyMember: 'messages',
    itemsOf: chatItems,
    bodyOf: (request, from) => chatBodyOf(request, target, settings, from),
    startFold: foldChat,
  }
}
