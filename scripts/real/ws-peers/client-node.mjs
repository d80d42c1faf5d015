// The WebSocket of Node itself (undici), as a client. It decides by itself whether it offers compression.
import { mailbox, runCases } from './cases.mjs'

await runCases((url) => new Promise((resolve, reject) => {
  const socket = new WebSocket(url)
  socket.binaryType = 'arraybuffer'
  const box = mailbox()
  socket.onmessage = ({ data }) => box.put(typeof data === 'string' ? data : Buffer.from(data))
  socket.onerror = () => reject(new Error('the connection failed'))
  const closed = new Promise((done) => (socket.onclose = ({ code }) => done(code)))
  socket.onopen = () => resolve({
    extensions: undefined,
    send: (data, fragments) => (fragments > 1 ? 'sends no fragments' : void socket.send(data)),
    ping: async () => 'skipped: sends no Ping',
    close: (code, reason) => void socket.close(code, reason),
    next: box.next,
    closed,
  })
}))
