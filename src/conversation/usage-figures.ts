/**
 * Where each figure of a conversation's use comes from: reported by the agent, derived from what it reported, or unknown.
 *
 * `stats` has the form of the contract, in which an unknown cost looks like none. Here nothing is shown that nobody knows:
 * a figure is `{ value, source }`, with null for the value of an unknown one, for the last turn and for every model. The
 * sum of a model counts the turns of which a figure is missing. Shown as `agent_state.usage`; the log holds the report of
 * each step as a private record, from which it is folded. Pure.
 */
import { isObject, toJsonObject, type JsonObject } from '../base/json.ts'
import type { UsageReport } from './agent.ts'

type Source = 'reported' | 'derived' | 'unknown'

interface Figure {
  readonly value: number | null
  readonly source: Source
}

interface Sum extends Figure {
  /** How many reports did not say it. */
  readonly unknown: number
}

const names = ['cost', 'prompt_tokens', 'completion_tokens', 'cache_read_tokens', 'cache_write_tokens', 'reasoning_tokens'] as const
type Name = (typeof names)[number]

/** The value of `agent_state.usage` after one more report. */
export function addFigures(before: unknown, report: UsageReport): JsonObject {
  const figures = figuresOf(report)
  const models = member(before, 'models')
  const known = member(models, report.model)
  const sums = names.map((name) => [name, add(readSum(member(known, name)), figures[name])])
  const last = { model: report.model, usage_id: report.usageId, ...figures }
  return toJsonObject({ last, models: { ...(isObject(models) ? models : {}), [report.model]: Object.fromEntries(sums) } })
}

/** True when a report tells anything at all. */
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

/** A sum is derived as soon as one of its parts is. */
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
