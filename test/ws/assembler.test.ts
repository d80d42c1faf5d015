import * as assert from 'uvu/assert'
import { Assembler, messageInTurns, messageOf } from '../../src/ws/assembler.ts'
import type { AssemblerOptions, Incoming } from '../../src/ws/assembler.ts'
import type { Opcode } from '../../src/ws/frame.ts'
import { suite } from '../support/suite.ts'

const test = suite('ws/assembler')

interface Part {
  readonly opcode: Opcode
  readonly payload: string | Buffer
  readonly final?: boolean
  readonly compressed?: boolean
}

/** Everything that the frames complete, up to the first broken rule. */
function assemble(parts: Part[], options: Partial<AssemblerOptions> = {}): Incoming[] {
  const assembler = new Assembler({ maxMessageBytes: 1000, maxFragments: 100, ...options })
  const found: Incoming[] = []
  for (const { payload, final = true, compressed = false, opcode } of parts) {
    const incoming = assembler.add({ kind: 'frame', opcode, final, compressed, payload: Buffer.from(payload) })
    if (incoming !== undefined) found.push(incoming)
    if (incoming?.kind === 'broken') break
  }
  return found
}

const text = (value: string): Incoming => ({ kind: 'text', text: value })
const broke = (rule: string): unknown => ({ kind: 'broken', rule })
const [more, message, bytes, close, ping, pong] = [0, 1, 2, 8, 9, 10] as const
const final = (opcode: Opcode, payload: string | Buffer): Part => ({ opcode, payload })
const open = (opcode: Opcode, payload: string | Buffer): Part => ({ opcode, payload, final: false })
const squeezed = (opcode: Opcode, payload: string | Buffer): Part => ({ opcode, payload, compressed: true })

const rows: Record<string, { parts: Part[]; found: unknown[]; options?: Partial<AssemblerOptions> }> = {
  'a text in one frame': { parts: [final(message, 'né')], found: [text('né')] },
  'an empty text': { parts: [final(message, '')], found: [text('')] },
  'bytes in one frame': {
    parts: [final(bytes, Buffer.from([0xff]))],
    found: [{ kind: 'binary', data: Buffer.from([0xff]) }],
  },
  'a text in three fragments (section 5.4)': {
    parts: [open(message, 'a'), open(more, 'b'), final(more, 'c')],
    found: [text('abc')],
  },
  'empty fragments': {
    parts: [open(message, ''), open(more, ''), final(more, ''), final(message, 'x')],
    found: [text(''), text('x')],
  },
  'bytes in fragments': {
    parts: [open(bytes, Buffer.from([0xc3])), final(more, Buffer.from([0x28]))],
    found: [{ kind: 'binary', data: Buffer.from([0xc3, 0x28]) }],
  },
  'control frames between fragments (section 5.5)': {
    parts: [open(message, 'a'), final(ping, 'p'), final(pong, ''), final(more, 'b')],
    found: [{ kind: 'ping', data: Buffer.from('p') }, { kind: 'pong', data: Buffer.from('') }, text('ab')],
  },
  'a character split over fragments (section 8.1)': {
    parts: [
      open(message, Buffer.from([0xf0, 0x9f])),
      open(more, Buffer.from([0x98])),
      final(more, Buffer.from([0x80])),
    ],
    found: [text('😀')],
  },
  'a continuation of nothing': { parts: [final(more, 'x')], found: [broke('continuation_unexpected')] },
  'a continuation after the last fragment': {
    parts: [open(message, 'a'), final(more, 'b'), final(more, 'c')],
    found: [text('ab'), broke('continuation_unexpected')],
  },
  'a text within a fragmented text': {
    parts: [open(message, 'a'), final(message, 'b')],
    found: [broke('continuation_expected')],
  },
  'bytes within a fragmented text': {
    parts: [open(message, 'a'), open(bytes, 'b')],
    found: [broke('continuation_expected')],
  },
  'a text that is not UTF-8': { parts: [final(message, Buffer.from([0x61, 0xff]))], found: [broke('text_not_utf8')] },
  'a text that ends inside a character': {
    parts: [final(message, Buffer.from([0xe2, 0x82]))],
    found: [broke('text_not_utf8')],
  },
  'a fragmented text that ends inside a character': {
    parts: [open(message, 'a'), final(more, Buffer.from([0xe2, 0x82]))],
    found: [broke('text_not_utf8')],
  },
  'a fragment that no later one can make valid, at once': {
    parts: [open(message, Buffer.from([0xed])), open(more, Buffer.from([0xa0]))],
    found: [broke('text_not_utf8')],
  },
  'too many fragments': {
    parts: [open(message, ''), open(more, ''), final(more, '')],
    found: [broke('too_many_fragments')],
    options: { maxFragments: 2 },
  },
  'as many fragments as allowed, twice': {
    parts: [open(message, 'a'), final(more, 'b'), open(message, 'c'), final(more, 'd')],
    found: [text('ab'), text('cd')],
    options: { maxFragments: 2 },
  },
  'Close without a code': { parts: [final(close, '')], found: [{ kind: 'close', code: 1005, reason: '' }] },
  'Close with a code': {
    parts: [final(close, Buffer.from([0x03, 0xe8]))],
    found: [{ kind: 'close', code: 1000, reason: '' }],
  },
  'Close with a reason': {
    parts: [final(close, Buffer.concat([Buffer.from([0x0f, 0xa4]), Buffer.from('né')]))],
    found: [{ kind: 'close', code: 4004, reason: 'né' }],
  },
  'Close with one byte': { parts: [final(close, Buffer.from([3]))], found: [broke('close_length')] },
  'Close with a reason that is not UTF-8': {
    parts: [final(close, Buffer.from([0x03, 0xe8, 0xc3]))],
    found: [broke('close_reason')],
  },
}
for (const [name, { parts, found, options }] of Object.entries(rows)) {
  test(`${name} gives ${found.map((each) => JSON.stringify(each)).join(', ')}`, () =>
    assert.equal(assemble(parts, options), found))
}

