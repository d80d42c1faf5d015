/**
 * Computes the state of a conversation from the lines of its log.
 *
 * A log with a private record of an unknown name is refused, because the state could be wrong.
 */
import { AppError } from '../../base/errors.ts'
import { parseOwnJsonBytes } from '../../base/json-turns.ts'
import { microsOfUpperHalf, upperHalf } from '../../base/stamp.ts'
import { start, type Position } from '../../storage/chain.ts'
import type { ConversationLog } from '../../storage/log.ts'
import { foldEvent, initialState, type ConversationState } from './state.ts'
import { foldRecord, isPrivateRecord } from './records.ts'
import { storedEvent } from './stored-event.ts'

export interface FoldOptions {
  /** A state to start from, and the position after the last line that it includes. The state is changed in place. */
  readonly from?: { readonly line: Position; readonly state: ConversationState } | undefined
  /** Called with the state after each line. If this function returns true, no further line is read. */
  readonly until?: (state: Readonly<ConversationState>) => boolean
}

/**
 * Returns the state after the last line of the log, or after the line at which `until` returned true.
 * @throws AppError `not_found` when the log holds no conversation, `format_unsupported` for an unknown record
 */
export async function foldLog(log: ConversationLog, options: FoldOptions = {}): Promise<ConversationState> {
  const { from, until = never } = options
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
  const isFirst = isPrivateRecord(value) && value[0] === 'created'
  if (!isFirst) throw new AppError('not_found', 'The log does not begin with its creation')
  return initialState(value[1])
}

function unknownRecord(value: unknown, { offset }: Position): AppError {
  const name = Array.isArray(value) ? JSON.stringify(value[0]).slice(0, 64) : 'a line without a name'
  const problem = `the record ${name} that ends at byte ${offset} is unknown; a newer version may have written it`
  return new AppError('format_unsupported', `Cannot read the log: ${problem}`)
}

function foldStored(state: ConversationState, value: unknown): void {
  const event = storedEvent(value)
  if (event === undefined) return
  foldEvent(state, event, microsOfUpperHalf(upperHalf(event.id) ?? ''))
}

function never(): boolean {
  return false
}
