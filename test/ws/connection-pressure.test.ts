import * as assert from 'uvu/assert'
import { randomBytes } from 'node:crypto'
import { deferred } from '../../src/base/wait.ts'
import { encodeText } from '../../src/ws/frame.ts'
import { suite } from '../support/suite.ts'
import { frame } from '../support/ws-client.ts'
import { openPair, overPair, settle, textsOf } from '../support/ws-pair.ts'
import type { Pair } from '../support/ws-pair.ts'

const test = suite('ws/connection-pressure')
const over = overPair(test)

over('stops in the middle of a chunk when paused, and goes on when resumed', async (pair) => {
  const { connection, client } = pair
  const texts: string[] = []
  const paused = deferred<void>()
  connection.owner.onMessage = (message) => {
    texts.push(...textsOf([message]))
    if (texts.length % 2 === 0) {
      connection.pause()
      paused.resolve()
    }
  }
  client.write(Buffer.concat(['1', '2', '3', '4', '5'].map((text) => frame(1, Buffer.from(text)))))
  await paused.promise
  assert.equal(texts, ['1', '2'])
  connection.resume()
  assert.equal(texts, ['1', '2', '3', '4'])
  connection.resume()
  assert.equal(texts, ['1', '2', '3', '4', '5'])
  await settle(pair)
})

over('goes on in its own loop when the owner pauses and resumes at once', async (pair) => {
  const { connection, client, messages } = pair
  const record = connection.owner.onMessage
  connection.owner.onMessage = (message) => {
    connection.pause()
    connection.resume()
    record?.(message)
  }
  client.write(Buffer.concat(['1', '2', '3'].map((text) => frame(1, Buffer.from(text)))))
  await settle(pair)
  assert.equal(textsOf(messages), ['1', '2', '3'])
})

over(
  'finds the Close frame behind unread messages when it closes while paused',
  async ({ connection, client, closed, messages }) => {
    connection.pause()
    for (let count = 0; count < 100; count++) client.send('x'.repeat(10_000))
    connection.close(1000)
    assert.is((await client.closed).code, 1000)
    assert.is((await closed).code, 1000)
    assert.is(messages.length, 0)
  },
)

/** Sends until the socket takes no more and the outbox is full. */
function fill({ connection, client }: Pair): number {
  client.socket.pause()
  const big = encodeText(randomBytes(500_000).toString('hex'))
  let count = 0
  while (connection.send(big)) count++
  return count
}

over(
  'refuses frames when full, and takes them again after onDrain',
  async (pair) => {
    const { connection, client } = pair
    const sent = fill(pair)
    assert.ok(connection.bufferedBytes >= 2_000_000 && connection.bufferedBytes < 4_000_000)
    assert.is(connection.sendText('refused'), false)
    const drained = deferred<void>()
    connection.owner.onDrain = drained.resolve
    client.socket.resume()
    await drained.promise
    assert.is(connection.bufferedBytes, 0)
    assert.ok(connection.sendText('taken'))
    await client.until(() => client.messages.length === sent + 1)
    assert.is(client.messages.at(-1), 'taken')
  },
  { maxBufferedBytes: 2_000_000 },
)

/** Fills the kernel's buffers too, until some turns pass in which the socket takes nothing of a full outbox. */
async function clog(pair: Pair): Promise<void> {
  let before: number
  do {
    fill(pair)
    before = pair.connection.bufferedBytes
    for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve))
  } while (pair.connection.bufferedBytes < before)
}

over('answers only the newest of many Pings to a client that reads nothing', async (pair) => {
  const { connection, client } = pair
  await clog(pair)
  const before = connection.bufferedBytes
  const arrived = deferred<void>()
  connection.owner.onMessage = () => arrived.resolve()
  for (let count = 0; count < 1000; count++) client.ping(String(count))
  client.send('done')
  await arrived.promise
  assert.ok(connection.bufferedBytes <= before)
  client.socket.resume()
  await client.until(() => client.pongs.includes('999'))
  assert.ok(client.pongs.length < 100, String(client.pongs.length))
})

over(
  'closes a client that takes nothing for too long with 1013',
  async (pair) => {
    await clog(pair)
    assert.is((await pair.closed).code, 1013)
  },
  { stallTimeoutMs: 50, closeTimeoutMs: 50 },
)

over(
  'sends a Ping into silence, and lives on with the answer',
  async (pair) => {
    await pair.client.until(() => pair.client.pings >= 3)
    await settle(pair)
  },
  { pingIntervalMs: 10, pongTimeoutMs: 10_000 },
)

over(
  'gives up a client that is silent for too long',
  async ({ client, closed }) => {
    client.socket.pause()
    assert.equal(await closed, { code: 1006, reason: '' })
  },
  { pingIntervalMs: 10, pongTimeoutMs: 10 },
)

for (const when of ['before', 'after']) {
  over(
    `does not take its own pause for the silence of the client, ${when} a Ping was sent`,
    async (pair) => {
      const { connection, client, socket } = pair
      client.socket.pause()
      const isPinged = (): boolean => 'bytesWritten' in socket && Number(socket.bytesWritten) > handshakeBytes
      const handshakeBytes = 'bytesWritten' in socket ? Number(socket.bytesWritten) : Number.NaN
      while (when === 'after' && !isPinged()) await new Promise((resolve) => setImmediate(resolve))
      connection.pause()
      // A second connection with the same times is given up meanwhile; this one is not.
      const other = await openPair({ pingIntervalMs: 20, pongTimeoutMs: 1000 })
      other.client.socket.pause()
      await other.closed
      await other.stop()
      client.socket.resume()
      connection.resume()
      client.send('still here')
      await settle(pair)
      assert.equal(textsOf(pair.messages), ['still here'])
    },
    { pingIntervalMs: 20, pongTimeoutMs: 1000 },
  )
}

test.run()
