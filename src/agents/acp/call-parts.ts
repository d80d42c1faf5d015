/**
 * A call is recorded as parts, one for each of its actions. When the call is over, this file finds the part of its
 * final form that belongs to each recorded part. Pure: nothing is recorded here.
 */
import type { Recorded } from '../../conversation/agent/agent.ts'
import type { Answered } from './drafts.ts'
import type { CallPart } from './shape.ts'

export interface RecordedPart {
  readonly part: CallPart
  readonly answered: Answered
}

/**
 * The part to show in the observation. A part that was recorded with less data is shown in its final form; a command
 * as the command that ran, an edit with its newest diff.
 */
export function observedPart(recorded: CallPart, now: readonly CallPart[]): CallPart {
  if (recorded.as === 'edit') return editNow(recorded, now) ?? recorded
  const [only, ...more] = now
  if (only === undefined || more.length > 0) return recorded
  return recorded.as === 'tool' || (recorded.as === 'command' && only.as === 'command') ? only : recorded
}

/** The only change of the same file, if it is of the same sort. */
function editNow(recorded: CallPart & { as: 'edit' }, now: readonly CallPart[]): CallPart | undefined {
  const { path } = recorded.edit
  const same = now.filter((part) => part.as === 'edit' && part.edit.path === path)
  const [part] = same
  return same.length === 1 && part?.as === 'edit' && part.edit.do === recorded.edit.do ? part : undefined
}

/** The event of the last part: when it is durable, all are. */
export function lastOf(parts: readonly { readonly event: Recorded }[]): Recorded {
  return parts.reduce((_, part) => part).event
}
