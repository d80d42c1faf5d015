/**
 * The server's way from a committed event to its readers, as a child: the feed, the encoding and the WebSockets.
 *
 * The log is left out, because the time of the disk would hide the time of this way. Events are all alike and kept in
 * one buffer. `emit` publishes `size` of them in each of `turns` turns of the event loop, as a busy conversation does.
 */
import { once } from 'node:events'
import { createServer } from 'node:http'
import { Feed } from '../../src/conversation/log/feed.ts'
import { encodeText, encodeTexts } from '../../src/ws/frame.ts'
import { Departure } from '../../src/ws/departure.ts'
import { acceptUpgrade } from '../../src/ws/upgrade.ts'
import { answer, asBytes, asStream, portOf, type Stream } from './child.ts'

/** As many as the log gives at a time. */
const rangeEvents = 256
let json = Buffer.alloc(0)
let eventCount = 0

const feed = new Feed(
  {
    get eventCount() {
      return eventCount
    },
    readRange: async (from, to) => {
      const next = Math.min(to, from + rangeEvents)
      return { events: Array.from({ length: next - from }, (_, index) => ({ number: from + index, json })), next }
    },
  },
  1024,
)

const departure = new Departure()
const server = createServer()
server.on('upgrade', (request, socket, head) => {
  const upgrade = acceptUpgrade(request, socket, head, { departure })
  if (!upgrade.ok) return
  const { connection } = upgrade
  const sink = {
    write: (frame: Buffer) => connection.send(frame),
    writeMany: (events: readonly Buffer[]) => connection.send(encodeTexts(events)),
    get isFull() {
      return connection.isFull
    },
    end: () => connection.close(),
  }
  const reader = feed.join(eventCount, encodeText, sink)
  connection.owner = { onDrain: () => reader.drained(), onClose: () => reader.close() }
})
server.listen(0, '127.0.0.1')
await once(server, 'listening')

answer(
  {
    port: () => portOf(server),
    prepare: (bytes) => void (json = asBytes(bytes)),
    emit: (stream) => emit(asStream(stream)),
  },
  () => {
    feed.close('closed')
    server.close()
  },
)

function emit({ size, turns }: Stream): void {
  for (let left = size; left > 0; left--) feed.publish({ sequence: eventCount++, json })
  if (turns > 1) setImmediate(emit, { size, turns: turns - 1 })
}
