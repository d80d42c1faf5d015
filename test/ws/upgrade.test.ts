import * as assert from 'uvu/assert'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { IncomingMessage } from 'node:http'
import { connect as connectTcp } from 'node:net'
import type { Duplex } from 'node:stream'
import { deferred } from '../../src/base/wait.ts'
import { acceptUpgrade, refuseUpgrade } from '../../src/ws/upgrade.ts'
import type { Upgrade } from '../../src/ws/upgrade.ts'
import { suite } from '../support/suite.ts'
import { connect, frame, Refused } from '../support/ws-client.ts'
import { portOf } from '../support/ws-pair.ts'

const test = suite('ws/upgrade')

/** Runs `body` against a server that answers upgrades with `answer`. */
async function withServer(
  answer: (request: IncomingMessage, socket: Duplex, head: Buffer) => void,
  body: (port: number) => Promise<void>,
): Promise<void> {
  const server = createServer()
  server.on('upgrade', answer)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  try {
    await body(portOf(server.address()))
  } finally {
    server.close()
  }
}

async function refusalOf(opening: Promise<unknown>): Promise<Refused> {
  const error: unknown = await opening.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  assert.instance(error, Refused)
  if (error instanceof Refused) return error
  throw new TypeError('not refused')
}

test('answers a bad handshake with its status, headers and JSON', async () => {
  let upgrade: Upgrade | undefined
  await withServer(
    (...event) => (upgrade = acceptUpgrade(...event)),
    async (port) => {
      const { status, headers, body } = await refusalOf(
        connect(`ws://127.0.0.1:${port}/`, { 'Sec-WebSocket-Version': '12' }),
      )
      assert.is(status, 426)
      assert.is(headers['sec-websocket-version'], '13')
      assert.is(headers['content-type'], 'application/json')
      assert.equal(JSON.parse(body), { detail: 'Cannot upgrade: expected Sec-WebSocket-Version 13' })
      assert.equal(upgrade, { ok: false, status: 426, reason: 'Cannot upgrade: expected Sec-WebSocket-Version 13' })
    },
  )
})

test('refuses for the caller, with any status, body and headers', async () => {
  await withServer(
    (_request, socket) => refuseUpgrade(socket, 403, '{"detail":"né"}', { 'X-Request-Id': 'a' }),
    async (port) => {
      const { status, headers, body } = await refusalOf(connect(`ws://127.0.0.1:${port}/`))
      assert.equal([status, body, headers['x-request-id'], headers.connection], [403, '{"detail":"né"}', 'a', 'close'])
    },
  )
})

test('writes a status line even for a status that has no name', async () => {
  await withServer(
    (_request, socket) => refuseUpgrade(socket, 499, '{}'),
    async (port) => {
      assert.is((await refusalOf(connect(`ws://127.0.0.1:${port}/`))).status, 499)
    },
  )
})

test('survives a client that resets while it is refused', async () => {
  const closed = deferred<void>()
  await withServer(
    (_request, socket) => {
      socket.on('close', () => closed.resolve())
      refuseUpgrade(socket, 403, '{}')
      socket.destroy(new Error('reset'))
    },
    async (port) => {
      await connect(`ws://127.0.0.1:${port}/`).catch(() => undefined)
      await closed.promise
    },
  )
})

test('does not accept a client that is gone', async () => {
  let upgrade: Upgrade | undefined
  await withServer(
    (request, socket, head) => {
      socket.destroy()
      upgrade = acceptUpgrade(request, socket, head)
    },
    async (port) => {
      await connect(`ws://127.0.0.1:${port}/`).catch(() => undefined)
      assert.equal(upgrade, { ok: false, status: 0, reason: 'Cannot upgrade: the client is gone' })
    },
  )
})

test('reads frames that came together with the handshake', async () => {
  const texts: string[] = []
  const lines = [
    'GET / HTTP/1.1',
    'Host: a',
    'Upgrade: websocket',
    'Connection: Upgrade',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
    '',
    '',
  ]
  await withServer(
    (request, socket, head) => {
      assert.ok(head.length > 0)
      const upgrade = acceptUpgrade(request, socket, head)
      if (!upgrade.ok) return
      upgrade.connection.owner = {
        onMessage(message) {
          if (message.kind === 'text') texts.push(message.text)
        },
      }
    },
    async (port) => {
      const socket = connectTcp(port, '127.0.0.1')
      socket.write(
        Buffer.concat([
          Buffer.from(lines.join('\r\n')),
          frame(1, Buffer.from('early')),
          frame(1, Buffer.from('bird')),
          frame(8, Buffer.alloc(0)),
        ]),
      )
      let answer = ''
      for await (const chunk of socket.setEncoding('latin1')) answer += String(chunk)
      assert.match(answer, /^HTTP\/1.1 101 Switching Protocols\r\n/)
      assert.ok(answer.endsWith('\r\n\r\n\x88\x00'))
      assert.equal(texts, ['early', 'bird'])
    },
  )
})

test.run()
