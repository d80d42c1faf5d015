/**
 * Adds up the usage figures of a conversation for `agent_state.usage`. Pure.
 *
 * A figure is `{ value, source }`. The source is `reported` by the agent, `derived` from two reported sums,
 * or `unknown`. `agent_state.usage` holds the figures of the last report and, for each model, the sums of its reports.
 */
import { isObject, toJsonObject, type JsonObject } from '../../base/json.ts'
import type { UsageReport } from '../agent/agent.ts'

type Source = 'reported' | 'derived' | 'unknown'

interface Figure {
  readonly value: number | null
  readonly source: Source
}

interface Sum extends Figure {
  /** Number of the model's reports without this figure. */
  readonly unknown: number
}

const names = [
  'cost', 'prompt_tokens', 'completion_tokens', 'cache_read_tokens', 'cache_write_tokens', 'reasoning_tokens',
] as const
type Name = (typeof names)[number]

/** Returns the value of `agent_state.usage` after one more report. */
export function addFigures(before: unknown, report: UsageReport): JsonObject {
  const figures = figuresOf(report)
  const models = member(before, 'models')
  const known = member(models, report.model)
  const sums = names.map((name) => [name, add(readSum(member(known, name)), figures[name])])
  const last = { model: report.model, usage_id: report.usageId, ...figures }
  const sumsByModel = { ...(isObject(models) ? models : {}), [report.model]: Object.fromEntries(sums) }
  return toJsonObject({ last, models: sumsByModel })
}

export function hasFigures(report: UsageReport): boolean {
  const { usageId: _, model: __, costSource: ___, ...figures } = report
  return Object.values(figures).some((value) => value !== undefined)
}

function figuresOf(report: UsageReport): Record<Name, Figure> {
  return {
    cost: figure(report.cost, report.costSource),
    prompt_tokens: figure(report.promptTokens),
    completion_tokens: figure(report.completionTokens),
    cache_read_tokens: figure(report.cacheReadTokens),
    cache_write_tokens: figure(report.cacheWriteTokens),
    reasoning_tokens: figure(report.reasoningTokens),
  }
}

function figure(value: number | undefined, source: Source = 'reported'): Figure {
  return value === undefined ? { value: null, source: 'unknown' } : { value, source }
}

/** Returns the sum with the figure added. A figure without a value only raises the count `unknown`. */
function add(sum: Sum, { value, source }: Figure): Sum {
  if (value === null) return { ...sum, unknown: sum.unknown + 1 }
  const isDerived = source === 'derived' || sum.source === 'derived'
  return { value: (sum.value ?? 0) + value, source: isDerived ? 'derived' : 'reported', unknown: sum.unknown }
}

function readSum(stored: unknown): Sum {
  const [value, source, unknown] = ['value', 'source', 'unknown'].map((name) => member(stored, name))
  return {
    value: typeof value === 'number' ? value : null,
    source: source === 'reported' || source === 'derived' ? source : 'unknown',
    unknown: typeof unknown === 'number' ? unknown : 0,
  }
}

function member(value: unknown, name: string): unknown {
  return isObject(value) ? value[name] : undefined
}
