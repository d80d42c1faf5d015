import * as assert from 'uvu/assert'
import { violations } from '../../src/ws/violation.ts'
import { suite } from '../support/suite.ts'
import { frame } from '../support/ws-client.ts'
import { overPair, textsOf } from '../support/ws-pair.ts'

const test = suite('ws/connection-close')
const over = overPair(test)

over('closes when the client does, and repeats the code', async ({ client, closed }) => {
  assert.equal(await client.close(4001, 'bye'), { code: 4001, reason: '' })
  assert.equal(await closed, { code: 4001, reason: 'bye' })
})

over('closes without a code when the client gives none', async ({ client, closed }) => {
  assert.equal(await client.close(), { code: 1005, reason: '' })
  assert.equal(await closed, { code: 1005, reason: '' })
})

over(
  'closes from the server side after what is queued, and takes nothing more',
  async ({ connection, client, closed, messages }) => {
    connection.sendText('last')
    connection.close(1001, 'going')
    connection.close(1000, 'ignored')
    assert.is(connection.sendText('too late'), false)
    assert.equal(await client.closed, { code: 1001, reason: 'going' })
    assert.equal(await closed, { code: 1001, reason: 'going' })
    assert.equal(client.messages, ['last'])
    assert.equal(messages, [])
  },
)

over('closes when both sides begin at once', async ({ connection, client, closed }) => {
  const answer = client.close(4000)
  connection.close(4002)
  assert.equal(await answer, { code: 4002, reason: '' })
  assert.ok([4000, 4002].includes((await closed).code))
})

over(
  'drops messages that arrive after it began to close, but answers the Close frame behind them',
  async ({ connection, client, closed, messages }) => {
    connection.close(1000)
    client.write(Buffer.concat([frame(1, Buffer.from('late')), frame(9, Buffer.from('late'))]))
    assert.equal(await client.closed, { code: 1000, reason: '' })
    await closed
    assert.equal(messages, [])
    assert.equal(client.pongs, [])
  },
)

over('ignores everything after the Close frame of the client', async ({ client, closed, messages }) => {
  client.write(
    Buffer.concat([frame(8, Buffer.from([0x03, 0xe8])), frame(1, Buffer.from('late')), frame(3, Buffer.alloc(0))]),
  )
  client.send('later')
  assert.equal(await client.closed, { code: 1000, reason: '' })
  assert.equal(await closed, { code: 1000, reason: '' })
  assert.equal(messages, [])
})

over('reports 1006 when the client goes without a word', async ({ client, closed }) => {
  client.destroy()
  assert.equal(await closed, { code: 1006, reason: '' })
})

over('reports 1006 when the client only ends its side', async ({ client, closed }) => {
  client.socket.end()
  assert.equal(await closed, { code: 1006, reason: '' })
})

over('keeps its own code when the client goes while it is closing', async ({ connection, client, closed }) => {
  connection.close(1001)
  client.destroy()
  assert.is((await closed).code, 1001)
})

over('survives a reset of the connection', async ({ connection, client, closed }) => {
  if ('resetAndDestroy' in client.socket && typeof client.socket.resetAndDestroy === 'function')
    client.socket.resetAndDestroy()
  assert.is((await closed).code, 1006)
  assert.is(connection.sendText('x'), false)
})

over(
  'ends a connection whose client never answers Close',
  async ({ connection, client, closed }) => {
    client.socket.pause()
    connection.close(1000)
    assert.is((await closed).code, 1000)
  },
  { closeTimeoutMs: 20 },
)

over(
  'ends a connection whose client never ends after a broken rule',
  async ({ client, closed, socket }) => {
    client.socket.removeAllListeners('end')
    client.write(frame(3, Buffer.alloc(0)))
    assert.is((await closed).code, 1002)
    assert.ok(socket.destroyed)
  },
  { closeTimeoutMs: 20 },
)

over(
  'ends at once and delivers nothing more when it is terminated from a message',
  async ({ connection, client, closed }) => {
    const texts: string[] = []
    connection.owner.onMessage = (message) => {
      texts.push(...textsOf([message]))
      connection.terminate()
      connection.terminate()
      connection.close()
    }
    client.write(Buffer.concat([frame(1, Buffer.from('one')), frame(1, Buffer.from('two'))]))
    assert.equal(await closed, { code: 1006, reason: '' })
    assert.equal(texts, ['one'])
    connection.terminate()
  },
)

over('leaves no listener and no socket behind', async ({ connection, client, closed, socket }) => {
  let closings = 0
  const onClose = connection.owner.onClose
  connection.owner.onClose = (code, reason) => {
    closings++
    onClose?.(code, reason)
  }
  await client.close(1000)
  await closed
  connection.close()
  connection.terminate()
  connection.resume()
  connection.pause()
  assert.is(connection.sendText('x'), false)
  assert.is(closings, 1)
  assert.ok(socket.destroyed)
  for (const event of ['data', 'error']) assert.is(socket.listenerCount(event), 0, event)
  assert.is(connection.bufferedBytes, 0)
})

const rules: Record<string, { bytes: Buffer; rule: keyof typeof violations }> = {
  'an unmasked frame': { bytes: frame(1, Buffer.from('x'), { masked: false }), rule: 'mask_missing' },
  'a continuation of nothing': { bytes: frame(0, Buffer.from('x')), rule: 'continuation_unexpected' },
  'a text that is not UTF-8': { bytes: frame(1, Buffer.from([0xff])), rule: 'text_not_utf8' },
  'a message announced with 1 GB': { bytes: Buffer.from('81ff0000000040000000', 'hex'), rule: 'message_too_large' },
  'a Close frame with one byte': { bytes: frame(8, Buffer.from([3])), rule: 'close_length' },
}
for (const [name, { bytes, rule }] of Object.entries(rules)) {
  const { closeCode, text } = violations[rule]
  over(`closes with ${closeCode} on ${name}`, async ({ client, closed, messages }) => {
    client.write(Buffer.concat([bytes, frame(1, Buffer.from('after'))]))
    assert.equal(await client.closed, { code: closeCode, reason: text })
    assert.equal(await closed, { code: closeCode, reason: text })
    assert.equal(messages, [])
  })
}

over('sends no second Close frame for a rule broken while it is closing', async ({ connection, client, closed }) => {
  connection.close(1000)
  client.write(frame(3, Buffer.alloc(0)))
  assert.is((await client.closed).code, 1000)
  assert.is((await closed).code, 1000)
})

over('refuses to close with a code that must not be sent, and stays open', async ({ connection, client }) => {
  assert.throws(
    () => connection.close(1006),
    (error: unknown) => error instanceof RangeError,
  )
  connection.sendText('open')
  assert.is(await client.next(), 'open')
})

test.run()
