/**
 * RFC 7692 section by section: the answer to an offer, and the messages of a client that compresses, with and without
 * context takeover. Each row is sent whole and byte by byte.
 */
import { randomBytes } from 'node:crypto'
import { createDeflateRaw, constants, deflateRawSync, inflateRawSync } from 'node:zlib'
import * as assert from 'uvu/assert'
import { encodeCompressedText } from '../../src/ws/deflate.ts'
import { checkHandshake } from '../../src/ws/handshake.ts'
import { suite } from '../support/suite.ts'
import { exchange } from '../support/ws-wire.ts'
import { binary, bytes, close, more, open, ping, text, type Row } from './rfc6455/row.ts'

const test = suite('ws/rfc7692')

const plain = 'permessage-deflate; server_no_context_takeover'
const without = `${plain}; client_no_context_takeover`

/** Section, offer, and the answer; undefined where the offer is declined and the connection goes on without. */
const negotiations: readonly (readonly [section: string, offer: string, answer: string | undefined])[] = [
  ['5', 'permessage-deflate', plain],
  ['5.1', 'permessage-deflate; server_max_window_bits=10, permessage-deflate', plain],
  ['5.1', 'x-webkit-deflate-frame, permessage-deflate; client_no_context_takeover, permessage-deflate', without],
  ['7.1', 'permessage-deflate; unknown', undefined],
  ['7.1', 'permessage-deflate; unknown=1', undefined],
  ['7.1', 'permessage-deflate; client_max_window_bits; client_max_window_bits=10', undefined],
  ['7.1', 'permessage-deflate; server_no_context_takeover; server_no_context_takeover', undefined],
  ['7.1.1.1', 'permessage-deflate; server_no_context_takeover', plain],
  ['7.1.1.1', 'permessage-deflate; server_no_context_takeover=1', undefined],
  ['7.1.1.2', 'permessage-deflate; client_no_context_takeover', without],
  ['7.1.1.2', 'permessage-deflate; client_no_context_takeover=0', undefined],
  ['7.1.2.1', 'permessage-deflate; server_max_window_bits=15', `${plain}; server_max_window_bits=15`],
  ...[8, 9, 10, 11, 12, 13, 14].map((bits) => [
    '7.1.2.1', `permessage-deflate; server_max_window_bits=${bits}`, undefined,
  ] as const),
  ...['', '=7', '=16', '=015', '=1.5', '=x', '=+15'].map((value) => [
    '7.1.2.1', `permessage-deflate; server_max_window_bits${value}`, undefined,
  ] as const),
  ['7.1.2.2', 'permessage-deflate; client_max_window_bits', plain],
  ...[8, 9, 10, 11, 12, 13, 14, 15].map((bits) => [
    '7.1.2.2', `permessage-deflate; client_max_window_bits=${bits}`, plain,
  ] as const),
  ...['=7', '=16', '=08', '=0', '=x'].map((value) => [
    '7.1.2.2', `permessage-deflate; client_max_window_bits${value}`, undefined,
  ] as const),
  ['7.1.3', 'permessage-deflate; client_max_window_bits; server_max_window_bits=10', undefined],
  ['7.1.3',
    'permessage-deflate; client_max_window_bits; server_max_window_bits=10, permessage-deflate; client_max_window_bits',
    plain],
]

test(`sections 5 and 7.1: ${negotiations.length} offers`, () => {
  for (const [section, offer, answer] of negotiations) {
    const headers = {
      host: 'a', upgrade: 'websocket', connection: 'Upgrade', 'sec-websocket-version': '13',
      'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==', 'sec-websocket-extensions': offer,
    }
    const handshake = checkHandshake({ method: 'GET', httpVersion: '1.1', headers }, { mayKeepContext: true })
    assert.is(handshake.ok, true, `${section}: ${offer}`)
    assert.is(handshake.headers['Sec-WebSocket-Extensions'], answer, `${section}: ${offer}`)
  }
})

const squeezed = { reserved: 0x40 } as const
const first = { ...squeezed, ...open }
const squeeze = (data: string | Buffer, more: object = {}): Buffer =>
  deflateRawSync(data, { finishFlush: constants.Z_SYNC_FLUSH, ...more }).subarray(0, -4)
const hello = Buffer.from('f248cdc9c90700', 'hex')
const again = Buffer.from('f200110000', 'hex')
const failed = { gets: ['close 1007'], closed: /^1007 / } as const
const broke = { gets: ['close 1002'], closed: /^1002 / } as const
const tooLarge = { gets: ['close 1009'], closed: /^1009 / } as const
const deflate = 'context'
const tail = Buffer.from([0x00, 0x00, 0xff, 0xff])
const sizes = [0, 1, 125, 126, 65_535, 65_536, 16 * 1024 * 1024]

