/** A body that nobody wants: some of it is taken, so that the answer arrives, and no more. */
import * as assert from 'uvu/assert'
import { createServer, type RequestListener } from 'node:http'
import { connect } from 'node:net'
import { linger } from '../../src/http/linger.ts'
import { suite } from '../support/suite.ts'

const test = suite('http/linger')

const chunk = Buffer.alloc(64 * 1024)
const bodyBytes = 256 * 1024 * 1024

/** Sends as much of a huge body as is taken, until the connection ends. */
async function pour(listener: RequestListener): Promise<void> {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const socket = connect(typeof address === 'object' && address !== null ? address.port : 0, '127.0.0.1')
  socket.on('error', () => undefined)
  socket.write(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${bodyBytes}\r\n\r\n`)
  const send = (): void => {
    while (!socket.destroyed && socket.write(chunk));
  }
  socket.on('drain', send)
  send()
  await new Promise((resolve) => socket.on('close', resolve).resume())
  await new Promise((resolve) => server.close(resolve))
}

test('of a body without end little more than a megabyte is read', async () => {
  let readBytes = 0
  await pour((request, response) => linger(request, () => {
    readBytes = request.socket.bytesRead
    response.end(() => request.socket.destroy())
  }))
  assert.ok(readBytes > 1024 * 1024 && readBytes < 2 * 1024 * 1024, `${readBytes} bytes`)
})

test.run()