for (const code of [0, 999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999, 5000, 65_535]) {
  test(`refuses Close with code ${code} (section 7.4)`, () => {
    assert.equal(assemble([final(close, Buffer.from([code >> 8, code & 0xff]))]), [broke('close_code')])
  })
}

test('throws on an opcode that no parser gives', () => {
  const assembler = new Assembler({ maxMessageBytes: 10, maxFragments: 5 })
  assert.throws(
    () => assembler.add(JSON.parse('{"kind":"frame","opcode":3}')),
    (error: unknown) => error instanceof TypeError,
  )
})

test('says how much of the message may still come', () => {
  const assembler = new Assembler({ maxMessageBytes: 10, maxFragments: 5 })
  const add = (payload: string, opcode: Opcode, final: boolean): unknown =>
    assembler.add({ kind: 'frame', opcode, final, compressed: false, payload: Buffer.from(payload) })
  assert.is(assembler.remainingBytes, 10)
  add('1234', message, false)
  assert.is(assembler.remainingBytes, 6)
  add('5678', more, true)
  assert.is(assembler.remainingBytes, 10)
  assembler.maxMessageBytes = 20
  assert.is(assembler.remainingBytes, 20)
})

test('gives a compressed message as it is, in one frame or from fragments', () => {
  const parts: Part[] = [
    squeezed(message, 'abc'),
    { ...squeezed(message, 'd'), final: false },
    final(ping, ''),
    final(more, Buffer.from([0xff])),
    squeezed(bytes, ''),
    final(message, 'plain'),
  ]
  assert.equal(assemble(parts), [
    { kind: 'undecoded', of: 'text', isCompressed: true, payload: Buffer.from('abc') },
    { kind: 'ping', data: Buffer.alloc(0) },
    { kind: 'undecoded', of: 'text', isCompressed: true, payload: Buffer.from([0x64, 0xff]) },
    { kind: 'undecoded', of: 'binary', isCompressed: true, payload: Buffer.alloc(0) },
    text('plain'),
  ])
})

test('makes a message of what was decompressed, if that is UTF-8 where it has to be', () => {
  assert.equal(messageOf('text', Buffer.from('né')), text('né'))
  assert.equal(messageOf('binary', Buffer.from([0xff])), { kind: 'binary', data: Buffer.from([0xff]) })
  assert.equal(messageOf('text', Buffer.from([0xff])), broke('text_not_utf8'))
})

test('decodes a long text in turns, and gives it as at once', async () => {
  const words = 'aé€😀'.repeat(400_000)
  let turns = 0
  let timer = setImmediate(function count() {
    turns++
    timer = setImmediate(count)
  })
  assert.ok(sameText(await messageInTurns('text', Buffer.from(`\uFEFF${words}`)), `\uFEFF${words}`))
  clearImmediate(timer)
  assert.ok(turns >= 4, `${turns} turns`)
  assert.equal(await messageInTurns('text', Buffer.from('né')), text('né'))
  assert.equal(await messageInTurns('binary', Buffer.from([0xff])), { kind: 'binary', data: Buffer.from([0xff]) })
  assert.equal(
    await messageInTurns('text', Buffer.concat([Buffer.from(words), Buffer.from([0xe2, 0x82])])),
    broke('text_not_utf8'),
  )
})

/** Compared by hand: a difference in a long text would be printed for minutes. */
function sameText(message: Incoming, words: string): boolean {
  return message.kind === 'text' && message.text === words
}

test.run()
