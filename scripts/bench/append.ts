/**
 * Gate 3: appending events so that they are on the disk, beside a file that gets the same lines.
 *
 * The folder is a temporary one: it has to be on a real disk (TMPDIR names another place). One producer waits for each
 * event, and the limit is a write and an fdatasync. 64 producers share syncs, and the limit is the shortest group
 * commit: everything that waits goes out in one write and one sync, without index, cache, limits or care for failures.
 */
import { mkdir, mkdtemp, open, rm, type FileHandle } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { eventKinds } from '../../src/schema/generated/events.ts'
import { formatLine, genesis } from '../../src/storage/chain.ts'
import { LineCache } from '../../src/storage/line-cache.ts'
import { openLog, type ConversationLog } from '../../src/storage/log.ts'
import type { Gate, GateOptions, Row } from './gate.ts'
import { compare, inverse, measure, type Round } from './rounds.ts'
import { actionEvent } from './sample-event.ts'

/** Adds a line to a file; resolves when it is on the disk. */
export type Append = (line: string) => Promise<unknown>

/** One producer, then 64; each appends so many events in a round, one after the other. */
export const appendLoads = [
  { producers: 1, each: 4, limit: writeAndSync, limitName: 'write + fdatasync', atLeast: 0.95 },
  { producers: 64, each: 4, limit: groupCommit, limitName: 'bare group commit', atLeast: 0.9 },
] as const

export const appendAlone: Gate = ({ budgetMs }) => compareOurs({ ...appendLoads[0], budgetMs })

export const appendTogether: Gate = ({ budgetMs }) => compareOurs({ ...appendLoads[1], budgetMs })

export interface AppendOptions extends GateOptions {
  readonly producers: number
  /** How many events each of them appends in a round, one after the other. */
  readonly each: number
  readonly limit: (file: FileHandle) => Append
  readonly limitName: string
  readonly atLeast: number
}

async function compareOurs(options: AppendOptions): Promise<Row[]> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-append-'))
  const log = await openEmptyLog(join(folder, 'log'))
  try {
    return await compareAppends('', () => measure(() => produce(ours(log), options.producers, options.each)), options)
  } finally {
    await log.close()
    await rm(folder, { recursive: true, force: true })
  }
}

/** @param peer whose round it is; empty for ours */
export async function compareAppends(peer: string, round: Round, options: AppendOptions): Promise<Row[]> {
  const { budgetMs, producers, each, limit, limitName, atLeast } = options
  const folder = await mkdtemp(join(tmpdir(), 'bench-append-'))
  const file = await open(join(folder, 'bare'), 'w')
  try {
    const append = limit(file)
    const { elapsed, ours: cost } = await compare(
      { limit: () => measure(() => produce(append, producers, each)), ours: round }, budgetMs,
    )
    const context = `${((cost.elapsedMs / producers / each) * 1000).toFixed(0)} µs`
    const what = `durable append, ${producers === 1 ? 'one producer' : `${producers} producers`}: speed`
    return [{ peer, what, limit: limitName, ratio: inverse(elapsed), target: { atLeast }, context }]
  } finally {
    await file.close()
    await rm(folder, { recursive: true, force: true })
  }
}

async function openEmptyLog(directory: string): Promise<ConversationLog> {
  await mkdir(directory)
  const ignore = (): void => undefined
  return openLog({ directory, kinds: eventKinds, cache: new LineCache(), onDamage: ignore })
}

function ours(log: ConversationLog): Append {
  return (line) => {
    log.append(line)
    return log.durable()
  }
}

/** All producers at the same time; each appends its next event when the last one is durable. */
function produce(append: Append, producers: number, each: number): Promise<unknown> {
  const produceOne = async (): Promise<void> => {
    for (let left = each; left > 0; left--) await append(actionEvent())
  }
  return Promise.all(Array.from({ length: producers }, produceOne))
}

function writeAndSync(file: FileHandle): Append {
  return async (line) => {
    await file.write(Buffer.from(line))
    await file.datasync()
  }
}

/** The shortest group commit. */
export function groupCommit(file: FileHandle): Append {
  let hash = genesis
  let waiting: Buffer[] = []
  let next: Promise<void> | undefined
  let running = Promise.resolve()
  const commit = async (): Promise<void> => {
    await running
    const group = Buffer.concat(waiting)
    waiting = []
    next = undefined
    await file.write(group)
    await file.datasync()
  }
  return (line) => {
    const made = formatLine(hash, Buffer.from(line))
    hash = made.hash
    waiting.push(made.bytes)
    next ??= running = commit()
    return next
  }
}
