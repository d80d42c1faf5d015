import * as assert from 'uvu/assert'
import { constants, createDeflateRaw, deflateRawSync } from 'node:zlib'
import { Compression } from '../../src/ws/compression.ts'
import { encodeCompressedText } from '../../src/ws/deflate.ts'
import { encodeText } from '../../src/ws/frame.ts'
import { suite } from '../support/suite.ts'
import { frame } from '../support/ws-client.ts'
import { overPair, settle, textsOf } from '../support/ws-pair.ts'

const test = suite('ws/connection')
const over = overPair(test)

over('receives texts and bytes in order', async (pair) => {
  pair.client.send('one')
  pair.client.write(frame(2, Buffer.from([1, 2])))
  pair.client.send('né')
  await settle(pair)
  assert.equal(textsOf(pair.messages), ['one', '0102', 'né'])
})

over('sends texts of every size in order', async ({ connection, client }) => {
  const texts = [0, 1, 125, 126, 65_535, 65_536, 300_000].map((length) => 'x'.repeat(length))
  for (const text of texts) assert.ok(connection.sendText(text))
  assert.ok(connection.send(encodeText(Buffer.from('last'))))
  for (const text of texts) assert.is((await client.next()).length, text.length)
  assert.is(await client.next(), 'last')
})

over('sends what one turn queued in one write', async ({ connection, client, socket }) => {
  let writes = 0
  const write = socket._write.bind(socket)
  socket._write = (chunk, encoding, done) => {
    writes++
    write(chunk, encoding, done)
  }
  for (let count = 0; count < 50; count++) connection.sendText(String(count))
  await Promise.resolve()
  connection.sendText('after a microtask')
  assert.ok(connection.bufferedBytes > 0)
  await client.until(() => client.messages.length === 51)
  assert.is(writes, 1)
  assert.is(connection.bufferedBytes, 0)
})

over('answers every Ping while the socket takes what is sent', async ({ client }) => {
  for (let count = 0; count < 10; count++) client.ping(`payload ${count}`)
  await client.until(() => client.pongs.length === 10)
  assert.equal(
    client.pongs,
    Array.from({ length: 10 }, (_, count) => `payload ${count}`),
  )
})

over('ignores a Pong that nobody asked for', async (pair) => {
  pair.client.write(frame(10, Buffer.from('x')))
  await settle(pair)
  assert.is(pair.connection.sendText('still open'), true)
})

over(
  'lets a message of exactly the limit pass, also in fragments, and no longer one',
  async (pair) => {
    const { client } = pair
    client.send('x'.repeat(1000))
    client.write(Buffer.concat([frame(1, Buffer.alloc(999, 'y'), { final: false }), frame(0, Buffer.from('y'))]))
    await settle(pair)
    assert.equal(
      textsOf(pair.messages).map((text) => text.length),
      [1000, 1000],
    )
    client.write(Buffer.concat([frame(1, Buffer.alloc(999), { final: false }), frame(0, Buffer.alloc(2))]))
    assert.is((await client.closed).code, 1009)
  },
  { maxMessageBytes: 1000 },
)

over(
  'raises its message limit when the owner says so',
  async (pair) => {
    assert.is(pair.connection.maxMessageBytes, 10)
    pair.connection.maxMessageBytes = 100
    pair.client.send('x'.repeat(100))
    await settle(pair)
    assert.is(textsOf(pair.messages)[0]?.length, 100)
  },
  { maxMessageBytes: 10 },
)

over(
  'takes a longer message behind the one that earned it, when both came in one piece and the second is not whole',
  async (pair) => {
    const { connection, client, messages } = pair
    const record = connection.owner.onMessage
    const earned = new Promise<void>((resolve) => {
      connection.owner.onMessage = (message) => {
        connection.maxMessageBytes = 100
        record?.(message)
        resolve()
      }
    })
    const second = frame(1, Buffer.from('x'.repeat(100)))
    client.write(Buffer.concat([frame(1, Buffer.from('key')), second.subarray(0, 50)]))
    await earned
    client.write(second.subarray(50))
    await settle(pair)
    assert.equal(textsOf(messages), ['key', 'x'.repeat(100)])
  },
  { maxMessageBytes: 10 },
)

over('delivers 16 MiB', async (pair) => {
  const text = 'x'.repeat(16 * 1024 * 1024)
  pair.client.send(text)
  await settle(pair)
  assert.ok(textsOf(pair.messages)[0] === text)
})

const offer = { 'Sec-WebSocket-Extensions': 'permessage-deflate; client_max_window_bits' }

