/**
 * The cost of a call in US dollars: as the provider reported it, else the tokens times the prices of the settings.
 *
 * With the prices of the settings, cached input costs as much as other input.
 */
import type { LLM } from '../../../schema/generated/llm.ts'
import type { ModelUsage } from './model.ts'

export type Prices = Pick<LLM, 'input_cost_per_token' | 'output_cost_per_token'>

/** Returns the usage with its cost; unchanged if it has a cost already, or if a price or a token count is missing. */
export function priced(usage: ModelUsage, prices: Prices): ModelUsage {
  const { promptTokens, completionTokens } = usage
  const { input_cost_per_token: input, output_cost_per_token: output } = prices
  if (usage.cost !== undefined || input === null || output === null) return usage
  if (promptTokens === undefined || completionTokens === undefined) return usage
  return { ...usage, cost: promptTokens * input + completionTokens * output }
}

/** Returns a copy without the figures that are undefined. */
export function known(figures: { readonly [Name in keyof ModelUsage]: number | undefined }): ModelUsage {
  return Object.fromEntries(Object.entries(figures).filter(([, figure]) => figure !== undefined))
}
