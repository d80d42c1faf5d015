/**
 * Clients that mean harm, or are merely broken: each kind opens so many connections and keeps at it until it is
 * stopped.
 *
 * They speak over raw sockets. None of them may cost the server more than its limits allow, nor keep it from answering
 * others.
 */
import { randomBytes } from 'node:crypto'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { startTalk, type Talk } from '../e2e/talk.ts'
import type { Program } from '../support/server.ts'

export interface Attack {
  readonly what: string
  /** Of connections, as a share of the largest number. */
  readonly share: number
  /** A flood of new connections. Any server has to accept a connection before it knows its purpose. */
  readonly isFlood?: true
  /** Begins the attack. The returned function ends it. */
  readonly begin: (target: Target, count: number) => Promise<() => Promise<void>>
}

export interface Target {
  readonly server: Pick<Program, 'url' | 'key'>
  /** Enough conversations for all readers, with a history that no system buffer holds. */
  readonly talks: readonly Talk[]
}

/** The number of readers that one conversation lets in. */
const readersOfOne = 1000
const connectsAtOnce = 200

export const attacks: readonly Attack[] = [
  {
    what: 'connections that say nothing',
    share: 1,
    begin: (target, count) => holding(target, count, () => undefined),
  },
  {
    what: 'headers that come a byte at a time',
    share: 0.2,
    begin: (target, count) => dripping(target, count, 'GET /health HTTP/1.1\r\nX-Slow: '),
  },
  {
    what: 'bodies that come a byte at a time',
    share: 0.2,
    begin: (target, count) => dripping(target, count, postOf(target, 100_000)),
  },
  {
    what: 'bodies that stop half-way',
    share: 0.02,
    begin: (target, count) =>
      holding(target, count, (socket) => void socket.write(postOf(target, 1_000_000) + 'x'.repeat(500_000))),
  },
  {
    what: 'subscribers that only listen',
    share: 1,
    begin: (target, count) =>
      holding(target, count, (socket, place) => void socket.write(upgradeOf(target, place, ''))),
  },
  {
    what: 'sockets that never read what they asked for',
    share: 0.02,
    begin: (target, count) => holding(target, count, (socket, place) => {
      socket.pause()
      socket.write(upgradeOf(target, place, 'resend_mode=all'))
    }),
  },
  {
    what: 'streams that never read what they asked for',
    share: 0.1,
    begin: (target, count) => holding(target, count, (socket, place) => {
      socket.pause()
      socket.write(requestOf(target, `GET ${talkOf(target, place).path}/events/stream?resend_mode=all`))
    }),
  },
  {
    what: 'sockets that send pings and empty fragments without end',
    share: 0.002,
    begin: (target, count) =>
      spamming(target, count, Buffer.concat(Array.from({ length: 500 }, () => Buffer.from([0x89, 0x80, 0, 0, 0, 0])))),
  },
  {
    what: 'upgrades with a key, without one, and broken ones',
    share: 0.005,
    isFlood: true,
    begin: (target, count) => flooding(target, count, (place) => [
      upgradeOf(target, place, ''),
      upgradeOf(target, place, '').replace(/X-Session-API-Key: .*\r\n/, 'X-Session-API-Key: wrong\r\n'),
      upgradeOf(target, place, '').replace('Sec-WebSocket-Version: 13', 'Sec-WebSocket-Version: 7'),
    ][place % 3] ?? ''),
  },
  {
    what: 'connections that are reset at once',
    share: 0.005,
    isFlood: true,
    begin: (target, count) => flooding(target, count, () => ''),
  },
]

function requestOf({ server }: Target, line: string, ...headers: string[]): string {
  return [
    `${line} HTTP/1.1`, `Host: ${new URL(server.url).host}`, `X-Session-API-Key: ${server.key}`, ...headers, '', '',
  ].join('\r\n')
}

