import * as assert from 'uvu/assert'
import { randomBytes } from 'node:crypto'
import { constants, inflateRawSync } from 'node:zlib'
import { Feed } from '../../src/conversation/log/feed.ts'
import { encodeCompressedText, negotiateDeflate } from '../../src/ws/deflate.ts'
import { parseExtensions } from '../../src/ws/extensions.ts'
import { encodeText } from '../../src/ws/frame.ts'
import { suite } from '../support/suite.ts'

const test = suite('ws/deflate')
const finishFlush = constants.Z_SYNC_FLUSH
const answer = 'permessage-deflate; server_no_context_takeover'

const negotiations: Record<string, string | undefined> = {
  'permessage-deflate': answer,
  'permessage-deflate; client_max_window_bits': answer,
  'permessage-deflate; client_max_window_bits=8': answer,
  'permessage-deflate; client_max_window_bits=15; client_no_context_takeover; server_no_context_takeover':
    `${answer}; client_no_context_takeover`,
  'permessage-deflate; server_max_window_bits=15': `${answer}; server_max_window_bits=15`,
  'permessage-deflate; server_max_window_bits="15"': `${answer}; server_max_window_bits=15`,
  'permessage-deflate; server_max_window_bits=10, permessage-deflate': answer,
  'x, permessage-deflate; server_max_window_bits=8, permessage-deflate; server_max_window_bits=15':
    `${answer}; server_max_window_bits=15`,
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
    assert.is(negotiateDeflate(parseExtensions(offer) ?? [], { mayKeepContext: true })?.header, expected)
  })
}

test('lets a client keep its context unless it offers not to, or there is no room', () => {
  const keeps = (offer: string, mayKeepContext: boolean): unknown =>
    negotiateDeflate(parseExtensions(offer) ?? [], { mayKeepContext })
  const without = { header: `${answer}; client_no_context_takeover`, keepsContext: false }
  assert.equal(keeps('permessage-deflate', true), { header: answer, keepsContext: true })
  assert.equal(keeps('permessage-deflate', false), without)
  assert.equal(keeps('permessage-deflate; client_no_context_takeover', true), without)
  assert.equal(keeps('permessage-deflate; client_no_context_takeover', false), without)
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
  for (const length of [0, 1023, 256 * 1024 + 1]) {
    const payload = Buffer.alloc(length, 'x')
    assert.ok(encodeCompressedText(payload).equals(encodeText(payload)), String(length))
  }
  assert.is(encodeCompressedText(Buffer.alloc(1024, 'x'))[0], 0xc1)
  assert.is(encodeCompressedText(Buffer.alloc(256 * 1024, 'x'))[0], 0xc1)
})

test('leaves a text as it is that would only grow', () => {
  const payload = randomBytes(2000)
  assert.ok(encodeCompressedText(payload).equals(encodeText(payload)))
})

test('gives all readers that compress the same frame, which is made once, and the others theirs', () => {
  const feed = new Feed({ eventCount: 0, readRange: async () => ({ events: [], next: 0 }) }, 10)
  const frames: Buffer[] = []
  for (const encode of [encodeCompressedText, encodeText, encodeCompressedText, encodeText]) {
    feed.join(0, encode, { write: (frame) => frames.push(frame) > 0, end: () => undefined })
  }
  feed.publish({ sequence: 0, json: Buffer.alloc(5000, 'an event ') })
  const [first, second, third, fourth] = frames
  assert.ok(first !== undefined && first === third)
  assert.ok(second !== undefined && second === fourth)
  assert.equal([first[0], second[0]], [0xc1, 0x81])
})

test.run()
