import * as assert from 'uvu/assert'
import { Parser } from '../../src/ws/parser.ts'
import type { Frame } from '../../src/ws/parser.ts'
import type { Broken } from '../../src/ws/violation.ts'
import { suite } from '../support/suite.ts'
import { frame } from '../support/ws-client.ts'

const test = suite('ws/parser')
const limitBytes = 16 * 1024 * 1024

interface Given {
  readonly deflate?: boolean
  readonly limitBytes?: number
}

/** Everything that comes out when the pieces are pushed one after the other. */
function parse(pieces: Iterable<Uint8Array>, given: Given = {}): (Frame | Broken)[] {
  const parser = new Parser(given.deflate ?? false)
  const found: (Frame | Broken)[] = []
  for (const piece of pieces) {
    // Copied, because a parser writes to its input.
    parser.push(Buffer.from(piece))
    for (;;) {
      const next = parser.next(given.limitBytes ?? limitBytes)
      if (next === undefined) break
      found.push(next)
    }
  }
  return found
}

function bytesOf(bytes: Buffer): Buffer[] {
  return Array.from(bytes, (byte) => Buffer.from([byte]))
}

function rulesOf(found: (Frame | Broken)[]): string[] {
  return found.map((each) => (each.kind === 'broken' ? each.rule : each.kind))
}

test('reads the masked example of RFC 6455, section 5.7', () => {
  const [hello] = parse([Buffer.from('818537fa213d7f9f4d5158', 'hex')])
  assert.ok(hello?.kind === 'frame')
  assert.equal([hello.opcode, hello.final, hello.compressed, hello.payload.toString()], [1, true, false, 'Hello'])
})

for (const opcode of [0, 1, 2, 8, 9, 10]) {
  test(`reads opcode ${opcode}`, () => {
    const [found] = parse([frame(opcode, Buffer.from('x'))])
    assert.ok(found?.kind === 'frame' && found.opcode === opcode)
  })
}

for (const opcode of [3, 4, 5, 6, 7, 11, 12, 13, 14, 15]) {
  test(`refuses opcode ${opcode}, which is reserved`, () => {
    assert.equal(rulesOf(parse([frame(opcode, Buffer.from('x'))])), ['opcode_unknown'])
  })
}

for (const length of [0, 1, 125, 126, 127, 65_535, 65_536, 16 * 1024 * 1024]) {
  test(`reads a payload of ${length} bytes, whole and in chunks`, () => {
    const payload = Buffer.alloc(length, 'payload ')
    const bytes = frame(2, payload)
    const chunks = Array.from({ length: Math.ceil(bytes.length / 65_536) }, (_, index) =>
      bytes.subarray(index * 65_536, (index + 1) * 65_536),
    )
    for (const pieces of [[bytes], chunks]) {
      const [found, ...more] = parse(pieces)
      assert.ok(found?.kind === 'frame' && found.payload.equals(payload))
      assert.is(more.length, 0)
    }
  })
}

test('reads the same from single bytes, from every split in two, and from the whole', () => {
  const bytes = Buffer.concat([
    frame(1, Buffer.from('a'), { final: false }),
    frame(9, Buffer.alloc(0)),
    frame(0, Buffer.alloc(126, 'b')),
    frame(2, Buffer.alloc(300, 'c')),
    frame(8, Buffer.from([0x03, 0xe8])),
  ])
  const whole = parse([bytes])
  assert.is(whole.length, 5)
  assert.equal(parse(bytesOf(bytes)), whole)
  for (let at = 0; at <= bytes.length; at++) assert.equal(parse([bytes.subarray(0, at), bytes.subarray(at)]), whole)
})

const empty = Buffer.alloc(0)
const broken: Record<
  string,
  { bytes: Buffer; rule: string; given?: Given; /** bytes after which it must be known */ within?: number }
