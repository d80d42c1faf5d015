/**
 * Retries a call after a transient failure, such as a rate limit or a broken connection.
 *
 * A wait is as long as the policy says, or longer if the provider asks for it, plus a random extra of up to a tenth.
 */
import { ModelError, type ModelErrorCode, type ModelRequest } from './model.ts'

export interface RetryPolicy {
  /** The most attempts after the first attempt. */
  readonly retries: number
  /** The wait after the first failure. Each further failure doubles it. `minWaitMs` and `maxWaitMs` limit each wait. */
  readonly multiplierMs: number
  readonly minWaitMs: number
  readonly maxWaitMs: number
}

export interface RetryOptions {
  readonly policy: RetryPolicy
  readonly signal: AbortSignal
  /** Waits, or rejects with the signal's reason when it is aborted. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>
  /** Returns a random number, at least 0 and less than 1. */
  readonly random: () => number
  /** Returns false once a piece of the answer was streamed: another attempt would stream it again. */
  readonly mayRetry: () => boolean
  readonly onRetry?: ModelRequest['onRetry']
}

/** The longest `retryAfterMs` that is waited for. When a provider asks for a longer wait, the call fails at once. */
export const askedWaitLimitMs = 300_000

/** Repeats `attempt` after transient failures. @throws the error of the last attempt; the signal's reason */
export async function withRetries<T>(attempt: () => Promise<T>, options: RetryOptions): Promise<T> {
  for (let failures = 1; ; failures++) {
    try {
      return await attempt()
    } catch (error) {
      if (!(error instanceof ModelError) || !passes(error) || !options.mayRetry()) throw error
      if (failures > options.policy.retries) throw error
      const waitMs = waitOf(failures, error, options)
      options.onRetry?.({ attempt: failures + 1, waitMs, error })
      await options.sleep(waitMs, options.signal)
    }
  }
}

const passing: ReadonlySet<ModelErrorCode> = new Set<ModelErrorCode>([
  'LLMRateLimitError',
  'LLMServiceUnavailableError',
  'LLMTimeoutError',
  'LLMBrokenStreamError',
  'LLMNoResponseError',
])

function passes({ code, retryAfterMs = 0 }: ModelError): boolean {
  return passing.has(code) && retryAfterMs <= askedWaitLimitMs
}

function waitOf(failures: number, { retryAfterMs = 0 }: ModelError, { policy, random }: RetryOptions): number {
  const doubled = policy.multiplierMs * 2 ** (failures - 1)
  const ours = Math.max(policy.minWaitMs, Math.min(doubled, policy.maxWaitMs))
  return Math.round(Math.max(retryAfterMs, ours) * (1 + random() / 10))
}
