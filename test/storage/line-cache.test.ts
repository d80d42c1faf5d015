import * as assert from 'uvu/assert'
import { LineCache } from '../../src/storage/line-cache.ts'
import { suite } from '../support/suite.ts'

const test = suite('storage/line-cache')

test('keeps the newest events of a log up to its limit', () => {
  const cache = new LineCache({ logBytes: 100, totalBytes: 1000 })
  const tail = cache.open()
  for (let number = 5; number < 205; number++) tail.push(number, Buffer.alloc(10, number))
  for (let number = 0; number < 195; number++) assert.is(tail.get(number), undefined, String(number))
  for (let number = 195; number < 205; number++) assert.is(tail.get(number)?.[0], number)
  assert.is(tail.get(205), undefined)
  assert.is(tail.bytes, 100)
  assert.is(cache.bytes, 100)
})

test('does not keep what is longer than its limit, and goes on after it', () => {
  const tail = new LineCache({ logBytes: 100 }).open()
  tail.push(0, Buffer.alloc(10))
  tail.push(1, Buffer.alloc(101))
  assert.is(tail.get(1), undefined)
  assert.is(tail.bytes, 0)
  tail.push(2, Buffer.alloc(20))
  assert.is(tail.get(2)?.length, 20)
  assert.is(tail.get(0), undefined)
})

test('takes space for all logs from the one that was written to least recently', () => {
  const cache = new LineCache({ logBytes: 100, totalBytes: 250 })
  const [first, second, third] = [cache.open(), cache.open(), cache.open()]
  first.push(0, Buffer.alloc(100))
  second.push(0, Buffer.alloc(90))
  first.push(1, Buffer.alloc(100))
  third.push(0, Buffer.alloc(100))
  assert.is(second.get(0), undefined)
  assert.is(first.get(1)?.length, 100)
  assert.is(third.get(0)?.length, 100)
  assert.is(cache.bytes, 200)
  first.clear()
  first.clear()
  assert.is(cache.bytes, 100)
})

test.run()
