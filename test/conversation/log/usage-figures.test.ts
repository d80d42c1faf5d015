/** Where the figures of a conversation's use come from. */
import * as assert from 'uvu/assert'
import { addFigures, hasFigures } from '../../../src/conversation/log/usage-figures.ts'
import { suite } from '../../support/suite.ts'

const test = suite('conversation/log/usage figures')
const unknown = { value: null, source: 'unknown' }

test('shows what is reported, derived and unknown, and never an unknown figure as zero', () => {
  const { last, models } = addFigures(undefined, {
    usageId: 'a', model: 'm', cost: 0.5, costSource: 'derived', promptTokens: 7,
  })
  assert.equal(last, {
    model: 'm',
    usage_id: 'a',
    cost: { value: 0.5, source: 'derived' },
    prompt_tokens: { value: 7, source: 'reported' },
    completion_tokens: unknown,
    cache_read_tokens: unknown,
    cache_write_tokens: unknown,
    reasoning_tokens: unknown,
  })
  assert.match(JSON.stringify(models), '{"m":{"cost":{"value":0.5,"source":"derived","unknown":0},"prompt_tokens":{"value":7,"source":"reported","unknown":0},"completion_tokens":{"value":null,"source":"unknown","unknown":1}')
})

test('adds up for each model, and counts the turns of which a figure is missing', () => {
  const report = { usageId: 'a', model: 'm' }
  const first = addFigures({}, { ...report, cost: 0 })
  const second = addFigures(first, report)
  const third = addFigures(second, { ...report, cost: 2, costSource: 'derived' })
  const other = addFigures(third, { usageId: 'a', model: 'n', cost: 1 })
  const cost = (usage: object, model: string): string =>
    JSON.stringify(usage).split(`"${model}":{"cost":`)[1]?.split('}')[0] ?? ''
  assert.is(cost(first, 'm'), '{"value":0,"source":"reported","unknown":0')
  assert.is(cost(second, 'm'), '{"value":0,"source":"reported","unknown":1')
  assert.is(cost(third, 'm'), '{"value":2,"source":"derived","unknown":1')
  assert.is(cost(other, 'm'), cost(third, 'm'))
  assert.is(cost(other, 'n'), '{"value":1,"source":"reported","unknown":0')
})

test('takes what is not of its form for nothing', () => {
  const report = { usageId: 'a', model: 'm', cost: 1 }
  for (const before of [
    null, 'x', { models: [] }, { models: { m: { cost: { value: 'x', source: 'y', unknown: 'z' } } } },
  ]) {
    assert.equal(addFigures(before, report), addFigures(undefined, report))
  }
})

test('tells a report with figures from one without', () => {
  assert.is(hasFigures({ usageId: 'a', model: 'm' }), false)
  assert.is(hasFigures({ usageId: 'a', model: 'm', contextWindow: 0 }), true)
})

test.run()
