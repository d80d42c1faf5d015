/**
 * Events of 1 KB on their way to WebSocket readers, beside plain sockets that write the same bytes.
 *
 * Live: one event in each turn of the event loop, to 1, 10, 100 and 1,000 readers. Bursts: 32 events in each turn, to
 * 10 readers; the plain sockets write the frames of a turn as one buffer that is ready. The log is left out on both
 * sides.
 */
import { encodeText } from '../../src/ws/frame.ts'
import { startChild, type Child, type Stream } from './child.ts'
import type { Gate, Row } from './gate.ts'
import { compare, inverse, type Round } from './rounds.ts'
import { actionEvent } from './sample-event.ts'
import { openSocket, receiveBytes } from './sockets.ts'
import { ourselves, type Subject } from './subject.ts'

const audiences: readonly number[] = [1, 10, 100, 1000]
/** Of all readers together, in a round. */
const framesPerRound = 10_000
const burst = { readers: 10, size: 32, turns: 100 }
const limit = 'raw sockets'

interface Broadcast extends Stream {
  readonly readers: number
}

export const fanOut: Gate = fanOutOf(ourselves)
export const bursts: Gate = burstsOf(ourselves)

export function fanOutOf(subject: Subject): Gate {
  return async ({ budgetMs }) => {
    const rows: Row[] = []
    for (const readers of audiences) {
      const stream = { readers, size: 1, turns: framesPerRound / readers }
      const { elapsed, cpu, each, bytes } = await compareStreams(subject, stream, budgetMs / audiences.length)
      const what = `fan-out of ${bytes} bytes to ${readers} sockets`
      const peer = subject.name
      rows.push({ what: `${what}: speed`, peer, limit, ratio: inverse(elapsed), target: { atLeast: 0.95 } })
      rows.push({
        what: `${what}: CPU`, peer, limit, ratio: cpu, target: { atMost: 1.05 },
        context: `${each.toFixed(1)} µs a frame`,
      })
    }
    return rows
  }
}

export function burstsOf(subject: Subject): Gate {
  return async ({ budgetMs }) => {
    const { elapsed, cpu, each } = await compareStreams(subject, burst, budgetMs)
    const what = `bursts of ${burst.size} events to ${burst.readers} sockets`
    const peer = subject.name
    const coalesced = `${limit}, one write a burst`
    return [
      { what: `${what}: speed`, peer, limit: coalesced, ratio: inverse(elapsed), target: { atLeast: 0.5 } },
      {
        what: `${what}: CPU`, peer, limit: coalesced, ratio: cpu, target: { atMost: 2 },
        context: `${each.toFixed(1)} µs a frame`,
      },
    ]
  }
}

async function compareStreams(subject: Subject, stream: Broadcast, budgetMs: number) {
  const ours = await subject.start('feed-server')
  const raw = startChild('raw-sockets')
  try {
    const json = Buffer.from(actionEvent())
    const frame = encodeText(json)
    await ours.ask('prepare', json)
    await raw.ask('prepare', Buffer.concat(Array.from({ length: stream.size }, () => frame)))
    const bytes = frame.length * stream.size * stream.turns
    const sides = {
      limit: await roundOf(raw, { ...stream, size: 1 }, bytes),
      ours: await roundOf(ours, stream, bytes),
    }
    const { elapsed, cpu, ours: cost } = await compare(sides, budgetMs)
    const each = (cost.cpuMs / stream.turns / stream.size / stream.readers) * 1000
    return { elapsed, cpu, each, bytes: json.length }
  } finally {
    await Promise.all([ours.stop(), raw.stop()])
  }
}

async function roundOf(child: Child, { readers, size, turns }: Broadcast, bytes: number): Promise<Round> {
  const place = { port: Number(await child.ask('port')), path: '/', key: '' }
  const sockets = await Promise.all(Array.from({ length: readers }, () => openSocket(place)))
  return () => child.measure(async () => {
    await child.ask('emit', { size, turns })
    await Promise.all(sockets.map((socket) => receiveBytes(socket, bytes)))
  })
}
