/**
 * The limit of streaming, as a child: plain sockets that get bytes which are ready. Every request is answered like an
 * upgrade, so that clients need not know which server they talk to.
 *
 * Each connection gets the bytes of `greet`, in writes of 64 KiB, each when the last one was taken. `emit` writes the
 * bytes of `prepare` to every connection, `size` times in each of `turns` turns of the event loop.
 */
import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { answer, asBytes, asStream, portOf, type Stream } from './child.ts'

const pieceBytes = 64 * 1024
const sockets = new Set<Socket>()
let greeting = Buffer.alloc(0)
let frame = Buffer.alloc(0)

const server = createServer({ noDelay: true }, (socket) => {
  sockets.add(socket)
  socket.on('error', () => socket.destroy())
  socket.once('close', () => sockets.delete(socket))
  socket.once('data', () => {
    socket.write('HTTP/1.1 101 Switching Protocols\r\n\r\n')
    if (greeting.length > 0) send(socket, 0)
  })
})
server.listen(0, '127.0.0.1')
await once(server, 'listening')

answer(
  {
    port: () => portOf(server),
    greet: (bytes) => void (greeting = asBytes(bytes)),
    prepare: (bytes) => void (frame = asBytes(bytes)),
    emit: (stream) => emit(asStream(stream)),
  },
  () => {
    server.close()
    for (const socket of sockets) socket.destroy()
  },
)

function send(socket: Socket, from: number): void {
  const to = Math.min(from + pieceBytes, greeting.length)
  socket.write(greeting.subarray(from, to), () => {
    if (to < greeting.length) send(socket, to)
  })
}

function emit({ size, turns }: Stream): void {
  for (let left = size; left > 0; left--) {
    for (const socket of sockets) socket.write(frame)
  }
  if (turns > 1) setImmediate(emit, { size, turns: turns - 1 })
}
