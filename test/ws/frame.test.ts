import * as assert from 'uvu/assert'
import { encodeClose, encodeFrame, encodeText, encodeTexts, isCloseCode, opcodes } from '../../src/ws/frame.ts'
import { suite } from '../support/suite.ts'

const test = suite('ws/frame')

test('encodes the examples of RFC 6455, section 5.7', () => {
  assert.equal(encodeText('Hello').toString('hex'), '810548656c6c6f')
  assert.equal(encodeFrame(opcodes.ping, Buffer.from('Hello')).toString('hex'), '890548656c6c6f')
  assert.equal(encodeFrame(opcodes.binary, Buffer.alloc(256)).subarray(0, 4).toString('hex'), '827e0100')
  assert.equal(
    encodeFrame(opcodes.binary, Buffer.alloc(65_536)).subarray(0, 10).toString('hex'),
    '827f0000000000010000',
  )
})

const headers: Record<number, string> = {
  0: '8200',
  125: '827d',
  126: '827e007e',
  65_535: '827effff',
  65_536: '827f0000000000010000',
  16_777_216: '827f0000000001000000',
}
for (const [length, header] of Object.entries(headers)) {
  test(`writes a length of ${length} in the fewest bytes`, () => {
    const payload = Buffer.alloc(Number(length), 7)
    const frame = encodeFrame(opcodes.binary, payload)
    assert.is(frame.subarray(0, -payload.length || undefined).toString('hex'), header)
    assert.is(frame.length, header.length / 2 + payload.length)
    assert.ok(frame.subarray(header.length / 2).equals(payload))
  })
}

test('encodes many texts as their frames one behind the other', () => {
  const payloads = [0, 125, 126, 65_535, 65_536].map((length) => Buffer.alloc(length, 'x'))
  assert.ok(encodeTexts(payloads).equals(Buffer.concat(payloads.map((payload) => encodeText(payload)))))
  assert.is(encodeTexts([]).length, 0)
})

test('sets RSV1 for a compressed payload only', () => {
  assert.is(encodeFrame(opcodes.text, Buffer.from('x'), true)[0], 0xc1)
  assert.is(encodeFrame(opcodes.text, Buffer.from('x'))[0], 0x81)
})

test('encodes a string and its bytes alike', () => {
  for (const text of ['', 'x', 'é€😀', 'ü'.repeat(100), 'x'.repeat(70_000)]) {
    assert.ok(encodeText(text).equals(encodeText(Buffer.from(text))), text.slice(0, 5))
  }
})

test('encodes Close with a code, a reason, or neither', () => {
  assert.is(encodeClose().toString('hex'), '8800')
  assert.is(encodeClose(1000).toString('hex'), '880203e8')
  assert.is(encodeClose(4004, 'né').toString('hex'), '88050fa46ec3a9')
})

test('cuts a long close reason between characters', () => {
  const frame = encodeClose(1000, '€'.repeat(50))
  assert.is(frame.length, 2 + 2 + 123)
  assert.is(frame.subarray(4).toString(), '€'.repeat(41))
  assert.is(
    encodeClose(1000, `x${'€'.repeat(50)}`)
      .subarray(4)
      .toString(),
    `x${'€'.repeat(40)}`,
  )
})

test('refuses to send a code that must not be sent', () => {
  for (const code of [0, 999, 1005, 1006, 1015, 2999, 5000, 1.5, Number.NaN]) {
    assert.throws(
      () => encodeClose(code),
      (error: unknown) => error instanceof RangeError,
      String(code),
    )
  }
})

test('knows the codes that may be received (section 7.4)', () => {
  const allowed = Array.from({ length: 6000 }, (_, code) => code).filter(isCloseCode)
  assert.equal(
    allowed.filter((code) => code < 3000),
    [1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 1012, 1013, 1014],
  )
  assert.is(allowed.filter((code) => code >= 3000).length, 2000)
  assert.is(allowed.at(-1), 4999)
})

test.run()
