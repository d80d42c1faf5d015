/** Which Claude thinks how, and which takes a temperature. */
import * as assert from 'uvu/assert'
import { defaultMaxTokens, samplingOf, thinkingOf } from '../../../../src/parts/builtin/llm/anthropic-thinking.ts'
import { llmOf, type LLMOptions } from '../../../support/llm.ts'
import { suite } from '../../../support/suite.ts'

const test = suite('agents/llm/anthropic-thinking')

const optionsOf = (model: string, settings: LLMOptions, maxTokens = 32_000) => ({
  model, settings: llmOf(settings), maxTokens,
})
const adaptive = (effort?: string) =>
  ({
    thinking: { type: 'adaptive', display: 'summarized' }, ...(effort !== undefined && { output_config: { effort } }),
  })
const within = (budget_tokens: number) => ({ thinking: { type: 'enabled', budget_tokens } })

for (const [model, effort, expected] of [
  ['claude-3-haiku-20240307', 'high', {}],
  ['claude-3-5-sonnet-20241022', 'high', {}],
  ['claude-3-7-sonnet-20250219', 'high', within(16_000)],
  ['claude-sonnet-4-20250514', 'high', within(16_000)],
  ['claude-opus-4-1-20250805', 'medium', within(16_000)],
  ['claude-opus-4-1', 'low', within(4_096)],
  ['claude-haiku-4-5-20251001', 'minimal', within(1_024)],
  ['claude-haiku-4.5', 'none', {}],
  ['claude-sonnet-4-6', 'high', adaptive('high')],
  ['claude-opus-4-6', 'xhigh', adaptive('high')],
  ['claude-opus-4-7', 'xhigh', adaptive('xhigh')],
  ['claude-opus-5-5', 'minimal', adaptive('low')],
  ['claude-fable-5', 'of my own', adaptive()],
  ['claude-mythos-preview', null, adaptive()],
  ['claude-opus-5', 'none', {}],
  ['kimi-k2', 'high', {}],
] as const) {
  test(`${model} with the effort ${effort} gets ${JSON.stringify(expected)}`, () => {
    assert.equal(thinkingOf(optionsOf(model, { reasoning_effort: effort })), expected)
  })
}

test('keeps a budget below the limit of tokens, and thinks not at all with too small a one', () => {
  const model = 'claude-sonnet-4-5'
  assert.equal(thinkingOf(optionsOf(model, { extended_thinking_budget: 2_000 })), within(2_000))
  assert.equal(thinkingOf(optionsOf(model, {}, 8_001)), within(4_000))
  assert.equal(thinkingOf(optionsOf(model, {}, 2_000)), {})
  assert.equal(thinkingOf(optionsOf(model, { extended_thinking_budget: null })), {})
})

test('asks models before 3.7 for fewer tokens', () => {
  assert.is(defaultMaxTokens('claude-3-haiku-20240307'), 4_096)
  assert.is(defaultMaxTokens('kimi-k2'), 4_096)
  assert.is(defaultMaxTokens('claude-sonnet-4-5'), 32_000)
})

const sampling = { temperature: 0.5, top_p: 0.9, top_k: 40 }

test('sends a temperature only to a model that takes one and does not think', () => {
  const both = { temperature: 0.5, top_k: 40 }
  assert.equal(samplingOf(optionsOf('claude-sonnet-4-5', sampling), false), both)
  assert.equal(samplingOf(optionsOf('claude-sonnet-4-5', sampling), true), {})
  assert.equal(samplingOf(optionsOf('claude-opus-4-7', sampling), false), {})
  assert.equal(samplingOf(optionsOf('claude-opus-4-7', { ...sampling, drop_params: false }), true), both)
  assert.equal(samplingOf(optionsOf('kimi-k2', { top_p: 0.9 }), false), { top_p: 0.9 })
  assert.equal(samplingOf(optionsOf('kimi-k2', {}), false), {})
})

test.run()
