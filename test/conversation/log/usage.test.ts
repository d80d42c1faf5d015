import * as assert from 'uvu/assert'
import { suite } from '../../support/suite.ts'
import { check } from '../../../src/schema/check.ts'
import { UsageLedger } from '../../../src/conversation/log/usage.ts'
import { objectOf } from '../../support/conversation.ts'

const test = suite('conversation/log/usage')
const none = { usage_to_metrics: {} }

test('adds up tokens and cost, and keeps the newest of what is no sum', () => {
  const ledger = new UsageLedger(none)
  const report = {
    usageId: 'a', model: 'm1', cost: 0.25, promptTokens: 1, completionTokens: 2, cacheReadTokens: 3,
    cacheWriteTokens: 4,
    reasoningTokens: 5, contextWindow: 100, perTurnTokens: 6,
  }
  ledger.add(report)
  assert.equal(ledger.add({ ...report, model: 'm2', contextWindow: 200, perTurnTokens: 7 }), {
    usage_to_metrics: {
      a: {
        model_name: 'm2',
        accumulated_cost: 0.5,
        max_budget_per_task: null,
        accumulated_token_usage: {
          model: 'm2', prompt_tokens: 2, completion_tokens: 4, cache_read_tokens: 6, cache_write_tokens: 8,
          reasoning_tokens: 10, context_window: 200, per_turn_token: 7, response_id: '',
        },
      },
    },
  })
})

test('what is not reported stays as it was', () => {
  const ledger = new UsageLedger(none)
  const before = ledger.add({ usageId: 'a', model: 'm', cost: 1, contextWindow: 100 })
  assert.equal(ledger.add({ usageId: 'a', model: 'm' }), before)
})

test('keeps usage ids apart', () => {
  const ledger = new UsageLedger(none)
  ledger.add({ usageId: 'a', model: 'm', cost: 1 })
  const { usage_to_metrics: metrics } = ledger.add({ usageId: 'b', model: 'm', cost: 2 })
  assert.equal(Object.keys(objectOf(metrics)), ['a', 'b'])
  assert.is(ledger.cost, 3)
})

test('goes on from what the log holds', () => {
  const first = new UsageLedger(none)
  first.add({ usageId: 'a', model: 'm', cost: 1, promptTokens: 10, contextWindow: 5, perTurnTokens: 2 })
  const second = new UsageLedger(first.stats())
  assert.equal(second.stats(), first.stats())
  assert.equal(second.add({ usageId: 'a', model: 'm', cost: 1 }), first.add({ usageId: 'a', model: 'm', cost: 1 }))
})

test('takes what is not of its form for nothing', () => {
  assert.equal(new UsageLedger({}).stats(), none)
  assert.equal(new UsageLedger({ usage_to_metrics: { a: 1 } }).stats(), none)
  const odd = new UsageLedger({ usage_to_metrics: { a: { accumulated_cost: 'x' } } }).stats()
  assert.match(JSON.stringify(odd), '"model_name":"default","accumulated_cost":0,')
})

test('gives what the schema calls stats', () => {
  const ledger = new UsageLedger(none)
  assert.equal(check('ConversationStats', ledger.add({ usageId: 'a', model: 'm' })), [])
})

test.run()
