/**
 * Many agents that stream at once, each 25 pieces of text a second and a tool call with its result in every tenth: how
 * long a piece and a recorded event take from the agent's write to the client's frame, and the processor time of it.
 *
 * The limit is a splitter of lines behind agents of the same kind, which writes and syncs each line that is no piece of
 * text (bare-relay). All agents are one process (piped-agents). The figure of a turn is the 99th percentile over all
 * agents.
 */
import type { Socket } from 'node:net'
import { startChild, type Child } from '../child.ts'
import type { Gate, Row } from '../gate.ts'
import { readTurn, type Kind } from '../many-agents.ts'
import { pipedAgent } from '../piped-agent.ts'
import { spreadOf } from '../rounds.ts'
import { openSocket, placesOf } from '../sockets.ts'
import { userRow } from './row.ts'
import { createConversation, follow, withServer, type UserServer } from './server.ts'

const pieces = 75
const piecesPerSecond = 25
/** The target, by the number of agents: the share of a processor that all of them may take while they stream. */
const targetShares: Readonly<Record<number, number>> = { 1: 0.05, 10: 0.25, 50: 0.5, 200: 1 }
const leastRounds = 3

interface Turn {
  readonly delays: Readonly<Record<Kind, readonly number[]>>
  readonly cpuMs: number
}

interface Pair {
  readonly ours: Turn
  readonly limit: Turn
}

export function streaming(agents: number): Gate {
  return ({ budgetMs }) => withServer(['--agent-limit', String(agents)], async (server) => {
    const talkers = startChild('piped-agents')
    const pipes = String(await talkers.ask('pipes', agents))
    const bareTalkers = startChild('piped-agents')
    const bare = startChild('bare-relay', [`${agents}`, String(await bareTalkers.ask('pipes', agents))])
    const children = [talkers, bareTalkers, bare]
    try {
      await bare.ask('keep', true)
      const ids = await Promise.all(Array.from({ length: agents }, (_, index) =>
        createConversation(server, pipedAgent(pipes, index))))
      await ourTurn(server, ids)
      const begin = performance.now()
      const pairs: Pair[] = []
      while (pairs.length < leastRounds || performance.now() - begin < budgetMs) {
        pairs.push({ limit: await bareTurn(bare), ours: await ourTurn(server, ids) })
      }
      // The watch reads a file every 20 milliseconds, which the limit does not. So it has a turn of its own.
      const { stall } = await server.watched(() => ourTurn(server, ids))
      return rowsOf(agents, pairs).map((row) => ({ ...row, stall }))
    } finally {
      await Promise.all(children.map((child) => child.stop()))
    }
  })
}

function rowsOf(agents: number, pairs: readonly Pair[]): Row[] {
  const times = (kind: Kind, share: number): Pick<Parameters<typeof userRow>[0], 'ours' | 'least' | 'ratio'> => {
    const of = (turn: Turn): number => shareOf(turn.delays[kind], share)
    return {
      ours: spreadOf(pairs.map(({ ours }) => of(ours))), least: spreadOf(pairs.map(({ limit }) => of(limit))),
      ratio: spreadOf(pairs.map(({ ours, limit }) => of(ours) / of(limit))),
    }
  }
  const crowd = agents === 1 ? 'one agent' : `${agents} agents at once`
  const row = (kind: Kind, name: string, limit: string, why: string): Row => userRow({
    what: `${name} of ${crowd}: slowest hundredth`, limit, ...times(kind, 0.99), target: { atMost: 100 }, why,
    context: `median ${times(kind, 0.5).ours.median.toFixed(2)} ms`,
  })
  const share = targetShares[agents] ?? 1
  const cost = ({ cpuMs, delays }: Turn): number => cpuMs * 1000 / delays.delta.length
  return [
    row('delta', 'delta', 'line splitter', 'a text that stands still for a tenth of a second stutters'),
    row('result', 'recorded event', 'line splitter, write and sync', 'the same; the disk is the most of it'),
    userRow({
      what: `processor time a delta, ${crowd}`, limit: 'line splitter, write and sync', unit: 'µs',
      ours: spreadOf(pairs.map(({ ours }) => cost(ours))), least: spreadOf(pairs.map(({ limit }) => cost(limit))),
      ratio: spreadOf(pairs.map(({ ours, limit }) => cost(ours) / cost(limit))),
      target: { atMost: share * 1e6 / (piecesPerSecond * agents) },
      why: `${crowd}, of ${piecesPerSecond} pieces a second each, then take ${share * 100} % of a processor`,
      context: 'with its share of the tool calls and of the turn',
    }),
  ]
}

async function ourTurn(server: UserServer, ids: readonly string[]): Promise<Turn> {
  const sockets = await Promise.all(ids.map((id) => follow(server, id)))
  const message = { role: 'user', content: [{ type: 'text', text: `stream ${pieces}` }], run: true }
  return turnOf(server.child, sockets, () => Promise.all(ids.map((id) =>
    server.call('POST', `/api/conversations/${id}/events`, message))))
}

async function bareTurn(bare: Child): Promise<Turn> {
  const sockets = await Promise.all((await placesOf(bare)).map(openSocket))
  return turnOf(bare, sockets, () => bare.ask('prompt', `stream ${pieces}`))
}

async function turnOf(child: Child, sockets: readonly Socket[], begin: () => Promise<unknown>): Promise<Turn> {
  const delays = { delta: [], result: [] }
  const before = Number(await child.ask('cpu'))
  const ended = Promise.all(sockets.map((socket) => readTurn(socket, delays)))
  await begin()
  await ended
  const cpuMs = Number(await child.ask('cpu')) - before
  for (const socket of sockets) socket.destroy()
  if (delays.delta.length !== pieces * sockets.length) {
    throw new Error(`Expected ${pieces * sockets.length} pieces, got ${delays.delta.length}`)
  }
  return { delays, cpuMs }
}

function shareOf(delays: readonly number[], share: number): number {
  return delays.toSorted((a, b) => a - b)[Math.floor(delays.length * share)] ?? NaN
}
