/**
 * Anthropic's Messages API, and compatible servers.
 *
 * `anthropic-request` builds the body. `anthropic-stream` reads the answer.
 */
import type { LLM } from '../../../schema/generated/llm.ts'
import { anthropicBody, anthropicItems } from './anthropic-request.ts'
import { foldAnthropic } from './anthropic-stream.ts'
import type { Target, Wire } from './wire.ts'

export const anthropicBaseUrl = 'https://api.anthropic.com'

/** Returns the wire format of the Messages API. The base URL may end in `/v1`. */
export function anthropicMessages({ provider, baseUrl, model }: Target, settings: LLM): Wire {
  return {
    provider,
    url: `${baseUrl.replace(/\/v1$/, '')}/v1/messages`,
    headers: {
      'anthropic-version': '2023-06-01',
      ...(settings.api_key !== null && settings.api_key !== '' && { 'x-api-key': settings.api_key }),
      ...settings.extra_headers,
    },
    takesImages: (settings.model_canonical_name ?? model).includes('claude-') ? true : undefined,
    // `data` has redacted thinking or the bytes of an image. Completion logs leave out `signature` and `data`.
    privateMembers: ['signature', 'data'],
    historyMember: 'messages',
    itemsOf: anthropicItems,
    bodyOf: (request, from) => anthropicBody(request, model, settings, from),
    startFold: foldAnthropic,
  }
}
