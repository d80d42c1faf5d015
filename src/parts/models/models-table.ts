/**
 * Names of language models, for clients that offer a choice. A model that is missing here can be used too.
 *
 * The names of OpenAI, Anthropic and Gemini are from `sdk/llm/utils/verified_models.py` of openhands-sdk 1.43.1 (PyPI,
 * 2026-08-21).
 */

/** Names of models by the name of their provider. */
export const verifiedModels: Readonly<Record<string, readonly string[]>> = {
  openai: [
    'gpt-5.6', 'gpt-5.6-sol', 'gpt-5.6-terra', 'gpt-5.6-luna', 'gpt-5.5', 'gpt-5.4', 'gpt-5.2', 'gpt-5.2-codex',
    'gpt-5.1', 'gpt-5.1-codex-max', 'gpt-5.1-codex', 'gpt-5.1-codex-mini', 'gpt-5-codex', 'gpt-5-2025-08-07',
    'gpt-5-mini-2025-08-07', 'o4-mini', 'gpt-4o', 'gpt-4o-mini', 'gpt-4-32k', 'gpt-4.1', 'gpt-4.1-2025-04-14',
    'o1-mini', 'o3', 'codex-mini-latest',
  ],
  anthropic: [
    'claude-sonnet-4-5-20250929', 'claude-haiku-4-5-20251001', 'claude-opus-4-5-20251101', 'claude-opus-4-5',
    'claude-opus-4-6', 'claude-opus-4-7', 'claude-opus-4-8', 'claude-opus-5', 'claude-fable-5', 'claude-sonnet-5',
    'claude-sonnet-4-5', 'claude-sonnet-4-6', 'claude-sonnet-4-20250514', 'claude-opus-4-20250514',
    'claude-opus-4-1-20250805', 'claude-3-7-sonnet-20250219', 'claude-3-sonnet-20240229', 'claude-3-opus-20240229',
    'claude-3-haiku-20240307', 'claude-3-5-haiku-20241022', 'claude-3-5-sonnet-20241022', 'claude-3-5-sonnet-20240620',
  ],
  gemini: ['gemini-3.1-pro-preview', 'gemini-3.1-pro', 'gemini-3-flash', 'gemini-3-pro'],
  demo: ['scripted'],
}

/** Providers without a fixed list of models: their operators choose the models. */
const openProviders = ['azure', 'hosted_vllm', 'litellm_proxy', 'ollama', 'openrouter', 'vllm']

export const providers: readonly string[] = [...Object.keys(verifiedModels), ...openProviders].sort()

const all = Object.entries(verifiedModels).flatMap(([provider, names]) => names.map((name) => `${provider}/${name}`))

/** Returns all models, or the models of one provider, as `provider/model`, sorted. */
export function modelsOf(provider: string | undefined): readonly string[] {
  return all.filter((name) => provider === undefined || name.startsWith(`${provider}/`)).sort()
}