over(
  'sends one compressed frame to a client that negotiated it',
  async ({ connection, client }) => {
    assert.is(connection.deflate, true)
    assert.is(client.headers['sec-websocket-extensions'], 'permessage-deflate; server_no_context_takeover')
    const text = 'compress me '.repeat(1000)
    const compressed = encodeCompressedText(Buffer.from(text))
    assert.ok(compressed.length < 1000)
    connection.send(compressed)
    connection.send(compressed)
    connection.sendText('plain')
    assert.equal([await client.next(), await client.next(), await client.next()], [text, text, 'plain'])
  },
  { compression: new Compression() },
  offer,
)

over(
  'reads compressed messages of a client that keeps its context',
  async (pair) => {
    const deflate = createDeflateRaw()
    const output: Buffer[] = []
    deflate.on('data', (chunk: Buffer) => output.push(chunk))
    const texts = Array.from({ length: 20 }, (_, index) => `{"role":"user","content":"message ${index}"}`)
    for (const text of texts) {
      deflate.write(text)
      await new Promise<void>((resolve) => deflate.flush(constants.Z_SYNC_FLUSH, resolve))
      pair.client.write(frame(1, Buffer.concat(output.splice(0)).subarray(0, -4), { reserved: 0x40 }))
    }
    deflate.close()
    await settle(pair)
    assert.equal(textsOf(pair.messages), texts)
  },
  { compression: new Compression() },
  offer,
)

over(
  'does not negotiate compression when told not to',
  async ({ connection, client }) => {
    assert.is(connection.deflate, false)
    assert.is(client.headers['sec-websocket-extensions'], undefined)
  },
  {},
  offer,
)

const squeezed = (payload: string | Buffer): Buffer =>
  frame(1, deflateRawSync(payload, { finishFlush: constants.Z_SYNC_FLUSH }).subarray(0, -4), { reserved: 0x40 })

over(
  'reads nothing from the socket while it decompresses a message, and keeps the order',
  async (pair) => {
    const { client, socket, connection, messages } = pair
    const paused: boolean[] = []
    const inner = connection.owner.onMessage
    connection.owner.onMessage = (message) => {
      paused.push(socket.isPaused())
      inner?.(message)
    }
    const seen = new Promise<void>((resolve) => socket.once('pause', resolve))
    client.write(
      Buffer.concat([
        squeezed('x'.repeat(3_000_000)), frame(1, Buffer.from('b')), squeezed('c'), frame(1, Buffer.from('d')),
      ]),
    )
    await seen
    assert.equal(messages, [])
    await settle(pair)
    assert.equal(textsOf(messages).map((text) => text.slice(0, 2)), ['xx', 'b', 'c', 'd'])
    assert.is(socket.isPaused(), false)
  },
  { compression: new Compression() },
  offer,
)

over(
  'holds a message that was decompressed while the owner had paused',
  async (pair) => {
    const { client, socket, connection, messages } = pair
    const seen = new Promise<void>((resolve) => socket.once('pause', resolve))
    client.write(squeezed('held'))
    await seen
    connection.pause()
    // Another connection's turn comes after this one's, so its end says that this one is done.
    await pair.compression?.open(false).inflate(Buffer.from('00', 'hex'), 10)
    assert.equal(messages, [])
    connection.resume()
    await settle(pair)
    assert.equal(textsOf(messages), ['held'])
  },
  { compression: new Compression() },
  offer,
)

over(
  'closes with 1009 when a compressed message exceeds the limit',
  async ({ client, closed }) => {
    client.write(squeezed(Buffer.alloc(2_000_000)))
    assert.is((await client.closed).code, 1009)
    assert.is((await closed).code, 1009)
  },
  { compression: new Compression(), maxMessageBytes: 1_000_000 },
  offer,
)

over(
  'gives up its context when it ends, also in the middle of a decompression',
  async (pair) => {
    assert.is(pair.compression?.hasRoom, false)
    const seen = new Promise<void>((resolve) => pair.socket.once('pause', resolve))
    pair.client.write(squeezed(Buffer.alloc(3_000_000)))
    await seen
    pair.connection.terminate()
    await pair.closed
    assert.is(pair.compression?.hasRoom, true)
    assert.equal(pair.messages, [])
  },
  { compression: new Compression({ maxContexts: 1 }) },
  offer,
)

const fullCompression = new Compression({ maxContexts: 1 })
fullCompression.open(true)

over(
  'tells a client to keep no context once enough others keep theirs, and reads what it compresses',
  async (pair) => {
    const { client, closed } = pair
    assert.is(
      client.headers['sec-websocket-extensions'],
      'permessage-deflate; server_no_context_takeover; client_no_context_takeover',
    )
    client.write(Buffer.concat([squeezed('one'), squeezed('two')]))
    await settle(pair)
    assert.equal(textsOf(pair.messages), ['one', 'two'])
    client.write(frame(1, Buffer.from('f200110000', 'hex'), { reserved: 0x40 }))
    assert.is((await closed).code, 1007)
  },
  { compression: fullCompression },
  offer,
)

test.run()
