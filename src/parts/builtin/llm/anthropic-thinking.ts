/**
 * What a Claude model takes of thinking, effort and sampling, told by the version in its name.
 *
 * From 3.7 on a model thinks within a budget of tokens; from 4.6 on it decides by itself how much, guided by an effort;
 * from 4.7 on it takes neither a budget nor a temperature. A model of another maker behind the same API gets none of it.
 * Rules: platform.claude.com/docs, "Thinking", "Effort" and the migration guides, read in November 2026.
 */
import type { JsonObject } from '../../../base/json.ts'
import type { LLM } from '../../../schema/generated/llm.ts'
import { present } from './fields.ts'

/** Below this the API refuses a budget. */
const minBudgetTokens = 1_024

/** What `reasoning_effort` leaves of `extended_thinking_budget`; any other effort leaves all of it. */
const budgetsByEffort: Readonly<Record<string, number>> = { minimal: minBudgetTokens, low: 4_096, medium: 16_384 }

/** `reasoning_effort` in the words of the API. What is not here is left to the model. */
const efforts: Readonly<Record<string, string>> = {
  minimal: 'low', low: 'low', medium: 'medium', high: 'high', xhigh: 'xhigh', max: 'max',
}

export interface ThinkingOptions {
  readonly model: string
  readonly settings: LLM
  readonly maxTokens: number
}

/** The API wants a limit. Models before 3.7 take no more than the smaller one. */
export function defaultMaxTokens(model: string): number {
  return versionOf(model) < 307 ? 4_096 : 32_000
}

/** The members `thinking` and `output_config` of a request; none when the model shall not, or cannot, think. */
export function thinkingOf({ model, settings, maxTokens }: ThinkingOptions): JsonObject {
  const effort = settings.reasoning_effort ?? ''
  const version = versionOf(model)
  if (effort === 'none' || version < 307) return {}
  if (version < 406) return budgetOf(effort, settings.extended_thinking_budget ?? 0, maxTokens)
  const known = version < 407 && effort === 'xhigh' ? 'high' : efforts[effort]
  return {
    // Newer models leave the text of their thinking out unless it is asked for.
    thinking: { type: 'adaptive', display: 'summarized' },
    ...(known === undefined ? {} : { output_config: { effort: known } }),
  }
}

/** Temperature and its kin, as far as the model takes them beside thinking. */
export function samplingOf({ model, settings }: ThinkingOptions, isThinking: boolean): JsonObject {
  const isRefused = isThinking || versionOf(model) >= 407
  if (isRefused && settings.drop_params) return {}
  const { temperature, top_p, top_k } = settings
  return present({
    temperature: temperature ?? undefined,
    // Newer models take only one of the two.
    top_p: temperature === null ? top_p ?? undefined : undefined,
    top_k: top_k ?? undefined,
  })
}

/** Half of the limit is kept for the answer. */
function budgetOf(effort: string, limit: number, maxTokens: number): JsonObject {
  const wanted = Math.min(limit, budgetsByEffort[effort] ?? limit)
  const budget = Math.min(wanted, Math.floor(maxTokens / 2))
  return budget < minBudgetTokens ? {} : { thinking: { type: 'enabled', budget_tokens: budget } }
}

/**
 * 307 for 3.7, 406 for 4.6; a Claude without a number counts as newest, every other model as oldest.
 * The name is `claude-`, perhaps a family, a major number, perhaps a minor one, perhaps a date of eight digits.
 */
function versionOf(model: string): number {
  const match = /claude-(?:[a-z]+-)?(\d{1,2})(?:[-.](\d{1,2}))?(?!\d)/.exec(model)
  if (match !== null) return Number(match[1]) * 100 + Number(match[2] ?? 0)
  return model.includes('claude-') ? Infinity : 0
}
