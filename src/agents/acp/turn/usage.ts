/**
 * Reads the tokens and the cost of a turn, or of an aside (`Agent.askAside`), in the agents' different forms. Pure.
 *
 * Some agents report a sum over the session. The server then counts how much the sum has grown since the last report
 * (agents/acp/agents.md, "Failures, questions, usage").
 */
import { memberAt, numberOf, objectOf, objectsOf, textOf, type Fields } from '../../../base/fields.ts'
import type { JsonObject } from '../../../base/json.ts'
import type { UsageReport } from '../../../conversation/agent/agent.ts'

/** The usage in the updates of a turn or an aside (question outside the turns): in `usage_update` and in `_meta`. */
export interface ContextUse {
  readonly used?: number
  readonly size?: number
  /** The cost of the whole session in US dollars. A cost in another currency is ignored, as its rate is unknown. */
  readonly cost?: number
  /** The tokens of the model calls that the turn's updates reported, added up (Qwen). */
  readonly calls?: TokenFigures
  /** The tokens of the whole session, as the agent adds them up (OpenHands). */
  readonly session?: TokenFigures
}

/** Numbers of tokens by name; an absent number is unknown. */
export type TokenFigures = Pick<UsageReport, TokenName>
type TokenName = (typeof tokenNames)[number]
const tokenNames = [
  'promptTokens', 'completionTokens', 'cacheReadTokens', 'cacheWriteTokens', 'reasoningTokens',
] as const

export function mergeContextUse(before: ContextUse, update: Fields): ContextUse {
  const cost = memberAt(update, 'cost', 'currency') === 'USD' ? figureOf(memberAt(update, 'cost', 'amount')) : undefined
  return { ...before, ...present({ used: figureOf(update['used']), size: figureOf(update['size']), cost }) }
}

/** Returns `before` with the usage figures from the `_meta` of an update; `before` itself if it names no tokens. */
export function mergeMetaUse(before: ContextUse, { _meta }: Fields): ContextUse {
  if (_meta === undefined || _meta === null) return before
  const call = figuresIn(memberAt(_meta, 'usage'))
  if (hasAny(call)) return { ...before, calls: added(before.calls ?? {}, call, 1) }
  const all = memberAt(_meta, 'field_meta', 'openhands.dev/metrics')
  const session = figuresIn(all)
  if (!hasAny(session)) return before
  // OpenHands sends the cost 0 for models without a known price.
  const cost = figureOf(memberAt(all, 'cost')) || undefined
  return { ...before, session, ...present({ cost }) }
}

export interface ReportOptions {
  readonly result: unknown
  readonly context: ContextUse
  /** The chosen model, for a result that names no model. */
  readonly model: string
  /** The part of the session's cost that no report has counted yet; undefined when `context` has no cost. */
  readonly cost: number | undefined
  /** The session's cumulative figures that earlier reports have already counted. */
  readonly counted: Counted | undefined
}

/** The usage id under which the figures of an external agent are counted (contract/conversations.md, section 2). */
const usageId = 'acp-managed'

/** Makes the usage report of a turn or aside (question outside turns). A cost from a running total is `derived`. */
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

/** A session's cumulative cost and tokens as far as reports have counted them. Stored with the conversation. */
export interface Counted {
  readonly cost?: number
  readonly tokens?: TokenFigures
}

/** Reads the counted figures of this session; undefined if none are stored for it. */
export function readCounted(kept: JsonObject | undefined, sessionId: string): Counted | undefined {
  if (kept?.['session_id'] !== sessionId) return undefined
  const tokens = objectOf(kept['tokens'])
  const known = present(Object.fromEntries(tokenNames.map((name) => [name, figureOf(tokens[name])])))
  return { ...present({ cost: numberOf(kept['cost']) }), ...(hasAny(known) ? { tokens: known } : {}) }
}

export function keptCount(sessionId: string, { cost, tokens }: Counted): JsonObject {
  const figures: JsonObject = { ...present({ cost }), ...(tokens === undefined ? {} : { tokens: present(tokens) }) }
  return { session_id: sessionId, ...figures }
}

/** Returns the uncounted part of a cumulative cost. If the cost has fallen, the sum began again at 0. */
export function uncountedCost(cost: number, counted: Counted | undefined): number {
  return counted?.cost === undefined || cost < counted.cost ? cost : cost - counted.cost
}

/** Returns the uncounted part of cumulative tokens. If a number has fallen, all sums began again at 0. */
export function uncountedTokens(tokens: TokenFigures, counted: TokenFigures = {}): TokenFigures {
  const isFallen = tokenNames.some((name) => (tokens[name] ?? 0) < (counted[name] ?? 0))
  return isFallen ? tokens : added(tokens, counted, -1)
}

/** Returns the token figures in the result of a prompt. If two members have a figure, the first in `places` is used. */
export function tokensOf(result: unknown): TokenFigures {
  const meta = memberAt(result, '_meta')
  const inMeta = [['quota', 'token_count'], ['usage'], ['field_meta', 'usage']]
  const places = [memberAt(result, 'usage'), ...inMeta.map((path) => memberAt(meta, ...path))]
  return places.map(figuresIn).reduceRight((rest, figures) => ({ ...rest, ...figures }))
}

/** Reads the numbers of tokens in an object under the different names that agents use. */
function figuresIn(place: unknown): TokenFigures {
  const use = objectOf(place)
  return present({
    promptTokens: firstNumber(use['inputTokens'], use['input_tokens']),
    completionTokens: firstNumber(use['outputTokens'], use['output_tokens']),
    cacheReadTokens: firstNumber(use['cachedReadTokens'], use['cachedInputTokens'], use['cache_read_tokens']),
    cacheWriteTokens: firstNumber(use['cachedWriteTokens'], use['cacheWriteInputTokens']),
    reasoningTokens: firstNumber(use['thoughtTokens'], use['reasoningOutputTokens'], use['reasoning_tokens']),
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

export function modelOf(result: unknown): string | undefined {
  return textOf(objectsOf(memberAt(result, '_meta', 'quota', 'model_usage'))[0]?.['model'])
}

function firstNumber(...values: readonly unknown[]): number | undefined {
  return values.map(figureOf).find((value) => value !== undefined)
}

/** Returns the value if it is a number of 0 or more; undefined for any other value. */
function figureOf(value: unknown): number | undefined {
  const number = numberOf(value)
  return number !== undefined && number >= 0 ? number : undefined
}

/** Returns the object without its undefined members. */
function present<T extends object>(value: { readonly [K in keyof T]: T[K] | undefined }): Partial<T>
function present(value: object): object {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined))
}
