import * as assert from 'uvu/assert'
import { CheckedRanges } from '../../src/storage/checked-ranges.ts'
import { suite } from '../support/suite.ts'

const test = suite('storage/checked-ranges')

test('knows what was added, and nothing beyond', () => {
  const ranges = new CheckedRanges()
  assert.is(ranges.covers(0, 1), false)
  ranges.add(100, 200)
  assert.is(ranges.covers(100, 200), true)
  assert.is(ranges.covers(150, 160), true)
  assert.is(ranges.covers(99, 200), false)
  assert.is(ranges.covers(100, 201), false)
})

test('joins ranges that touch or overlap, in whatever order they come', () => {
  const ranges = new CheckedRanges()
  ranges.add(0, 100)
  ranges.add(200, 300)
  assert.is(ranges.covers(50, 250), false)
  ranges.add(100, 220)
  assert.is(ranges.covers(0, 300), true)
  ranges.add(-50, 400)
  assert.is(ranges.covers(-50, 400), true)
})

test('forgets the oldest of too many, which is then checked again', () => {
  const ranges = new CheckedRanges()
  for (let index = 0; index <= 64; index++) ranges.add(index * 10, index * 10 + 5)
  assert.is(ranges.covers(0, 5), false)
  assert.is(ranges.covers(10, 15), true)
  assert.is(ranges.covers(640, 645), true)
})

test.run()
