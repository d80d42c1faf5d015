import { createServer as createHttpServer } from 'node:http'
import { createHash } from 'node:crypto'
import type { Duplex } from 'node:stream'
import * as assert from 'uvu/assert'
import { readEventSocket } from '../../../scripts/real/event-socket.ts'
import { suite } from '../../support/suite.ts'

const test = suite('real/event-socket')

const text = (payload: string, first = 0x81): Buffer => {
  const bytes = Buffer.from(payload)
  const short = Buffer.from([first, bytes.length])
  const medium = Buffer.from([first, 126, bytes.length >> 8, bytes.length & 255])
  const large = Buffer.from([
    first, 127, 0, 0, 0, 0, 0, bytes.length >> 16, (bytes.length >> 8) & 255, bytes.length & 255,
  ])
  return Buffer.concat([bytes.length < 126 ? short : bytes.length < 65_536 ? medium : large, bytes])
}

/** Runs `serve` on each upgraded socket and returns the values that the client reads. */
async function read(serve: (socket: Duplex) => void, acceptSuffix = ''): Promise<unknown[]> {
  const server = createHttpServer((_, response) => response.writeHead(404).end())
  server.on('upgrade', (request, socket) => {
    const key = `${request.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`
    const accept = createHash('sha1').update(key).digest('base64') + acceptSuffix
    socket.on('error', () => undefined)
    socket.write(
      'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n' +
        `Sec-WebSocket-Accept: ${accept}\r\n\r\n`,
    )
    serve(socket)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : undefined
  const found: unknown[] = []
  try {
    const options = { url: `http://127.0.0.1:${port}/`, headers: {}, signal: AbortSignal.timeout(5000) }
    for await (const message of readEventSocket(options)) found.push(message)
    return found
  } finally {
    server.close()
    server.closeAllConnections()
  }
}

test('gives messages whole, long, in fragments and in single bytes', async () => {
  const [long, longer] = ['x'.repeat(300), 'y'.repeat(70_000)]
  const found = await read((socket) => {
    socket.write(Buffer.concat([text('{"a":1}'), text(JSON.stringify(long)), text(JSON.stringify(longer))]))
    socket.write(Buffer.concat([text('[1,', 0x01), text('2', 0x00), text('ping', 0x89), text(']', 0x80)]))
    for (const byte of text('"slow"')) socket.write(Buffer.from([byte]))
    socket.end(Buffer.from([0x88, 0]))
  })
  assert.equal(found, [{ a: 1 }, long, longer, [1, 2], 'slow'])
})

test('answers a ping with its payload, masked', async () => {
  let answer: Buffer = Buffer.alloc(0)
  await read((socket) => {
    socket.write(text('hello', 0x89))
    socket.on('data', (chunk: Buffer) => {
      answer = Buffer.concat([answer, chunk])
      if (answer.length >= 11) socket.end(Buffer.from([0x88, 0]))
    })
  })
  assert.equal([...answer.subarray(0, 2)], [0x8a, 0x85])
  const unmasked = answer.subarray(6).map((byte, index) => byte ^ answer.readUInt8(2 + (index % 4)))
  assert.is(Buffer.from(unmasked).toString(), 'hello')
})

test('ends when the connection ends', async () => {
  assert.equal(await read((socket) => socket.end(text('1'))), [1])
})

test('refuses a wrong accept key', async () => {
  const outcome = await read(() => undefined, 'x').then(() => 'opened', String)
  assert.match(outcome, "the server's accept key is wrong")
})

test.run()
