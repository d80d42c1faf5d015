/**
 * Gate: 50 agents that work at once, each with a piece of text, a tool call and its result 25 times a second.
 *
 * It measures the time from the agent's write to the client's frame, of deltas and of results, which are recorded. The
 * figure of a turn is the 99th percentile over all agents, since users notice the slow ones. The first rows compare the
 * server with itself driving one agent; the last with a bare splitter of 50 agents, which writes and syncs a file for
 * each, as the least that keeps a result. All agents are one process (see piped-agents), so that their cost is small
 * and the same for each side.
 *
 * The sides take turns, and a round of all of them gives one ratio. They have had a few turns before, so that agents
 * have been started and code was compiled. Other programs disturb this gate more than any other: each of the fifty
 * agents may have to wait for a processor. So a round does not count when other programs used more than `othersLimit`,
 * and with fewer than `leastRounds` counted rounds there is no verdict. README.md beside this file tells the lessons of
 * this gate.
 */
import type { Socket } from 'node:net'
import { startChild, type Child } from './child.ts'
import type { Gate, Row } from './gate.ts'
import { busyMs } from './processors.ts'
import { spreadOf } from './rounds.ts'
import { openSocket, placesOf, receiveUntil } from './sockets.ts'

const agents = 50
/** How often an agent writes in a turn. One agent has a longer turn, since of few the slowest hundredth is one. */
const writes = { one: 250, many: 200, bare: 100 } as const
const warmUps = 2
const leastRounds = 3
/** In processors. The time of the pipes and of the kernel's threads is included. */
const othersLimit = 0.5
const kinds = ['delta', 'result'] as const
export type Kind = (typeof kinds)[number]

interface Turn {
  /** The 99th percentile of each kind, in milliseconds. */
  readonly slowest: Readonly<Record<Kind, number>>
  /** How many processors other programs used meanwhile. */
  readonly others: number
}

type Side = keyof typeof writes
type Round = Readonly<Record<Side, Turn>>

export const manyAgents: Gate = async ({ budgetMs }) => {
  const talkers = startChild('piped-agents')
  const start = async (program: string, count: number): Promise<Child> => {
    return startChild(program, [`${count}`, String(await talkers.ask('pipes', count))])
  }
  const [one, many, bare] = [
    await start('relay-server', 1), await start('relay-server', agents), await start('bare-relay', agents),
  ]
  const children: Readonly<Record<Side, Child>> = { one, many, bare }
  const turnOf = (side: Side): Promise<Turn> => runTurn({ server: children[side], talkers }, writes[side])
  try {
    await bare.ask('keep', true)
    const begin = performance.now()
    for (let left = warmUps; left > 0; left--) for (const side of ['many', 'bare', 'one'] as const) await turnOf(side)
    const rounds: Round[] = []
    while (performance.now() - begin < budgetMs || rounds.length < leastRounds) {
      rounds.push({ one: await turnOf('one'), many: await turnOf('many'), bare: await turnOf('bare') })
    }
    return kinds.flatMap((kind) => rowsOf(kind, rounds))
  } finally {
    await Promise.all([one, many, bare, talkers].map((child) => child.stop()))
  }
}

function rowsOf(kind: Kind, rounds: readonly Round[]): Row[] {
  const quiet = rounds.filter(isQuiet)
  const isEnough = quiet.length >= leastRounds
  const counted = isEnough ? quiet : rounds
  const ratioTo = (limit: Side): Row['ratio'] =>
    spreadOf(counted.map((round) => round.many.slowest[kind] / round[limit].slowest[kind]))
  const ms = spreadOf(counted.map(({ many }) => many.slowest[kind])).median
  const context = `${ms.toFixed(1)} ms; ` +
    `${isEnough ? `${quiet.length} of ${rounds.length} rounds were quiet` : 'others keep the machine busy'}`
  const what = `${agents} agents at once, slowest hundredth: ${kind === 'result' ? 'recorded event' : kind}`
  const limit = kind === 'result' ? `${agents} line splitters, write and sync` : `${agents} line splitters`
  return [
    { what, limit: 'one agent', ratio: ratioTo('one'), target: isEnough ? { atMost: 2 } : 'none', context },
    { what, limit, ratio: ratioTo('bare'), target: 'none' },
  ]
}

function isQuiet({ one, many, bare }: Round): boolean {
  return [one, many, bare].every(({ others }) => others <= othersLimit)
}

/** One turn of every agent of a server. */
async function runTurn(programs: { readonly server: Child; readonly talkers: Child }, count: number): Promise<Turn> {
  const sockets = await Promise.all((await placesOf(programs.server)).map(openSocket))
  // Not by `measure` of the child, which keeps a processor busy.
  const others = await watchOthers(Object.values(programs))
  const delays = { delta: [], result: [] }
  const ended = Promise.all(sockets.map((socket) => readTurn(socket, delays)))
  await programs.server.ask('prompt', `paced ${count}`)
  await ended
  const turn = { slowest: { delta: slowestOf(delays.delta), result: slowestOf(delays.result) }, others: await others() }
  for (const socket of sockets) socket.destroy()
  const expected = count * sockets.length
  if (kinds.some((kind) => delays[kind].length !== expected)) {
    throw new Error(`Expected ${expected} delays, got ${delays.delta.length} and ${delays.result.length}`)
  }
  return turn
}

/**
 * Returns a function that tells how many processors were busy since this call, without this process and the children.
 */
async function watchOthers(children: readonly Child[]): Promise<() => Promise<number>> {
  const ownMs = async (): Promise<number> => {
    const { user, system } = process.cpuUsage()
    const used = await Promise.all(children.map(async (child) => Number(await child.ask('cpu'))))
    return used.reduce((sum, ms) => sum + ms, (user + system) / 1000)
  }
  const [begin, busy, own] = [performance.now(), busyMs(), await ownMs()]
  return async () => (busyMs() - busy - (await ownMs()) + own) / (performance.now() - begin)
}

function slowestOf(delays: number[]): number {
  return delays.sort((a, b) => a - b)[Math.floor(delays.length * 0.99)] ?? NaN
}

/** Reads to the end of a turn and notes the delay of each update, which counts where it is seen first. */
export async function readTurn(socket: Socket, delays: Readonly<Record<Kind, number[]>>): Promise<void> {
  const seen = new Set<string>()
  let rest = ''
  await receiveUntil(socket, (text, now) => {
    rest += text
    for (const [stamp, kind, time = ''] of rest.matchAll(/(delta|result) at<(\d+)>/g)) {
      if (seen.has(stamp)) continue
      seen.add(stamp)
      delays[kind === 'delta' ? 'delta' : 'result'].push(Number(now - BigInt(time)) / 1e6)
    }
    const isOver = turnEnd.test(rest)
    rest = rest.slice(Math.max(rest.lastIndexOf('>'), rest.length - 100) + 1)
    return isOver
  })
}

/** How an agent ends its turn, and how the server says so. */
const turnEnd = /"end_turn"|"key":"execution_status","value":"finished"/
