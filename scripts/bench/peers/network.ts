/**
 * Libraries of others beside the same limits, in the same run: `ws` for WebSockets, `fastify` and `hono` for HTTP.
 *
 * They are installed outside the tree and do the same work as far as they know it: the frameworks look an event up in a
 * Map after a plain comparison of the key, and `ws` has all messages in memory.
 */
import { fileURLToPath } from 'node:url'
import { installPackages } from '../../real/agent-package.ts'
import { encodeText } from '../../../src/ws/frame.ts'
import { startProgram, type Child } from '../child.ts'
import { echoOf } from '../echo.ts'
import { burstsOf, fanOutOf } from '../fan-out.ts'
import type { Gate, NamedGate } from '../gate.ts'
import { compareReads, readEvent } from '../get-event.ts'
import { compareIdle } from '../idle-sockets.ts'
import { compareReplays } from '../replay.ts'
import { actionEvent } from '../sample-event.ts'
import { openSocket } from '../sockets.ts'
import { compareStarts } from '../start.ts'
import type { Subject } from '../subject.ts'

export const packages: readonly string[] = ['ws@8.23.0', 'fastify@5.12.8', 'hono@4.13.19', '@hono/node-server@2.1.8']

const frameworks = ['fastify', 'hono'] as const
const replayed = 30_000
// Not compiled: they stand beside the source of this file, wherever that runs.
const wsProgram = programOf('ws.mjs')
const httpProgram = programOf('http.mjs')

/** Installs the libraries. */
export async function networkPeers(): Promise<NamedGate[]> {
  const folder = await installPackages('bench-network', packages)
  const ws: Subject = {
    name: 'ws', start: async (program) => startWs(folder, program === 'echo-server' ? 'echo' : 'feed'),
  }
  return [
    ...frameworks.map((name) => ({ name: `${name}-get-event`, gate: getEventOf(name, folder), seconds: 15 })),
    { name: 'ws-fan-out', gate: fanOutOf(ws), seconds: 40 },
    { name: 'ws-bursts', gate: burstsOf(ws), seconds: 10 },
    { name: 'ws-replay', gate: replayOf(folder), seconds: 15 },
    { name: 'ws-echo', gate: echoOf(ws), seconds: 15 },
    { name: 'ws-idle-sockets', gate: idleOf(folder), seconds: 20 },
    ...frameworks.map((name) => ({ name: `${name}-start`, gate: startOf(name, folder), seconds: 10 })),
  ]
}

function startWs(folder: string, work: 'feed' | 'echo'): Child {
  return startProgram(wsProgram, { args: [folder, work] })
}

function getEventOf(name: string, folder: string): Gate {
  return async ({ budgetMs }) => {
    const child = startProgram(httpProgram, { args: [folder, name] })
    try {
      const event = await readEvent('memory')
      await child.ask('prepare', event)
      const port = Number(await child.ask('port'))
      return await compareReads({ peer: name, event, child, port, source: 'memory', budgetMs })
    } finally {
      await child.stop()
    }
  }
}

function replayOf(folder: string): Gate {
  return async ({ budgetMs }) => {
    const child = startWs(folder, 'feed')
    try {
      const json = Buffer.from(actionEvent())
      await child.ask('prepare', json)
      await child.ask('greet', replayed)
      const place = { port: Number(await child.ask('port')), path: '/', key: '' }
      const bytes = Buffer.concat(Array.from({ length: replayed }, () => encodeText(json)))
      return await compareReplays({ peer: 'ws', child, place, count: replayed, bytes, budgetMs })
    } finally {
      await child.stop()
    }
  }
}

function idleOf(folder: string): Gate {
  return ({ budgetMs }) => compareIdle('ws', async () => {
    const child = startWs(folder, 'feed')
    const place = { port: Number(await child.ask('port')), path: '/', key: '' }
    return { child, open: () => openSocket(place) }
  }, budgetMs)
}

function startOf(name: string, folder: string): Gate {
  return ({ budgetMs }) => compareStarts(name, [httpProgram, folder, name], budgetMs)
}

function programOf(file: string): string {
  return fileURLToPath(new URL(`../../../../scripts/bench/peers/${file}`, import.meta.url))
}
