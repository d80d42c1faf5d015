/**
 * Reading one event over REST, through everything that a request passes, beside node:http that writes the same bytes
 * without looking at the request: from memory for one of the newest events, from a file for one that is not in memory.
 *
 * Both servers are processes that live all the time; the load comes from this one, over 50 connections.
 */
import { request } from 'node:http'
import { listAt, memberAt } from '../real/member.ts'
import { startChild, type Child } from './child.ts'
import type { Gate, Row, Target } from './gate.ts'
import { startRealServer, type RealConversation } from './real-conversation.ts'
import { openLoad } from './requests.ts'
import { compare, inverse, type Round } from './rounds.ts'

const connections = 50
const requestsPerRound = 3_000
/** Each makes two events, and the message has more than 1 KB: several times as much as the server keeps in memory. */
const storedMessages = 4_000

type Source = 'memory' | 'file'

/** How ours is asked for an event that is there. */
const orders = { memory: 'TIMESTAMP_DESC', file: 'TIMESTAMP' } as const

/** An event with the answer that this server gives to a request for it. */
export interface ReadEvent {
  readonly id: string
  readonly path: string
  readonly sessionKey: string
  readonly headers: readonly string[]
  readonly body: Buffer
}

export const getEvent: Gate = async ({ budgetMs }) => {
  const real = await startRealServer({ messages: storedMessages })
  try {
    const rows: Row[] = []
    for (const source of ['memory', 'file'] as const) {
      const event = await findEvent(real, source)
      rows.push(
        ...(await compareReads({
          peer: '', event, child: real.child, port: real.port, source, budgetMs: budgetMs / 2,
        })),
      )
    }
    return rows
  } finally {
    await real.child.stop()
  }
}

/** An event of this server, for peers to answer with. */
export async function readEvent(source: Source): Promise<ReadEvent> {
  const real = await startRealServer({ messages: storedMessages })
  try {
    return await findEvent(real, source)
  } finally {
    await real.child.stop()
  }
}

async function findEvent({ port, key, conversationId }: RealConversation, source: Source): Promise<ReadEvent> {
  const headers = { 'X-Session-API-Key': key }
  const events = `/api/conversations/${conversationId}/events`
  const found = await get(port, `${events}/search?kind=MessageEvent&sort_order=${orders[source]}`, headers)
  const id = String(memberAt(listAt(JSON.parse(found.body.toString()), 'items')[50], 'id'))
  const path = `${events}/${id}`
  return { id, path, sessionKey: key, ...(await get(port, path, headers)) }
}

export interface Reads {
  /** Empty for this server. */
  readonly peer: string
  readonly event: ReadEvent
  readonly child: Child
  readonly port: number
  /** The place that the limit reads its answers from. */
  readonly source: Source
  readonly budgetMs: number
}

export async function compareReads({ peer, event, child, port, source, budgetMs }: Reads): Promise<Row[]> {
  const bare = startChild('bare-http')
  try {
    await bare.ask('prepare', { ...event, source })
    const sides = { limit: roundOf(bare, Number(await bare.ask('port')), event), ours: roundOf(child, port, event) }
    const { elapsed, cpu, ours } = await compare(sides, budgetMs)
    const where = source === 'memory' ? '' : ' not in memory'
    const what = `GET one event of ${event.body.length} bytes${where}, ${connections} connections`
    const limit = source === 'memory' ? 'bare node:http' : 'node:http that reads a file'
    const speed: Target = source === 'memory' ? { atLeast: 0.95 } : 'none'
    const cost: Target = source === 'memory' ? { atMost: 1.05 } : 'none'
    const context = `${((ours.cpuMs / requestsPerRound) * 1000).toFixed(1)} µs`
    return [
      { what: `${what}: requests/s`, peer, limit, ratio: inverse(elapsed), target: speed },
      { what: `${what}: CPU`, peer, limit, ratio: cpu, target: cost, context },
    ]
  } finally {
    await bare.stop()
  }
}

function roundOf(child: Child, port: number, { path, sessionKey, body }: ReadEvent): Round {
  const lines = [
    `GET ${path} HTTP/1.1`, `Host: 127.0.0.1:${port}`, `X-Session-API-Key: ${sessionKey}`, 'Accept: application/json',
  ]
  const bytes = Buffer.from(`${lines.join('\r\n')}\r\n\r\n`)
  return async () => {
    const load = await openLoad({ port, connections, request: bytes, bodyBytes: body.length })
    try {
      return await child.measure(() => load.run(requestsPerRound))
    } finally {
      load.close()
    }
  }
}

/** Gets one answer with the headers of the handler, without the headers that Node adds to every answer. */
function get(
  port: number, path: string, headers: Record<string, string>,
): Promise<{ headers: string[]; body: Buffer }> {
  return new Promise((resolve, reject) => {
    request({ port, path, headers }, async (response) => {
      const body = Buffer.concat(await response.toArray())
      const { rawHeaders } = response
      const own = rawHeaders.filter((_, index) => !addedByNode.has(rawHeaders[index - (index % 2)] ?? ''))
      resolve({ headers: own, body })
    }).on('error', reject).end()
  })
}

const addedByNode: ReadonlySet<string> = new Set(['Date', 'Connection', 'Keep-Alive'])
