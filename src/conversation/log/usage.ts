/**
 * Adds up the tokens and the cost of a conversation for each usage id, a key of `usage_to_metrics`
 * (contract/conversations.md, section 2).
 *
 * A figure that an agent does not report leaves the sum unchanged.
 */
import type { JsonObject } from '../../base/json.ts'
import { isObject } from '../../base/json.ts'
import type { UsageReport } from '../agent/agent.ts'

interface Totals {
  model: string
  cost: number
  prompt: number
  completion: number
  cacheRead: number
  cacheWrite: number
  reasoning: number
  contextWindow: number
  perTurn: number
}

export class UsageLedger {
  readonly #totals = new Map<string, Totals>()

  /** @param stats the `stats` of the state, in wire form */
  constructor(stats: JsonObject) {
    const { usage_to_metrics: known } = stats
    if (!isObject(known)) return
    for (const [usageId, metrics] of Object.entries(known)) {
      if (isObject(metrics)) this.#totals.set(usageId, readMetrics(metrics))
    }
  }

  /** The cost of the conversation in US dollars. Reports without a cost add nothing. */
  get cost(): number {
    return [...this.#totals.values()].reduce((sum, totals) => sum + totals.cost, 0)
  }

  /** Adds one report and returns the new `stats` in wire form, with this `budget` (see `stats`). */
  add(report: UsageReport, budget: number | null = null): JsonObject {
    const totals = this.#totals.get(report.usageId) ?? emptyTotals(report.model)
    totals.model = report.model
    totals.cost += report.cost ?? 0
    totals.prompt += report.promptTokens ?? 0
    totals.completion += report.completionTokens ?? 0
    totals.cacheRead += report.cacheReadTokens ?? 0
    totals.cacheWrite += report.cacheWriteTokens ?? 0
    totals.reasoning += report.reasoningTokens ?? 0
    totals.contextWindow = report.contextWindow ?? totals.contextWindow
    totals.perTurn = report.perTurnTokens ?? totals.perTurn
    this.#totals.set(report.usageId, totals)
    return this.stats(budget)
  }

  /** Returns `stats` in wire form. `budget` is shown as `max_budget_per_task`, in US dollars; null for no limit. */
  stats(budget: number | null = null): JsonObject {
    const metrics: JsonObject = {}
    for (const [usageId, totals] of this.#totals) metrics[usageId] = snapshot(totals, budget)
    return { usage_to_metrics: metrics }
  }
}

function emptyTotals(model: string): Totals {
  const tokens = { prompt: 0, completion: 0, cacheRead: 0, cacheWrite: 0, reasoning: 0 }
  return { model, cost: 0, ...tokens, contextWindow: 0, perTurn: 0 }
}

function snapshot(totals: Totals, budget: number | null): JsonObject {
  return {
    model_name: totals.model,
    accumulated_cost: totals.cost,
    max_budget_per_task: budget,
    accumulated_token_usage: {
      model: totals.model,
      prompt_tokens: totals.prompt,
      completion_tokens: totals.completion,
      cache_read_tokens: totals.cacheRead,
      cache_write_tokens: totals.cacheWrite,
      reasoning_tokens: totals.reasoning,
      context_window: totals.contextWindow,
      per_turn_token: totals.perTurn,
      response_id: '',
    },
  }
}

function readMetrics(metrics: Record<string, unknown>): Totals {
  const tokens = isObject(metrics['accumulated_token_usage']) ? metrics['accumulated_token_usage'] : {}
  const number = (value: unknown): number => (typeof value === 'number' ? value : 0)
  return {
    model: typeof metrics['model_name'] === 'string' ? metrics['model_name'] : 'default',
    cost: number(metrics['accumulated_cost']),
    prompt: number(tokens['prompt_tokens']),
    completion: number(tokens['completion_tokens']),
    cacheRead: number(tokens['cache_read_tokens']),
    cacheWrite: number(tokens['cache_write_tokens']),
    reasoning: number(tokens['reasoning_tokens']),
    contextWindow: number(tokens['context_window']),
    perTurn: number(tokens['per_turn_token']),
  }
}
