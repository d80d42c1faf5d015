/**
 * Measures the space of a conversation without an agent: on the disk, and in the memory of a server. There the
 * conversation is closed, open with its newest page read, or open with its whole history read. Two histories of 1 KB
 * messages, short and long.
 *
 * Resident memory after collections, as the system tells it, of fresh processes, less that of a server with an empty
 * folder. `scripts/deploy/CAPACITY.md` calculates with these figures.
 */
import { lstat, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { Listing } from '../../src/conversation/list/listing.ts'
import { startChild } from './child.ts'
import type { Gate, Row } from './gate.ts'
import { sampleEntries } from './list.ts'

interface History {
  readonly conversations: number
  /** Each becomes two events. */
  readonly messages: number
}

const short = { conversations: 1000, messages: 10 }
const long = { conversations: 50, messages: 500 }
const closedCount = 50_000
const kibibyte = 1024

export const held: Gate = async ({ budgetMs }) => {
  const share = budgetMs < 10_000 ? 0.1 : 1
  const rows: Row[] = [measureClosed()]
  for (const { conversations, messages } of [short, long]) {
    rows.push(...(await measureHistory({ conversations: conversations * share, messages })))
  }
  return rows
}

async function measureHistory(history: History): Promise<Row[]> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-held-'))
  try {
    // The first start makes the folder. The second start is like all later ones.
    await withServer(folder, (ask) => ask('resident'))
    const empty = await withServer(folder, (ask) => ask('resident'))
    await withServer(folder, (ask) => ask('fill', history))
    const [newest] = await openedIn(folder, 'newest')
    const [whole, allEvents] = await openedIn(folder, 'whole')
    const { bytes, blocks } = await sizeOf(join(folder, 'data', 'conversations'))
    const events = allEvents / history.conversations
    const row = (what: string, figure: number, context?: string): Row => {
      const each = figure / history.conversations / kibibyte
      const ratio = { low: each, median: each, high: each }
      const name = `a conversation of ${Math.round(events)} events, KiB: ${what}`
      return { what: name, limit: '', ratio, target: 'none', ...(context === undefined ? {} : { context }) }
    }
    const blockContext = `${(blocks / history.conversations / kibibyte).toFixed(0)} KiB in blocks`
    return [
      row('disk', bytes, blockContext),
      row('memory, open, newest page read', newest - empty, `${history.conversations} conversations`),
      row('memory, open, all read', whole - empty),
    ]
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Opens all conversations in a new server. Returns its resident bytes then, and the number of events that it read. */
function openedIn(folder: string, how: 'newest' | 'whole'): Promise<[bytes: number, events: number]> {
  return withServer(folder, async (ask) => {
    const events = await ask('open', how)
    return [await ask('resident'), events]
  })
}

/** The entry of the list is all that a server keeps of a closed conversation. It is too small for resident memory. */
function measureClosed(): Row {
  const listing = new Listing()
  const before = heapUsed()
  for (const entry of sampleEntries(closedCount)) listing.set(entry)
  const bytes = (heapUsed() - before) / closedCount
  if (listing.page({ sortOrder: 'CREATED_AT', limit: 1 }).ids.length !== 1) throw new Error('Expected a page')
  const ratio = { low: bytes, median: bytes, high: bytes }
  const context = `${closedCount.toLocaleString('en')} conversations`
  return { what: 'a closed conversation, bytes of heap', limit: '', ratio, target: 'none', context }
}

function heapUsed(): number {
  setFlagsFromString('--expose-gc')
  const collect: unknown = runInNewContext('gc')
  if (typeof collect === 'function') for (let left = 3; left > 0; left--) collect()
  return process.memoryUsage().heapUsed
}

async function withServer<T>(
  folder: string, use: (ask: (question: string, argument?: unknown) => Promise<number>) => Promise<T>,
): Promise<T> {
  const child = startChild('held-server', [folder])
  try {
    return await use(async (question, argument) => Number(await child.ask(question, argument)))
  } finally {
    await child.stop()
  }
}

/** The lengths of all files below a folder, and the blocks that they and the folders occupy. */
async function sizeOf(folder: string): Promise<{ readonly bytes: number; readonly blocks: number }> {
  let [bytes, blocks] = [0, 0]
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const found = await lstat(join(entry.parentPath, entry.name))
    blocks += found.blocks * 512
    if (found.isFile()) bytes += found.size
  }
  return { bytes, blocks }
}
