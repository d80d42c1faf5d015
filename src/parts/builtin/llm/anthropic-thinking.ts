/**
 * The thinking, effort and sampling parameters that a Claude model accepts, by the version in its name.
 *
 * Models from 3.7 to 4.5 get a budget of thinking tokens, newer models an effort. Models from 4.7 on accept no sampling
 * parameters, and older models accept none in a request with thinking.
 *
 * Rules: platform.claude.com/docs, "Thinking", "Effort" and the migration guides, read in November 2026.
 */
import type { JsonObject } from '../../../base/json.ts'
import type { LLM } from '../../../schema/generated/llm.ts'
import { present } from './members.ts'

/** The smallest thinking budget that the API accepts. */
const minBudgetTokens = 1_024

/** The largest thinking budget of a `reasoning_effort`, in tokens. The other efforts have no limit of their own. */
const budgetsByEffort: Readonly<Record<string, number>> = { minimal: minBudgetTokens, low: 4_096, medium: 16_384 }

/** The API's effort for each `reasoning_effort` (Claude 4.6 lacks `xhigh`). Without an effort, the model decides. */
const efforts: Readonly<Record<string, string>> = {
  minimal: 'low', low: 'low', medium: 'medium', high: 'high', xhigh: 'xhigh', max: 'max',
}

export interface ThinkingOptions {
  readonly model: string
  readonly settings: LLM
  readonly maxTokens: number
}

/**
 * Returns the limit of output tokens for settings without a limit, because the API requires a limit. Some older
 * models accept no more than 4,096.
 */
export function defaultMaxTokens(model: string): number {
  return versionOf(model) < 307 ? 4_096 : 32_000
}

/** Returns `thinking` for the body, with `output_config` if an effort is sent; `{}` for a request without thinking. */
export function thinkingOf({ model, settings, maxTokens }: ThinkingOptions): JsonObject {
  const effort = settings.reasoning_effort ?? ''
  const version = versionOf(model)
  if (effort === 'none' || version < 307) return {}
  if (version < 406) return budgetOf(effort, settings.extended_thinking_budget ?? 0, maxTokens)
  const known = version < 407 && effort === 'xhigh' ? 'high' : efforts[effort]
  return {
    // Ask for the text of the thinking: models from 4.7 on leave it out by default.
    thinking: { type: 'adaptive', display: 'summarized' },
    ...(known === undefined ? {} : { output_config: { effort: known } }),
  }
}

/**
 * Returns the sampling parameters that are set, but no `top_p` beside a temperature. Returns none when `drop_params`
 * is on and the API would refuse them.
 */
export function samplingOf({ model, settings }: ThinkingOptions, isThinking: boolean): JsonObject {
  const isRefused = isThinking || versionOf(model) >= 407
  if (isRefused && settings.drop_params) return {}
  const { temperature, top_p, top_k } = settings
  return present({
    temperature: temperature ?? undefined,
    // Newer models refuse a temperature together with `top_p`.
    top_p: temperature === null ? top_p ?? undefined : undefined,
    top_k: top_k ?? undefined,
  })
}

/** Returns `thinking` with the least of the effort's budget, `limit` and half of `maxTokens`; `{}` if too small. */
function budgetOf(effort: string, limit: number, maxTokens: number): JsonObject {
  const wanted = Math.min(limit, budgetsByEffort[effort] ?? limit)
  const budget = Math.min(wanted, Math.floor(maxTokens / 2))
  return budget < minBudgetTokens ? {} : { thinking: { type: 'enabled', budget_tokens: budget } }
}

/** Returns a model's version: 307 for 3.7, 406 for 4.6. A Claude without a number gets `Infinity`, other models 0. */
function versionOf(model: string): number {
  const match = /claude-(?:[a-z]+-)?(\d{1,2})(?:[-.](\d{1,2}))?(?!\d)/.exec(model)
  if (match !== null) return Number(match[1]) * 100 + Number(match[2] ?? 0)
  return model.includes('claude-') ? Infinity : 0
}
