import * as assert from 'uvu/assert'
import { EventIndex, recordBytes } from '../../src/storage/event-index.ts'
import { suite } from '../support/suite.ts'

const test = suite('storage/event-index')
const upper = (number: number): string => number.toString(16).padStart(16, '0')

function filled(count: number): EventIndex {
  const index = new EventIndex()
  for (let number = 0; number < count; number++) {
    index.push({ upper: upper(10 + number * 3), mark: number % 256 }, number * 300)
  }
  return index
}

test('gives back what was pushed, also beyond 4 GiB and over several blocks', () => {
  const index = filled(40_000)
  index.push({ upper: 'ffffffffffffffff', mark: 255 }, 2 ** 47 + 12345)
  assert.is(index.count, 40_001)
  assert.is(index.offsetOf(40_000), 2 ** 47 + 12345)
  assert.is(index.upperOf(40_000), 'ffffffffffffffff')
  assert.is(index.markOf(40_000), 255)
  for (const number of [0, 1, 63, 64, 1023, 1024, 2047, 2048, 16_383, 16_384, 32_767, 32_768, 39_999]) {
    assert.is(index.offsetOf(number), number * 300)
    assert.is(index.upperOf(number), upper(10 + number * 3))
    assert.is(index.markOf(number), number % 256)
  }
  assert.throws(() => index.offsetOf(50_000), RangeError)
  assert.throws(() => index.offsetOf(-1), RangeError)
})

test('refuses ids and offsets that do not increase', () => {
  const index = filled(2)
  assert.throws(() => index.push({ upper: upper(13), mark: 0 }, 900), /Cannot index event 2/)
  assert.throws(() => index.push({ upper: upper(99), mark: 0 }, 300), RangeError)
  assert.is(index.count, 2)
})

test('finds ids and offsets, or where they would be', () => {
  const index = filled(2500)
  for (const number of [0, 1, 1024, 2499]) {
    assert.is(index.firstFromId(upper(10 + number * 3)), number)
    assert.is(index.firstFromId(upper(9 + number * 3)), number)
    assert.is(index.firstFromId(upper(11 + number * 3)), number + 1)
    assert.is(index.numberOf({ high: 0, low: 10 + number * 3 }), number)
    assert.is(index.numberOf({ high: 0, low: 11 + number * 3 }), -1)
    assert.is(index.firstFromOffset(number * 300), number)
    assert.is(index.firstFromOffset(number * 300 + 1), number + 1)
  }
  assert.is(new EventIndex().firstFromId(upper(1)), 0)
})

test('is read back from its bytes, and grows on', () => {
  for (const count of [0, 1, 63, 64, 65, 1025, 4096, 15_000, 16_383, 16_384, 16_385, 33_000]) {
    const bytes = filled(count).bytes(0, count)
    assert.is(bytes.length, count * recordBytes)
    const index = EventIndex.from(bytes)
    assert.is(index.count, count)
    index.push({ upper: upper(1_000_000), mark: 1 }, 10 ** 9)
    assert.is(index.offsetOf(count), 10 ** 9)
    assert.ok(index.bytes(0, count).equals(bytes))
  }
  assert.equal(filled(20_000).bytes(16_000, 17_100), filled(20_000).bytes(0, 20_000).subarray(256_000, 273_600))
})

test('is read from bytes that begin anywhere in memory', () => {
  const bytes = filled(40).bytes(0, 40)
  for (const before of [1, 2, 3]) {
    const elsewhere = Buffer.concat([Buffer.alloc(before), bytes]).subarray(before)
    assert.equal(EventIndex.from(elsewhere).bytes(0, 40), bytes)
  }
})

test('takes only what is before a flipped bit, zeros, a cut record or a block that goes back', () => {
  const bytes = filled(40).bytes(0, 40)
  for (let bit = 0; bit < 16 * 8; bit++) {
    const changed = Buffer.from(bytes)
    const at = 20 * recordBytes + (bit >> 3)
    changed[at] = (changed[at] ?? 0) ^ (1 << (bit & 7))
    assert.is(EventIndex.from(changed).count, 20, `bit ${bit}`)
  }
  assert.is(EventIndex.from(Buffer.from(bytes).fill(0, 16 * 7, 16 * 9)).count, 7)
  assert.is(EventIndex.from(bytes.subarray(0, 16 * 5 + 15)).count, 5)
  const block = filled(1024).bytes(0, 1024)
  assert.is(EventIndex.from(Buffer.concat([block, block])).count, 1024)
  assert.is(EventIndex.from(Buffer.concat([block, block, block])).count, 1024)
})

test('forgets events from a number on', () => {
  const index = filled(2500)
  index.truncate(1024)
  assert.is(index.count, 1024)
  index.push({ upper: upper(99_999), mark: 7 }, 10 ** 8)
  assert.is(index.markOf(1024), 7)
  index.truncate(5000)
  assert.is(index.count, 1025)
})

test.run()
