/**
 * Chooses the server and the wire format for a model's settings.
 *
 * A known provider in `provider/model` gives the format and, for most providers, the server. A bare name of an OpenAI,
 * Anthropic or Gemini model is recognized by its prefix. A model of any other name needs a base URL, and its server is
 * called in OpenAI's format.
 */
import type { LLM } from '../../../schema/generated/llm.ts'
import { bareProviderOf } from '../../../settings/model-home.ts'
import { anthropicBaseUrl, anthropicMessages } from './anthropic.ts'
import { gemini, geminiBaseUrl } from './gemini.ts'
import { ModelError, type ModelClient } from './model.ts'
import { openAiChat } from './openai-chat.ts'
import { openAiResponses } from './openai-responses.ts'
import { isReasoningModel, type OpenAiTarget } from './openai-target.ts'
import { createWireClient, defaultDeps, type ModelDeps, type Wire } from './wire.ts'

/** Makes the client of a model. @throws the ModelErrors that `CreateModel` (create.ts) describes */
export function createModelClient(settings: LLM, deps: ModelDeps = defaultDeps): ModelClient {
  return createWireClient(settings, wireOf(settings), deps)
}

/** Returns the origin of the model's server; undefined when the settings give no server. */
export function serverOf(settings: LLM): string | undefined {
  try {
    return new URL(baseUrlOf(settings, splitName(settings).provider)).origin
  } catch {
    return undefined // The settings give no server.
  }
}

/**
 * Returns whether the provider of the model is Ollama, which usually needs no key.
 * @throws ModelError when the name of the model gives no provider and the settings have no base URL
 */
export function needsNoKey(settings: LLM): boolean {
  return splitName(settings).provider === ollama
}

interface Provider {
  /** The provider's name in error messages. */
  readonly name: string
  readonly format: 'openai' | 'anthropic' | 'gemini'
  /** The default base URL; undefined if the settings must give the base URL. */
  readonly baseUrl?: string
}

const openAi: Provider = { name: 'OpenAI', format: 'openai', baseUrl: 'https://api.openai.com/v1' }
const anthropic: Provider = { name: 'Anthropic', format: 'anthropic', baseUrl: anthropicBaseUrl }
const google: Provider = { name: 'Gemini', format: 'gemini', baseUrl: geminiBaseUrl }
const ollama: Provider = { name: 'Ollama', format: 'openai', baseUrl: 'http://127.0.0.1:11434/v1' }
const vllm: Provider = { name: 'vLLM', format: 'openai' }

/** Providers by the part of a model's name before its first slash. */
const providers: ReadonlyMap<string, Provider> = new Map([
  ['openai', openAi],
  ['anthropic', anthropic],
  ['gemini', google],
  ['openrouter', { name: 'OpenRouter', format: 'openai', baseUrl: 'https://openrouter.ai/api/v1' }],
  ['ollama', ollama],
  ['ollama_chat', ollama],
  ['vllm', vllm],
  ['hosted_vllm', vllm],
  ['litellm_proxy', { name: 'LiteLLM', format: 'openai' }],
  // This is Azure's v1 API, whose base URL ends in /openai/v1. Azure's older API (`?api-version=`) is not supported.
  ['azure', { name: 'Azure OpenAI', format: 'openai' }],
])

/** Returns the wire format with the server's address. @throws the ModelErrors that `CreateModel` (create.ts) names */
export function wireOf(settings: LLM): Wire {
  if (settings.auth_type !== 'api_key') throw unusable(settings, 'expected the sign-in "api_key"')
  const { provider, model } = splitName(settings)
  const baseUrl = baseUrlOf(settings, provider)
  const target = { provider: provider.name, baseUrl, model, isOpenAi: provider === openAi && isAtHome(baseUrl) }
  switch (provider.format) {
    case 'anthropic':
      return anthropicMessages(target, settings)
    case 'gemini':
      return gemini(target, settings)
    case 'openai':
      return openAiWire(target, settings)
  }
}

/**
 * Returns the wire format that `api_mode` selects. `auto` selects Responses for reasoning models on OpenAI's own
 * server, because only Responses keeps their reasoning between calls.
 */
function openAiWire(target: OpenAiTarget, settings: LLM): Wire {
  const isResponses = settings.api_mode === 'responses' ||
    (settings.api_mode === 'auto' && target.isOpenAi && isReasoningModel(target, settings))
  return isResponses ? openAiResponses(target, settings) : openAiChat(target, settings)
}

function splitName(settings: LLM): { readonly provider: Provider; readonly model: string } {
  const { model, base_url } = settings
  const slash = model.indexOf('/')
  const named = providers.get(model.slice(0, Math.max(slash, 0)))
  if (named !== undefined && slash + 1 < model.length) return { provider: named, model: model.slice(slash + 1) }
  const bare = providers.get(bareProviderOf(model) ?? '')
  if (bare !== undefined) return { provider: bare, model }
  if (model !== '' && named === undefined && base_url !== null && base_url !== '') {
    return { provider: { name: 'The model server', format: 'openai' }, model }
  }
  throw unusable(settings, `expected a base URL or one of ${[...providers.keys()].join('/, ')}/ before the name`)
}

/** Returns the base URL without a trailing slash. @throws ModelError when the settings and the provider have none */
function baseUrlOf(settings: LLM, provider: Provider): string {
  const { base_url, ollama_base_url } = settings
  const given = base_url || (provider === ollama ? ollama_base_url : null) || provider.baseUrl
  if (given === undefined) throw unusable(settings, `expected the base URL of ${provider.name}`)
  const url = given.replace(/(?<!\/)\/+$/, '')
  // Users may give the base URL of Ollama's native API. Ollama's OpenAI-compatible API is below it, at `/v1`.
  return provider === ollama && !url.endsWith('/v1') ? `${url}/v1` : url
}

function isAtHome(baseUrl: string): boolean {
  return URL.canParse(baseUrl) && /^(?:[\w-]+\.)?api\.openai\.com$/.test(new URL(baseUrl).hostname)
}

function unusable({ model }: LLM, expected: string): ModelError {
  return new ModelError('LLMBadRequestError', `Cannot call the model "${model}": ${expected}`)
}
