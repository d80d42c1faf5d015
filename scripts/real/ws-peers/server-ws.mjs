// The `ws` package as a server that echoes, in three fragments where the address says so; `close:<code>` has it close.
import { WebSocketServer } from 'ws'
import { inParts } from './cases.mjs'

const server = new WebSocketServer({
  host: '127.0.0.1', port: 0, perMessageDeflate: { threshold: 0 }, maxPayload: 64 * 1024 * 1024,
})
server.on('listening', () => process.stdout.write(`${server.address().port}\n`))
server.on('connection', (socket, request) => {
  const count = request.url.includes('fragments') ? 3 : 1
  socket.on('error', () => undefined)
  socket.on('message', (data, binary) => {
    const code = /^close:(\d+)$/.exec(data.subarray(0, 20).toString())?.[1]
    if (code !== undefined) return socket.close(Number(code), 'as you wish')
    inParts(data, count).forEach((part, index) => socket.send(part, { binary, fin: index === count - 1 }))
  })
})
