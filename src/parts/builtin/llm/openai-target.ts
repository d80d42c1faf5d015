/**
 * The parameters that a model accepts on a server with OpenAI's protocols.
 *
 * OpenAI refuses a request with a parameter that the model does not accept. `drop_params` leaves out such parameters.
 * Models are recognized by name, after platform.openai.com/docs ("Reasoning", "Prompt caching").
 */
import type { JsonObject } from '../../../base/json.ts'
import type { LLM } from '../../../schema/generated/llm.ts'
import { present } from './members.ts'
import type { Target } from './wire.ts'

export interface OpenAiTarget extends Target {
  /** True when the server is OpenAI's own. */
  readonly isOpenAi: boolean
}

/** Returns the request headers: the key, the site and app that OpenRouter shows, and `extra_headers`. */
export function headersOf(settings: LLM): Record<string, string> {
  const { api_key, openrouter_site_url, openrouter_app_name, extra_headers } = settings
  return {
    ...(api_key === null || api_key === '' ? {} : { authorization: `Bearer ${api_key}` }),
    ...(openrouter_site_url === '' ? {} : { 'http-referer': openrouter_site_url }),
    ...(openrouter_app_name === '' ? {} : { 'x-title': openrouter_app_name }),
    ...extra_headers,
  }
}

/** Returns whether the model reasons. A reasoning model accepts an effort, but no temperature. */
export function isReasoningModel(target: OpenAiTarget, settings: LLM): boolean {
  const name = lastPart(settings.model_canonical_name ?? target.model)
  return /^(?:o[134]\b|gpt-5|gpt-oss|codex-)/.test(name) && !name.startsWith('gpt-5-chat')
}

/** Returns temperature, `top_p` and `top_k` if set; with `drop_params`, only those that server and model accept. */
export function samplingOf(target: OpenAiTarget, settings: LLM): JsonObject {
  const isFree = !settings.drop_params || !target.isOpenAi
  const isSampled = !settings.drop_params || !isReasoningModel(target, settings)
  return present({
    temperature: isSampled ? settings.temperature ?? undefined : undefined,
    top_p: isSampled ? settings.top_p ?? undefined : undefined,
    top_k: isFree ? settings.top_k ?? undefined : undefined,
  })
}

/** Returns OpenAI's prompt cache parameters; empty for another server, and without `caching_prompt`. */
export function cachingOf(target: OpenAiTarget, settings: LLM, cacheKey: string | undefined): JsonObject {
  if (!target.isOpenAi || !settings.caching_prompt) return {}
  const keepsLong = !settings.drop_params || longCaching.test(lastPart(target.model))
  return present({
    prompt_cache_key: cacheKey,
    prompt_cache_retention: keepsLong ? settings.prompt_cache_retention ?? undefined : undefined,
  })
}

const longCaching = /^(?:gpt-4\.1|gpt-5(?:\.\d+)?(?:-codex(?:-max|-mini)?)?)(?:-\d{4}-\d\d-\d\d)?$/

function lastPart(model: string): string {
  return model.slice(model.lastIndexOf('/') + 1)
}
