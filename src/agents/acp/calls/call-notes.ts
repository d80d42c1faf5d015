/** Makes the notes in square brackets that are added to the observation or summary of a tool call. Pure. */
import { isDeepStrictEqual } from 'node:util'
import { isObject } from '../../../base/json.ts'
import { hasMembers } from './call-readiness.ts'
import { commandOf, shapeOf, type ShapeOptions } from './shape.ts'
import { diffsOf, type ToolCall } from './tool-calls.ts'

export const allowedAndUnheardOf =
  '[This was allowed. The agent has not told under this id what became of it.]'

export function askedAnew(id: string): string {
  return `[The agent asked about this call with more than it had told before: see the action ${id}.]`
}

/** Returns the text for the observations of the second and later parts of a call with several changes. */
export function partNote(id: string): string {
  return `[One of several changes of the call ${id}: its observation has the output.]`
}

export interface SummaryOptions {
  readonly isIncomplete: boolean
  /** For a call of a sub-agent: the id of the call that started the sub-agent. Undefined for any other call. */
  readonly parent: string | undefined
}

export function summaryOf(title: string, { isIncomplete, parent }: SummaryOptions): string {
  const notes = [
    ...(parent === undefined ? [] : [`[by the sub-agent of ${parent}]`]),
    ...(isIncomplete ? ['[incomplete: the agent had not told all of its input]'] : []),
  ]
  return [title, ...notes].join(' ').trimStart()
}

const detailLimitChars = 4000

export interface RecordedAs {
  /** The call's data at the time when its action was recorded. */
  readonly call: ToolCall
  readonly isIncomplete: boolean
}

/**
 * Returns a note if the call now does other work than its action shows (`isOtherWork`). For a call that was allowed or
 * recorded as incomplete, any other change of the input gets a note too. New remarks (`withoutRemarks`) do not count.
 */
export function changeNote(recorded: RecordedAs, call: ToolCall, options: ShapeOptions, isAllowed: boolean): string {
  const before = recorded.call
  const isOther = isOtherWork(before, call, options)
  const isSame = isDeepStrictEqual(before.input, withoutRemarks(call.input, before.input, options))
  if (!isOther && (isSame || !(isAllowed || recorded.isIncomplete))) return ''
  const now = shortened(JSON.stringify(call.input ?? shapeOf(call, options)))
  if (isAllowed) return `[The agent changed this call after it was allowed. It says now: ${now}]`
  return isOther && before.input !== undefined
    ? `[The agent changed this call after it was recorded. It says now: ${now}]`
    : `[The agent told the input after this call was recorded: ${now}]`
}

/**
 * Returns `input` without remarks: a `description`, or a `cwd` that is the working folder. A remark that the earlier
 * input (`before`) also has is kept.
 */
function withoutRemarks(input: unknown, before: unknown, { workingDir }: ShapeOptions): unknown {
  if (!isObject(input) || !isObject(before)) return input
  const isRemark = (name: string, value: unknown): boolean => {
    return name === 'description' || (name === 'cwd' && value === workingDir)
  }
  const kept = Object.entries(input).filter(([name, value]) => Object.hasOwn(before, name) || !isRemark(name, value))
  return Object.fromEntries(kept)
}

/**
 * True when a member of the earlier input, the command or the list of files in the diffs differs in `now`. A command or
 * list that only one of the two has does not count. Texts in diffs do not count, because the observation shows them.
 */
function isOtherWork(before: ToolCall, now: ToolCall, options: ShapeOptions): boolean {
  if (before.input !== undefined && !hasMembers(now.input, before.input)) return true
  const [was, is] = [commandOf(before, options), commandOf(now, options)]
  if (was !== undefined && is !== undefined && was !== is) return true
  const paths = diffsOf(before).map(({ path }) => path)
  const pathsNow = diffsOf(now).map(({ path }) => path)
  return paths.length > 0 && pathsNow.length > 0 && !isDeepStrictEqual(paths, pathsNow)
}

function shortened(text: string): string {
  return text.length <= detailLimitChars ? text : `${text.slice(0, detailLimitChars)} ... (${text.length} characters)`
}
