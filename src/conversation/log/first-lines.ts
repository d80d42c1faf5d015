/**
 * Writes the first lines of a new conversation's log, in a folder that is not in `conversations/` yet.
 *
 * The lines that define the conversation are written twice, against damage to one copy.
 */
import type { JsonObject } from '../../base/json.ts'
import { copyPrefix, type CopyPrefixOptions } from '../../storage/copy-prefix.ts'
import type { LineCache } from '../../storage/line-cache.ts'
import { openLog } from '../../storage/log.ts'
import { eventKinds } from '../../schema/generated/events.ts'
import type { Created, Forked } from './origins.ts'
import type { PrivateRecord } from './records.ts'

/** Writes the line that creates a conversation, twice, against damage to one copy. */
export async function writeCreated(directory: string, cache: LineCache, created: Created): Promise<void> {
  const line = record(['created', created])
  await append(directory, cache, [line, line])
}

/** The log lines that a fork copies, and values of the copied conversation at the time when the fork was planned. */
export interface ForkSource extends Omit<CopyPrefixOptions, 'to'> {
  /** The current agent settings of the copied conversation. The copied lines may hold older values. */
  readonly agent: JsonObject
  readonly secrets: Readonly<Record<string, JsonObject>>
  /** The current path of the copied conversation's workspace. */
  readonly workingDir: string
}

/** Copies lines of the source's log (`copyPrefix`), then appends the lines that define the fork, twice. */
export async function writeForked(
  directory: string, cache: LineCache, source: ForkSource, forked: Forked,
): Promise<void> {
  const { agent, secrets, workingDir } = source
  const moved = { working_dir: workingDir }
  const own: PrivateRecord[] = [['agent', agent], ['secrets', secrets], ['moved', moved], ['forked', forked]]
  const once = own.map(record)
  await copyPrefix({ ...source, to: directory })
  await append(directory, cache, [...once, ...once])
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
