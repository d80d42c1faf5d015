/**
 * Lists of 10,000 conversations: a page in memory, a page over HTTP, and the list that the server loads when it starts.
 *
 * In memory the limit is a slice of a sorted array, found by binary search. Over HTTP all pages of 20 are asked for
 * once, so that their data is read. Then they are asked for in another order and one at a time; the last half of these
 * requests is measured. The load at the start reads the file that the previous server has left (storage/list-file); the
 * limit reads and parses a similar file.
 */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { formatMicros } from '../../src/base/stamp.ts'
import { Listing } from '../../src/conversation/list/listing.ts'
import { isListEntry, type ListEntry } from '../../src/conversation/list/sorted-entries.ts'
import { openDataFolder } from '../../src/storage/layout.ts'
import { ListFile } from '../../src/storage/list-file.ts'
import { startChild } from './child.ts'
import type { Gate, Row } from './gate.ts'
import { compare, measure, spreadOf } from './rounds.ts'

const conversations = 10_000
const pageSize = 20
const pagesPerRound = 2000

export const list: Gate = async ({ budgetMs }) => [
  await measureMemory(budgetMs / 4),
  ...(await measureLoad(budgetMs / 4)),
  ...(await measureHttp(budgetMs / 2)),
]

/** Returns the entries of so many conversations, a minute apart and with ids in no order. */
export function sampleEntries(count: number): ListEntry[] {
  return Array.from({ length: count }, (_, number) => {
    const time = formatMicros(Date.UTC(2026, 0) * 1000 + number * 60e6)
    const id = `${((number * 7919) % count).toString(16).padStart(8, '0')}-0000-4000-8000-000000000000`
    const times = { createdAt: time, updatedAt: time }
    return { id, ...times, status: 'finished', parentId: null, tags: {}, workingDir: '/w', createdBy: null }
  })
}

async function measureMemory(budgetMs: number): Promise<Row> {
  const all = sampleEntries(conversations)
  const listing = new Listing()
  for (const entry of all) listing.set(entry)
  const byId = new Map(all.map((entry) => [entry.id, entry]))
  const newestFirst = all.toReversed()
  const pageIds = newestFirst.map(({ id }) => id).filter((_, place) => place % 37 === 0)
  let last: string | null | undefined = ''
  const roundOf = (page: (id: string) => string | null | undefined) => () => measure(() => {
    for (let count = 0; count < pagesPerRound; count++) last = page(pageIds[count % pageIds.length] ?? '')
  })
  const { cpu, ours } = await compare({
    limit: roundOf((id) => {
      const first = placeOf(newestFirst, byId.get(id)?.createdAt ?? '')
      const ids = newestFirst.slice(first, first + pageSize).map((entry) => entry.id)
      return ids.length === 0 ? null : newestFirst[first + pageSize]?.id
    }),
    ours: roundOf((id) => listing.page({ sortOrder: 'CREATED_AT_DESC', limit: pageSize, pageId: id }).nextPageId),
  }, budgetMs)
  if (last === '') throw new Error('Expected a page')
  return {
    what: `a page of ${pageSize} of ${conversations.toLocaleString('en')} conversations: CPU`,
    limit: 'search and slice of a sorted array',
    ratio: cpu,
    target: { atMost: 1.5 },
    context: `${((ours.cpuMs / pagesPerRound) * 1000).toFixed(1)} µs`,
  }
}

/** Binary search, newest first. */
function placeOf(sorted: readonly ListEntry[], createdAt: string): number {
  let low = 0
  let high = sorted.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((sorted[middle]?.createdAt ?? '') > createdAt) low = middle + 1
    else high = middle
  }
  return low
}

