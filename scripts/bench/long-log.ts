/**
 * A conversation of 1,000,000 events of 1 KB, 1 GB on disk: appending to it, its memory, and opening it.
 *
 * The log is made by appending, which takes most of the time of this gate. Its last thousands of events are compared
 * with the first thousand of a new log. Opening is measured with the index file and without; the limit of the latter is
 * a loop that looks for newlines in a file, with one buffer and large reads. Everything is in the cache of the file
 * system, on both sides. With `--quick` the log has 100,000 events.
 */
import { mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { eventKinds } from '../../src/schema/generated/events.ts'
import { LineCache } from '../../src/storage/line-cache.ts'
import { openLog, type ConversationLog } from '../../src/storage/log.ts'
import type { Gate, Row } from './gate.ts'
import { compare, measure, spreadOf, type Round, type Spread } from './rounds.ts'
import { actionEvent } from './sample-event.ts'

const chunk = 1000
const newest = 50
const openings = 15
const scanBytes = 1024 * 1024

export const longLog: Gate = async ({ budgetMs }) => {
  const folder = await mkdtemp(join(tmpdir(), 'bench-long-'))
  try {
    const events = budgetMs < 10_000 ? 100_000 : 1_000_000
    const long = await mkdtemp(join(folder, 'log-'))
    const growth = await measureGrowth({ folder, long, events, budgetMs: budgetMs / 2 })
    return [
      ...growth,
      ...(await measureOpening(long, events, budgetMs / 2)),
      ...(await measureRebuilding(long, events, budgetMs / 2)),
    ]
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

interface GrowthOptions {
  readonly folder: string
  readonly long: string
  readonly events: number
  readonly budgetMs: number
}

async function measureGrowth({ folder, long, events, budgetMs }: GrowthOptions): Promise<Row[]> {
  const log = await openTheLog(long)
  for (let count = 0; count < chunk * 20; count += chunk) await appendChunk(log)
  const before = await memoryInUse()
  const from = log.eventCount
  while (log.eventCount < events) await appendChunk(log)
  const bytesEach = ((await memoryInUse()) - before) / (log.eventCount - from)
  const sides = {
    limit: async () => {
      const fresh = await openTheLog(await mkdtemp(join(folder, 'log-')))
      const cost = await measure(() => appendChunk(fresh))
      await fresh.close()
      return cost
    },
    ours: () => measure(() => appendChunk(log)),
  }
  const { cpu, ours } = await compare(sides, budgetMs)
  await log.close()
  const count = events.toLocaleString('en')
  return [
    {
      what: `append after ${count} events: CPU`,
      limit: 'the first 1,000 events',
      ratio: cpu,
      target: { atMost: 1.05 },
      context: `${(ours.cpuMs * 1000 / chunk).toFixed(1)} µs an event`,
    },
    {
      what: `memory of ${count} events`,
      limit: '16 bytes an event',
      ratio: exactly(bytesEach / 16),
      target: { atMost: 1 },
      context: `${bytesEach.toFixed(2)} bytes an event`,
    },
  ]
}

/** Measures the opening with the index file, as a share of the allowed time. */
async function measureOpening(directory: string, events: number, budgetMs: number): Promise<Row[]> {
  const opening: number[] = []
  const reading: number[] = []
  const begin = performance.now()
  while (opening.length < openings || performance.now() - begin < budgetMs) {
    const start = performance.now()
    const log = await openTheLog(directory)
    const opened = performance.now()
    const { events: read } = await log.readRange(log.eventCount - newest, log.eventCount, Infinity)
    reading.push(performance.now() - opened)
    opening.push(opened - start)
    await log.close()
    if (read.length !== newest) throw new Error(`Expected ${newest} events, got ${read.length}`)
  }
  const count = events.toLocaleString('en')
  return [
    timeRow(`open ${count} events with an index`, opening, 10),
    timeRow(`then read the newest ${newest}`, reading, 1),
  ]
}

async function measureRebuilding(directory: string, events: number, budgetMs: number): Promise<Row[]> {
  const path = join(directory, 'events.jsonl')
  const found = new Set<number>()
  const sides: { readonly limit: Round; readonly ours: Round } = {
    limit: () => measure(async () => found.add(await countLines(path))),
    async ours() {
      await rm(join(directory, 'events.index'), { force: true })
      let log: ConversationLog | undefined
      const cost = await measure(async () => (log = await openTheLog(directory)))
      found.add(log?.eventCount ?? 0)
      await log?.close()
      return cost
    },
  }
  const { elapsed, cpu, ours } = await compare(sides, budgetMs)
  if (found.size !== 1) throw new Error(`Expected the same number of lines and events, got ${[...found].join(', ')}`)
  const what = `open ${events.toLocaleString('en')} events without an index`
  const limit = 'newline scan of the file'
  return [
    {
      what: `${what}: time`, limit, ratio: elapsed, target: { atMost: 1.5 }, context: `${ours.elapsedMs.toFixed(0)} ms`,
    },
    { what: `${what}: CPU`, limit, ratio: cpu, target: { atMost: 1.5 }, context: `${ours.cpuMs.toFixed(0)} ms` },
  ]
}

/** The limit. */
async function countLines(path: string): Promise<number> {
  const file = await open(path, 'r')
  try {
    const buffer = Buffer.allocUnsafeSlow(scanBytes)
    let lines = 0
    for (let position = 0; ; ) {
      const { bytesRead } = await file.read(buffer, 0, buffer.length, position)
      if (bytesRead === 0) return lines
      const data = buffer.subarray(0, bytesRead)
      for (let at = data.indexOf(0x0a); at !== -1; at = data.indexOf(0x0a, at + 1)) lines++
      position += bytesRead
    }
  } finally {
    await file.close()
  }
}

function openTheLog(directory: string): Promise<ConversationLog> {
  const ignore = (): void => undefined
  return openLog({ directory, kinds: eventKinds, cache: new LineCache(), onDamage: ignore })
}

async function appendChunk(log: ConversationLog): Promise<void> {
  for (let count = 0; count < chunk; count++) log.append(actionEvent())
  await log.durable()
}

/** After collections; buffers count too. */
async function memoryInUse(): Promise<number> {
  setFlagsFromString('--expose-gc')
  const collect: unknown = runInNewContext('gc')
  for (let round = 0; round < 6; round++) {
    // Buffers are given back some time after the collection that finds them.
    await pause(50)
    if (typeof collect === 'function') collect()
  }
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}

function timeRow(what: string, times: readonly number[], allowedMs: number): Row {
  const ratio = spreadOf(times.map((time) => time / allowedMs))
  return {
    what: `${what}: time`, limit: `${allowedMs} ms`, ratio, target: { atMost: 1 },
    context: `${(ratio.median * allowedMs).toFixed(2)} ms`,
  }
}

function exactly(value: number): Spread {
  return { low: value, median: value, high: value }
}
