/** Events, private records and logs for the tests of storage. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { AppError, type ErrorCode } from '../../src/base/errors.ts'
import { createStamper } from '../../src/base/stamp.ts'
import type { Position } from '../../src/storage/chain.ts'
import { LineCache } from '../../src/storage/line-cache.ts'
import {
  openLog, type CommitListener, type CommittedLine, type ConversationLog, type LogOptions,
} from '../../src/storage/log.ts'
import type { Damage } from '../../src/storage/recovery.ts'

export const kinds = ['MessageEvent', 'ActionEvent', 'PauseEvent'] as const

/** The same numbers for the same seed (mulberry32), so that a failure can be repeated. */
export function seeded(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

export function below(random: () => number, limit: number): number {
  return Math.floor(random() * limit)
}

/** Makes events whose ids and times increase, with text of a given length. */
export function eventMaker(seed = 1, startMillis = 1_795_253_400_000): (length?: number, kind?: string) => string {
  const random = seeded(seed)
  let now = startMillis
  const stamp = createStamper(
    () => (now += 1 + below(random, 5)),
    (size) => Buffer.from(Array.from({ length: size }, () => below(random, 256))),
  )
  return (length = 20, kind = 'MessageEvent') => {
    const { id, timestamp } = stamp()
    const text = Array.from({ length }, () => 'abc dé*J\\"@'[below(random, 11)]).join('')
    return JSON.stringify({ kind, id, timestamp, source: kind === 'PauseEvent' ? 'user' : 'agent', text })
  }
}

export function privateRecord(value: unknown): string {
  return JSON.stringify(['title', value])
}

export interface OpenedLog {
  readonly log: ConversationLog
  readonly damages: Damage[]
  readonly committed: CommittedLine[]
}

export async function openTestLog(
  directory: string, { onCommit, ...options }: Partial<LogOptions> & { readonly onCommit?: CommitListener } = {},
): Promise<OpenedLog> {
  const damages: Damage[] = []
  const committed: CommittedLine[] = []
  const log = await openLog({
    directory,
    kinds,
    cache: new LineCache(),
    onDamage: (damage) => damages.push(damage),
    ...options,
  })
  log.listen(onCommit ?? ((lines) => committed.push(...lines)))
  return { log, damages, committed }
}

/** All events that can be read, in order. */
export async function allEvents(log: ConversationLog, limitBytes = 1000): Promise<string[]> {
  const events: string[] = []
  for (let from = 0; from < log.eventCount; ) {
    const range = await log.readRange(from, log.eventCount, limitBytes)
    events.push(...range.events.map(({ json }) => json.toString()))
    from = range.next
  }
  return events
}

/** All lines that can be read, in order. */
export async function allLines(
  log: ConversationLog, from: Position = { offset: 0, hash: '0'.repeat(32) },
): Promise<string[]> {
  const lines: string[] = []
  for await (const { json } of log.lines(from)) lines.push(json.toString())
  return lines
}

/** Runs the body with a folder that is gone afterwards. */
export async function withFolder(body: (path: string) => Promise<void>): Promise<void> {
  const path = await mkdtemp(join(tmpdir(), 'storage-'))
  try {
    await body(path)
  } finally {
    await rm(path, { recursive: true, force: true })
  }
}

/** The AppError that a promise is rejected with. */
export async function failure(promise: Promise<unknown>): Promise<AppError> {
  const thrown: unknown = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  if (!(thrown instanceof AppError)) throw new Error(`expected an AppError, got ${String(thrown)}`)
  return thrown
}

export async function codeOfFailure(promise: Promise<unknown>): Promise<ErrorCode> {
  return (await failure(promise)).code
}

/** Fails with a short message, not with all of the text, when two lists of lines differ. */
export function assertSameLines(actual: readonly string[], expected: readonly string[], label = ''): void {
  const at = expected.findIndex((line, number) => line !== actual[number])
  if (at === -1 && actual.length === expected.length) return
  const place = at === -1 ? expected.length : at
  const counts = `${actual.length} lines, expected ${expected.length}`
  throw new Error(`${label} ${counts}; the first other one is number ${place}: ${actual[place]?.slice(0, 120)}`)
}