async function measureLoad(budgetMs: number): Promise<Row[]> {
  const path = await mkdtemp(join(tmpdir(), 'bench-list-'))
  try {
    const folder = await openDataFolder(path)
    const file = new ListFile(folder)
    const all = sampleEntries(conversations)
    await file.leave(all)
    const content = await readFile(join(path, 'list.json'))
    await writeFile(join(path, 'other.json'), content.subarray(content.indexOf('[')))
    const sides = {
      limit: () => measure(async () => {
        const [, read] = Object(JSON.parse(await readFile(join(path, 'other.json'), 'utf8')))
        const byId = new Map<string, ListEntry>()
        for (const entry of read) byId.set(entry.id, entry)
        return byId
      }),
      async ours() {
        await file.leave(all)
        return measure(async () => {
          const listing = new Listing()
          const read = await file.take()
          if (!Array.isArray(read) || !read.every(isListEntry)) throw new TypeError('Expected entries')
          for (const entry of read) listing.set(entry)
          return listing
        })
      },
    }
    const { elapsed, cpu, ours } = await compare(sides, budgetMs)
    const what = `load the list of ${conversations.toLocaleString('en')} conversations`
    const limit = 'read, parse and map one file'
    return [
      {
        what: `${what}: time`, limit, ratio: elapsed, target: { atMost: 1.2 },
        context: `${ours.elapsedMs.toFixed(1)} ms`,
      },
      { what: `${what}: CPU`, limit, ratio: cpu, target: { atMost: 1.2 }, context: `${ours.cpuMs.toFixed(1)} ms` },
    ]
  } finally {
    await rm(path, { recursive: true, force: true })
  }
}

async function measureHttp(budgetMs: number): Promise<Row[]> {
  const child = startChild('list-server')
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  try {
    const headers = { 'x-session-api-key': String(await child.ask('key')) }
    const port = Number(await child.ask('fill', conversations))
    const get = (pageId: string): Promise<string | null> => getPage({ port, agent, headers, pageId })
    const pageIds = ['']
    for (let next: string | null = await get(''); next !== null; next = await get(next)) pageIds.push(next)
    if (pageIds.length !== conversations / pageSize) {
      throw new Error(`Expected ${conversations / pageSize} pages, got ${pageIds.length}`)
    }
    const times: number[] = []
    const lastToFirst: number[] = []
    const begin = performance.now()
    for (let round = 0; performance.now() - begin < budgetMs; round++) {
      if (times.length > 0 && performance.now() - begin < budgetMs / 2) times.length = lastToFirst.length = 0
      times.push(await timed(() => get(pageIds[(round * 173) % pageIds.length] ?? '')))
      const first = await timed(() => get(''))
      lastToFirst.push((await timed(() => get(pageIds.at(-1) ?? ''))) / first)
    }
    times.sort((a, b) => a - b)
    const at = (share: number): number => times[Math.floor(share * times.length)] ?? NaN
    const what = `a page of ${pageSize} of ${conversations.toLocaleString('en')} conversations over HTTP`
    const p95 = at(0.95) / 2
    return [
      {
        what: `${what}: p95 of time`,
        limit: '2 ms',
        ratio: { low: p95, median: p95, high: p95 },
        target: { atMost: 1 },
        context: `${at(0.95).toFixed(2)} ms, median ${at(0.5).toFixed(2)}`,
      },
      { what: `${what}: time of the last`, limit: 'the first', ratio: spreadOf(lastToFirst), target: { atMost: 1.1 } },
    ]
  } finally {
    agent.destroy()
    await child.stop()
  }
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const begin = performance.now()
  await work()
  return performance.now() - begin
}

interface PageRequest {
  readonly port: number
  readonly agent: Agent
  readonly headers: Readonly<Record<string, string>>
  readonly pageId: string
}

/** The id of the page behind this one; null behind the last. */
function getPage({ port, agent, headers, pageId }: PageRequest): Promise<string | null> {
  const path = `/api/conversations/search?limit=${pageSize}${pageId === '' ? '' : `&page_id=${pageId}`}`
  return new Promise((resolve, reject) => {
    request({ host: '127.0.0.1', port, agent, path, headers: { ...headers } }, async (response) => {
      const text = Buffer.concat(await response.toArray()).toString()
      const next = /"next_page_id":(?:"(\w+)"|null)\}$/.exec(text)
      if (response.statusCode === 200 && next !== null) resolve(next[1] ?? null)
      else reject(new Error(`Expected a page, got ${response.statusCode} and "${text.slice(-200)}"`))
    }).on('error', reject).end()
  })
}
