// The `faye-websocket` package, with its `permessage-deflate`, as a server that echoes; `close:<code>` has it close.
import { createServer } from 'node:http'
import WebSocket from 'faye-websocket'
import deflateExtension from 'permessage-deflate'

const server = createServer()
server.on('upgrade', (request, socket, head) => {
  const connection = new WebSocket(request, socket, head, [], {
    extensions: [deflateExtension], maxLength: 64 * 1024 * 1024,
  })
  connection.on('message', ({ data }) => {
    const code = /^close:(\d+)$/.exec(typeof data === 'string' ? data : '')?.[1]
    if (code === undefined) connection.send(data)
    else connection.close(Number(code), 'as you wish')
  })
})
server.listen(0, '127.0.0.1', () => process.stdout.write(`${server.address().port}\n`))
