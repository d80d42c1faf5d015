/**
 * Decides how long the input of a tool call must stay unchanged before the call is recorded (decisions 3). Pure.
 *
 * An agent may announce a call with an empty input, and fill the input while its model writes. A recorded event cannot
 * be changed, so a call must not be recorded too early.
 */
import { isDeepStrictEqual } from 'node:util'
import { textOf } from '../../../base/fields.ts'
import { isObject } from '../../../base/json.ts'
import { shapeOf, type ShapeOptions } from './shape.ts'
import { diffsOf, hasWholeInput, type ToolCall } from './tool-calls.ts'

const briefMs = 500
const longMs = 2000

/**
 * Returns how many milliseconds the call must stay unchanged before it is recorded. Another cause, such as its output,
 * may record it earlier. Undefined means that no such time applies, only `lastResortMs` (reported-call.ts).
 */
export function quietMsOf(call: ToolCall, options: ShapeOptions, lengthensTexts: boolean): number | undefined {
  const runs = call.status === 'in_progress'
  const isTold = tellsWork(call, options) || (runs && tellsAll(call))
  if (isTold && !lengthensTexts) return runs ? briefMs : longMs
  return runs && (isTold || hasWholeInput(call)) ? longMs : undefined
}

/** True when the call's work is known: its shape is not `tool`, or an `edit` call has a diff (or a path and a text). */
export function tellsWork(call: ToolCall, options: ShapeOptions): boolean {
  if (shapeOf(call, options).as !== 'tool') return true
  return call.kind === 'edit' && (diffsOf(call).length > 0 || hasPathAndText(call.input))
}

/** True when the updates so far may describe only a part of the call. */
export function isPartial(call: ToolCall, options: ShapeOptions, lengthensTexts: boolean): boolean {
  if (call.status === 'pending' && lengthensTexts) return true
  return call.announcesInput && !hasWholeInput(call) && !tellsWork(call, options)
}

/** True when a text of the input or of a diff has grown at its end. A text that was empty before does not count. */
export function lengthens(before: ToolCall, after: ToolCall): boolean {
  if (before.input === after.input && before.content === after.content) return false
  const news = textsOf(after)
  return [...textsOf(before)].some(([name, text]) => {
    const now = news.get(name)
    return now !== undefined && now.length > text.length && text !== '' && now.startsWith(text)
  })
}

/** True when `recorded` describes all work of `asked`. `recorded` may describe more work, as with opencode. */
export function contains(recorded: ToolCall, asked: ToolCall, options: ShapeOptions): boolean {
  const [was, is] = [shapeOf(recorded, options), shapeOf(asked, options)]
  if (is.as === 'command' && !(was.as === 'command' && was.command === is.command)) return false
  const diffs = diffsOf(asked)
  if (diffs.length > 0 && !isDeepStrictEqual(diffs, diffsOf(recorded))) return false
  return asked.input === undefined || hasMembers(recorded.input, asked.input)
}

/** True when `whole` has the members of `part` with equal values. Unless both are objects, they must be equal. */
export function hasMembers(whole: unknown, part: unknown): boolean {
  if (!isObject(whole) || !isObject(part)) return isDeepStrictEqual(whole, part)
  return Object.entries(part).every(([name, value]) => isDeepStrictEqual(whole[name], value))
}

/**
 * True when the call describes its whole work: the agent has announced no input, or the input is whole. The input
 * of an edit or a command is not checked here: `tellsWork` checks it.
 */
function tellsAll(call: ToolCall): boolean {
  if (!call.announcesInput) return true
  return hasWholeInput(call) && call.kind !== 'edit' && call.kind !== 'execute'
}

/** The names of input members with a path (`pathNames`) or a new text (`textNames`). An old text alone is no change. */
const pathNames = ['path', 'file_path', 'filePath', 'abs_path', 'filepath']
const textNames = ['content', 'file_text', 'text', 'new_string', 'newString', 'new_str', 'newText', 'patch', 'diff']

export function hasPathAndText(input: unknown): boolean {
  if (!isObject(input)) return false
  const hasPath = pathNames.some((name) => textOf(input[name]) !== undefined)
  return hasPath && textNames.some((name) => typeof input[name] === 'string')
}

function textsOf(call: ToolCall): ReadonlyMap<string, string> {
  const members = isObject(call.input) ? Object.entries(call.input) : [['', call.input] as const]
  const diffs = diffsOf(call).map(({ path, newText }) => [`diff ${path}`, newText] as const)
  const named = [...members, ...diffs]
  return new Map(named.flatMap(([name, value]) => (typeof value === 'string' ? [[name, value] as const] : [])))
}
