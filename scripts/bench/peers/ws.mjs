/**
 * The library `ws` in the place of this server's WebSockets, as a child that answers the same questions: messages to
 * all connections (`emit`), many messages to whoever connects (`greet`), and an echo. Arguments: the folder in whose
 * node_modules it is, then `feed` or `echo`. Plain JavaScript, because the library is not there when this is compiled.
 */
import { once } from 'node:events'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { answer, asBytes, asStream } from '../../../dist/scripts/bench/child.js'

const [folder, work] = process.argv.slice(2)
const { WebSocketServer } = createRequire(join(folder, 'package.json'))('ws')
let json = Buffer.alloc(0)
let greetings = 0

const server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
server.on('connection', (socket) => {
  if (work === 'echo') socket.on('message', (data) => socket.send(data, { binary: false }))
  for (let left = greetings; left > 0; left--) socket.send(json, { binary: false })
})
await once(server, 'listening')

answer(
  {
    port: () => server.address().port,
    prepare: (bytes) => void (json = asBytes(bytes)),
    greet: (count) => void (greetings = Number(count)),
    emit: (stream) => emit(asStream(stream)),
  },
  () => process.exit(),
)

function emit({ size, turns }) {
  for (let left = size; left > 0; left--) {
    for (const socket of server.clients) socket.send(json, { binary: false })
  }
  if (turns > 1) setImmediate(emit, { size, turns: turns - 1 })
}
