/**
 * Gemini's own API (`streamGenerateContent`).
 *
 * `gemini-request` builds the body. `gemini-stream` reads the answer.
 */
import type { LLM } from '../../../schema/generated/llm.ts'
import { geminiBody, geminiItems } from './gemini-request.ts'
import { foldGemini } from './gemini-stream.ts'
import type { Target, Wire } from './wire.ts'

export const geminiBaseUrl = 'https://generativelanguage.googleapis.com'

/** Returns the wire format of Gemini's API. The base URL may end in `/v1beta`. */
export function gemini({ provider, baseUrl, model }: Target, settings: LLM): Wire {
  return {
    provider,
    url: `${baseUrl.replace(/\/v1beta$/, '')}/v1beta/models/${encodeURIComponent(model)}:streamGenerateContent?alt=sse`,
    headers: {
      ...(settings.api_key !== null && settings.api_key !== '' && { 'x-goog-api-key': settings.api_key }),
      ...settings.extra_headers,
    },
    takesImages: (settings.model_canonical_name ?? model).includes('gemini-') ? true : undefined,
    privateMembers: ['thoughtSignature'],
    historyMember: 'contents',
    itemsOf: (messages) => geminiItems(messages, model, settings),
    bodyOf: (request, from) => geminiBody(request, model, settings, from),
    startFold: foldGemini,
  }
}
