/**
 * The public Python server, `openhands-agent-server`, beside this one: the same history, the same clients, the same
 * stand-in for a model. It is installed outside the tree, as for `npm run compare`.
 *
 * Both servers run at the same time and take turns, idle while the other one is measured. Ratios are its figure to ours
 * in the same run. A start of it takes many seconds, so there are few; the first one, on a new folder, is not counted.
 */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { installPublicServer, startTheirs, type Subject } from '../../compare/subject.ts'
import { listAt, memberAt } from '../../real/member.ts'
import type { Gate, NamedGate, Row } from '../gate.ts'
import { openLoad } from '../requests.ts'
import { compare, spreadOf, type Comparison, type Round, type Spread } from '../rounds.ts'
import { openSocket, receiveUntil } from '../sockets.ts'
import { httpClient, type HttpClient } from '../users/client.ts'
import { costOf, exactly, peerRow, timed, userRow } from '../users/row.ts'
import { placesIn, startServer, withFolder, type UserServer } from '../users/server.ts'
import { beginTurns, crowdRound, startModel, turnRound, type TurnSubject } from '../users/turns.ts'

const peer = 'openhands-agent-server'
const messages = 500
const connections = 8
const startContext = 'on a folder that it has used; asked every 100 ms, so up to that too much'
const requests = { ours: 2000, theirs: 200 } as const

/** Installs the server. */
export async function pythonPeer(): Promise<NamedGate[]> {
  const environment = await installPublicServer()
  return [{ name: 'python', gate: pythonGate(environment), seconds: 60 }]
}

interface Sides {
  readonly ours: TurnSubject
  readonly theirs: TurnSubject
}

function pythonGate(environment: string): Gate {
  return ({ budgetMs }) => withFolder(async (folder) => {
    const server = await startServer(folder)
    const rows: Row[] = []
    let theirs: Subject | undefined
    try {
      const startOnce = async (): Promise<Subject> => startTheirs(environment, join(folder, 'python'), server.key)
      const starts: number[] = []
      theirs = await startOnce()
      for (let left = budgetMs < 10_000 ? 1 : 2; left > 0; left--) {
        await theirs.stop()
        starts.push(await timed(async () => (theirs = await startOnce())))
      }
      rows.push(theirRow('start until the first answer', 'ms', spreadOf(starts), startContext))
      rows.push(theirRow('memory after the start', 'MB', exactly(await residentMegabytes(theirs.pid))))
      rows.push(...(await measureBoth(server, theirs, budgetMs)))
      return rows
    } finally {
      await theirs?.stop()
      await server.stop()
    }
  })
}

async function measureBoth(server: UserServer, peerServer: Subject, budgetMs: number): Promise<Row[]> {
  const port = Number(new URL(peerServer.url).port)
  const client = httpClient(port, peerServer.key)
  const model = await startModel()
  const sides: Sides = {
    ours: { ...server, workspace: placesIn(server.folder).workspace },
    theirs: { call: client.call, port, key: peerServer.key, workspace: join(peerServer.folder, 'work') },
  }
  try {
    const share = budgetMs / 4
    const both = (roundOf: (subject: TurnSubject) => Round): Promise<Comparison> =>
      compare({ limit: roundOf(sides.theirs), ours: roundOf(sides.ours) }, share)
    const histories = { ours: await fill(sides.ours), theirs: await fill(sides.theirs) }
    const reads = await compare({
      limit: await readRound(sides.theirs, histories.theirs, requests.theirs),
      ours: await readRound(sides.ours, histories.ours, requests.ours),
    }, share)
    const replays = await compare({
      limit: replayRound(sides.theirs, histories.theirs), ours: replayRound(sides.ours, histories.ours),
    }, share)
    const one = await both((subject) => turnRound(() => beginTurns(subject, model.url)))
    const many = await both((subject) => crowdRound(() => beginTurns(subject, model.url)))
    const perSecond = ({ low, median, high }: Spread): Spread =>
      ({ low: 1000 / high, median: 1000 / median, high: 1000 / low })
    const what = {
      reads: `read one event of ${messages}, ${connections} connections`,
      replays: `replay of ${messages} messages to a socket`,
    }
    return [
      userRow({
        what: what.reads, unit: 'requests/s', limit: '', ours: perSecond(reads.oursElapsedMs),
        target: { atLeast: 5000 }, why: 'a console that shows a page of single events may ask for each of them',
      }),
      theirRow(what.reads, 'requests/s', perSecond(reads.limitElapsedMs)),
      userRow({
        what: what.replays, limit: '', ours: replays.oursElapsedMs, target: { atMost: 50 },
        why: 'a client that reconnects shows the conversation within three pictures of a screen',
      }),
      theirRow(what.replays, 'ms', replays.limitElapsedMs),
      theirRow('a turn of the built-in agent', 'ms', one.limitElapsedMs, inSameRun(one)),
      theirRow('16 turns at once', 'ms', many.limitElapsedMs, inSameRun(many)),
    ]
  } finally {
    client.close()
    await model.close()
  }
}

