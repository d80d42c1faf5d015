/**
 * Writes the first lines of a new conversation, before its folder becomes visible.
 *
 * The lines that define the conversation are written twice, against damage to one copy.
 */
import type { JsonObject } from '../../base/json.ts'
import { copyPrefix } from '../../storage/copy-prefix.ts'
import type { LineCache } from '../../storage/line-cache.ts'
import { start } from '../../storage/chain.ts'
import { openLog, type ConversationLog } from '../../storage/log.ts'
import { eventKinds } from '../../schema/generated/events.ts'
import type { Created, Forked } from './origins.ts'
import type { PrivateRecord } from './records.ts'

/** Writes the line that creates a conversation, twice, against damage to one copy. */
export async function writeCreated(directory: string, cache: LineCache, created: Created): Promise<void> {
  const line = record(['created', created])
  await append(directory, cache, [line, line])
}

export interface ForkSource {
  readonly log: ConversationLog
  readonly directory: string
  /** Seq of the last event to copy; -1 for no event. */
  readonly lastEvent: number
  /** The current agent settings of the copied conversation. The copied lines may hold older settings and secrets. */
  readonly agent: JsonObject
  readonly secrets: Readonly<Record<string, JsonObject>>
}

/** Copies the source's lines up to `lastEvent` (all lines if it is -1), then writes the fork's own lines, twice. */
export async function writeForked(
  directory: string, cache: LineCache, source: ForkSource, forked: Forked,
): Promise<void> {
  const once = [record(['agent', source.agent]), record(['secrets', source.secrets]), record(['forked', forked])]
  const own = [...once, ...once]
  if (source.lastEvent >= 0) {
    await copyPrefix({ log: source.log, from: source.directory, to: directory, event: source.lastEvent })
    await append(directory, cache, own)
    return
  }
  const lines: Buffer[] = []
  for await (const line of source.log.lines(start)) lines.push(line.json)
  await append(directory, cache, [...lines, ...own])
}

function record(line: PrivateRecord): Buffer {
  return Buffer.from(JSON.stringify(line))
}

async function append(directory: string, cache: LineCache, lines: readonly Buffer[]): Promise<void> {
  const log = await openLog({ directory, kinds: eventKinds, cache, onDamage: ignore })
  try {
    for (const line of lines) log.append(line)
    await log.durable()
  } finally {
    await log.close()
  }
}

function ignore(): void {}
