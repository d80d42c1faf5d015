/** permessage-deflate on `/sockets/events/{id}` (decisions 36). */
import { constants, createDeflateRaw } from 'node:zlib'
import * as assert from 'uvu/assert'
import { withServer, type TestServer } from '../support/server.ts'
import { suite } from '../support/suite.ts'
import { connect, frame, type Client } from '../support/ws-client.ts'
import { startTalk, userMessage } from './talk.ts'

const test = suite('socket compression')
const offer = 'permessage-deflate; client_max_window_bits'
const long = 'words that come again and again, '.repeat(200)

const join = (server: TestServer, id: string, extensions?: string): Promise<Client> =>
  connect(`${server.url}/sockets/events/${id}?resend_mode=all`, {
    'X-Session-API-Key': server.key,
    ...(extensions === undefined ? {} : { 'Sec-WebSocket-Extensions': extensions }),
  })

const eventsIn = (client: Client): string[] => client.messages.filter((text) => !text.includes('"full_state"'))

test('readers with and without compression get the same events, replayed and live', () =>
  withServer(async (server) => {
    const talk = await startTalk(server, 'echo')
    await talk.send(long)
    await talk.reaches('finished')
    const [plain, compressing] = [await join(server, talk.id), await join(server, talk.id, offer)]
    assert.is(plain.headers['sec-websocket-extensions'], undefined)
    assert.is(compressing.headers['sec-websocket-extensions'], 'permessage-deflate; server_no_context_takeover')
    await talk.send(long)
    const count = (client: Client): number =>
      eventsIn(client).filter((text) => text.includes('"MessageEvent"') && text.includes('"user"')).length
    for (const client of [plain, compressing]) {
      await client.until(() => count(client) === 2 && client.messages.some((text) => text.includes('"finished"')))
    }
    await talk.reaches('finished')
    const stored = (await talk.events()).filter((event) => event['kind'] === 'MessageEvent').map((event) => event['id'])
    for (const id of stored) {
      const frames = [plain, compressing].map((client) => {
        return client.messages.find((text) => text.includes('"MessageEvent"') && text.includes(String(id)))
      })
      assert.is(frames[0], frames[1])
    }
    assert.is(plain.compressed, 0)
    assert.ok(compressing.compressed >= 2)
    await plain.close()
    await compressing.close()
  }))

test('a client may keep its context over its messages', () =>
  withServer(async (server) => {
    const talk = await startTalk(server, 'echo')
    const client = await join(server, talk.id, offer)
    const deflate = createDeflateRaw()
    const output: Buffer[] = []
    deflate.on('data', (chunk: Buffer) => output.push(chunk))
    for (const word of ['first', 'second']) {
      deflate.write(JSON.stringify(userMessage(`${long} ${word}`)))
      await new Promise<void>((resolve) => deflate.flush(constants.Z_SYNC_FLUSH, resolve))
      client.write(frame(1, Buffer.concat(output.splice(0)).subarray(0, -4), { reserved: 0x40 }))
      await client.until(() => {
        return client.messages.some((text) => text.includes('"user"') && text.includes(`again,  ${word}`))
      })
    }
    deflate.close()
    await talk.reaches('finished')
    await client.close()
  }))

test('without a key yet, a compressed frame may be no larger than another one', () =>
  withServer(async (server) => {
    const talk = await startTalk(server, 'echo')
    const client = await connect(`${server.url}/sockets/events/${talk.id}`, { 'Sec-WebSocket-Extensions': offer })
    const deflate = createDeflateRaw()
    const output: Buffer[] = []
    deflate.on('data', (chunk: Buffer) => output.push(chunk))
    deflate.write(Buffer.alloc(10_000_000))
    await new Promise<void>((resolve) => deflate.flush(constants.Z_SYNC_FLUSH, resolve))
    deflate.close()
    client.write(frame(1, Buffer.concat(output).subarray(0, -4), { reserved: 0x40 }))
    assert.is((await client.closed).code, 1009)
  }))

test('an operator may turn compression off', () =>
  withServer(
    async (server) => {
      const talk = await startTalk(server, 'echo')
      const client = await join(server, talk.id, offer)
      assert.is(client.headers['sec-websocket-extensions'], undefined)
      await client.close()
    },
    { noCompression: true },
  ))

test.run()
