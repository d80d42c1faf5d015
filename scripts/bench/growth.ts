/**
 * Whether storage keeps its pace: the millionth event beside the ten-thousandth, what it leaves in memory, how long a
 * long log takes to open, and a read of a cached event beside a Map. The gates are in `npm run bench`; this is for who
 * works on storage, and takes a while: `node --expose-gc dist/scripts/bench/growth.js [folder]`
 */
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createStamper } from '../../src/base/stamp.ts'
import { LineCache } from '../../src/storage/line-cache.ts'
import { openLog, type ConversationLog } from '../../src/storage/log.ts'

const folder = await mkdtemp(join(process.argv[2] ?? tmpdir(), 'bench-'))
const stamp = createStamper(Date.now, randomBytes)

try {
  await growth()
  await cachedRead()
} finally {
  await rm(folder, { recursive: true, force: true })
}

function event(): string {
  const { id, timestamp } = stamp()
  return `{"kind":"MessageEvent","id":"${id}","timestamp":"${timestamp}","source":"user","text":"${'x'.repeat(200)}"}`
}

async function newLog(): Promise<ConversationLog> {
  const path = await mkdtemp(join(folder, 'log-'))
  return openTheLog(path)
}

function openTheLog(directory: string): Promise<ConversationLog> {
  const ignore = (): void => undefined
  return openLog({ directory, kinds: ['MessageEvent'], cache: new LineCache(), onCommit: ignore, onDamage: ignore, queueLimitBytes: 1e9 })
}

/** The millionth event costs what the first thousand cost, and opening does not read them. */
async function growth(): Promise<void> {
  const directory = await mkdtemp(join(folder, 'log-'))
  const log = await openTheLog(directory)
  await appendMany(log, 10_000)
  await chunkTime(log)
  const before = await chunkTime(log)
  const memory = await memoryUsed()
  await appendMany(log, 900_000)
  const used = (await memoryUsed()) - memory
  const after = await chunkTime(log)
  print('append, after 1,000,000 events', `${(after / before).toFixed(2)} of the processor time after 10,000 (${after.toFixed(1)} ms for 1,000)`)
  print('memory', `${(used / 900_000).toFixed(1)} bytes per event`)
  await log.close()
  const times: number[] = []
  for (let round = 0; round < 9; round++) {
    let opened: ConversationLog | undefined
    times.push(await timed(async () => void (opened = await openTheLog(directory))))
    await opened?.close()
  }
  print('open 1,000,000 events', `${median(times).toFixed(1)} ms`)
}

/** The median processor time of a thousand events in one group, in ms. */
async function chunkTime(log: ConversationLog): Promise<number> {
  const times: number[] = []
  for (let round = 0; round < 50; round++) {
    const begin = process.cpuUsage()
    await appendMany(log, 1000)
    const { user, system } = process.cpuUsage(begin)
    times.push((user + system) / 1000)
  }
  return median(times)
}

async function appendMany(log: ConversationLog, count: number): Promise<void> {
  for (let number = 0; number < count; number++) {
    log.append(event())
    if (number % 1000 === 999) await log.durable()
  }
  await log.durable()
}

async function cachedRead(): Promise<void> {
  const log = await newLog()
  const map = new Map<string, Buffer>()
  const ids: string[] = []
  for (let number = 0; number < 2000; number++) {
    const json = event()
    const id = json.slice(29, 65)
    ids.push(id.replaceAll('-', '').slice(0, 16))
    map.set(id.replaceAll('-', '').slice(0, 16), Buffer.from(json))
    log.append(json)
  }
  await log.durable()
  let bytes = 0
  const lookUp = async (find: (id: string) => Buffer | undefined): Promise<void> => {
    for (let round = 0; round < 100; round++) for (const id of ids) bytes += find(id)?.length ?? 0
  }
  const find = (id: string): Buffer | undefined => {
    const found = log.read(log.numberOf(id))
    return Buffer.isBuffer(found) ? found : undefined
  }
  const times: { map: number[]; log: number[] } = { map: [], log: [] }
  for (let round = 0; round < 9; round++) {
    times.map.push(await timed(() => lookUp((id) => map.get(id))))
    times.log.push(await timed(() => lookUp(find)))
  }
  const each = (list: readonly number[]): string => ((median(list) / 200_000) * 1e6).toFixed(0)
  print('read a cached event by id', `${each(times.log)} ns, a Map takes ${each(times.map)} ns (${bytes > 0 ? 'same bytes' : 'none'})`)
  await log.close()
}

async function timed(work: () => Promise<void>): Promise<number> {
  const begin = performance.now()
  await work()
  return performance.now() - begin
}

/** After a collection, where node was started with --expose-gc; buffers count too. */
async function memoryUsed(): Promise<number> {
  collect()
  await new Promise(setImmediate)
  collect()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}

function collect(): void {
  if (typeof gc === 'function') gc()
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
}

function print(name: string, result: string): void {
  process.stdout.write(`${name.padEnd(34)}${result}\n`)
}
