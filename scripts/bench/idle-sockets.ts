/**
 * Measures the memory of a connection that listens and gets nothing: a WebSocket that is subscribed to a conversation
 * of the server as it is, beside a plain socket that is open. 5,000 of each; the first 500 are not counted, since they
 * pay for code and tables. Resident memory after collections, as the system tells it, of fresh processes that take
 * turns.
 */
import type { Socket } from 'node:net'
import { startChild, type Child } from './child.ts'
import type { Gate } from './gate.ts'
import { startRealServer } from './real-conversation.ts'
import { spreadOf } from './rounds.ts'
import { openSocket, receiveFrames, type Place } from './sockets.ts'

const uncounted = 500
const counted = 5_000
const together = 100
const leastPairs = 3

/** Opens one connection and resolves when it is idle. */
type Open = () => Promise<Socket>

export interface IdleSide {
  readonly child: Child
  readonly open: Open
}

export const idleSockets: Gate = ({ budgetMs }) => compareIdle('', startOurs, budgetMs)

export async function compareIdle(
  peer: string, startSide: () => Promise<IdleSide>, budgetMs: number,
): ReturnType<Gate> {
  const begin = performance.now()
  const ours: number[] = []
  const ratios: number[] = []
  while (ratios.length < leastPairs || performance.now() - begin < budgetMs) {
    const limit = await bytesEach(await startRaw())
    const each = await bytesEach(await startSide())
    ours.push(each)
    ratios.push(each / limit)
  }
  return [{
    what: `resident memory of an idle connection, ${counted} open`,
    peer,
    limit: 'raw sockets',
    ratio: spreadOf(ratios),
    target: { atMost: 1.2 },
    context: `${(spreadOf(ours).median / 1024).toFixed(1)} KiB`,
  }]
}

async function bytesEach({ child, open }: IdleSide): Promise<number> {
  const sockets: Socket[] = []
  const more = async (count: number): Promise<number> => {
    for (let left = count; left > 0; left -= together) {
      sockets.push(...(await Promise.all(Array.from({ length: together }, open))))
    }
    return Number(await child.ask('resident'))
  }
  try {
    const before = await more(uncounted)
    return ((await more(counted)) - before) / counted
  } finally {
    for (const socket of sockets) socket.destroy()
    await child.stop()
  }
}

async function startOurs(): Promise<IdleSide> {
  const { child, port, key, conversationId } = await startRealServer({ messages: 0 })
  return { child, open: () => subscribe({ port, key, path: `/sockets/events/${conversationId}` }) }
}

/** The first frame, the state, says that the subscription stands. */
async function subscribe(place: Place): Promise<Socket> {
  const socket = await openSocket(place)
  await receiveFrames(socket, 1)
  return socket
}

async function startRaw(): Promise<IdleSide> {
  const child = startChild('raw-sockets')
  const place = { port: Number(await child.ask('port')), path: '/', key: '' }
  return { child, open: () => openSocket(place) }
}
