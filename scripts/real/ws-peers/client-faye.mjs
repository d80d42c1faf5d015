// The `faye-websocket` package, with its `permessage-deflate`, as a client.
import faye from 'faye-websocket'
import deflateExtension from 'permessage-deflate'
import { mailbox, runCases } from './cases.mjs'

await runCases((url, deflate) => new Promise((resolve, reject) => {
  const socket = new faye.Client(url, [], {
    extensions: deflate ? [deflateExtension] : [], maxLength: 64 * 1024 * 1024,
  })
  const box = mailbox()
  socket.on('message', ({ data }) => box.put(data))
  socket.on('error', ({ message }) => reject(new Error(message)))
  const closed = new Promise((done) => socket.on('close', ({ code }) => done(code)))
  socket.on('open', () => resolve({
    extensions: socket.headers?.['sec-websocket-extensions'],
    send: (data, fragments) => (fragments > 1 ? 'sends no fragments' : void socket.send(data)),
    ping: (text) => new Promise((done) => socket.ping(text, () => done(undefined))),
    close: (code, reason) => void socket.close(code, reason),
    next: box.next,
    closed,
  }))
}))
