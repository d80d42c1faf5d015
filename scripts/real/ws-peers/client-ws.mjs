// The `ws` package as a client.
import WebSocket from 'ws'
import { inParts, mailbox, runCases } from './cases.mjs'

await runCases((url, deflate) => new Promise((resolve, reject) => {
  const socket = new WebSocket(url, {
    perMessageDeflate: deflate ? { threshold: 0 } : false, maxPayload: 64 * 1024 * 1024,
  })
  const box = mailbox()
  socket.on('message', (data, isBinary) => box.put(isBinary ? data : data.toString()))
  socket.on('error', reject)
  const closed = new Promise((done) => socket.on('close', done))
  socket.on('open', () => resolve({
    extensions: socket.extensions,
    send: (data, fragments) => {
      const parts = inParts(data, fragments)
      const binary = typeof data !== 'string'
      parts.forEach((part, index) => socket.send(part, { fin: index === parts.length - 1, binary }))
    },
    ping: (text) => new Promise((done) => {
      socket.once('pong', (data) => done(data.toString() === text ? undefined : `pong ${data}`))
      socket.ping(text)
    }),
    close: (code, reason) => void socket.close(code, reason),
    next: box.next,
    closed,
  }))
}))