const rows: readonly Row[] = [
  // 6 Framing
  {
    section: '6',
    says: 'a message may be compressed or not, one by one',
    deflate,
    sends: bytes(text(hello, squeezed), text('plain'), text(hello, squeezed)),
    hears: ['text Hello', 'text plain', 'text Hello'],
  },
  {
    section: '6', says: 'RSV1 on a continuation fails', deflate,
    sends: bytes(text(hello.subarray(0, 3), first), more(hello.subarray(3), squeezed)), ...broke,
  },
  ...[8, 9, 10].map((opcode): Row => ({
    section: '6', says: `RSV1 on a control frame fails (opcode ${opcode})`, deflate,
    sends: bytes(Buffer.from([0xc0 | opcode, 0x80, 0, 0, 0, 0])), ...broke,
  })),
  { section: '6', says: 'RSV1 without the extension fails', sends: text(hello, squeezed), ...broke },
  {
    section: '6', says: 'control frames are never compressed', deflate, sends: ping(hello),
    gets: [`pong ${hello.toString('hex')}`],
  },
  {
    section: '6.2',
    says: 'fragments are put together before they are decompressed, with control frames between them',
    deflate,
    sends: bytes(
      text(hello.subarray(0, 1), first), ping('x'), more('', open), more(hello.subarray(1, 6), open),
      more(hello.subarray(6)),
    ),
    gets: ['pong 78'],
    hears: ['text Hello'],
  },
  {
    section: '6.2',
    says: 'the order of messages stays, and a Pong does not overtake',
    deflate,
    sends: bytes(text(squeeze('x'.repeat(100_000)), squeezed), text('b'), ping('c'), close(1000)),
    hears: [`text ${'x'.repeat(100_000)}`, 'text b'],
    gets: ['pong 63', 'close 1000'],
    closed: '1000',
  },

  // 7.2.2 Decompression
  ...sizes.flatMap((length) => (length > 1_000_000 ? (['context'] as const) : (['context', 'no_context'] as const)).map(
    (mode): Row => ({
      section: '7.2.2',
      says: `a message of ${length} bytes is read (${mode})`,
      deflate: mode,
      sends: bytes(text(squeeze(Buffer.alloc(length, 'text ')), squeezed), binary(squeeze('b'), squeezed)),
      hears: [`text ${Buffer.alloc(length, 'text ').toString()}`, 'binary 62'],
    }),
  )),
  ...[9, 10, 12, 15].flatMap((windowBits) => [1, 9].map((level): Row => ({
    section: '7.2.2',
    says: `a client may use a window of ${windowBits} bits and any effort (${level})`,
    deflate,
    sends: text(squeeze('some text, some text, '.repeat(5000), { windowBits, level }), squeezed),
    hears: [`text ${'some text, some text, '.repeat(5000)}`],
  }))),
  ...['ff', '06', 'deadbeef', '0500faff48', 'f248cdc9c9ffff'].map((hex): Row => ({
    section: '7.2.2', says: `what is no DEFLATE data fails (${hex})`, deflate,
    sends: text(Buffer.from(hex, 'hex'), squeezed), ...failed,
  })),
  {
    section: '7.2.2', says: 'a text must be UTF-8 once it is decompressed', deflate,
    sends: text(squeeze(Buffer.from([0x61, 0xff])), squeezed), ...failed,
  },
  {
    section: '7.2.2', says: 'bytes that are no text stay what they are', deflate,
    sends: binary(squeeze(Buffer.from([0x61, 0xff])), squeezed), hears: ['binary 61ff'],
  },

  // 7.2.3 Examples
  {
    section: '7.2.3.1', says: 'one compressed block', deflate, sends: bytes('c187', '00000000', hello),
    hears: ['text Hello'],
  },
  {
    section: '7.2.3.1', says: 'the same in fragments', deflate,
    sends: bytes('4183', '00000000', 'f248cd', '8084', '00000000', 'c9c90700'), hears: ['text Hello'],
  },
  {
    section: '7.2.3.2',
    says: 'a shared window',
    deflate,
    sends: bytes(text(hello, squeezed), text(hello, squeezed), text(again, squeezed)),
    hears: ['text Hello', 'text Hello', 'text Hello'],
  },
  {
    section: '7.2.3.2', says: 'a client that agreed to keep no context cannot refer to it', deflate: 'no_context',
    sends: bytes(text(hello, squeezed), text(again, squeezed)), hears: ['text Hello'], ...failed,
  },
  {
    section: '7.2.3.3', says: 'a block that is not compressed', deflate,
    sends: text(Buffer.from('000500faff48656c6c6f00', 'hex'), squeezed), hears: ['text Hello'],
  },
  {
    section: '7.2.3.4', says: 'a final block', deflate, sends: text(Buffer.from('f348cdc9c9070000', 'hex'), squeezed),
    hears: ['text Hello'],
  },
  {
    section: '7.2.3.4',
    says: 'a shared window after a final block',
    deflate,
    sends: bytes(text(Buffer.from('f348cdc9c9070000', 'hex'), squeezed), text(again, squeezed)),
    hears: ['text Hello', 'text Hello'],
  },
  {
    section: '7.2.3.5', says: 'two blocks in one message', deflate,
    sends: text(Buffer.from('f24805000000ffffcac9c90700', 'hex'), squeezed), hears: ['text Hello'],
  },
  {
    section: '7.2.3.6', says: 'an empty message', deflate, sends: text(Buffer.from('00', 'hex'), squeezed),
    hears: ['text '],
  },

  // 10.4 of RFC 6455, for the decompressed text
  {
    section: '8', says: 'a bomb is stopped at the limit of a message', deflate,
    sends: text(squeeze(Buffer.alloc(10_000_000)), squeezed), maxMessageBytes: 65_536, ...tooLarge,
  },
  {
    section: '8', says: 'a message of just that size is taken', deflate,
    sends: text(squeeze('x'.repeat(65_536)), squeezed), maxMessageBytes: 65_536, hears: [`text ${'x'.repeat(65_536)}`],
  },
  {
    section: '8', says: 'one byte more is not', deflate, sends: text(squeeze('x'.repeat(65_537)), squeezed),
    maxMessageBytes: 65_536, ...tooLarge,
  },
  {
    section: '8', says: 'the limit holds for the compressed bytes too', deflate,
    sends: bytes(binary(Buffer.alloc(50), first), more(Buffer.alloc(51))), maxMessageBytes: 100, ...tooLarge,
  },
  {
    section: '8', says: 'a bomb of final blocks is refused', deflate,
    sends: text(Buffer.alloc(3 * 10_000, Buffer.from('030000', 'hex')), squeezed), ...failed,
  },
]

