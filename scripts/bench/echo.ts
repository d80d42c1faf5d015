/**
 * Text messages of 1 KB that come back: through parser, unmasking and reply, beside plain sockets that send back bytes
 * without looking at them. 50 connections, each of which sends its next message when it has the last one back.
 */
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { randomBytes } from 'node:crypto'
import { startChild, type Child } from './child.ts'
import type { Gate } from './gate.ts'
import { compare, inverse, type Round } from './rounds.ts'
import { actionEvent } from './sample-event.ts'
import { openSocket } from './sockets.ts'
import { ourselves, type Subject } from './subject.ts'

const connections = 50
const messagesPerRound = 5_000
const limit = 'raw sockets'

export const echo: Gate = echoOf(ourselves)

export function echoOf(subject: Subject): Gate {
  return async ({ budgetMs }) => {
    const ours = await subject.start('echo-server')
    const raw = startChild('raw-echo')
    try {
      const payload = Buffer.from(actionEvent())
      const message = maskedText(payload)
      const sides = {
        limit: await roundOf(raw, message, message.length), ours: await roundOf(ours, message, payload.length + 4),
      }
      const { elapsed, cpu, ours: cost } = await compare(sides, budgetMs)
      const what = `echo of ${payload.length} bytes, ${connections} connections`
      const peer = subject.name
      const each = (cost.cpuMs / messagesPerRound) * 1000
      return [
        { what: `${what}: speed`, peer, limit, ratio: inverse(elapsed), target: { atLeast: 0.9 } },
        { what: `${what}: CPU`, peer, limit, ratio: cpu, target: { atMost: 1.11 }, context: `${each.toFixed(1)} µs` },
      ]
    } finally {
      await Promise.all([ours.stop(), raw.stop()])
    }
  }
}

async function roundOf(child: Child, message: Buffer, replyBytes: number): Promise<Round> {
  const place = { port: Number(await child.ask('port')), path: '/', key: '' }
  const sockets = await Promise.all(Array.from({ length: connections }, () => openSocket(place)))
  const each = messagesPerRound / connections
  return () => child.measure(() => Promise.all(sockets.map((socket) => talk(socket, message, replyBytes, each))))
}

async function talk(socket: Socket, message: Buffer, replyBytes: number, count: number): Promise<void> {
  let left = count
  let received = 0
  const done = new AbortController()
  socket.on('data', function onData(chunk: Buffer) {
    received += chunk.length
    if (received < replyBytes) return
    received = 0
    if (--left > 0) return void socket.write(message)
    socket.off('data', onData).pause()
    done.abort()
  })
  socket.resume()
  socket.write(message)
  await once(done.signal, 'abort')
}

/** A text of 126 to 65,535 bytes as a client sends it (RFC 6455, section 5.2). */
function maskedText(payload: Buffer): Buffer {
  const key = randomBytes(4)
  const head = Buffer.from([0x81, 0xfe, payload.length >> 8, payload.length & 0xff, ...key])
  return Buffer.concat([head, payload.map((byte, index) => byte ^ (key[index % 4] ?? 0))])
}
