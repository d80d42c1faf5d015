/** Settings of a language model for tests that name only the settings that matter to them. */
import { toLLM, type LLM, type LLMInput } from '../../src/schema/generated/llm.ts'

export type LLMOptions = Partial<LLMInput>

/** The settings with a model, if they name none. */
export function llmOf(options: LLMOptions = {}): LLM {
  return toLLM({ model: 'gpt-5.5', ...options })
}
