/**
 * The server's way from a committed event to its readers, as a child: the feed, the encoding and the WebSockets.
 *
 * The log is left out, because the disk would hide what is asked here; events are all alike and kept in one buffer.
 * `emit` publishes so many, one in every turn of the event loop, as a busy conversation does.
 */
import { once } from 'node:events'
import { createServer } from 'node:http'
import { Feed } from '../../src/conversation/feed.ts'
import { encodeText } from '../../src/ws/frame.ts'
import { acceptUpgrade } from '../../src/ws/upgrade.ts'
import { answer, asBytes, portOf } from './child.ts'

let json = Buffer.alloc(0)
let eventCount = 0

const feed = new Feed(
  {
    get eventCount() {
      return eventCount
    },
    readRange: async (from, to) => ({ events: [{ number: from, json }], next: Math.min(to, from + 1) }),
  },
  1024,
)

const server = createServer()
server.on('upgrade', (request, socket, head) => {
  const upgrade = acceptUpgrade(request, socket, head)
  if (!upgrade.ok) return
  const { connection } = upgrade
  const sink = { write: (frame: Buffer) => connection.send(frame), end: () => connection.close() }
  const reader = feed.join(eventCount, encodeText, sink)
  connection.onDrain = () => reader.drained()
  connection.onClose = () => reader.close()
})
server.listen(0, '127.0.0.1')
await once(server, 'listening')

answer(
  {
    port: () => portOf(server),
    prepare: (bytes) => void (json = asBytes(bytes)),
    emit: (count) => emit(Number(count)),
  },
  () => {
    feed.close('closed')
    server.close()
  },
)

function emit(left: number): void {
  feed.publish({ sequence: eventCount++, json })
  if (left > 1) setImmediate(emit, left - 1)
}