> = {
  'RSV1 without an extension': { bytes: frame(1, empty, { reserved: 0x40 }), rule: 'reserved_bit', within: 2 },
  RSV2: { bytes: frame(1, empty, { reserved: 0x20 }), rule: 'reserved_bit', given: { deflate: true }, within: 2 },
  RSV3: { bytes: frame(1, empty, { reserved: 0x10 }), rule: 'reserved_bit', given: { deflate: true }, within: 2 },
  'RSV1 on a continuation': {
    bytes: frame(0, empty, { reserved: 0x40 }),
    rule: 'reserved_bit',
    given: { deflate: true },
    within: 2,
  },
  'RSV1 on a Ping': {
    bytes: frame(9, empty, { reserved: 0x40 }),
    rule: 'reserved_bit',
    given: { deflate: true },
    within: 2,
  },
  'a frame without a mask': { bytes: frame(1, Buffer.from('x'), { masked: false }), rule: 'mask_missing', within: 2 },
  'a fragmented Ping': { bytes: frame(9, empty, { final: false }), rule: 'control_fragmented', within: 2 },
  'a fragmented Close': { bytes: frame(8, empty, { final: false }), rule: 'control_fragmented', within: 2 },
  'a Ping of 126 bytes': { bytes: frame(9, Buffer.alloc(126)), rule: 'control_too_long', within: 2 },
  'a Pong of 65,536 bytes': { bytes: frame(10, Buffer.alloc(65_536)), rule: 'control_too_long', within: 2 },
  'a short Ping with a long length': {
    bytes: frame(9, Buffer.alloc(5), { lengthBytes: 2 }),
    rule: 'control_too_long',
    within: 2,
  },
  'a length of 0 in two bytes': { bytes: frame(1, empty, { lengthBytes: 2 }), rule: 'length_not_minimal', within: 4 },
  'a length of 125 in two bytes': {
    bytes: frame(1, Buffer.alloc(125), { lengthBytes: 2 }),
    rule: 'length_not_minimal',
    within: 4,
  },
  'a length of 125 in eight bytes': {
    bytes: frame(1, Buffer.alloc(125), { lengthBytes: 8 }),
    rule: 'length_not_minimal',
    within: 10,
  },
  'a length of 65,535 in eight bytes': {
    bytes: frame(1, Buffer.alloc(65_535), { lengthBytes: 8 }),
    rule: 'length_not_minimal',
    within: 10,
  },
  'a length with the highest bit': {
    bytes: Buffer.from('81ff8000000000000001', 'hex'),
    rule: 'length_high_bit',
    within: 10,
  },
  'a length of 1 GB': { bytes: Buffer.from('81ff0000000040000000', 'hex'), rule: 'message_too_large', within: 10 },
  'a length beyond exact numbers': {
    bytes: Buffer.from('81ff7fffffffffffffff', 'hex'),
    rule: 'message_too_large',
    within: 10,
  },
  'one byte more than the limit': {
    bytes: frame(1, Buffer.alloc(11)),
    rule: 'message_too_large',
    given: { limitBytes: 10 },
    within: 2,
  },
  'two bytes of length more than the limit': {
    bytes: frame(2, Buffer.alloc(201)),
    rule: 'message_too_large',
    given: { limitBytes: 200 },
    within: 4,
  },
}
for (const [name, { bytes, rule, given, within }] of Object.entries(broken)) {
  test(`refuses ${name} with ${rule} before the payload`, () => {
    assert.equal(rulesOf(parse([bytes.subarray(0, within)], given)), [rule])
    assert.equal(rulesOf(parse(bytesOf(bytes.subarray(0, within)), given)), [rule])
    assert.equal(rulesOf(parse([frame(10, empty), bytes, frame(10, empty)], given)), ['frame', rule])
  })
}

test('gives nothing more after a broken rule', () => {
  const parser = new Parser(false)
  parser.push(Buffer.concat([frame(3, empty), frame(1, empty)]))
  assert.equal(parser.next(limitBytes), { kind: 'broken', rule: 'opcode_unknown' })
  assert.is(parser.next(limitBytes), undefined)
  parser.push(frame(1, empty))
  assert.is(parser.next(limitBytes), undefined)
})

test('takes RSV1 as compression once that was negotiated', () => {
  const found = parse(
    [frame(1, empty, { reserved: 0x40 }), frame(2, empty, { reserved: 0x40, final: false }), frame(1, empty)],
    { deflate: true },
  )
  assert.equal(
    found.map((each) => each.kind === 'frame' && each.compressed),
    [true, true, false],
  )
})

test('lets the limit of a data frame not stop a control frame, nor a frame of just that size', () => {
  assert.equal(rulesOf(parse([frame(9, Buffer.alloc(125)), frame(1, Buffer.alloc(10))], { limitBytes: 10 })), [
    'frame',
    'frame',
  ])
})

test('gives frames one at a time, at the pace of the reader, while more is pushed', () => {
  const parser = new Parser(false)
  parser.push(Buffer.concat([frame(1, Buffer.from('one')), frame(1, Buffer.from('two')).subarray(0, 7)]))
  const texts: string[] = []
  const take = (): void => {
    const next = parser.next(limitBytes)
    if (next?.kind === 'frame') texts.push(next.payload.toString())
  }
  take()
  take()
  parser.push(frame(1, Buffer.from('x')).subarray(0, 0))
  take()
  assert.equal(texts, ['one'])
})

test('goes on in the middle of a chunk when another one is pushed', () => {
  const parser = new Parser(false)
  parser.push(Buffer.concat([frame(1, Buffer.from('one')), frame(1, Buffer.from('two'))]))
  const first = parser.next(limitBytes)
  parser.push(frame(1, Buffer.from('three')))
  const texts = [first, parser.next(limitBytes), parser.next(limitBytes)].map(
    (each) => each?.kind === 'frame' && each.payload.toString(),
  )
  assert.equal(texts, ['one', 'two', 'three'])
  assert.is(parser.next(limitBytes), undefined)
})

test.run()
