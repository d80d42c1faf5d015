/** Which failures are tried again, after which waits, and when that ends. */
import * as assert from 'uvu/assert'
import { ModelError, type ModelErrorCode } from '../../../../src/parts/builtin/llm/model.ts'
import { withRetries, type RetryOptions } from '../../../../src/parts/builtin/llm/retry.ts'
import { suite } from '../../../support/suite.ts'

const test = suite('agents/llm/retry')

const policy = { retries: 5, multiplierMs: 8000, minWaitMs: 8000, maxWaitMs: 64_000 }

interface Outcome {
  readonly attempts: number
  readonly waits: readonly number[]
  readonly told: readonly string[]
  /** The error that was thrown, or 'done'. */
  readonly end: unknown
}

/** Fails with these errors in turn, then succeeds. */
async function run(errors: readonly unknown[], over: Partial<RetryOptions> = {}): Promise<Outcome> {
  let attempts = 0
  const waits: number[] = []
  const told: string[] = []
  const options: RetryOptions = {
    policy,
    signal: new AbortController().signal,
    sleep: async (ms) => void waits.push(ms),
    random: () => 0,
    mayRetry: () => true,
    onRetry: ({ attempt, waitMs, error }) => void told.push(`${attempt} after ${waitMs}: ${error.code}`),
    ...over,
  }
  const end = await withRetries(async () => {
    attempts++
    if (attempts <= errors.length) throw errors[attempts - 1]
    return 'done'
  }, options).catch((error: unknown) => error)
  return { attempts, waits, told, end }
}

const failing = (code: ModelErrorCode, retryAfterMs?: number): ModelError =>
  new ModelError(code, 'x', retryAfterMs === undefined ? {} : { retryAfterMs })

test('tries a failure that passes again, with waits that double up to their limit', async () => {
  const { attempts, waits, told, end } = await run(
    Array.from({ length: 5 }, () => failing('LLMServiceUnavailableError')),
  )
  assert.is(attempts, 6)
  assert.equal(waits, [8000, 16_000, 32_000, 64_000, 64_000])
  assert.is(told[0], '2 after 8000: LLMServiceUnavailableError')
  assert.is(end, 'done')
})

test('gives up with the last error after the attempts that the settings allow', async () => {
  const errors = [failing('LLMRateLimitError'), failing('LLMTimeoutError'), failing('LLMBrokenStreamError')]
  const { attempts, end } = await run(errors, { policy: { ...policy, retries: 2 } })
  assert.is(attempts, 3)
  assert.is(end, errors[2])
  assert.is((await run(errors, { policy: { ...policy, retries: 0 } })).attempts, 1)
})

test('waits no less than the lower limit, and up to a tenth longer at random', async () => {
  const { waits } = await run([failing('LLMRateLimitError')], {
    policy: { ...policy, multiplierMs: 10 }, random: () => 0.5,
  })
  assert.equal(waits, [8400])
})

test('waits as long as the provider asks, but not for more than five minutes', async () => {
  assert.equal((await run([failing('LLMRateLimitError', 90_000)])).waits, [90_000])
  assert.equal((await run([failing('LLMRateLimitError', 1000)])).waits, [8000])
  const asksTooMuch = failing('LLMRateLimitError', 300_001)
  const { attempts, end } = await run([asksTooMuch])
  assert.is(attempts, 1)
  assert.is(end, asksTooMuch)
})

test('does not try again what would fail again', async () => {
  const lasting: readonly ModelErrorCode[] = [
    'LLMAuthenticationError', 'LLMQuotaExceededError', 'LLMModelNotFoundError', 'LLMContextWindowExceedError',
    'LLMContentPolicyViolationError', 'LLMBadRequestError',
  ]
  for (const code of lasting) assert.is((await run([failing(code)])).attempts, 1, code)
  const fault = new TypeError('a fault of ours')
  assert.is((await run([fault])).end, fault)
})

test('does not try again once a piece has been handed on', async () => {
  assert.is((await run([failing('LLMBrokenStreamError')], { mayRetry: () => false })).attempts, 1)
})

test('ends a wait with the reason of the signal', async () => {
  const reason = new Error('stop')
  const { attempts, end } = await run([failing('LLMRateLimitError')], { sleep: () => Promise.reject(reason) })
  assert.is(attempts, 1)
  assert.is(end, reason)
})

test('needs nobody who is told', async () => {
  assert.is((await run([failing('LLMNoResponseError')], { onRetry: undefined })).end, 'done')
})

test.run()
