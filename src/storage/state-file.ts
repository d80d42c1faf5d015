/**
 * The file `state.json`: the state computed from a log up to a line. It spares this computation at the next opening.
 *
 * The file is a cache, written without a sync. A damaged file, or a file whose `line` is not in the log, is ignored.
 *
 *     { "line": { "offset", "hash" }, "check": hashOf(hash, JSON of the state), "state" }
 */
import { join } from 'node:path'
import { isObject } from '../base/json.ts'
import { readJsonFile } from '../base/json-file.ts'
import { replaceLoosely } from '../base/own-files.ts'
import { stat } from '../base/read-files.ts'
import { hashOf, type Position } from './chain.ts'

export interface CachedState {
  /** The position after the last line from which `state` was computed. `log.lines(line)` returns the later lines. */
  readonly line: Position
  readonly state: unknown
}

/** The method of a log that `readState` calls. */
interface Holds {
  holds(position: Position): Promise<boolean>
}

/** Returns the state in a conversation's folder if it is intact and its position is in this log. */
export async function readState(directory: string, log: Holds): Promise<CachedState | undefined> {
  const cached = await readSoundState(directory)
  return cached !== undefined && (await log.holds(cached.line)) ? cached : undefined
}

/** Returns the state in a folder if it is intact and its offset is the size of the log. Does not open the log. */
export async function readFreshState(directory: string): Promise<CachedState | undefined> {
  const cached = await readSoundState(directory)
  if (cached === undefined) return undefined
  const { size } = await stat(join(directory, 'events.jsonl')).catch(() => ({ size: -1 })) // -1 equals no offset.
  return size === cached.line.offset ? cached : undefined
}

/** Returns the state in a folder if it is intact. Does not look at the log. */
export async function readSoundState(directory: string): Promise<CachedState | undefined> {
  const stored = await readJsonFile(pathIn(directory)).catch(() => undefined) // An unreadable file counts as missing.
  if (!isObject(stored) || !isObject(stored['line'])) return undefined
  const { line: { offset, hash }, check, state } = stored
  if (typeof offset !== 'number' || !Number.isSafeInteger(offset) || offset < 0) return undefined
  if (typeof hash !== 'string') return undefined
  return check === checkOf(hash, JSON.stringify(state)) ? { line: { offset, hash }, state } : undefined
}

/**
 * Replaces the state in a folder. `cached.state` must be a JSON value.
 * @throws the errors of `replaceLoosely`, which the caller may ignore
 */
export async function writeState(directory: string, cached: CachedState): Promise<void> {
  const { line: { offset, hash }, state } = cached
  const text = JSON.stringify(state)
  const head = JSON.stringify({ line: { offset, hash }, check: checkOf(hash, text) }).slice(0, -1)
  // The state is serialised once, so that `check` is computed from the written text.
  await replaceLoosely(pathIn(directory), `${head},"state":${text}}\n`)
}

function checkOf(hash: string, state = ''): string {
  return hashOf(hash, Buffer.from(state))
}

function pathIn(directory: string): string {
  return join(directory, 'state.json')
}
