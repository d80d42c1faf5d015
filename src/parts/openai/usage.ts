/** Computes the token counts of a request: the totals of its conversation after the request, less those before it. */
import { amountOf, memberAt, objectOf } from '../../base/fields.ts'
import type { JsonObject } from '../../base/json.ts'

export interface Tokens {
  readonly prompt: number
  readonly completion: number
  readonly cached: number
  readonly reasoning: number
}

/** Returns the token totals of a conversation: the sums over all entries of `usage_to_metrics` in its `stats`. */
export function tokensOf(stats: JsonObject): Tokens {
  const all = Object.values(objectOf(stats['usage_to_metrics']))
  const sum = (name: string): number => {
    const counts = all.map((metrics) => amountOf(memberAt(metrics, 'accumulated_token_usage', name)) ?? 0)
    return counts.reduce((total, count) => total + count, 0)
  }
  return {
    prompt: sum('prompt_tokens'),
    completion: sum('completion_tokens'),
    cached: sum('cache_read_tokens'),
    reasoning: sum('reasoning_tokens'),
  }
}

/** Returns the member `usage` of an answer: the tokens since the totals `before`. */
export function usageSince(before: Tokens, stats: JsonObject): JsonObject {
  const after = tokensOf(stats)
  const [prompt, completion] = [after.prompt - before.prompt, after.completion - before.completion]
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { cached_tokens: after.cached - before.cached },
    completion_tokens_details: { reasoning_tokens: after.reasoning - before.reasoning },
  }
}
