/**
 * Anthropic's Messages API, and servers that speak it too.
 *
 * The body is made in anthropic-request, the answer read in anthropic-stream. It always asks for a stream, so that a
 * cancelled call ends at once, and takes a whole message from a server that does not stream.
 */
import type { LLM } from '../../../schema/generated/llm.ts'
import { anthropicBody, anthropicItems } from './anthropic-request.ts'
import { foldAnthropic } from './anthropic-stream.ts'
import type { Target, Wire } from './wire.ts'

export const anthropicBaseUrl = 'https://api.anthropic.com'

/** The base URL with or without `/v1` at its end: both are in use. */
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
    // Redacted thinking is in `data`; so are the bytes of images, which the log can do without.
    privateMembers: ['signature', 'data'],
    historyMember: 'messages',
    itemsOf: anthropicItems,
    bodyOf: (request, from) => anthropicBody(request, model, settings, from),
    startFold: foldAnthropic,
  }
}
