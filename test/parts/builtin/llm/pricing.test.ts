/** The cost of a call, and when it is unknown. */
import * as assert from 'uvu/assert'
import { priced } from '../../../../src/parts/builtin/llm/pricing.ts'
import { suite } from '../../../support/suite.ts'

const test = suite('agents/llm/pricing')

const prices = { input_cost_per_token: 0.5, output_cost_per_token: 2 }
const tokens = { promptTokens: 10, completionTokens: 3 }

test('is the tokens times the prices, input from a cache included', () => {
  assert.is(priced({ ...tokens, cacheReadTokens: 4 }, prices).cost, 11)
  assert.is(priced(tokens, { input_cost_per_token: 0, output_cost_per_token: 0 }).cost, 0)
})

test('is what the provider reported, if it did', () => {
  assert.is(priced({ ...tokens, cost: 0.25 }, prices).cost, 0.25)
})

test('is unknown without both prices or both counts', () => {
  assert.equal(priced(tokens, { ...prices, input_cost_per_token: null }), tokens)
  assert.equal(priced(tokens, { ...prices, output_cost_per_token: null }), tokens)
  assert.equal(priced({ promptTokens: 10 }, prices), { promptTokens: 10 })
  assert.equal(priced({ completionTokens: 3 }, prices), { completionTokens: 3 })
})

test.run()
