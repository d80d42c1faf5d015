/**
 * Gate 6: the time that the server adds between a line of an external agent and the frame that a client gets.
 *
 * The limit is the same agent behind a bare splitter of lines; a recorded line is written and synced once before it
 * goes on. A round is one turn of the agent, and its figure is the median of the times of its updates.
 */
import { startChild, type Child } from './child.ts'
import type { Gate, Row } from './gate.ts'
import { compare, spreadOf, type Round } from './rounds.ts'
import { openSocket, placesOf, receiveUntil, type Place } from './sockets.ts'

const updatesPerRound = 200

export const relay: Gate = async ({ budgetMs }) => {
  const ours = startChild('relay-server')
  const bare = startChild('bare-relay')
  try {
    const places = { ours: await placeOf(ours), bare: await placeOf(bare) }
    const measureKind = async (kind: string, isKept: boolean): Promise<Row> => {
      await bare.ask('keep', isKept)
      const sides = { limit: turnRound(bare, places.bare, kind), ours: turnRound(ours, places.ours, kind) }
      const { elapsed, ours: cost } = await compare(sides, budgetMs / 2)
      return {
        what: `from an agent's line to a frame: ${isKept ? 'recorded event' : 'delta'}`,
        limit: isKept ? 'line splitter, write and sync' : 'line splitter',
        ratio: elapsed,
        target: { atMost: isKept ? 1.2 : 1.5 },
        context: `${(cost.elapsedMs * 1000).toFixed(0)} µs`,
      }
    }
    return [await measureKind('delta', false), await measureKind('tool', true)]
  } finally {
    await Promise.all([ours.stop(), bare.stop()])
  }
}

async function placeOf(child: Child): Promise<Place> {
  const [place] = await placesOf(child)
  if (place === undefined) throw new TypeError('There is no conversation')
  return place
}

/** Runs a turn; the time that is told is the median of its updates, and the processor time that of the whole turn. */
function turnRound(child: Child, place: Place, kind: string): Round {
  return async () => {
    const socket = await openSocket(place)
    const delays = new Map<string, number>()
    let rest = ''
    const { cpuMs } = await child.measure(async () => {
      const ended = receiveUntil(socket, (text, now) => {
        rest += text
        for (const [, time = ''] of rest.matchAll(stamps)) {
          if (!delays.has(time)) delays.set(time, Number(now - BigInt(time)) / 1e6)
        }
        const isOver = turnEnd.test(rest)
        // Text that was read is not read again. Text that the border of a chunk cut in two stays for the next chunk.
        rest = rest.slice(Math.max(rest.lastIndexOf('>'), rest.length - 100) + 1)
        return isOver
      })
      await child.ask('prompt', `${kind} ${updatesPerRound}`)
      await ended
    })
    socket.destroy()
    if (delays.size < updatesPerRound) throw new Error(`Expected ${updatesPerRound} updates, got ${delays.size}`)
    return { elapsedMs: spreadOf([...delays.values()]).median, cpuMs }
  }
}

/**
 * Matches the time at which an update was written. The first place of a time counts, since the message at the end
 * repeats the times of all its deltas.
 */
const stamps = /at<(\d+)>/g
/** How the agent ends its turn, and how the server says so. */
const turnEnd = /"end_turn"|"key":"execution_status","value":"finished"/
