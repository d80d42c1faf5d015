/**
 * Events flow while the connections of their followers are cut: each follower has the log in the end.
 *
 * The short test and the long test are this one function. The feeder never runs far ahead of the slowest follower, so
 * that the cuts fall into the flow and not behind it. Every line of the log on disk is compared with the received
 * events, as text.
 */
import * as assert from 'uvu/assert'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { below, seeded } from '../storage/samples.ts'
import { startCuttingProxy, type CuttingProxy } from '../support/cutting-proxy.ts'
import { until } from '../support/processes.ts'
import { withServer, type TestServer } from '../support/server.ts'
import { followSocket, followStream, idIn, type Follower, type FollowOptions } from './followers.ts'
import { startTalk } from './talk.ts'

export interface ResumeOptions {
  readonly events: number
  /** For each follower. */
  readonly cuts: number
  readonly seed: number
}

interface Run {
  readonly name: string
  readonly proxy: CuttingProxy
  readonly follower: Follower
}

interface Differences {
  readonly missing: number
  readonly doubled: number
  readonly outOfOrder: number
}

const deflate = 'permessage-deflate; client_no_context_takeover; server_no_context_takeover'

const transports: Readonly<Record<string, (options: FollowOptions) => Follower>> = {
  'server-sent events': followStream,
  'socket': (options) => followSocket(options, undefined),
  'socket that offers permessage-deflate': (options) => followSocket(options, deflate),
}

export async function followThroughCuts({ events, cuts, seed }: ResumeOptions): Promise<void> {
  process.stdout.write(`seed ${seed}, ${events} events, ${cuts} cuts for each follower\n`)
  await withServer(async (server) => {
    const { id } = await startTalk(server, 'echo')
    const controller = new AbortController()
    const runs = await Promise.all(Object.entries(transports).map(async ([name, followWith], index): Promise<Run> => {
      const run: { proxy?: CuttingProxy; follower?: Follower } = {}
      const meanBytes = (): number => nextMeanBytes(run, { events, cuts })
      const proxy = run.proxy = await startCuttingProxy({
        target: new URL(server.url), random: seeded(seed + index), cutLimit: cuts, meanBytes,
      })
      const follower = run.follower = followWith({
        url: proxy.url, key: server.key, conversationId: id, signal: controller.signal,
      })
      return { name, proxy, follower }
    }))
    const followers = runs.map(({ follower }) => follower)
    const failure = Promise.race(followers.map(({ done }) => done))
    try {
      await Promise.race([feed(server, id, { events, cuts, random: seeded(seed - 1), runs }), failure])
      const log = await storedEvents(server, id)
      const lastId = idIn(log.at(-1) ?? '')
      await Promise.race([until(() => followers.every(({ last }) => last === lastId)), failure])
      for (const run of runs) check(run, { log, cuts })
    } finally {
      controller.abort()
      await Promise.allSettled(followers.map(({ done }) => done))
      await Promise.all(runs.map(({ proxy }) => proxy.close()))
    }
  }, { logLevel: 'warn' })
}

/**
 * Returns the mean number of bytes between cuts that spreads the remaining cuts over nine tenths of the remaining
 * events. It allows for the bytes that a follower gets for each event.
 */
function nextMeanBytes(
  { proxy, follower }: Partial<Run>, { events, cuts }: Pick<ResumeOptions, 'events' | 'cuts'>,
): number {
  const received = follower?.received.length ?? 0
  const bytesPerEvent = received < 100 || proxy === undefined ? 600 : proxy.passedBytes / received
  return (bytesPerEvent * Math.max(100, events - received) * 0.9) / Math.max(1, cuts - cutsOf(proxy))
}

function cutsOf(proxy: CuttingProxy | undefined): number {
  return proxy === undefined ? 0 : proxy.cuts.toServer + proxy.cuts.toClient
}

/**
 * Sends messages of any length, in letters of one to four bytes, until the log has so many events and all cuts are
 * made.
 */
async function feed(
  server: TestServer,
  id: string,
  {
    events, cuts, random, runs,
  }: { readonly events: number; readonly cuts: number; readonly random: () => number; readonly runs: readonly Run[] },
): Promise<void> {
  const conversation = await server.server.conversation(id)
  const atOnce = 32
  const lead = 500
  // A message is an event, and so is the state update that names it.
  for (let sent = 0; sent * 2 < events || runs.some(({ proxy }) => cutsOf(proxy) < cuts); sent += atOnce) {
    await until(() => runs.every(({ follower }) => follower.received.length + lead >= sent * 2))
    await Promise.all(Array.from({ length: atOnce }, (_, index) => {
      const text = ['a', 'é', '€', '😀', '"\n'].map((letter) => letter.repeat(below(random, 60))).join('')
      return conversation.send(`${sent + index} ${text}`, { run: false })
    }))
  }
}

function check(
  { name, proxy, follower }: Run, { log, cuts }: { readonly log: readonly string[]; readonly cuts: number },
): void {
  const { received, connections, extension } = follower
  const { missing, doubled, outOfOrder } = differencesOf(received, log)
  const { toServer, toClient } = proxy.cuts
  const agreed = extension === '' ? '' : ` [${extension}]`
  process.stdout.write(`${name}${agreed}: ${log.length} events, ${toServer + toClient} cuts (${toServer} on the way ` +
    'to the server) in ' +
    `${connections} connections; ${missing} missing, ${doubled} doubled, ${outOfOrder} out of order\n`)
  assert.equal({ missing, doubled, outOfOrder }, { missing: 0, doubled: 0, outOfOrder: 0 }, name)
  // Not assert.equal, which would print all of it.
  assert.ok(
    received.length === log.length && received.every((json, index) => json === log[index]),
    `${name}: other bytes than the log's`,
  )
  assert.is(toServer + toClient, cuts, `${name}: cuts`)
}

export function differencesOf(received: readonly string[], log: readonly string[]): Differences {
  const places = new Map(log.map((json, index) => [idIn(json), index]))
  const came = received.map((json) => places.get(idIn(json)) ?? -1)
  const distinct = new Set(came)
  return {
    missing: log.length - distinct.size,
    doubled: came.length - distinct.size,
    outOfOrder: came.filter((place, index) => place < (came[index - 1] ?? -1)).length,
  }
}

/** The events of a log on disk, as text. */
async function storedEvents({ dataDir }: TestServer, id: string): Promise<string[]> {
  const text = await readFile(join(dataDir, 'conversations', id, 'events.jsonl'), 'utf8')
  const hashLength = 33
  return text.split('\n').map((line) => line.slice(hashLength)).filter((json) => json.startsWith('{"kind"'))
}
