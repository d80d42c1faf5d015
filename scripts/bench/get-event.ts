/**
 * Gate 4: reading one event over REST, through everything that a request passes, beside node:http that writes the same
 * bytes from memory without looking at the request.
 *
 * Both servers are processes that live all the time; the load comes from this one, over 50 connections.
 */
import { request } from 'node:http'
import { listAt, memberAt } from '../real/member.ts'
import { startChild, type Child } from './child.ts'
import type { Gate } from './gate.ts'
import { startRealServer } from './real-conversation.ts'
import { openLoad } from './requests.ts'
import { compare, inverse, type Round } from './rounds.ts'

const connections = 50
const requestsPerRound = 3_000

export const getEvent: Gate = async ({ budgetMs }) => {
  const { child: real, port, key, conversationId } = await startRealServer({ messages: 100 })
  const bare = startChild('bare-http')
  try {
    const headers = { 'X-Session-API-Key': key }
    const events = `/api/conversations/${conversationId}/events`
    const found: unknown = JSON.parse((await get(port, `${events}/search?kind=MessageEvent`, headers)).body.toString())
    const path = `${events}/${String(memberAt(listAt(found, 'items')[50], 'id'))}`
    const answer = await get(port, path, headers)
    await bare.ask('prepare', answer)
    const barePort = Number(await bare.ask('port'))
    const { elapsed, cpu, ours } = await compare({
      limit: roundOf(bare, barePort, path, key, answer.body.length),
      ours: roundOf(real, port, path, key, answer.body.length),
    }, budgetMs)
    const what = `GET one event of ${answer.body.length} bytes, ${connections} connections`
    const each = ours.cpuMs / requestsPerRound
    return [
      { what: `${what}: requests/s`, limit: 'bare node:http', ratio: inverse(elapsed), target: { atLeast: 0.95 } },
      { what: `${what}: CPU`, limit: 'bare node:http', ratio: cpu, target: { atMost: 1.05 }, context: `${(each * 1000).toFixed(1)} µs` },
    ]
  } finally {
    await Promise.all([real.stop(), bare.stop()])
  }
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
