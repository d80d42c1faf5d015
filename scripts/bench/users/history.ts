/**
 * Long histories: opening a conversation of 10,000 and of 100,000 events at its end, a page far back, a text search.
 *
 * A conversation is opened by a server that has just been started and has not had it open before; one that is short has
 * been opened and read, so that code is loaded. Files are in the cache of the system, on both sides.
 */
import { join } from 'node:path'
import { listAt } from '../../real/member.ts'
import { startChild } from '../child.ts'
import type { Gate, Row } from '../gate.ts'
import { compare, type Comparison, type Round } from '../rounds.ts'
import { httpClient, type HttpClient } from './client.ts'
import { costOf, medianRound, timed, timesOf, userRow, watchedTimes } from './row.ts'
import { placesIn, startServer, withFolder } from './server.ts'

const sizes = [10_000, 100_000] as const
const page = 50
const warmUps = 20
/** How many different pages far back are read before the first comes again. */
const farPages = 500
/** A text that no event has: the whole history is searched. */
const absent = 'purple-elephant'

export const openEnd: Gate = ({ budgetMs }) => withHistories(sizes, async ({ folder, ids: [short = '', ...ids] }) => {
  const rows: Row[] = []
  for (const [index, id] of ids.entries()) {
    const size = sizes[index] ?? 0
    const comparison = await withBare(folder, id, (client) => compare({
      limit: medianRound(1, () => client.call('GET', '/end')),
      ours: () => openOnce(folder, short, id),
    }, budgetMs / 2))
    rows.push(userRow({
      what: `open a conversation of ${size.toLocaleString('en')} events at its end`,
      limit: 'node:http that opens the file and reads its last lines',
      ...timesOf(comparison), target: { atMost: 50 },
      why: 'half of what a switch between conversations may take to feel immediate; a browser needs the other half',
    }))
  }
  return rows
})

export const readBack: Gate = ({ budgetMs }) => withHistories([100_000], async ({ folder, ids: [, id = ''] }) => {
  const server = await startServer(folder)
  try {
    const events = `/api/conversations/${id}/events/search`
    const farPage = (first = ''): string => `${events}?limit=${page}&page_id=${first}`
    const far = await server.watched(() => withBare(folder, id, async (client) => {
      const ids = await idsAt(client)
      for (const begin of ids.slice(0, warmUps)) assertPage(await server.call('GET', farPage(begin)))
      let [theirs, own] = [0, 0]
      return compare({
        limit: medianRound(20, () => client.call('GET', `/at/${lineOf(theirs++)}`)),
        ours: medianRound(20, () => server.call('GET', farPage(ids[own++ % farPages]))),
      }, budgetMs / 3)
    }))
    const searched = await server.watched(() => withBare(folder, id, (client) => compare({
      limit: medianRound(1, () => client.call('GET', `/search/${absent}`)),
      ours: medianRound(1, () => server.call('GET', `${events}?limit=${page}&body=${absent}`)),
    }, budgetMs * 2 / 3)))
    return [
      userRow({
        what: 'a page of 50 events anywhere in 100,000',
        limit: 'node:http that reads the lines at known offsets',
        ...watchedTimes(far), target: { atMost: 16 },
        why: 'scrolling asks for a page at a time, and a screen shows 60 pictures a second',
      }),
      userRow({
        what: 'search 100,000 events for a text',
        limit: 'node:http that looks for the bytes in the file',
        ...watchedTimes(searched), target: { atMost: 1000 },
        why: 'a train of thought breaks after a second; few conversations are as long',
      }),
    ]
  } finally {
    await server.stop()
  }
})

interface Histories {
  readonly folder: string
  /** The first is short. */
  readonly ids: readonly string[]
}

/** Makes one conversation of each size, and a short one. */
async function withHistories<T>(events: readonly number[], use: (histories: Histories) => Promise<T>): Promise<T> {
  return withFolder(async (folder) => {
    const filler = startChild('users/fill', [folder])
    const ids: string[] = []
    try {
      for (const size of [100, ...events]) {
        ids.push(String(await filler.ask('long', size)))
      }
    } finally {
      await filler.stop()
    }
    return await use({ folder, ids })
  })
}

async function withBare(
  folder: string, id: string, use: (client: HttpClient) => Promise<Comparison>,
): Promise<Comparison> {
  const bare = startChild('users/bare-history', [join(placesIn(folder).data, 'conversations', id, 'events.jsonl')])
  const client = httpClient(Number(await bare.ask('port')), '')
  try {
    return await use(client)
  } finally {
    client.close()
    await bare.stop()
  }
}

/** The first page of a conversation, newest first, from a server that has not had it open. */
async function openOnce(folder: string, short: string, id: string): ReturnType<Round> {
  const server = await startServer(folder)
  const open = (of: string): Promise<string> =>
    server.call('GET', `/api/conversations/${of}/events/search?limit=${page}&sort_order=TIMESTAMP_DESC`)
  try {
    for (let left = warmUps; left > 0; left--) await open(short)
    let answer = ''
    const elapsedMs = await timed(async () => (answer = await open(id)))
    assertPage(answer)
    return costOf(elapsedMs)
  } finally {
    await server.stop()
  }
}

/** The line of the file in which a page begins: all over the history, in no order. */
function lineOf(number: number): number {
  return number % farPages * 7919 % 90_000
}

/** The ids of the events with which the same pages begin; the bare program answers with lines of the log. */
async function idsAt(bare: HttpClient): Promise<string[]> {
  const ids: string[] = []
  while (ids.length < farPages) {
    const lines = await bare.call('GET', `/at/${lineOf(ids.length)}`)
    ids.push(/\{"kind":"\w+","id":"([\w-]+)"/.exec(lines)?.[1] ?? '')
  }
  return ids
}

/** @throws Error unless it is a whole page. */
function assertPage(answer: string): void {
  if (listAt(JSON.parse(answer), 'items').length !== page) throw new Error('Expected a page')
}
