/**
 * Tests a model's settings with a minimal call (contract/settings.md, section 7).
 *
 * A rate limit, a time-out or an empty answer does not make the settings invalid.
 */
import type { LLM } from '../../schema/generated/llm.ts'
import type { ProfileValidation } from './generated.ts'
import { toMessage } from '../../schema/generated/values.ts'
import { ModelError, type ModelClient, type ModelErrorCode } from './llm/model.ts'

/** The codes of the model errors after which the settings still count as valid. */
const passing: readonly ModelErrorCode[] = ['LLMRateLimitError', 'LLMTimeoutError', 'LLMNoResponseError']

const timeoutSeconds = 30
/** The limit of output tokens. Some providers refuse a smaller limit. */
const answerTokens = 16

export interface TrialOptions {
  /** Makes the client of a model. @throws ModelError for the settings that `CreateModel` (create.ts) refuses */
  readonly createModel: (llm: LLM) => ModelClient
  readonly signal: AbortSignal
}

/** Calls the model once. An error that is not in `passing` makes the settings invalid. @throws the signal's reason */
export async function tryModel(settings: LLM, { createModel, signal }: TrialOptions): Promise<ProfileValidation> {
  const once = { num_retries: 0, stream: false, log_completions: false, max_output_tokens: answerTokens }
  const timeout = Math.min(settings.timeout ?? timeoutSeconds, timeoutSeconds)
  try {
    const client = createModel({ ...settings, ...once, timeout })
    const messages = [{ message: toMessage({ role: 'user', content: 'Say OK.' }) }]
    await client.complete({ messages, tools: [], signal })
    return { valid: true }
  } catch (thrown) {
    if (!(thrown instanceof ModelError)) throw thrown
    return passing.includes(thrown.code)
      ? { valid: true }
      : { valid: false, error: { type: thrown.code, message: thrown.message } }
  }
}
