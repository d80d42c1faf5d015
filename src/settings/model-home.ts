/**
 * Finds the place that gets the requests to a model. A stored key is only for one place (DECISIONS.md, section 44).
 *
 * The place is the origin of the address in the settings, or the address itself if it is no URL. Without an address,
 * the place is the provider of the model (`providerOf`).
 */
import { isObject } from '../base/json.ts'
import type { LLM } from '../schema/generated/llm.ts'
import { mapSecrets } from './secret-fields.ts'
import { isUnset } from './secret-values.ts'

export type ModelPlace = Pick<LLM, 'model' | 'base_url' | 'ollama_base_url'>

/** Other names of model providers, each with the provider's usual name. */
const aliases: ReadonlyMap<string, string> = new Map([['google', 'gemini'], ['ollama_chat', 'ollama']])

/** The providers of models whose names have no `PROVIDER/`, by the beginning of the name. */
const bareNames: readonly (readonly [RegExp, string])[] = [
  [/^(?:gpt-|chatgpt-|codex-|o[134]\b)/, 'openai'],
  [/^claude-/, 'anthropic'],
  [/^gemini-/, 'gemini'],
]

/** Returns the provider of a model whose name has no `PROVIDER/`; undefined for an unknown name. */
export function bareProviderOf(model: string): string | undefined {
  return bareNames.find(([form]) => form.test(model))?.[1]
}

/** Returns the provider that a model's name shows; the name itself if it shows none. */
export function providerOf(model: string): string {
  const slash = model.indexOf('/')
  return slash > 0 ? providerName(model.slice(0, slash)) : (bareProviderOf(model) ?? model)
}

/** Returns a provider's usual name for an alias; any other name trimmed and in lower case. */
export function providerName(name: string): string {
  const lower = name.trim().toLowerCase()
  return aliases.get(lower) ?? lower
}

export function isSamePlace(one: ModelPlace, other: ModelPlace): boolean {
  return placeOf(one) === placeOf(other)
}

function placeOf({ model, base_url: given, ollama_base_url: ollama }: ModelPlace): string {
  const provider = providerOf(model)
  const address = given || (provider === 'ollama' ? ollama : null)
  if (!address) return provider
  return URL.canParse(address) ? new URL(address).origin : address
}

/**
 * Returns the LLM `after`. If `before` and `after` send their requests to different places, removes the secrets of
 * `after`. Addresses stay, and so do secrets that `change` sets.
 */
export function withoutSecretsOfOldPlace(before: LLM, after: LLM, change: unknown): unknown {
  if (isSamePlace(before, after)) return after
  return mapSecrets('LLM', after, (secret, path) => {
    const [member = ''] = path.split('.')
    return member.endsWith('base_url') || (isObject(change) && Object.hasOwn(change, member)) ? secret : undefined
  })
}

/** The server, model and key that the settings choose for a critic; null for no choice. */
export interface CriticChoice {
  readonly server_url: string | null
  readonly model_name: string | null
  readonly api_key: string | null
}

/** Returns the model and the address that a critic uses: the chosen ones, or else the agent's. */
export function criticPlace({ server_url, model_name }: CriticChoice, agent: ModelPlace): ModelPlace {
  return { ...agent, model: model_name ?? agent.model, base_url: server_url || agent.base_url }
}

/** Returns a text about the problem if the critic's model needs a key of its own and has none; otherwise undefined. */
export function problemWithCritic(critic: CriticChoice, agent: ModelPlace): string | undefined {
  const place = criticPlace(critic, agent)
  const needsNone = Boolean(critic.server_url) || isSamePlace(place, agent) || providerOf(place.model) === 'ollama'
  if (needsNone || !isUnset(critic.api_key ?? '')) return undefined
  return `the critic's model "${place.model}" is at another provider than the agent's model, and has no key of its own`
}
