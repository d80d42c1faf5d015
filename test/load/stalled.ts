/**
 * One conversation at a steady pace with many readers that keep up, one that stops reading and goes on later, and one
 * that stops for good. Nobody may miss, double or swap an event when another reader stalls.
 */
import { readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { setTimeout as sleep } from 'node:timers/promises'
import * as assert from 'uvu/assert'
import { startTalk } from '../e2e/talk.ts'
import type { Program } from '../support/server.ts'
import { percentile, sizeOf } from './measures.ts'
import { Tail, seenInLog } from './tail.ts'

export interface StalledLoad {
  /** Events in a second. */
  readonly rate: number
  readonly seconds: number
  /** The length of the text of one event. */
  readonly bytes: number
  /** Half of them read sockets, half streams of server-sent events. */
  readonly fastReaders: number
  /**
   * How long the one that goes on stays stopped once its buffers are full, in seconds; less than the server's stall
   * time-out.
   */
  readonly pauseSeconds: number
  /** Of the server, in seconds. */
  readonly stallSeconds: number
}

export interface StalledFigures {
  readonly events: number
  /** The close code for the reader that stopped for good; undefined when it read too late to get one. */
  readonly closeCode: number | undefined
  /** Of the readers that keep up, from the agent's write to the reader, in milliseconds. */
  readonly p50: number
  readonly p99: number
  /** Of the server, in bytes. */
  readonly memoryBefore: number
  readonly memoryPeak: number
}

/** Runs it against a server whose stall time-out is the load's. @throws when an event is missing, doubled or swapped */
export async function runStalledLoad(server: Program, load: StalledLoad): Promise<StalledFigures> {
  const { rate, seconds, bytes, fastReaders, pauseSeconds, stallSeconds } = load
  const program = fileURLToPath(new URL(`../fixtures/busy-agent${extname(import.meta.url)}`, import.meta.url))
  const talk = await startTalk(server, { agent: { kind: 'ACPAgent', acp_command: [process.execPath, program] } })
  const pid = server.child.pid ?? 0
  const open = (transport: 'socket' | 'stream'): Tail => new Tail({ ...server, conversationId: talk.id, transport })
  const fast = Array.from({ length: fastReaders }, (_, place) => open(place % 2 === 0 ? 'socket' : 'stream'))
  const [pausing, stuck] = [open('socket'), open('socket')]
  const tails = [...fast, pausing, stuck]
  const memoryBefore = sizeOf(pid).memory
  let memoryPeak = memoryBefore
  const watch = setInterval(() => (memoryPeak = Math.max(memoryPeak, sizeOf(pid).memory)), 200)
  try {
    await talk.send(`busy ${rate} ${seconds} ${bytes}`)
    await until(() => tails.every(({ count }) => count > rate / 2), seconds + 60)
    for (const tail of [pausing, stuck]) tail.pause()
    const said = (): number => fast.reduce((sum, { count }) => sum + count, 0)
    // The server's patience with it began when its own buffers were full, which may be before those of the other are.
    await isFilled(pausing, said, seconds + 60)
    await sleep(pauseSeconds * 1000)
    pausing.resume()
    await isFilled(stuck, said, seconds + 60)
    // It is given up meanwhile. Its data then ends with the reason, if it comes before the server's patience ends.
    await sleep((stallSeconds - pauseSeconds) * 1000 + 2500)
    stuck.resume()
    await until(async () => (await talk.status()) === 'finished', seconds + 60)
    const { dataDir } = server
    const expected = seenInLog(readFileSync(join(dataDir, 'conversations', talk.id, 'events.jsonl')))
    for (const tail of [...fast, pausing]) await until(() => tail.isClosed || tail.count >= expected.count, 30)
    for (const tail of [...fast, pausing]) {
      assert.is(tail.isClosed, false, `a reader was closed with ${tail.closeCode}: it took nothing for the time-out`)
    }
    for (const tail of [...fast, pausing]) assert.equal(tail.seen, expected)
    await until(() => stuck.isClosed, 30)
    const ages = fast.flatMap((tail) => tail.ages)
    return {
      events: expected.count, closeCode: stuck.closeCode, p50: percentile(ages, 0.5), p99: percentile(ages, 0.99),
      memoryBefore, memoryPeak,
    }
  } finally {
    clearInterval(watch)
    for (const tail of tails) tail.close()
  }
}

/** Waits until the system takes nothing more for a connection that is not read, while others are `said` more. */
async function isFilled(tail: Tail, said: () => number, limitSeconds: number): Promise<void> {
  let before = { held: 0, said: 0 }
  await until(async () => {
    const now = { held: tail.heldBySystem, said: said() }
    const isFull = now.held > 0 && now.held === before.held && now.said > before.said + 20
    before = now
    if (!isFull) await sleep(500)
    return isFull
  }, limitSeconds)
}

async function until(condition: () => boolean | Promise<boolean>, limitSeconds: number): Promise<void> {
  const latest = performance.now() + limitSeconds * 1000
  while (!await condition()) {
    if (performance.now() > latest) throw new Error(`Waited in vain for ${condition}`)
    await sleep(20)
  }
}
