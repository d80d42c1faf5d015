/**
 * Promises of src/parts/builtin/llm, skills and hooks: repeated requests, and the texts that are shown to the user and
 * sent to the model. See scripts/mutate/mutation.ts.
 */
import type { Mutation } from '../mutation.ts'

const retry = ['test/parts/builtin/llm/retry.test.ts', 'test/parts/builtin/llm/wire.test.ts']
const failures = ['test/parts/builtin/llm/failures.test.ts']

export const llmMutations: readonly Mutation[] = [
  {
    file: 'src/parts/builtin/llm/retry.ts',
    old: '!passes(error) || !options.mayRetry()) throw error',
    new: '!passes(error)) throw error',
    promise: 'A call is not tried again once a piece of its answer was handed on.',
    tests: retry,
  },
  {
    file: 'src/parts/builtin/llm/retry.ts',
    old: 'if (failures > options.policy.retries) throw error',
    new: 'if (failures > 2 * options.policy.retries + 1) throw error',
    promise: 'A call is tried again as often as the settings allow.',
    tests: retry,
  },
  {
    file: 'src/parts/builtin/llm/retry.ts',
    old: 'Math.round(Math.max(retryAfterMs, ours) * (1 + random() / 10))',
    new: 'Math.round(ours * (1 + random() / 10))',
    promise: 'The wait that a provider asks for is kept.',
    tests: retry,
  },
  {
    file: 'src/parts/builtin/llm/failures.ts',
    old: 'const quote = code === \'LLMAuthenticationError\' && status !== 403 ? \'\' : quoteOf(',
    new: 'const quote = quoteOf(',
    promise: 'What a provider says of a wrong key is not repeated.',
    tests: failures,
  },
  {
    file: 'src/parts/builtin/llm/failures.ts',
    old: 'masker.register(secrets)',
    new: 'void secrets',
    promise: 'No key shows in the message of a failed call.',
    tests: failures,
  },
  {
    file: 'src/parts/builtin/llm/pricing.ts',
    old: 'if (promptTokens === undefined || completionTokens === undefined) return usage',
    new: 'if (promptTokens === undefined || completionTokens === undefined) return { ...usage, cost: 0 }',
    promise: 'A cost that nobody knows is not counted as zero.',
    tests: ['test/parts/builtin/llm/pricing.test.ts'],
  },
  {
    file: 'src/parts/builtin/llm/client.ts',
    old: '/^(?:[\\w-]+\\.)?api\\.openai\\.com$/',
    new: '/(?:[\\w-]+\\.)?api\\.openai\\.com/',
    promise: 'Only the provider itself is taken for OpenAI.',
    tests: ['test/parts/builtin/llm/client.test.ts'],
  },
  {
    file: 'src/parts/skills/telling.ts',
    old: 'return text.replace(/<(?=[\\s/]*(?:skill|memory)\\b)/gi, \'&lt;\')',
    new: 'return text.replace(/<(?=[\\s/]*(?:memory)\\b)/gi, \'&lt;\')',
    promise: 'The text of a skill cannot close the marks around it.',
    tests: ['test/parts/skills/load.test.ts', 'test/e2e/skills.test.ts'],
  },
  {
    file: 'src/parts/hooks/answer.ts',
    old: 'if (exitCode !== 0 && exitCode !== 2) return { type: \'failed\'',
    new: 'if (exitCode === 127) return { type: \'failed\'',
    promise: 'A hook that fails blocks nothing.',
    tests: ['test/parts/hooks/answer.test.ts'],
  },
  {
    file: 'src/parts/hooks/answer.ts',
    old: 'return text.trim() === \'\' ? undefined : mask(text).trim().slice(-textLimit)',
    new: 'return text.trim() === \'\' ? undefined : text.trim().slice(-textLimit)',
    promise: 'What a hook says is masked.',
    tests: ['test/parts/hooks/answer.test.ts', 'test/parts/hooks/runner.test.ts'],
  },
]