test('every row, whole and byte by byte', async () => {
  for (const row of rows) {
    const { section, says, sends, gets = [], hears = [], closed, isLong: _, ...options } = row
    for (const pieceBytes of [sends.length + 100, sends.length > 5000 ? 1000 : 1]) {
      const found = await exchange(sends, { ...options, pieceBytes })
      const name = `${section}: ${says}, in pieces of ${pieceBytes}`
      assert.equal(found.frames, gets, name)
      assert.equal(found.messages, hears, name)
      if (closed === undefined || typeof closed === 'string') assert.is(found.closed, closed, name)
      else assert.match(found.closed ?? 'open', closed, name)
    }
  }
})

/** Returns the bytes of a client that has one compressor for all of its messages. */
async function inOneContext(messages: readonly Buffer[], windowBits: number): Promise<Buffer> {
  const deflate = createDeflateRaw({ windowBits })
  const output: Buffer[] = []
  deflate.on('data', (chunk: Buffer) => output.push(chunk))
  const frames: Buffer[] = []
  for (const message of messages) {
    deflate.write(message)
    await new Promise<void>((resolve) => deflate.flush(constants.Z_SYNC_FLUSH, resolve))
    frames.push(binary(Buffer.concat(output.splice(0)).subarray(0, -4), squeezed))
  }
  deflate.close()
  return Buffer.concat(frames)
}

test('section 7.1.1.2: a client that keeps its context is followed, whatever its window', async () => {
  const noise = randomBytes(31_000)
  const messages = [
    noise, Buffer.from('short'), noise, Buffer.alloc(40_000, 'long'), Buffer.alloc(0), noise, noise.subarray(7000),
  ]
  for (const windowBits of [9, 12, 15]) {
    const { messages: heard } = await exchange(await inOneContext(messages, windowBits), { deflate })
    assert.equal(heard, messages.map((message) => `binary ${message.toString('hex')}`), `${windowBits} bits`)
  }
})

test('section 7.2.1: what the server sends has no tail, sets RSV1 and refers to nothing before', async () => {
  const words = 'compress me '.repeat(1000)
  const shared = encodeCompressedText(Buffer.from(words))
  const { frames } = await exchange(Buffer.alloc(0), {
    deflate, before: (connection) => void [shared, shared].map((each) => connection.send(each)),
  })
  assert.is(frames.length, 2)
  for (const each of frames) {
    const payload = Buffer.from(each.replace('compressed ', ''), 'hex')
    assert.not.equal(payload.subarray(-4), tail)
    assert.is(inflateRawSync(Buffer.concat([payload, tail]), { finishFlush: constants.Z_SYNC_FLUSH }).toString(), words)
  }
})

test.run()
