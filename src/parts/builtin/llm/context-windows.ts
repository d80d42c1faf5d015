/**
 * The context windows of known models in tokens.
 *
 * Source: `max_input_tokens` of litellm 1.109.1 (PyPI), `model_prices_and_context_window_backup.json`.
 */

const windows: ReadonlyMap<string, number> = new Map([
  ...sized(922_000, ['gpt-5.6', 'gpt-5.6-sol', 'gpt-5.6-terra', 'gpt-5.6-luna']),
  ...sized(1_050_000, ['gpt-5.5', 'gpt-5.5-pro', 'gpt-5.4', 'gpt-5.4-pro']),
  ...sized(272_000, [
    'gpt-5.4-mini', 'gpt-5.4-nano', 'gpt-5.3-codex', 'gpt-5.2', 'gpt-5.2-pro', 'gpt-5.2-codex', 'gpt-5.1', 'gpt-5',
    'gpt-5-mini', 'gpt-5-nano', 'gpt-5-codex',
  ]),
  ...sized(400_000, ['gpt-5.1-codex', 'gpt-5.1-codex-max', 'gpt-5.1-codex-mini', 'gpt-5-pro']),
  ...sized(1_047_576, ['gpt-4.1', 'gpt-4.1-mini', 'gpt-4.1-nano']),
  ...sized(128_000, ['gpt-4o', 'gpt-4o-mini']),
  ...sized(200_000, ['o4-mini', 'o3', 'o3-mini', 'o3-pro', 'o1', 'o1-pro']),
  ...sized(1_000_000, [
    'claude-opus-5', 'claude-sonnet-5', 'claude-fable-5', 'claude-opus-4-8', 'claude-opus-4-7', 'claude-opus-4-6',
    'claude-sonnet-4-6',
  ]),
  ...sized(200_000, ['claude-opus-4-5', 'claude-sonnet-4-5', 'claude-haiku-4-5']),
  ...sized(1_048_576, [
    'gemini-3.1-pro-preview', 'gemini-3-flash-preview', 'gemini-2.5-pro', 'gemini-2.5-flash', 'gemini-2.5-flash-lite',
  ]),
])

/**
 * Returns the context window of a model; undefined for an unknown model. The name may begin with `openai/`,
 * `anthropic/` or `gemini/`, and may end with a date.
 */
export function contextWindowOf(model: string): number | undefined {
  const name = model.replace(/^(?:openai|anthropic|gemini)\//, '').replace(/-(?:\d{8}|\d{4}-\d{2}-\d{2})$/, '')
  return windows.get(name)
}

function sized(tokens: number, names: readonly string[]): [name: string, tokens: number][] {
  return names.map((name) => [name, tokens])
}
