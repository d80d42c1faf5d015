import * as assert from 'uvu/assert'
import { compare, inverse, measure, spreadOf, type Round } from '../../../scripts/bench/rounds.ts'
import { suite } from '../../support/suite.ts'

const test = suite('scripts/bench/rounds')

test('tells the median and the quartiles in any order of values', () => {
  assert.equal(spreadOf([5, 1, 4, 2, 3]), { low: 2, median: 3, high: 4 })
  assert.equal(spreadOf([7]), { low: 7, median: 7, high: 7 })
  assert.throws(() => spreadOf([]), /nothing/)
})

test('turns costs into speeds and the quartiles with them', () => {
  assert.equal(inverse({ low: 0.5, median: 1, high: 2 }), { low: 0.5, median: 1, high: 2 })
  assert.equal(inverse({ low: 2, median: 4, high: 8 }), { low: 0.125, median: 0.25, high: 0.5 })
})

test('compares pairs whose sides take turns in beginning', async () => {
  const order: string[] = []
  const side = (name: string, cost: number): Round => async () => {
    order.push(name)
    return { elapsedMs: cost, cpuMs: cost * 3 }
  }
  const { elapsed, cpu, ours } = await compare({ limit: side('limit', 2), ours: side('ours', 3) }, 0)
  assert.is(elapsed.median, 1.5)
  assert.is(cpu.median, 1.5)
  assert.equal(ours, { elapsedMs: 3, cpuMs: 9 })
  const counted = order.slice(2)
  assert.equal(counted.slice(0, 4), ['limit', 'ours', 'ours', 'limit'])
  assert.is(counted.length, 6)
})

test('drops the drift of a machine that gets slower', async () => {
  let slowness = 1
  const side = (cost: number): Round => async () => {
    slowness *= 1.0001
    return { elapsedMs: cost * slowness, cpuMs: cost * slowness }
  }
  const { elapsed } = await compare({ limit: side(10), ours: side(20) }, 0)
  assert.ok(Math.abs(elapsed.median - 2) < 0.001)
})

test('measures what a piece of work takes', async () => {
  const { elapsedMs, cpuMs } = await measure(() => {
    const until = performance.now() + 20
    while (performance.now() < until);
  })
  assert.ok(elapsedMs >= 20)
  assert.ok(cpuMs > 0)
})

test.run()
