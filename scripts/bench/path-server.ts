/**
 * The whole way of an event, as a child: from an object to the frame that a socket gets, durable before it is sent.
 *
 * Ours is that of a conversation: journal, log, state, feed and WebSocket, with nothing around them. The bare one does
 * the same steps with nothing but them: a hand-written check, JSON.stringify, the shortest group commit (see append),
 * the head of a frame, a write to every socket. Both give events ids and times.
 */
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdir, mkdtemp, open, rm } from 'node:fs/promises'
import { createServer, type IncomingMessage } from 'node:http'
import { createServer as createPlainServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Duplex } from 'node:stream'
import { createStamper } from '../../src/base/stamp.ts'
import { Feed } from '../../src/conversation/log/feed.ts'
import { Journal } from '../../src/conversation/log/journal.ts'
import { initialState } from '../../src/conversation/log/state.ts'
import { eventKinds, isEvent, type EventDraft } from '../../src/schema/generated/events.ts'
import { LineCache } from '../../src/storage/line-cache.ts'
import { openLog } from '../../src/storage/log.ts'
import { encodeText } from '../../src/ws/frame.ts'
import { acceptUpgrade } from '../../src/ws/upgrade.ts'
import { created } from '../../test/support/conversation.ts'
import { groupCommit } from './append.ts'
import { answer, portOf } from './child.ts'
import { isTerminalCall } from './hand-written.ts'
import { actionEvent } from './sample-event.ts'

/** The number of events that are made at once. The next events follow when these are durable. */
const batch = 64
const nextStamp = createStamper(Date.now, randomBytes)
const drafts = Array.from({ length: 256 }, makeDraft)
const folder = await mkdtemp(join(tmpdir(), 'bench-path-'))

interface Way {
  readonly server: Server
  /** Resolves when these events are durable and written to the sockets. */
  emit(drafts: readonly EventDraft[]): Promise<unknown>
  close(): Promise<unknown>
}

let way: Way | undefined

answer(
  {
    async begin(side) {
      way = side === 'ours' ? await beginOurs() : await beginBare()
      way.server.listen(0, '127.0.0.1')
      await once(way.server, 'listening')
      return portOf(way.server)
    },
    async emit(count) {
      for (let left = Number(count); left > 0; left -= batch) {
        await way?.emit(drafts.slice(left % drafts.length).slice(0, Math.min(batch, left)))
      }
    },
  },
  async () => {
    way?.server.close()
    await way?.close()
    await rm(folder, { recursive: true, force: true })
  },
)

async function beginOurs(): Promise<Way> {
  const directory = join(folder, 'ours')
  await mkdir(directory)
  const log = await openLog({
    directory,
    kinds: eventKinds,
    cache: new LineCache(),
    onDamage: ignore,
  })
  const feed = new Feed(log, 1024)
  const journal = new Journal({
    log, feed, state: initialState(created({ working_dir: folder })), nextStamp, backlogLimitBytes: 64e6,
    onChange: ignore,
  })
  const server = createServer().on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const upgrade = acceptUpgrade(request, socket, head)
    if (!upgrade.ok) return
    const { connection } = upgrade
    const sink = { write: (frame: Buffer) => connection.send(frame), end: () => connection.close() }
    const reader = feed.join(log.eventCount, encodeText, sink)
    connection.owner = { onDrain: () => reader.drained(), onClose: () => reader.close() }
  })
  return {
    server,
    emit(drafts) {
      for (const draft of drafts) journal.record(draft)
      return journal.durable()
    },
    async close() {
      feed.close('closed')
      await log.close()
    },
  }
}

async function beginBare(): Promise<Way> {
  const file = await open(join(folder, 'bare'), 'w')
  const append = groupCommit(file)
  const sockets = new Set<Socket>()
  const server = createPlainServer({ noDelay: true }, (socket) => {
    socket.on('error', () => socket.destroy())
    socket.once('close', () => sockets.delete(socket))
    socket.once('data', () => {
      socket.write('HTTP/1.1 101 Switching Protocols\r\n\r\n')
      sockets.add(socket)
    })
  })
  const emitOne = async (draft: EventDraft): Promise<void> => {
    const { id, timestamp } = nextStamp()
    const event = { ...draft, id, timestamp }
    if (!isTerminalCall(event)) throw new TypeError('Expected an event')
    const text = JSON.stringify(event)
    await append(text)
    const json = Buffer.from(text)
    // FIN and text; a length of 16 bits (RFC 6455, section 5.2).
    const frame = Buffer.allocUnsafe(4 + json.length)
    frame.writeUInt32BE(0x817e0000 + json.length)
    json.copy(frame, 4)
    for (const socket of sockets) socket.write(frame)
  }
  return {
    server,
    emit: (drafts) => Promise.all(drafts.map(emitOne)),
    async close() {
      for (const socket of sockets) socket.destroy()
      await file.close()
    },
  }
}

function makeDraft(): EventDraft {
  const { kind, id, timestamp, ...members } = Object(JSON.parse(actionEvent()))
  const event: unknown = { kind, id, timestamp, ...members }
  if (!isEvent(event)) throw new TypeError('Expected an event')
  return { ...event, kind: 'ActionEvent', ...members }
}

function ignore(): void {}
