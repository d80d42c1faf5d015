/**
 * The whole way of an event: checked, printed, appended durably, framed and sent, beside the same steps with nothing
 * else.
 *
 * A round ends when a socket has every byte. 64 events are made at once, as by a busy conversation; so the disk takes
 * most of the time, on both sides, and processor time shows the share of the server.
 */
import { startChild, type Child } from './child.ts'
import type { Gate } from './gate.ts'
import { compare, inverse, type Round } from './rounds.ts'
import { openSocket, receiveFrames } from './sockets.ts'

const eventsPerRound = 1024

export const wholePath: Gate = async ({ budgetMs }) => {
  const ours = startChild('path-server')
  const bare = startChild('path-server')
  try {
    const sides = { limit: await roundOf(bare, 'bare'), ours: await roundOf(ours, 'ours') }
    const { elapsed, cpu, ours: cost } = await compare(sides, budgetMs)
    const what = 'an event from an object to a socket'
    const limit = 'the same steps bare'
    const context = (ms: number): string => `${((ms / eventsPerRound) * 1000).toFixed(1)} µs`
    return [
      {
        what: `${what}: speed`, limit, ratio: inverse(elapsed), target: { atLeast: 0.75 },
        context: context(cost.elapsedMs),
      },
      { what: `${what}: CPU`, limit, ratio: cpu, target: { atMost: 1.33 }, context: context(cost.cpuMs) },
    ]
  } finally {
    await Promise.all([ours.stop(), bare.stop()])
  }
}

async function roundOf(child: Child, side: string): Promise<Round> {
  const port = Number(await child.ask('begin', side))
  return async () => {
    const socket = await openSocket({ port, path: '/', key: '' })
    try {
      return await child.measure(async () => {
        const received = receiveFrames(socket, eventsPerRound)
        await child.ask('emit', eventsPerRound)
        await received
      })
    } finally {
      socket.destroy()
    }
  }
}
