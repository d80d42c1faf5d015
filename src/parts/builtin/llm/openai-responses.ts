/**
 * OpenAI Responses, the API in which OpenAI's thinking models keep their thoughts between calls.
 *
 * The body is made in openai-responses-body, the answer read in openai-responses-answer. It always asks for a stream, so
 * that a cancelled call ends at once, and takes a whole answer from a server that does not stream.
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
