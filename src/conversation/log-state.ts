/**
 * The state that the lines of a log fold to: all of them, or those up to a point that matters.
 *
 * The same lines give the same state, whoever folds them and whenever. A sound line that this version does not know is
 * refused with its place: a state without it would be another state.
 */
import { AppError } from '../base/errors.ts'
import { parseOwnJsonBytes } from '../base/json-turns.ts'
import { microsOfUpperHalf, upperHalf } from '../base/stamp.ts'
import { start, type Position } from '../storage/chain.ts'
import type { ConversationLog } from '../storage/log.ts'
import { foldEvent, initialState, type ConversationState } from './state.ts'
import { foldRecord, isPrivateRecord } from './records.ts'
import { storedEvent } from './stored-event.ts'

export interface FoldOptions {
  /** What is known: the state up to a line, which is changed in place. */
  readonly from?: { readonly line: Position; readonly state: ConversationState } | undefined
  /** Asked after every line whether that was the last one to fold. */
  readonly until?: (state: Readonly<ConversationState>) => boolean
}

/** @throws AppError `not_found` when the log is not that of a conversation, `format_unsupported` for an unknown record */
export async function foldLog(log: ConversationLog, { from, until = never }: FoldOptions = {}): Promise<ConversationState> {
  let state = from?.state
  for await (const line of log.lines(from?.line ?? start)) {
    const value = await parseOwnJsonBytes(line.json)
    if (state === undefined) state = firstState(value)
    else if (line.event !== undefined) foldStored(state, value)
    else if (isPrivateRecord(value)) foldRecord(state, value)
    else throw unknownRecord(value, line.position)
    if (until(state)) return state
  }
  if (state === undefined) throw new AppError('not_found', 'The folder holds no conversation')
  return state
}

function firstState(value: unknown): ConversationState {
  if (!isPrivateRecord(value) || value[0] !== 'created') throw new AppError('not_found', 'The log does not begin with its creation')
  return initialState(value[1])
}

function unknownRecord(value: unknown, { offset }: Position): AppError {
  const name = Array.isArray(value) ? JSON.stringify(value[0]).slice(0, 64) : 'a line without a name'
  const expected = 'a newer version may have written it'
  return new AppError('format_unsupported', `Cannot read the log: the record ${name} that ends at byte ${offset} is unknown; ${expected}`)
}

function foldStored(state: ConversationState, value: unknown): void {
  const event = storedEvent(value)
  if (event === undefined) return
  foldEvent(state, event, microsOfUpperHalf(upperHalf(event.id) ?? ''))
}

function never(): boolean {
  return false
}
