import * as assert from 'uvu/assert'
import { constants, createDeflateRaw, deflateRawSync, inflateRawSync } from 'node:zlib'
import { encodeCompressedText, Inflater, negotiateDeflate } from '../../src/ws/deflate.ts'
import { parseExtensions } from '../../src/ws/extensions.ts'
import { encodeText } from '../../src/ws/frame.ts'
import { suite } from '../support/suite.ts'

const test = suite('ws/deflate')
const finishFlush = constants.Z_SYNC_FLUSH
const answer = 'permessage-deflate; server_no_context_takeover'
const limitBytes = 1_000_000

const negotiations: Record<string, string | undefined> = {
  'permessage-deflate': answer,
  'permessage-deflate; client_max_window_bits': answer,
  'permessage-deflate; client_max_window_bits=8': answer,
  'permessage-deflate; client_max_window_bits=15; client_no_context_takeover; server_no_context_takeover': answer,
  'permessage-deflate; server_max_window_bits=15': `${answer}; server_max_window_bits=15`,
  'permessage-deflate; server_max_window_bits="15"': `${answer}; server_max_window_bits=15`,
  'permessage-deflate; server_max_window_bits=10, permessage-deflate': answer,
  'x, permessage-deflate; server_max_window_bits=8, permessage-deflate; server_max_window_bits=15': `${answer}; server_max_window_bits=15`,
  '': undefined,
  'x-webkit-deflate-frame': undefined,
  'permessage-deflate2': undefined,
  'permessage-deflate; server_max_window_bits=14': undefined,
  'permessage-deflate; server_max_window_bits': undefined,
  'permessage-deflate; server_max_window_bits=16': undefined,
  'permessage-deflate; server_max_window_bits=015': undefined,
  'permessage-deflate; client_max_window_bits=7': undefined,
  'permessage-deflate; client_max_window_bits=16': undefined,
  'permessage-deflate; client_max_window_bits=08': undefined,
  'permessage-deflate; client_max_window_bits=x': undefined,
  'permessage-deflate; client_no_context_takeover=1': undefined,
  'permessage-deflate; server_no_context_takeover=true': undefined,
  'permessage-deflate; client_max_window_bits; client_max_window_bits': undefined,
  'permessage-deflate; unknown': undefined,
}
for (const [offer, expected] of Object.entries(negotiations)) {
  test(`${offer === '' ? 'no offer' : offer} is ${expected === undefined ? 'declined' : 'accepted'}`, () => {
    assert.is(negotiateDeflate(parseExtensions(offer) ?? []), expected)
  })
}

test('reads the examples of RFC 7692, section 7.2.3', () => {
  for (const hex of ['f248cdc9c90700', '000500faff48656c6c6f00', 'f348cdc9c9070000', 'f24805000000ffffcac9c90700']) {
    const found = new Inflater().inflate(Buffer.from(hex, 'hex'), limitBytes)
    assert.ok(Buffer.isBuffer(found), hex)
    assert.is(found.toString(), 'Hello', hex)
  }
})

test('reads the example with a shared window (section 7.2.3.2)', () => {
  const inflater = new Inflater()
  assert.is(String(inflater.inflate(Buffer.from('f248cdc9c90700', 'hex'), limitBytes)), 'Hello')
  assert.is(String(inflater.inflate(Buffer.from('f200110000', 'hex'), limitBytes)), 'Hello')
})

/** A client that keeps its context: one compressor, flushed after every message. */
async function compressAll(messages: Buffer[]): Promise<Buffer[]> {
  const deflate = createDeflateRaw()
  const output: Buffer[] = []
  deflate.on('data', (chunk: Buffer) => output.push(chunk))
  const compressed: Buffer[] = []
  for (const message of messages) {
    deflate.write(message)
    await new Promise<void>((resolve) => deflate.flush(finishFlush, resolve))
    compressed.push(Buffer.concat(output.splice(0)).subarray(0, -4))
  }
  deflate.close()
  return compressed
}

test('follows a client that keeps its context over many messages', async () => {
  const words = Array.from({ length: 50 }, (_, index) =>
    Buffer.from(`word${(index * 7919) % 101} `.repeat(index * 40 + 1)),
  )
  const messages = [...words, Buffer.alloc(100_000, 'long'), ...words, Buffer.alloc(0), ...words]
  const inflater = new Inflater()
  for (const [index, payload] of (await compressAll(messages)).entries()) {
    const found = inflater.inflate(payload, limitBytes)
    assert.ok(Buffer.isBuffer(found) && messages[index]?.equals(found), `message ${index}`)
  }
})

test('stops a bomb at the limit, and lets a message of just that size pass', () => {
  const payload = deflateRawSync(Buffer.alloc(50_000_000), { finishFlush }).subarray(0, -4)
  assert.ok(payload.length < 100_000)
  assert.equal(new Inflater().inflate(payload, limitBytes), { kind: 'broken', rule: 'message_too_large' })
  const exact = deflateRawSync(Buffer.alloc(limitBytes), { finishFlush }).subarray(0, -4)
  assert.is(Buffer.from(String(new Inflater().inflate(exact, limitBytes))).length, limitBytes)
})

test('refuses what is no DEFLATE data, or goes on after a final block', () => {
  const final = 'f348cdc9c90700'
  for (const hex of ['ff', 'deadbeef', final + final, final + '00'.repeat(9)]) {
    const found = new Inflater().inflate(Buffer.from(hex, 'hex'), limitBytes)
    assert.equal(found, { kind: 'broken', rule: 'compressed_data' }, hex)
  }
})

test('compresses a text into a frame that needs nothing before it', () => {
  const text = JSON.stringify(Array.from({ length: 100 }, (_, id) => ({ kind: 'MessageEvent', id })))
  const frame = encodeCompressedText(Buffer.from(text))
  assert.is(frame[0], 0xc1)
  assert.ok(frame.length < text.length / 3)
  const payload = Buffer.concat([frame.subarray(4), Buffer.from([0, 0, 0xff, 0xff])])
  assert.is(inflateRawSync(payload, { finishFlush }).toString(), text)
  assert.ok(encodeCompressedText(Buffer.from(text)).equals(frame))
})

test('leaves short and very long texts as they are', () => {
  for (const length of [0, 255, 1024 * 1024 + 1]) {
    const payload = Buffer.alloc(length, 'x')
    assert.ok(encodeCompressedText(payload).equals(encodeText(payload)), String(length))
  }
  assert.is(encodeCompressedText(Buffer.alloc(256, 'x'))[0], 0xc1)
  assert.is(encodeCompressedText(Buffer.alloc(1024 * 1024, 'x'))[0], 0xc1)
})

test.run()
