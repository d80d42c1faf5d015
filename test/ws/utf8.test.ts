import { isUtf8 } from 'node:buffer'
import * as assert from 'uvu/assert'
import { carryUtf8 } from '../../src/ws/utf8.ts'
import { suite } from '../support/suite.ts'

const test = suite('ws/utf8')
const none = Buffer.alloc(0)

/** `good` with an empty carry at the end, `open` with bytes left, or the index of the piece that broke it. */
function run(pieces: Buffer[]): 'good' | 'open' | number {
  let carry: Buffer = none
  for (const [index, piece] of pieces.entries()) {
    const next = carryUtf8(carry, piece)
    if (next === undefined) return index
    carry = next
  }
  return carry.length === 0 ? 'good' : 'open'
}

function bytesOf(bytes: Buffer): Buffer[] {
  return Array.from(bytes, (byte) => Buffer.from([byte]))
}

test('accepts a text split at every byte', () => {
  const text = Buffer.from('aé€\u{10ffff}😀\u0000\ud7ff\ue000\u{10000}z\ufeff')
  for (let at = 0; at <= text.length; at++)
    assert.is(run([text.subarray(0, at), text.subarray(at)]), 'good', String(at))
  assert.is(run(bytesOf(text)), 'good')
  assert.is(run([]), 'good')
})

test('says that a text is open while a character is', () => {
  for (const character of ['é', '€', '😀']) {
    const bytes = Buffer.from(character)
    for (let end = 1; end < bytes.length; end++) assert.is(run([Buffer.from('x'), bytes.subarray(0, end)]), 'open')
  }
})

/** The first byte that no text can have in this place, counted from 0 (RFC 3629, section 4). */
const broken: Record<string, number> = {
  '80': 0,
  bf: 0,
  c0: 0,
  c1: 0,
  f5: 0,
  ff: 0,
  fe: 0,
  c241: 1,
  c2c2: 1,
  c27f: 1,
  e09f: 1,
  e080: 1,
  eda0: 1,
  edbf: 1,
  e14180: 1,
  e18041: 2,
  e180c0: 2,
  f08f: 1,
  f080: 1,
  f490: 1,
  f4bf: 1,
  f18041: 2,
  f1808041: 3,
  f18080c2: 3,
  '6180': 1,
  c3a9a9: 2,
}
for (const [hex, at] of Object.entries(broken)) {
  test(`refuses ${hex} with byte ${at}, as soon as it is there`, () => {
    const bytes = Buffer.from(hex, 'hex')
    assert.is(run(bytesOf(bytes)), at)
    assert.is(run([Buffer.from('fine: é'), bytes]), 1)
    assert.is(run([bytes.subarray(0, at), bytes.subarray(at)]), 1)
  })
}

test('agrees with Node on every sequence of two bytes, and of three and four at the edges', () => {
  const edges = [0x00, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc1, 0xc2, 0xdf, 0xe0, 0xed, 0xef, 0xf0, 0xf4, 0xf5]
  const all = Array.from({ length: 256 }, (_, byte) => byte)
  const check = (bytes: number[]): void => {
    const whole = Buffer.from(bytes)
    assert.is(run(bytesOf(whole)) === 'good', isUtf8(whole), whole.toString('hex'))
  }
  for (const first of all) for (const second of all) check([first, second])
  for (const first of edges)
    for (const second of edges)
      for (const third of edges) {
        check([first, second, third])
        for (const fourth of edges) check([first, second, third, fourth])
      }
})

test.run()
