/**
 * Measures open conversations that nobody talks in: their processor time, and their memory, open and closed.
 *
 * Each conversation has a history of 20 events. Its newest page has been read, and a socket follows it. Memory is the
 * memory in use after collections, less the memory of a server without conversations.
 */
import type { Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { join } from 'node:path'
import { isObject } from '../../../src/base/json.ts'
import { startChild, type Child } from '../child.ts'
import type { Gate } from '../gate.ts'
import { spreadOf, type Spread } from '../rounds.ts'
import { openSocket } from '../sockets.ts'
import { exactly, userRow } from './row.ts'
import { follow, placesIn, startServer, withFolder, type UserServer } from './server.ts'

const messages = 10
const windows = 5
const kibibyte = 1024

export const idle: Gate = ({ budgetMs }) => withFolder(async (folder) => {
  const conversations = budgetMs < 5000 ? 100 : 1000
  const empty = await emptyMemory()
  const ids = await fill(folder, conversations)
  const server = await startServer(folder)
  const raw = startChild('raw-sockets')
  const held = startChild('users/bare-held')
  const sockets: Socket[] = []
  try {
    const closed = (await memoryOf(server) - empty) / conversations
    for (const id of ids) {
      await server.call('GET', `/api/conversations/${id}/events/search?limit=50&sort_order=TIMESTAMP_DESC`)
    }
    const open = (await memoryOf(server) - empty) / conversations
    const heldBefore = await memoryOf({ child: held })
    await held.ask('hold', ids.map((id) => join(placesIn(folder).data, 'conversations', id, 'events.jsonl')))
    const least = (await memoryOf({ child: held }) - heldBefore) / conversations
    const port = Number(await raw.ask('port'))
    for (const id of ids) {
      sockets.push(await follow(server, id), await openSocket({ port, path: '/', key: '' }))
    }
    for (const socket of sockets) socket.resume()
    const shares = await idleShares(server.child, raw, budgetMs)
    const many = conversations.toLocaleString('en')
    return [
      userRow({
        what: `idle with ${many} conversations and sockets: share of a processor`, unit: '%',
        limit: 'open sockets without a timer', ...shares, target: { atMost: 1 },
        why: 'a laptop must not get warm, and a host can run a hundred of such servers on a processor',
      }),
      userRow({
        what: 'memory of an open conversation, newest page read', unit: 'KiB',
        limit: 'an open file, and the bytes of its newest page', ours: exactly(open / kibibyte),
        least: exactly(least / kibibyte), target: { atMost: 100 }, context: `${many} conversations of 20 events`,
        why: '1,000 conversations then need 100 MB, which the smallest machine has',
      }),
      userRow({
        what: 'memory of a closed conversation', unit: 'KiB', limit: 'nothing',
        ours: exactly(closed / kibibyte), target: { atMost: 1 }, context: `${many} conversations`,
        why: '100,000 conversations, years of work, then need 100 MB',
      }),
    ]
  } finally {
    for (const socket of sockets) socket.destroy()
    await server.stop()
    await Promise.all([raw.stop(), held.stop()])
  }
})

function emptyMemory(): Promise<number> {
  return withFolder(async (folder) => {
    const server = await startServer(folder)
    try {
      return await memoryOf(server)
    } finally {
      await server.stop()
    }
  })
}

async function fill(folder: string, conversations: number): Promise<string[]> {
  const filler = startChild('users/fill', [folder])
  try {
    const ids = await filler.ask('fill', { conversations, messages })
    return Array.isArray(ids) ? ids.map(String) : []
  } finally {
    await filler.stop()
  }
}

async function memoryOf({ child }: Pick<UserServer, 'child'>): Promise<number> {
  const memory = await child.ask('memory')
  return Number(isObject(memory) ? memory['used'] : NaN)
}

async function idleShares(
  ours: Child, limit: Child, budgetMs: number,
): Promise<{ readonly ours: Spread; readonly least: Spread }> {
  const shares: { readonly ours: number[]; readonly limit: number[] } = { ours: [], limit: [] }
  for (let left = windows; left > 0; left--) {
    const before = { ours: Number(await ours.ask('cpu')), limit: Number(await limit.ask('cpu')) }
    const begin = performance.now()
    await pause(budgetMs / windows)
    const elapsed = performance.now() - begin
    shares.ours.push(100 * (Number(await ours.ask('cpu')) - before.ours) / elapsed)
    shares.limit.push(100 * (Number(await limit.ask('cpu')) - before.limit) / elapsed)
  }
  return { ours: spreadOf(shares.ours), least: spreadOf(shares.limit) }
}
