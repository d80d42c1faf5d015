/**
 * Decides after how much time without a change the input of a tool call counts as complete, so that the call can be
 * recorded (decisions 3). Pure.
 *
 * Agents announce a call with an empty input and fill it while their model streams. Claude sends whole members one
 * after the other (its adapter cuts at commas of the outermost object); other agents may send texts that still grow.
 * An event is never amended, so the recording waits until the input has not changed for some time (`quietMsOf`):
 *
 * - A call whose work is known: 500 ms when it is `in_progress`, 2 s when it is `pending`.
 * - An agent that was seen to lengthen a text may pause in the middle of a text: 2 s, and only once the call is in
 *   progress. The same holds for a call with a whole input whose work is not known.
 * - For any other call no time is enough. A question, its output or its end shows that it is complete.
 */
import { isDeepStrictEqual } from 'node:util'
import { isObject } from '../../base/json.ts'
import { textOf } from '../../base/fields.ts'
import { shapeOf, type ShapeOptions } from './shape.ts'
import { diffsOf, hasWholeInput, type ToolCall } from './tool-calls.ts'

const briefMs = 500
const longMs = 2000

/** Returns the time in ms without a change after which the call is recorded; undefined when no time is enough. */
export function quietMsOf(call: ToolCall, options: ShapeOptions, lengthensTexts: boolean): number | undefined {
  const runs = call.status === 'in_progress'
  const isTold = tellsWork(call, options) || (runs && tellsAll(call))
  if (isTold && !lengthensTexts) return runs ? briefMs : longMs
  return runs && (isTold || hasWholeInput(call)) ? longMs : undefined
}

/** True when the work is known: a call of any shape but `tool`, or an edit with a diff or with a path and a text. */
export function tellsWork(call: ToolCall, options: ShapeOptions): boolean {
  if (shapeOf(call, options).as !== 'tool') return true
  return call.kind === 'edit' && (diffsOf(call).length > 0 || hasPathAndText(call.input))
}

/** True when a call that gets no more updates counts as incomplete. */
export function isPartial(call: ToolCall, options: ShapeOptions, lengthensTexts: boolean): boolean {
  if (call.status === 'pending' && lengthensTexts) return true
  return call.announcesInput && !hasWholeInput(call) && !tellsWork(call, options)
}

/** True when a text of the input, or of a diff, has grown at its end. */
export function lengthens(before: ToolCall, after: ToolCall): boolean {
  if (before.input === after.input && before.content === after.content) return false
  const news = textsOf(after)
  return [...textsOf(before)].some(([name, text]) => {
    const now = news.get(name)
    return now !== undefined && now.length > text.length && text !== '' && now.startsWith(text)
  })
}

/**
 * True when `recorded` has all the work that `asked` describes. `recorded` may have more: opencode leaves the folder
 * out of its question.
 */
export function contains(recorded: ToolCall, asked: ToolCall, options: ShapeOptions): boolean {
  const [was, is] = [shapeOf(recorded, options), shapeOf(asked, options)]
  if (is.as === 'command' && !(was.as === 'command' && was.command === is.command)) return false
  const diffs = diffsOf(asked)
  if (diffs.length > 0 && !isDeepStrictEqual(diffs, diffsOf(recorded))) return false
  return asked.input === undefined || hasMembers(recorded.input, asked.input)
}

/** True when `whole` is an object that has all members of `part` with the same values, or the two are equal. */
export function hasMembers(whole: unknown, part: unknown): boolean {
  if (!isObject(whole) || !isObject(part)) return isDeepStrictEqual(whole, part)
  return Object.entries(part).every(([name, value]) => isDeepStrictEqual(whole[name], value))
}

/**
 * True when the call describes the whole work. An agent that announces no input describes the work in other members.
 * Any other agent must have sent the whole input. For the kinds edit and execute the whole input is not enough.
 */
function tellsAll(call: ToolCall): boolean {
  if (!call.announcesInput) return true
  return hasWholeInput(call) && call.kind !== 'edit' && call.kind !== 'execute'
}

/** The names of input members for a path, and for a new text. Old texts do not count: they show no change alone. */
const pathNames = ['path', 'file_path', 'filePath', 'abs_path', 'filepath']
const textNames = ['content', 'file_text', 'text', 'new_string', 'newString', 'new_str', 'newText', 'patch', 'diff']

/** True for an input that names a file and the text for it. */
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
