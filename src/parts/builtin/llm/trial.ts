/**
 * Tries a model's settings with the smallest call there is, before they are stored (contract: settings.md, section 7).
 *
 * What the provider says about the settings counts: a key that is refused, a model that does not exist, a server that is
 * not there. That it is busy, slow, or has nothing to say in so few tokens does not. The call is made once and costs
 * next to nothing. Messages hold no key: see failures.
 */
import type { LLM } from '../../../schema/generated/llm.ts'
import type { ProfileValidation } from '../../../schema/generated/profiles.ts'
import { toMessage } from '../../../schema/generated/values.ts'
import { ModelError, type ModelClient, type ModelErrorCode } from './model.ts'

/** What is no fault of the settings. */
const passing: readonly ModelErrorCode[] = ['LLMRateLimitError', 'LLMTimeoutError', 'LLMNoResponseError']

const timeoutSeconds = 30
/** Less is refused by some providers. */
const answerTokens = 16

export interface TrialOptions {
  /** @throws ModelError for settings that name no model */
  readonly createModel: (llm: LLM) => ModelClient
  readonly signal: AbortSignal
}

/** @throws the signal's reason when it is aborted */
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
    return passing.includes(thrown.code) ? { valid: true } : { valid: false, error: { type: thrown.code, message: thrown.message } }
  }
}
