import * as assert from 'uvu/assert'
import { constants, createDeflateRaw, deflateRawSync } from 'node:zlib'
import { Compression } from '../../src/ws/compression.ts'
import type { Inflater } from '../../src/ws/inflater.ts'
import { suite } from '../support/suite.ts'

const test = suite('ws/inflater')
const finishFlush = constants.Z_SYNC_FLUSH
const limitBytes = 1_000_000
const open = (keepsContext = true): Inflater => new Compression().open(keepsContext)
const broke = (rule: string): unknown => ({ kind: 'broken', rule })
const squeeze = (data: Buffer): Buffer => deflateRawSync(data, { finishFlush }).subarray(0, -4)

test('reads the examples of RFC 7692, section 7.2.3', async () => {
  for (const hex of ['f248cdc9c90700', '000500faff48656c6c6f00', 'f348cdc9c9070000', 'f24805000000ffffcac9c90700']) {
    const found = await open().inflate(Buffer.from(hex, 'hex'), limitBytes)
    assert.ok(Buffer.isBuffer(found), hex)
    assert.is(found.toString(), 'Hello', hex)
  }
})

test('reads the example with a shared window (section 7.2.3.2)', async () => {
  const inflater = open()
  assert.is(String(await inflater.inflate(Buffer.from('f248cdc9c90700', 'hex'), limitBytes)), 'Hello')
  assert.is(String(await inflater.inflate(Buffer.from('f200110000', 'hex'), limitBytes)), 'Hello')
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
  const inflater = open()
  for (const [index, payload] of (await compressAll(messages)).entries()) {
    const found = await inflater.inflate(payload, limitBytes)
    assert.ok(Buffer.isBuffer(found) && messages[index]?.equals(found), `message ${index}`)
  }
})

test('forgets what was before when the client agreed to that', async () => {
  const inflater = open(false)
  assert.is(String(await inflater.inflate(Buffer.from('f248cdc9c90700', 'hex'), limitBytes)), 'Hello')
  assert.equal(await inflater.inflate(Buffer.from('f200110000', 'hex'), limitBytes), broke('compressed_data'))
})

test('stops a bomb at the limit, and lets a message of just that size pass', async () => {
  const payload = squeeze(Buffer.alloc(50_000_000))
  assert.ok(payload.length < 100_000)
  const before = process.memoryUsage().arrayBuffers
  assert.equal(await open().inflate(payload, limitBytes), broke('message_too_large'))
  assert.ok(process.memoryUsage().arrayBuffers - before < 8_000_000)
  assert.is(Buffer.from(String(await open().inflate(squeeze(Buffer.alloc(limitBytes)), limitBytes))).length, limitBytes)
})

test(
  'refuses what is no DEFLATE data, ends inside a block, or ends with a final block and nothing after it',
  async () => {
    const final = 'f348cdc9c90700'
    for (const hex of [
      '', 'ff', 'deadbeef', 'f248cdc9', '000500faff4865', final, `${final}ff`, final + final, `${final}00${final}`,
    ]) {
      assert.equal(await open().inflate(Buffer.from(hex, 'hex'), limitBytes), broke('compressed_data'), hex)
    }
  },
)

test('goes on after a final block (section 7.2.1), with the window and the limit of the message', async () => {
  const [final, again, end] = ['f348cdc9c90700', 'f200110000', '00']
  const inflate = (hex: string, limit: number, keeps = true): unknown =>
    open(keeps).inflate(Buffer.from(hex, 'hex'), limit)
  for (const keeps of [true, false]) {
    assert.is(String(await inflate(final + final + end, 10, keeps)), 'HelloHello')
    assert.is(String(await inflate(final + again, 10, keeps)), 'HelloHello')
  }
  assert.equal(await inflate(final + final + end, 9), broke('message_too_large'))
  assert.equal(await inflate(final + final + final + end, 10), broke('message_too_large'))
  const oneByte = '4b0400'
  assert.is(String(await inflate(final + final + oneByte + end, 11)), 'HelloHelloa')
  assert.equal(await inflate(final + final + oneByte + end, 10), broke('message_too_large'))
})

test('allows so many final blocks and no more', async () => {
  const blocks = (count: number): Buffer =>
    Buffer.concat([...Array.from({ length: count }, () => Buffer.from('4b0400', 'hex')), Buffer.from([0])])
  assert.is(String(await open().inflate(blocks(16), limitBytes)), 'a'.repeat(16))
  assert.equal(await open().inflate(blocks(17), limitBytes), broke('compressed_data'))
  assert.equal(await open().inflate(blocks(100_000), limitBytes), broke('compressed_data'))
})

test('does one message of all connections at a time, in order', async () => {
  const compression = new Compression()
  const order: string[] = []
  const done = ['first', 'second', 'third'].map((name, index) =>
    compression.open(false).inflate(squeeze(Buffer.alloc(3_000_000 / (index + 1))), 5_000_000).then(() => {
      return order.push(name)
    }))
  await Promise.all(done)
  assert.equal(order, ['first', 'second', 'third'])
})

test('lets the event loop turn while a message of 16 MiB is decompressed', async () => {
  let turns = 0
  let isDone = false
  const turn = (): void => {
    turns++
    if (!isDone) setImmediate(turn)
  }
  turn()
  const found = await open().inflate(squeeze(Buffer.alloc(16 * 1024 * 1024, 'words ')), 16 * 1024 * 1024)
  isDone = true
  assert.is(Buffer.isBuffer(found) && found.length, 16 * 1024 * 1024)
  assert.ok(turns > 50, `${turns} turns`)
})

test('does nothing any more once it is closed', async () => {
  const compression = new Compression({ maxContexts: 1 })
  const [first, second] = [compression.open(true), compression.open(false)]
  const waits = second.inflate(Buffer.from('f248cdc9c90700', 'hex'), limitBytes)
  second.close()
  assert.equal(await waits, broke('compressed_data'))
  assert.is(compression.hasRoom, false)
  first.close()
  first.close()
  assert.is(compression.hasRoom, true)
  const [one, two] = [compression.open(true), compression.hasRoom]
  assert.is(two, false)
  one.close()
})

test.run()
