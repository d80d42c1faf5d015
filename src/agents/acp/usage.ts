/**
 * The figures of one prompt, from the places where agents put them. Pure.
 *
 * The answer to `session/prompt` carries `usage` (Claude, Codex, Copilot, opencode; null when the model's API failed), or
 * only `_meta.quota.token_count` (Gemini, in snake case), or `_meta.usage`. Qwen sends `_meta.usage` of each call of its
 * model on an empty chunk: they are added up. OpenHands sends the sum over the session with every update, in
 * `_meta.field_meta`: as with costs, only what it has grown by is counted. `usage_update` carries how full the context is and, from Claude, a
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
  /** The sum over the calls of the model that the turn has told of. */
  readonly calls?: TokenFigures
  /** The sum over the whole session. */
  readonly session?: TokenFigures
}

/** Tokens; absent figures are unknown. */
export type TokenFigures = Pick<UsageReport, TokenName>
type TokenName = (typeof tokenNames)[number]
const tokenNames = ['promptTokens', 'completionTokens', 'cacheReadTokens', 'cacheWriteTokens', 'reasoningTokens'] as const

export function mergeContextUse(before: ContextUse, update: Fields): ContextUse {
  const cost = memberAt(update, 'cost', 'currency') === 'USD' ? figureOf(memberAt(update, 'cost', 'amount')) : undefined
  return { ...before, ...present({ used: figureOf(update.used), size: figureOf(update.size), cost }) }
}

/** The figures beside the content of any update. */
export function mergeMetaUse(before: ContextUse, { _meta }: Fields): ContextUse {
  if (_meta === undefined || _meta === null) return before
  const call = figuresIn(memberAt(_meta, 'usage'))
  if (hasAny(call)) return { ...before, calls: added(before.calls ?? {}, call, 1) }
  const all = memberAt(_meta, 'field_meta', 'openhands.dev/metrics')
  const session = figuresIn(all)
  if (!hasAny(session)) return before
  // No cost is what it says of models whose prices it does not know.
  const cost = figureOf(memberAt(all, 'cost')) || undefined
  return { ...before, session, ...present({ cost }) }
}

export interface ReportOptions {
  /** The agent's answer to the prompt. */
  readonly result: unknown
  readonly context: ContextUse
  /** The model that was chosen, in case the answer names none. */
  readonly model: string
  /** The part of the cost that has not been counted. */
  readonly cost: number | undefined
  /** What was counted of the session before. */
  readonly counted: Counted | undefined
}

/** The usage id under which the figures of an external agent are counted (contract: conversations.md). */
const usageId = 'acp-managed'

/** The figures of one prompt. A cost is what the session's has grown by, so nobody has reported it as such. */
export function reportOf({ result, context, model, cost, counted }: ReportOptions): UsageReport {
  const answered = tokensOf(result)
  const told = context.calls ?? (context.session && uncountedTokens(context.session, counted?.tokens))
  return {
    usageId,
    model: modelOf(result) ?? model,
    ...(hasAny(answered) ? answered : told),
    ...present({ perTurnTokens: context.used, contextWindow: context.size }),
    ...(cost === undefined ? {} : { cost, costSource: 'derived' }),
  }
}

/** What of a session was counted, kept between lives of a conversation. */
export interface Counted {
  readonly cost?: number
  readonly tokens?: TokenFigures
}

/** Of this session; what was kept of another one says nothing about it. */
export function readCounted(kept: JsonObject | undefined, sessionId: string): Counted | undefined {
  if (kept?.session_id !== sessionId) return undefined
  const tokens = objectOf(kept.tokens)
  const known = present(Object.fromEntries(tokenNames.map((name) => [name, figureOf(tokens[name])])))
  return { ...present({ cost: numberOf(kept.cost) }), ...(hasAny(known) ? { tokens: known } : {}) }
}

export function keptCount(sessionId: string, { cost, tokens }: Counted): JsonObject {
  return { session_id: sessionId, ...(cost === undefined ? {} : { cost }), ...(tokens === undefined ? {} : { tokens: { ...tokens } }) }
}

/** The part of a cumulative cost that has not been counted. A cost that has fallen began again at zero. */
export function uncountedCost(cost: number, counted: Counted | undefined): number {
  return counted?.cost === undefined || cost < counted.cost ? cost : cost - counted.cost
}

/** The same of tokens. */
export function uncountedTokens(tokens: TokenFigures, counted: TokenFigures = {}): TokenFigures {
  const isFallen = tokenNames.some((name) => (tokens[name] ?? 0) < (counted[name] ?? 0))
  return isFallen ? tokens : added(tokens, counted, -1)
}

/** The token figures of a prompt's answer; absent ones are unknown. */
export function tokensOf(result: unknown): TokenFigures {
  const meta = memberAt(result, '_meta')
  const places = [memberAt(result, 'usage'), memberAt(meta, 'quota', 'token_count'), memberAt(meta, 'usage'), memberAt(meta, 'field_meta', 'usage')]
  return places.map(figuresIn).reduceRight((rest, figures) => ({ ...rest, ...figures }))
}

/** The figures of one object, in the words of ACP, of Gemini and of OpenHands. */
function figuresIn(place: unknown): TokenFigures {
  const use = objectOf(place)
  return present({
    promptTokens: firstNumber(use.inputTokens, use.input_tokens),
    completionTokens: firstNumber(use.outputTokens, use.output_tokens),
    cacheReadTokens: firstNumber(use.cachedReadTokens, use.cachedInputTokens, use.cache_read_tokens),
    cacheWriteTokens: firstNumber(use.cachedWriteTokens, use.cacheWriteInputTokens),
    reasoningTokens: firstNumber(use.thoughtTokens, use.reasoningOutputTokens, use.reasoning_tokens),
  })
}

function added(figures: TokenFigures, more: TokenFigures, sign: 1 | -1): TokenFigures {
  const sums = tokenNames.flatMap((name) => {
    const known = figures[name] !== undefined || more[name] !== undefined
    return known ? [[name, (figures[name] ?? 0) + sign * (more[name] ?? 0)] as const] : []
  })
  return Object.fromEntries(sums)
}

function hasAny(figures: object): boolean {
  return Object.keys(figures).length > 0
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
