/**
 * Gate: 50 agents that work at once, each with a piece of text, a tool call and its result 25 times a second.
 *
 * It measures the time from the agent's write to the client's frame, of deltas and of results, which are recorded. The
 * figure of a round is the 99th percentile over all agents, since users notice the slow ones. The limit of the first two
 * rows is the same server with one agent; that of the last two a bare splitter with 50 agents, which writes and syncs a
 * file for each, as the least that keeps a result.
 */
import type { Socket } from 'node:net'
import { startChild, type Child } from './child.ts'
import type { Gate, Row } from './gate.ts'
import { compare, type Round } from './rounds.ts'
import { openSocket, placesOf, receiveUntil } from './sockets.ts'

const agents = 50
const updates = 100
const kinds = ['delta', 'result'] as const
type Kind = (typeof kinds)[number]

export const manyAgents: Gate = async ({ budgetMs }) => {
  const [one, many, bare] = [startChild('relay-server'), startChild('relay-server', [`${agents}`]), startChild('bare-relay', [`${agents}`])]
  try {
    const rows: Row[] = []
    for (const kind of kinds) {
      await bare.ask('keep', kind === 'result')
      const ours = turnRound(many, kind)
      const { elapsed, ours: cost } = await compare({ limit: turnRound(one, kind), ours }, budgetMs / 4)
      const what = `${agents} agents at once, slowest hundredth: ${kind === 'result' ? 'recorded event' : kind}`
      const context = `${cost.elapsedMs.toFixed(1)} ms`
      rows.push({ what, limit: 'one agent', ratio: elapsed, target: { atMost: 2 }, context })
      const { elapsed: toBare } = await compare({ limit: turnRound(bare, kind), ours }, budgetMs / 4)
      const limit = kind === 'result' ? `${agents} line splitters, write and sync` : `${agents} line splitters`
      rows.push({ what, limit, ratio: toBare, target: 'none' })
    }
    return rows
  } finally {
    await Promise.all([one.stop(), many.stop(), bare.stop()])
  }
}

/** One turn of every agent of a child; the time of the round is the 99th percentile of the delays of one kind. */
function turnRound(child: Child, kind: Kind): Round {
  return async () => {
    const sockets = await Promise.all((await placesOf(child)).map(openSocket))
    const delays: number[] = []
    // Not by `measure`, which keeps a processor busy that the agents need.
    const cpuBefore = Number(await child.ask('cpu'))
    const ended = Promise.all(sockets.map((socket) => readTurn(socket, kind, delays)))
    await child.ask('prompt', `paced ${updates}`)
    await ended
    const cpuMs = Number(await child.ask('cpu')) - cpuBefore
    for (const socket of sockets) socket.destroy()
    if (delays.length !== updates * sockets.length) throw new Error(`Expected ${updates} times ${sockets.length} delays, got ${delays.length}`)
    delays.sort((a, b) => a - b)
    return { elapsedMs: delays[Math.floor(delays.length * 0.99)] ?? NaN, cpuMs }
  }
}

/** Reads to the end of a turn and notes the delay of each update of the kind, which counts where it is seen first. */
async function readTurn(socket: Socket, kind: Kind, delays: number[]): Promise<void> {
  const stamps = new RegExp(`${kind} at<(\\d+)>`, 'g')
  const seen = new Set<string>()
  let rest = ''
  await receiveUntil(socket, (text, now) => {
    rest += text
    for (const [, time = ''] of rest.matchAll(stamps)) {
      if (seen.has(time)) continue
      seen.add(time)
      delays.push(Number(now - BigInt(time)) / 1e6)
    }
    const isOver = turnEnd.test(rest)
    rest = rest.slice(Math.max(rest.lastIndexOf('>'), rest.length - 100) + 1)
    return isOver
  })
}

/** How an agent ends its turn, and how the server says so. */
const turnEnd = /"end_turn"|"key":"execution_status","value":"finished"/
