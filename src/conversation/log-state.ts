/**
 * The state that the lines of a log fold to: all of them, or those up to a point that matters.
 *
 * The same lines give the same state, whoever folds them and whenever. What is no line of ours is passed over.
 */
import { AppError } from '../base/errors.ts'
import { parseOwnJson } from '../base/json.ts'
import { microsOfUpperHalf, upperHalf } from '../base/stamp.ts'
import { start, type Position } from '../storage/chain.ts'
import type { ConversationLog } from '../storage/log.ts'
import { foldEvent, foldRecord, initialState, isPrivateRecord, type ConversationState } from './state.ts'
import { storedEvent } from './stored-event.ts'

export interface FoldOptions {
  /** What is known: the state up to a line, which is changed in place. */
  readonly from?: { readonly line: Position; readonly state: ConversationState } | undefined
  /** Asked after every line whether that was the last one to fold. */
  readonly until?: (state: Readonly<ConversationState>) => boolean
}

/** @throws AppError `not_found` when the log is not that of a conversation */
export async function foldLog(log: ConversationLog, { from, until = never }: FoldOptions = {}): Promise<ConversationState> {
  let state = from?.state
  for await (const line of log.lines(from?.line ?? start)) {
    const value = parseOwnJson(line.json.toString())
    if (state === undefined) state = firstState(value)
    else if (line.event !== undefined) foldStored(state, value)
    else if (isPrivateRecord(value)) foldRecord(state, value)
    if (until(state)) return state
  }
  if (state === undefined) throw new AppError('not_found', 'The folder holds no conversation')
  return state
}

function firstState(value: unknown): ConversationState {
  if (!isPrivateRecord(value) || value[0] !== 'created') throw new AppError('not_found', 'The log does not begin with its creation')
  return initialState(value[1])
}

function foldStored(state: ConversationState, value: unknown): void {
  const event = storedEvent(value)
  if (event === undefined) return
  foldEvent(state, event, microsOfUpperHalf(upperHalf(event.id) ?? ''))
}

function never(): boolean {
  return false
}
