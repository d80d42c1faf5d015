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
/** Two events each, of which the message has more than 1 KB: several times what is kept in memory. */
const storedMessages = 4_000

interface Case {
  readonly what: string
  readonly order: 'TIMESTAMP' | 'TIMESTAMP_DESC'
  /** What the limit answers to. */
  readonly source: 'memory' | 'file'
  readonly limit: string
  readonly speed: Target
  readonly cpu: Target
}

const cases: readonly Case[] = [
  { what: '', order: 'TIMESTAMP_DESC', source: 'memory', limit: 'bare node:http', speed: { atLeast: 0.95 }, cpu: { atMost: 1.05 } },
  { what: ' not in memory', order: 'TIMESTAMP', source: 'file', limit: 'node:http that reads a file', speed: 'none', cpu: 'none' },
]

export const getEvent: Gate = async ({ budgetMs }) => {
  const real = await startRealServer({ messages: storedMessages })
  const bare = startChild('bare-http')
  try {
    const rows: Row[] = []
    for (const one of cases) rows.push(...(await compareReads(one, real, bare, budgetMs / cases.length)))
    return rows
  } finally {
    await Promise.all([real.child.stop(), bare.stop()])
  }
}

async function compareReads(one: Case, real: RealConversation, bare: Child, budgetMs: number): Promise<Row[]> {
  const { child, port, key, conversationId } = real
  const headers = { 'X-Session-API-Key': key }
  const events = `/api/conversations/${conversationId}/events`
  const found: unknown = JSON.parse((await get(port, `${events}/search?kind=MessageEvent&sort_order=${one.order}`, headers)).body.toString())
  const path = `${events}/${String(memberAt(listAt(found, 'items')[50], 'id'))}`
  const answer = await get(port, path, headers)
  await bare.ask('prepare', { ...answer, source: one.source })
  const barePort = Number(await bare.ask('port'))
  const { elapsed, cpu, ours } = await compare({
    limit: roundOf(bare, barePort, path, key, answer.body.length),
    ours: roundOf(child, port, path, key, answer.body.length),
  }, budgetMs)
  const what = `GET one event of ${answer.body.length} bytes${one.what}, ${connections} connections`
  const context = `${((ours.cpuMs / requestsPerRound) * 1000).toFixed(1)} µs`
  return [
    { what: `${what}: requests/s`, limit: one.limit, ratio: inverse(elapsed), target: one.speed },
    { what: `${what}: CPU`, limit: one.limit, ratio: cpu, target: one.cpu, context },
  ]
}

function roundOf(child: Child, port: number, path: string, key: string, bodyBytes: number): Round {
  const lines = [`GET ${path} HTTP/1.1`, `Host: 127.0.0.1:${port}`, `X-Session-API-Key: ${key}`, 'Accept: application/json']
  const bytes = Buffer.from(`${lines.join('\r\n')}\r\n\r\n`)
  return async () => {
    const load = await openLoad({ port, connections, request: bytes, bodyBytes })
    try {
      return await child.measure(() => load.run(requestsPerRound))
    } finally {
      load.close()
    }
  }
}

/** One answer with the headers that the handler gave it, without those that Node adds to every answer. */
function get(port: number, path: string, headers: Record<string, string>): Promise<{ headers: string[]; body: Buffer }> {
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
