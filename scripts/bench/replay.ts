/**
 * Replay: a whole history to one WebSocket reader, beside a plain socket that writes the same bytes.
 *
 * Ours goes through the server as it is, which reads the log from its file, while the plain socket has the frames in
 * memory and writes 64 KiB whenever the last ones were taken.
 */
import { startChild, type Child } from './child.ts'
import type { Gate, Row } from './gate.ts'
import { startRealServer } from './real-conversation.ts'
import { compare, inverse, type Round } from './rounds.ts'
import { openSocket, receiveBytes, receiveFrames, type Place } from './sockets.ts'

/** Each is two events. */
const storedMessages = 15_000

export const replay: Gate = async ({ budgetMs }) => {
  const { child, port, key, conversationId } = await startRealServer({ messages: storedMessages })
  try {
    const place = { port, key, path: `/sockets/events/${conversationId}?resend_mode=all` }
    const count = await countEvents(place, conversationId)
    const bytes = await capture(place, count)
    return await compareReplays({ peer: '', child, place, count, bytes, budgetMs })
  } finally {
    await child.stop()
  }
}

export interface Replay {
  /** Empty for this server. */
  readonly peer: string
  readonly child: Child
  /** Who connects there gets all of the bytes. */
  readonly place: Place
  readonly count: number
  readonly bytes: Buffer
  readonly budgetMs: number
}

export async function compareReplays({ peer, child, place, count, bytes, budgetMs }: Replay): Promise<Row[]> {
  const raw = startChild('raw-sockets')
  try {
    await raw.ask('greet', bytes)
    const rawPlace = { ...place, port: Number(await raw.ask('port')) }
    const sides = { limit: replayRound(raw, rawPlace, bytes.length), ours: replayRound(child, place, bytes.length) }
    const { elapsed, cpu, ours, oursElapsedMs } = await compare(sides, budgetMs)
    const what = `replay of ${count} events`
    const megabytes = `${Math.round(bytes.length / 1e6)} MB`
    const limit = 'raw socket, 64 KiB writes'
    const each = (ours.cpuMs / count) * 1000
    return [
      { what: `${what}: speed`, peer, limit, ratio: inverse(elapsed), target: { atLeast: 0.5 }, context: megabytes },
      {
        what: `${what}: CPU`, peer, limit, ratio: cpu, target: { atMost: 2 }, context: `${each.toFixed(1)} µs an event`,
      },
      { what: `${what}: milliseconds`, peer, limit: '', ratio: oursElapsedMs, target: { atMost: 30 } },
    ]
  } finally {
    await raw.stop()
  }
}

function replayRound(child: Child, place: Place, bytes: number): Round {
  return () => child.measure(async () => {
    const socket = await openSocket(place)
    await receiveBytes(socket, bytes)
    socket.destroy()
  })
}

/** Returns the bytes for a reader who joins at the beginning: the state, then every event. */
async function capture(place: Place, count: number): Promise<Buffer> {
  const socket = await openSocket(place)
  const bytes = await receiveFrames(socket, 1 + count)
  socket.destroy()
  return bytes
}

async function countEvents({ port, key }: Place, conversationId: string): Promise<number> {
  const url = `http://127.0.0.1:${port}/api/conversations/${conversationId}/events/count`
  const response = await fetch(url, { headers: { 'X-Session-API-Key': key } })
  return Number(await response.json())
}