function inSameRun({ oursElapsedMs }: Comparison): string {
  return `ours ${oursElapsedMs.median.toFixed(1)} ms in the same run`
}

function theirRow(what: string, unit: string, figure: Spread, context?: string): Row {
  return peerRow({ peer, what, unit, figure, ...(context === undefined ? {} : { context }) })
}

async function residentMegabytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'latin1')
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024 / 1e6
}

/** A conversation with messages that no agent has answered; gives its path. */
async function fill(subject: TurnSubject): Promise<string> {
  const { id } = Object(JSON.parse(await subject.call('POST', '/api/conversations', {
    agent_settings: { agent_kind: 'openhands', llm: { model: 'openai/none', api_key: 'none' }, tools: [] },
    workspace: { kind: 'LocalWorkspace', working_dir: join(subject.workspace, 'history') }, autotitle: false,
  })))
  const text = 'The quick brown fox jumps over the lazy dog. '.repeat(16)
  const message = { role: 'user', content: [{ type: 'text', text }], run: false }
  for (let left = messages; left > 0; left--) {
    await subject.call('POST', `/api/conversations/${id}/events`, message)
  }
  return String(id)
}

/** Milliseconds for one request, of `connections` at the same time. */
async function readRound({ call, port, key }: TurnSubject, id: string, count: number): Promise<Round> {
  const path = `/api/conversations/${id}/events/${await newestMessage(call, id)}`
  const bodyBytes = Buffer.byteLength(await call('GET', path))
  const lines = [`GET ${path} HTTP/1.1`, `Host: 127.0.0.1:${port}`, `X-Session-API-Key: ${key}`]
  const request = Buffer.from(`${lines.join('\r\n')}\r\n\r\n`)
  return async () => {
    const load = await openLoad({ port, connections, request, bodyBytes })
    try {
      return costOf(await timed(() => load.run(count)) / count)
    } finally {
      load.close()
    }
  }
}

/** From the upgrade of a socket that asks for all events until the last message has come. */
function replayRound({ call, port, key }: TurnSubject, id: string): Round {
  let lastId: string | undefined
  return async () => {
    lastId ??= await newestMessage(call, id)
    return costOf(await timed(async () => {
      const socket = await openSocket({ port, key, path: `/sockets/events/${id}?resend_all=true` })
      let rest = ''
      await receiveUntil(socket, (text) => {
        rest = rest.slice(-100) + text
        return hasEvent(rest, String(lastId))
      })
      socket.destroy()
    }))
  }
}

/** Whether a frame has this event; the state, the first frame, only names the newest one. */
export function hasEvent(text: string, id: string): boolean {
  return text.includes(`"id":"${id}"`) || text.includes(`"id": "${id}"`)
}

async function newestMessage(call: HttpClient['call'], id: string): Promise<string> {
  const newest = `/api/conversations/${id}/events/search?limit=10&sort_order=TIMESTAMP_DESC`
  const items = listAt(JSON.parse(await call('GET', newest)), 'items')
  return String(memberAt(items.find((event) => memberAt(event, 'kind') === 'MessageEvent'), 'id'))
}
