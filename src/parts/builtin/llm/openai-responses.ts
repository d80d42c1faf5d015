/**
 * OpenAI Responses, the API in which OpenAI's reasoning models keep their reasoning between calls.
 *
 * `openai-responses-body` builds the body. `openai-responses-answer` reads the answer.
 */
import type { LLM } from '../../../schema/generated/llm.ts'
import { foldResponse } from './openai-responses-answer.ts'
import { responsesBodyOf, responsesItems } from './openai-responses-body.ts'
import { headersOf, type OpenAiTarget } from './openai-target.ts'
import type { Wire } from './wire.ts'

export function openAiResponses(target: OpenAiTarget, settings: LLM): Wire {
  return {
    provider: target.provider,
    url: `${target.baseUrl}/responses`,
    headers: headersOf(settings),
    takesImages: undefined,
    privateMembers: ['encrypted_content'],
    historyMember: 'input',
    itemsOf: responsesItems,
    bodyOf: (request, from) => responsesBodyOf(request, target, settings, from),
    startFold: foldResponse,
  }
}
