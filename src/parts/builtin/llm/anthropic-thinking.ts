/**
 * The thinking, effort and sampling parameters that a Claude model accepts, by the version in its name.
 *
 * Models from 3.7 on get a budget of thinking tokens, models from 4.6 on an effort instead. Models from 4.7 on accept
 * no temperature. Models before 3.7, and models of other vendors at the same API, get neither a budget nor an effort.
 * Rules: platform.claude.com/docs, "Thinking", "Effort" and the migration guides, read in November 2026.
 */
import type { JsonObject } from '../../../base/json.ts'
import type { LLM } from '../../../schema/generated/llm.ts'
import { present } from './members.ts'

/** The smallest thinking budget that the API accepts. */
const minBudgetTokens = 1_024

/** The largest thinking budget for each `reasoning_effort`, in tokens. Other efforts have no such limit. */
const budgetsByEffort: Readonly<Record<string, number>> = { minimal: minBudgetTokens, low: 4_096, medium: 16_384 }

/** The API's effort for each `reasoning_effort`. For another value no effort is sent, and the model decides. */
const efforts: Readonly<Record<string, string>> = {
  minimal: 'low', low: 'low', medium: 'medium', high: 'high', xhigh: 'xhigh', max: 'max',
}

export interface ThinkingOptions {
  readonly model: string
  readonly settings: LLM
  readonly maxTokens: number
}

/**
 * Returns the limit of output tokens for settings that have no limit, because the API requires one. The limit is 4,096
 * for models before 3.7 and of other vendors, since some of them accept no more; 32,000 for other models.
 */
export function defaultMaxTokens(model: string): number {
  return versionOf(model) < 307 ? 4_096 : 32_000
}

/** Returns the members `thinking` and `output_config` of a request; empty for a request without thinking. */
export function thinkingOf({ model, settings, maxTokens }: ThinkingOptions): JsonObject {
  const effort = settings.reasoning_effort ?? ''
  const version = versionOf(model)
  if (effort === 'none' || version < 307) return {}
  if (version < 406) return budgetOf(effort, settings.extended_thinking_budget ?? 0, maxTokens)
  const known = version < 407 && effort === 'xhigh' ? 'high' : efforts[effort]
  return {
    // Newer models leave out the text of their thinking unless the request asks for it.
    thinking: { type: 'adaptive', display: 'summarized' },
    ...(known === undefined ? {} : { output_config: { effort: known } }),
  }
}

/** Returns `top_k`, and `temperature` or else `top_p`; empty when the API refuses them and `drop_params` is on. */
export function samplingOf({ model, settings }: ThinkingOptions, isThinking: boolean): JsonObject {
  const isRefused = isThinking || versionOf(model) >= 407
  if (isRefused && settings.drop_params) return {}
  const { temperature, top_p, top_k } = settings
  return present({
    temperature: temperature ?? undefined,
    // Newer models take either a temperature or `top_p`, not both.
    top_p: temperature === null ? top_p ?? undefined : undefined,
    top_k: top_k ?? undefined,
  })
}

/** Returns the thinking budget, at most half of the token limit; empty below the smallest budget. */
function budgetOf(effort: string, limit: number, maxTokens: number): JsonObject {
  const wanted = Math.min(limit, budgetsByEffort[effort] ?? limit)
  const budget = Math.min(wanted, Math.floor(maxTokens / 2))
  return budget < minBudgetTokens ? {} : { thinking: { type: 'enabled', budget_tokens: budget } }
}

/**
 * Returns a model's version: 307 for 3.7, 406 for 4.6. A Claude without a number gets `Infinity`, a model of another
 * vendor 0. A name is `claude-`, perhaps a family, a major number, perhaps a minor number, perhaps a date (8 digits).
 */
function versionOf(model: string): number {
  const match = /claude-(?:[a-z]+-)?(\d{1,2})(?:[-.](\d{1,2}))?(?!\d)/.exec(model)
  if (match !== null) return Number(match[1]) * 100 + Number(match[2] ?? 0)
  return model.includes('claude-') ? Infinity : 0
}
