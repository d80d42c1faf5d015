/**
 * JSON-RPC over pipes, as with an agent: requests that are answered with their own parameters, beside a bare loop over
 * lines.
 *
 * Either side is a process of its own (see rpc-echo), and this one keeps a few requests on their way: it writes lines
 * that were made before, and counts the lines that come back.
 */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { startChild, type Child } from './child.ts'
import type { Gate, Row } from './gate.ts'
import { compare, inverse, type Round } from './rounds.ts'

interface Load {
  readonly name: string
  /** Of one request, about. */
  readonly bytes: number
  readonly perRound: number
  readonly open: number
}

const loads: readonly Load[] = [
  { name: '200 B', bytes: 200, perRound: 10_000, open: 64 },
  { name: '2 KB', bytes: 2000, perRound: 5000, open: 64 },
  { name: '1 MB', bytes: 1_000_000, perRound: 20, open: 4 },
]

export const jsonRpc: Gate = async ({ budgetMs }) => compareEchoes('', startChild('rpc-echo'), budgetMs)

/** @param peer whose program it is; empty for ours */
export async function compareEchoes(peer: string, program: Child, budgetMs: number): Promise<Row[]> {
  const ours = await connectEcho(program, 'ours')
  const bare = await connectEcho(startChild('rpc-echo'), 'bare')
  try {
    const rows: Row[] = []
    for (const load of loads) {
      const { elapsed, cpu, ours: cost } = await compare(
        { limit: roundOf(bare, load), ours: roundOf(ours, load) }, budgetMs / loads.length,
      )
      const what = `JSON-RPC over pipes, requests of ${load.name}`
      const limit = 'hand-written line splitter'
      const context = `${((cost.elapsedMs * 1000) / load.perRound).toFixed(1)} µs`
      rows.push({ peer, what: `${what}: speed`, limit, ratio: inverse(elapsed), target: { atLeast: 0.9 }, context })
      rows.push({ peer, what: `${what}: CPU`, limit, ratio: cpu, target: { atMost: 1.1 } })
    }
    return rows
  } finally {
    await Promise.all([ours.stop(), bare.stop()])
  }
}

interface Echo {
  readonly child: Child
  readonly socket: Socket
  stop(): Promise<void>
}

async function connectEcho(child: Child, side: string): Promise<Echo> {
  const socket = connect(String(await child.ask('listen', side)))
  await once(socket, 'connect')
  return {
    child,
    socket,
    async stop() {
      socket.destroy()
      await child.stop()
    },
  }
}

function roundOf({ child, socket }: Echo, { bytes, perRound, open }: Load): Round {
  const requests = Array.from({ length: open }, (_, number) => Buffer.from(requestOf(number + 1, bytes)))
  return () => child.measure(() => exchange(socket, requests, perRound))
}

/** Sends so many requests, a few at a time, and resolves when as many lines have come back. */
function exchange(socket: Socket, requests: readonly Buffer[], count: number): Promise<void> {
  return new Promise((resolve) => {
    let sent = 0
    let answered = 0
    const send = (): void => {
      const request = requests[sent++ % requests.length]
      if (request !== undefined) socket.write(request)
    }
    const onData = (chunk: Buffer): void => {
      for (let at = chunk.indexOf('\n'); at !== -1; at = chunk.indexOf('\n', at + 1)) {
        answered++
        if (sent < count) send()
      }
      if (answered < count) return
      socket.off('data', onData)
      resolve()
    }
    socket.on('data', onData)
    while (sent < Math.min(requests.length, count)) send()
  })
}

/** Makes a request like those of an agent that works: a few short members and one text. */
function requestOf(id: number, bytes: number): string {
  const request = {
    jsonrpc: '2.0',
    id,
    method: 'session/update',
    params: {
      sessionId: 'bench', update: { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: '' } },
    },
  }
  const { length } = JSON.stringify(request)
  request.params.update.content.text = 'The callers decide. "Quoted" and\nbroken. '.repeat(bytes / 40).slice(
    0, Math.max(0, bytes - length),
  )
  return `${JSON.stringify(request)}\n`
}
