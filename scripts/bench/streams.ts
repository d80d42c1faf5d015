/**
 * Gate 5: events on their way to WebSocket readers, beside plain sockets that write the same bytes.
 *
 * Live: one event of 1 KB for each turn of the event loop, to 100 readers, through the feed and the connections of the
 * server. Replay: a whole history to one reader, through the server as it is: it reads the log from its file and checks
 * the chain of every line, while the plain socket has the frames in memory.
 */
import { encodeText } from '../../src/ws/frame.ts'
import { startChild, type Child } from './child.ts'
import type { Gate } from './gate.ts'
import { startRealServer } from './real-conversation.ts'
import { compare, inverse, type Round } from './rounds.ts'
import { actionEvent } from './sample-event.ts'
import { openSocket, receiveBytes, receiveFrames, type Place } from './sockets.ts'

const readers = 100
const eventsPerRound = 100
/** Each is two events. */
const storedMessages = 15_000

export const fanOut: Gate = async ({ budgetMs }) => {
  const ours = startChild('feed-server')
  const raw = startChild('raw-sockets')
  try {
    const json = Buffer.from(actionEvent())
    const frame = encodeText(json)
    await ours.ask('prepare', json)
    await raw.ask('prepare', frame)
    const bytes = frame.length * eventsPerRound
    const sides = { limit: await fanOutRound(raw, bytes), ours: await fanOutRound(ours, bytes) }
    const { elapsed, cpu, ours: cost } = await compare(sides, budgetMs)
    const what = `fan-out of ${json.length} bytes to ${readers} sockets`
    const limit = 'raw sockets'
    const each = (cost.cpuMs / eventsPerRound / readers) * 1000
    return [
      { what: `${what}: speed`, limit, ratio: inverse(elapsed), target: { atLeast: 0.95 } },
      { what: `${what}: CPU`, limit, ratio: cpu, target: { atMost: 1.05 }, context: `${each.toFixed(1)} µs a frame` },
    ]
  } finally {
    await Promise.all([ours.stop(), raw.stop()])
  }
}

async function fanOutRound(child: Child, bytes: number): Promise<Round> {
  const place = { port: Number(await child.ask('port')), path: '/', key: '' }
  const sockets = await Promise.all(Array.from({ length: readers }, () => openSocket(place)))
  return () => child.measure(async () => {
    await child.ask('emit', eventsPerRound)
    await Promise.all(sockets.map((socket) => receiveBytes(socket, bytes)))
  })
}

export const replay: Gate = async ({ budgetMs }) => {
  const { child: real, port, key, conversationId } = await startRealServer({ messages: storedMessages })
  const raw = startChild('raw-sockets')
  try {
    const place = { port, key, path: `/sockets/events/${conversationId}?resend_mode=all` }
    const count = await countEvents(place, conversationId)
    const bytes = await capture(place, count)
    await raw.ask('greet', bytes)
    const rawPlace = { ...place, port: Number(await raw.ask('port')) }
    const sides = { limit: replayRound(raw, rawPlace, bytes.length), ours: replayRound(real, place, bytes.length) }
    const { elapsed, cpu, ours } = await compare(sides, budgetMs)
    const what = `replay of ${count} events (${Math.round(bytes.length / 1e6)} MB)`
    const limit = 'raw socket, 64 KiB writes'
    const each = (ours.cpuMs / count) * 1000
    return [
      { what: `${what}: speed`, limit, ratio: inverse(elapsed), target: { atLeast: 0.95 } },
      { what: `${what}: CPU`, limit, ratio: cpu, target: { atMost: 1.05 }, context: `${each.toFixed(1)} µs an event` },
    ]
  } finally {
    await Promise.all([real.stop(), raw.stop()])
  }
}

function replayRound(child: Child, place: Place, bytes: number): Round {
  return () => child.measure(async () => {
    const socket = await openSocket(place)
    await receiveBytes(socket, bytes)
    socket.destroy()
  })
}

/** What a reader gets who joins at the beginning: the state, then every event. */
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
