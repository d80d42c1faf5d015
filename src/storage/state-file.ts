/**
 * `state.json`: what the records of a log fold to up to a named line, so that opening need not fold them again.
 *
 * It is a cache and never the truth: one that is missing, cannot be read, was changed, or names a line that the log
 * does not have, is as good as none, and the caller folds from the first line on.
 *
 *     { "line": { "offset", "hash" }, "check": the chain's hash of the state after that line, "state" }
 */
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { isObject } from '../base/json.ts'
import { readJsonFile, writeFileAtomically } from '../base/json-file.ts'
import { hashOf, type Position } from './chain.ts'

export interface CachedState {
  /** Behind the last line that is folded in: `log.lines(line)` gives the rest. */
  readonly line: Position
  readonly state: unknown
}

/** The part of a log that this needs. */
interface Holds {
  holds(position: Position): Promise<boolean>
}

/** The state in a conversation's folder if it belongs to this log. */
export async function readState(directory: string, log: Holds): Promise<CachedState | undefined> {
  const cached = await readSoundState(directory)
  return cached !== undefined && (await log.holds(cached.line)) ? cached : undefined
}

/** The state in a folder if it is what was written and the log ends where it was folded to; the log is not opened. */
export async function readFreshState(directory: string): Promise<CachedState | undefined> {
  const cached = await readSoundState(directory)
  if (cached === undefined) return undefined
  const { size } = await stat(join(directory, 'events.jsonl')).catch(() => ({ size: -1 }))
  return size === cached.line.offset ? cached : undefined
}

/** The state in a folder if it is what was written, without asking the log. */
export async function readSoundState(directory: string): Promise<CachedState | undefined> {
  const stored = await readJsonFile(pathIn(directory)).catch(() => undefined)
  if (!isObject(stored) || !isObject(stored['line'])) return undefined
  const { line: { offset, hash }, check, state } = stored
  if (typeof offset !== 'number' || !Number.isSafeInteger(offset) || offset < 0) return undefined
  if (typeof hash !== 'string') return undefined
  return check === checkOf(hash, JSON.stringify(state)) ? { line: { offset, hash }, state } : undefined
}

/**
 * Replaces the state in a folder. `state` is JSON.
 * @throws AppError `storage_full` or `storage_failed`; the caller loses nothing by going on without.
 */
export async function writeState(directory: string, cached: CachedState): Promise<void> {
  const { line: { offset, hash }, state } = cached
  const text = JSON.stringify(state)
  const head = JSON.stringify({ line: { offset, hash }, check: checkOf(hash, text) }).slice(0, -1)
  // The text is made once: what is checked is what is written.
  await writeFileAtomically(pathIn(directory), `${head},"state":${text}}\n`)
}

function checkOf(hash: string, state = ''): string {
  return hashOf(hash, Buffer.from(state))
}

function pathIn(directory: string): string {
  return join(directory, 'state.json')
}
