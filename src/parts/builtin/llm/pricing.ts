/**
 * What a call cost, in US dollars: what the provider reported, else the tokens times the prices of the settings.
 *
 * There is no table of prices: it would be wrong soon. The settings know one price for input and one for output, so input
 * from a cache counts as input. Without both prices and both counts the cost is unknown, which is not zero.
 */
import type { LLM } from '../../../schema/generated/llm.ts'
import type { ModelUsage } from './model.ts'

export type Prices = Pick<LLM, 'input_cost_per_token' | 'output_cost_per_token'>

/** The usage with its cost, if that is known. */
export function priced(usage: ModelUsage, prices: Prices): ModelUsage {
  const { promptTokens, completionTokens } = usage
  const { input_cost_per_token: input, output_cost_per_token: output } = prices
  if (usage.cost !== undefined || input === null || output === null) return usage
  if (promptTokens === undefined || completionTokens === undefined) return usage
  return { ...usage, cost: promptTokens * input + completionTokens * output }
}

/** What was read of a provider's figures, without those that it did not give. */
export function known(figures: { readonly [Name in keyof ModelUsage]: number | undefined }): ModelUsage {
  return Object.fromEntries(Object.entries(figures).filter(([, figure]) => figure !== undefined))
}
