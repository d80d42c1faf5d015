/**
 * Finds the part of an ended tool call that matches a part (`CallPart`) which was recorded before. Pure.
 *
 * Each recorded part has an action. After its end, the call may have other parts than the recorded parts.
 */
import type { Recorded } from '../../../conversation/agent/agent.ts'
import type { Answered } from './drafts.ts'
import type { CallPart } from './shape.ts'

export interface RecordedPart {
  readonly part: CallPart
  readonly answered: Answered
}

/** Returns the part of the ended call (`now`) that matches `recorded`, or `recorded` if no part clearly matches. */
export function observedPart(recorded: CallPart, now: readonly CallPart[]): CallPart {
  if (recorded.as === 'edit') return editNow(recorded, now) ?? recorded
  const [only, ...more] = now
  if (only === undefined || more.length > 0) return recorded
  return recorded.as === 'tool' || (recorded.as === 'command' && only.as === 'command') ? only : recorded
}

/**
 * Returns the edit in `now` that matches `recorded`: the only edit of the same file, if it is of the same kind (`do`).
 * Returns undefined without such an edit.
 */
function editNow(recorded: CallPart & { as: 'edit' }, now: readonly CallPart[]): CallPart | undefined {
  const { path } = recorded.edit
  const same = now.filter((part) => part.as === 'edit' && part.edit.path === path)
  const [part] = same
  return same.length === 1 && part?.as === 'edit' && part.edit.do === recorded.edit.do ? part : undefined
}

/** Returns the event of the last part. When this event is durable, the events of all parts are. */
export function lastOf(parts: readonly { readonly event: Recorded }[]): Recorded {
  return parts.reduce((_, part) => part).event
}