function postOf(target: Target, length: number): string {
  return requestOf(target, 'POST /api/conversations', 'Content-Type: application/json', `Content-Length: ${length}`)
}

function talkOf({ talks }: Target, place: number): Talk {
  const talk = talks[Math.floor(place / readersOfOne) % talks.length]
  if (talk === undefined) throw new TypeError('Expected a conversation')
  return talk
}

function upgradeOf(target: Target, place: number, query: string): string {
  const headers = [
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    `Sec-WebSocket-Key: ${randomBytes(16).toString('base64')}`,
  ]
  return requestOf(target, `GET /sockets/events/${talkOf(target, place).id}?${query}`, ...headers)
}

/** Opens one; rejects when the server does not take it. */
function open({ server }: Target): Promise<Socket> {
  const { hostname, port } = new URL(server.url)
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => {
      socket.off('error', reject)
      socket.on('error', () => socket.destroy())
      resolve(socket)
    })
    socket.once('error', reject)
  })
}

/** Opens them and does one thing with each, and then nothing. */
async function holding(
  target: Target, count: number, act: (socket: Socket, place: number) => void,
): Promise<() => Promise<void>> {
  const sockets: Socket[] = []
  for (let place = 0; place < count;) {
    const some = await Promise.all(Array.from({ length: Math.min(connectsAtOnce, count - place) }, () => open(target)))
    for (const socket of some) {
      socket.resume()
      act(socket, place++)
    }
    sockets.push(...some)
  }
  return async () => sockets.forEach((socket) => socket.destroy())
}

async function dripping(target: Target, count: number, start: string): Promise<() => Promise<void>> {
  const sockets: Socket[] = []
  const end = await holding(target, count, (socket) => {
    sockets.push(socket)
    socket.write(start)
  })
  const timer = setInterval(() => sockets.forEach((socket) => socket.writable && socket.write('x')), 1000)
  return () => {
    clearInterval(timer)
    return end()
  }
}

/** Sends the same bytes again and again, as fast as they are taken, and reads nothing. */
async function spamming(target: Target, count: number, bytes: Buffer): Promise<() => Promise<void>> {
  const emptyFragments = Buffer.concat(Array.from({ length: 500 }, () => Buffer.from([0x00, 0x80, 0, 0, 0, 0])))
  return holding(target, Math.max(2, count), (socket, place) => {
    socket.write(upgradeOf(target, place, ''))
    const isPinging = place % 2 === 0
    if (!isPinging) socket.write(Buffer.from([0x01, 0x80, 0, 0, 0, 0]))
    const send = (): void => {
      while (!socket.destroyed && socket.write(isPinging ? bytes : emptyFragments));
    }
    socket.on('drain', send)
    send()
  })
}

/** Opens, says something, and goes, over and over. */
async function flooding(target: Target, count: number, words: (place: number) => string): Promise<() => Promise<void>> {
  let isOver = false
  const one = async (first: number): Promise<void> => {
    for (let place = first; !isOver; place += count) {
      const socket = await open(target).catch(() => undefined)
      if (socket === undefined) continue
      const said = words(place)
      if (said !== '') {
        socket.write(said)
        await sleep(2)
      }
      socket.resetAndDestroy()
    }
  }
  const all = Promise.all(Array.from({ length: Math.max(2, count) }, (_, place) => one(place)))
  return async () => {
    isOver = true
    await all
  }
}

/** A server's conversations to attack, each with about 12 MB of history, which no connection's buffers hold. */
export async function makeTarget(server: Program, readers: number): Promise<Target> {
  const text = 'x'.repeat(32_000)
  const talks = await Promise.all(
    Array.from({ length: Math.ceil(readers / readersOfOne) }, () => startTalk(server, { autotitle: false })),
  )
  for (const talk of talks) {
    for (let batch = 0; batch < 20; batch++) await Promise.all(Array.from({ length: 20 }, () => talk.send(text, false)))
  }
  return { server, talks }
}
