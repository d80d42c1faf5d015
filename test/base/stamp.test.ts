import * as assert from 'uvu/assert'
import { suite } from '../support/suite.ts'
import {
  createStamper, formatMicros, microsOfUpperHalf, parseMicros, upperHalf, upperHalfOf, upperWords,
} from '../../src/base/stamp.ts'

const test = suite('base/stamp')
const zeros = (size: number): Buffer => Buffer.alloc(size)
const noon = Date.parse('2026-11-21T12:00:00.000Z')

test('gives strictly increasing times while the clock stands', () => {
  const next = createStamper(() => noon, zeros)
  const stamps = [next(), next(), next()]
  assert.equal(
    stamps.map((stamp) => stamp.timestamp),
    ['2026-11-21T12:00:00.000000Z', '2026-11-21T12:00:00.000001Z', '2026-11-21T12:00:00.000002Z'],
  )
})

test('goes on counting when the clock jumps back', () => {
  let now = noon
  const next = createStamper(() => now, zeros)
  const first = next()
  now -= 3_600_000
  const second = next()
  assert.is(second.micros, first.micros + 1)
  now = noon + 5
  assert.is(next().timestamp, '2026-11-21T12:00:00.005000Z')
})

test('begins after the time it is told', () => {
  const last = noon * 1000 + 7
  assert.is(createStamper(() => noon, zeros, last)().micros, last + 1)
})

test('carries more than a thousand stamps of one millisecond into the next', () => {
  const next = createStamper(() => noon, zeros)
  let last = next()
  for (let count = 0; count < 2500; count++) {
    const stamp = next()
    assert.ok(stamp.id > last.id, `${stamp.id} follows ${last.id}`)
    assert.ok(stamp.timestamp > last.timestamp)
    last = stamp
  }
  assert.is(last.timestamp, '2026-11-21T12:00:00.002500Z')
})

test('makes ids that are UUIDs of version 7 with the RFC variant', () => {
  const next = createStamper(() => noon, (size) => Buffer.alloc(size, 0xff))
  assert.match(next().id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
})

test('draws random bytes for many ids at once and uses each of them once', () => {
  let halves = 0
  let draws = 0
  const next = createStamper(() => noon, (size) => {
    draws++
    const bytes = Buffer.alloc(size)
    for (let at = 0; at < size; at += 8) bytes.writeUInt16BE(halves++, at + 6)
    return bytes
  })
  const lowers = Array.from({ length: 200 }, () => next().id.slice(19))
  assert.is(new Set(lowers).size, 200)
  assert.ok(draws < 10, `${draws} draws for 200 ids`)
})

test('tells the time right when seconds pass and when they do not', () => {
  let now = noon - 1
  const next = createStamper(() => now, zeros)
  const times = [0, 0.5, 1, 1.25, 86_400_001].map((passed) => {
    now = noon - 1 + passed
    return next().timestamp
  })
  assert.equal(times, [
    '2026-11-21T11:59:59.999000Z',
    '2026-11-21T11:59:59.999500Z',
    '2026-11-21T12:00:00.000000Z',
    '2026-11-21T12:00:00.000250Z',
    '2026-11-22T12:00:00.000000Z',
  ])
})

test('puts the time into the upper half of an id and reads it back', () => {
  const next = createStamper(() => noon + 0.25, zeros)
  const { id, micros } = next()
  const upper = upperHalf(id)
  assert.is(upper, upperHalfOf(micros))
  assert.is(microsOfUpperHalf(upper ?? ''), micros)
})

test('knows an upper half only of a UUID, dashed or not', () => {
  assert.is(upperHalf('0193A0B1-C2D3-7004-8000-000000000000'), '0193a0b1c2d37004')
  assert.is(upperHalf('0193a0b1c2d370048000000000000000'), '0193a0b1c2d37004')
  for (const text of ['', 'x', '0193a0b1', 'zzzza0b1c2d370048000000000000000']) assert.is(upperHalf(text), undefined)
})

test('reads the upper half of a UUID as two numbers, dashed or not', () => {
  const words = { high: 0x0193a0b1, low: 0xc2d37f04 }
  for (const id of [
    '0193a0b1-c2d3-7f04-8000-000000000000', '0193A0B1-C2D3-7F04-8000-000000000000', '0193a0b1c2d37f048000000000000000',
  ]) {
    assert.equal(upperWords(id), words)
  }
  const digits = { high: 0x0123_4567, low: 0x89ab_cdef }
  assert.equal(upperWords('01234567-89ab-cdef-8000-000000000000'), digits)
  for (const text of ['', 'x', '0193a0b1', 'zzzza0b1c2d370048000000000000000']) assert.is(upperWords(text), undefined)
})

const times: [string, string | undefined][] = [
  ['2026-11-21T12:00:00.123456Z', '2026-11-21T12:00:00.123456Z'],
  ['2026-11-21T12:00:00.123456789Z', '2026-11-21T12:00:00.123456Z'],
  ['2026-11-21T12:00:00.5', '2026-11-21T12:00:00.500000Z'],
  ['2026-11-21T12:00:00', '2026-11-21T12:00:00.000000Z'],
  ['2026-11-21 12:00', '2026-11-21T12:00:00.000000Z'],
  ['2026-11-21', '2026-11-21T00:00:00.000000Z'],
  ['2026-11-21T14:00:00+02:00', '2026-11-21T12:00:00.000000Z'],
  ['2026-11-21T07:30:00.000001-0430', '2026-11-21T12:00:00.000001Z'],
  ['2026-13-21T12:00:00Z', undefined],
  ['yesterday', undefined],
  ['', undefined],
]
for (const [text, expected] of times) {
  test(`reads the time ${JSON.stringify(text)} as ${expected ?? 'none'}`, () => {
    const micros = parseMicros(text)
    assert.is(micros === undefined ? undefined : formatMicros(micros), expected)
  })
}

test.run()
