/**
 * The figures of one prompt, from the three places where agents put them. Pure.
 *
 * The answer to `session/prompt` carries `usage` (Claude, Codex; null when the model's API failed) or only
 * `_meta.quota.token_count` (Gemini, in snake case). `usage_update` carries how full the context is and, from Claude, a
 * cost that is cumulative over the whole session and all processes that ever served it: only differences may be counted
 * (acp.md, sections 3.1 and 3.8).
 */
import type { JsonObject } from '../../base/json.ts'
import type { UsageReport } from '../../conversation/agent.ts'
import { memberAt, numberOf, objectOf, objectsOf, textOf, type Fields } from '../../base/fields.ts'

/** The newest figures of `usage_update` in a turn. */
export interface ContextUse {
  readonly used?: number
  readonly size?: number
  /** In US dollars, cumulative. Other currencies are not counted: nobody knows the rate. */
  readonly cost?: number
}

export function mergeContextUse(before: ContextUse, update: Fields): ContextUse {
  const cost = memberAt(update, 'cost', 'currency') === 'USD' ? figureOf(memberAt(update, 'cost', 'amount')) : undefined
  return { ...before, ...present({ used: figureOf(update.used), size: figureOf(update.size), cost }) }
}

export interface ReportOptions {
  /** The agent's answer to the prompt. */
  readonly result: unknown
  readonly context: ContextUse
  /** The model that was chosen, in case the answer names none. */
  readonly model: string
  /** The part of the cost that has not been counted. */
  readonly cost: number | undefined
}

/** The usage id under which the figures of an external agent are counted (contract: conversations.md). */
const usageId = 'acp-managed'

/** The figures of one prompt. A cost is what the session's has grown by, so nobody has reported it as such. */
export function reportOf({ result, context, model, cost }: ReportOptions): UsageReport {
  return {
    usageId,
    model: modelOf(result) ?? model,
    ...tokensOf(result),
    ...present({ perTurnTokens: context.used, contextWindow: context.size }),
    ...(cost === undefined ? {} : { cost, costSource: 'derived' }),
  }
}

/** What is kept between lives of a conversation: the last cost that was counted, and of which session. */
export interface CountedCost {
  readonly sessionId: string
  readonly cost: number
}

export function readCountedCost(kept: JsonObject | undefined): CountedCost | undefined {
  const sessionId = textOf(kept?.session_id)
  const cost = numberOf(kept?.cost)
  return sessionId === undefined || cost === undefined ? undefined : { sessionId, cost }
}

/** The part of a cumulative cost that has not been counted. A cost that has fallen began again at zero. */
export function uncountedCost(cost: number, sessionId: string, counted: CountedCost | undefined): number {
  if (counted === undefined || counted.sessionId !== sessionId || cost < counted.cost) return cost
  return cost - counted.cost
}

/** The token figures of a prompt's answer; absent ones are unknown. */
export function tokensOf(result: unknown): Omit<UsageReport, 'usageId' | 'model'> {
  const usage = objectOf(memberAt(result, 'usage'))
  const quota = objectOf(memberAt(result, '_meta', 'quota', 'token_count'))
  return present({
    promptTokens: firstNumber(usage.inputTokens, quota.inputTokens, quota.input_tokens),
    completionTokens: firstNumber(usage.outputTokens, quota.outputTokens, quota.output_tokens),
    cacheReadTokens: firstNumber(usage.cachedReadTokens, quota.cachedInputTokens),
    cacheWriteTokens: firstNumber(usage.cachedWriteTokens, quota.cachedWriteTokens, quota.cacheWriteInputTokens),
    reasoningTokens: firstNumber(usage.thoughtTokens, quota.reasoningOutputTokens),
  })
}

/** The model that was really called, where the agent says it. */
export function modelOf(result: unknown): string | undefined {
  return textOf(objectsOf(memberAt(result, '_meta', 'quota', 'model_usage'))[0]?.model)
}

function firstNumber(...values: readonly unknown[]): number | undefined {
  return values.map(figureOf).find((value) => value !== undefined)
}

/** Figures of use are never below zero; one that is counts as absent. */
function figureOf(value: unknown): number | undefined {
  const number = numberOf(value)
  return number !== undefined && number >= 0 ? number : undefined
}

/** The object without its undefined members, as `exactOptionalPropertyTypes` wants it. */
function present<T extends object>(value: { readonly [K in keyof T]: T[K] | undefined }): Partial<T>
function present(value: object): object {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined))
}
