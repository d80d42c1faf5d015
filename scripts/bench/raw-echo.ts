/** The limit of an echo, as a child: plain sockets that send back all bytes behind the request to upgrade. */
import { once } from 'node:events'
import { createServer } from 'node:net'
import { answer, portOf } from './child.ts'

const server = createServer({ noDelay: true }, (socket) => {
  socket.on('error', () => socket.destroy())
  socket.once('data', () => {
    socket.write('HTTP/1.1 101 Switching Protocols\r\n\r\n')
    socket.on('data', (chunk) => void socket.write(chunk))
  })
})
server.listen(0, '127.0.0.1')
await once(server, 'listening')

answer({ port: () => portOf(server) }, () => process.exit())
