/**
 * When a tool call that nobody has asked about, started or ended is known well enough to be recorded (decisions, 3). Pure.
 *
 * Agents announce a call with an empty input and fill it while their model streams. Claude sends whole members, one after
 * the other (its adapter cuts at commas of the outermost object); others may send texts that still grow. An event is never
 * amended, so what was seen has to stand still for a time first, and the time depends on what the agent has said:
 *
 * - A call that is `in_progress` is past its input: 500 ms. One that is `pending` is still being written: 2 s.
 * - An agent that was seen to lengthen a text may stop in the middle of one: 2 s, and only once the call is in progress.
 * - A pending call without a command, and without a path with its text or diff, is not waited for: only a question, its
 *   output or its end tell all of it.
 */
import { isDeepStrictEqual } from 'node:util'
import { isObject } from '../../base/json.ts'
import { textOf } from '../../base/fields.ts'
import { shapeOf, type ShapeOptions } from './shape.ts'
import { diffsOf, hasWholeInput, type ToolCall } from './tool-calls.ts'

const briefMs = 500
const longMs = 2000

/** How long the call must not change before it is recorded; undefined when time alone proves nothing. */
export function quietMsOf(call: ToolCall, options: ShapeOptions, lengthensTexts: boolean): number | undefined {
  const runs = call.status === 'in_progress'
  const isTold = tellsWork(call, options) || (runs && tellsAll(call))
  if (isTold && !lengthensTexts) return runs ? briefMs : longMs
  return runs && (isTold || hasWholeInput(call)) ? longMs : undefined
}

/** True when it is known what will be done: a command, or a path with its text or diff. */
export function tellsWork(call: ToolCall, options: ShapeOptions): boolean {
  if (shapeOf(call, options).as !== 'tool') return true
  return call.kind === 'edit' && (diffsOf(call).length > 0 || hasPathAndText(call.input))
}

/** True when the input of a call that comes to nothing more was not told, or not to its end. */
export function isPartial(call: ToolCall, options: ShapeOptions, lengthensTexts: boolean): boolean {
  if (call.status === 'pending' && lengthensTexts) return true
  return call.announcesInput && !hasWholeInput(call) && !tellsWork(call, options)
}

/** True when a text of the input, or of a diff, is the beginning of what it is now. */
export function lengthens(before: ToolCall, after: ToolCall): boolean {
  if (before.input === after.input && before.content === after.content) return false
  const news = textsOf(after)
  return [...textsOf(before)].some(([name, text]) => {
    const now = news.get(name)
    return now !== undefined && now.length > text.length && text !== '' && now.startsWith(text)
  })
}

/** True when everything that `asked` says of its work stands in `recorded`, which may say more (opencode asks without the folder). */
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

/** A call of another kind tells all with its input; so does an agent that sends no inputs at all. */
function tellsAll(call: ToolCall): boolean {
  if (!call.announcesInput) return true
  return hasWholeInput(call) && call.kind !== 'edit' && call.kind !== 'execute'
}

/** As agents name them; an old text alone does not say what will stand there. */
const pathNames = ['path', 'file_path', 'filePath', 'abs_path', 'filepath']
const textNames = ['content', 'file_text', 'text', 'new_string', 'newString', 'new_str', 'newText', 'patch', 'diff']

/** True for an input that names a file and the text for it. */
export function hasPathAndText(input: unknown): boolean {
  if (!isObject(input)) return false
  return pathNames.some((name) => textOf(input[name]) !== undefined) && textNames.some((name) => typeof input[name] === 'string')
}

function textsOf(call: ToolCall): ReadonlyMap<string, string> {
  const members = isObject(call.input) ? Object.entries(call.input) : [['', call.input] as const]
  const diffs = diffsOf(call).map(({ path, newText }) => [`diff ${path}`, newText] as const)
  return new Map([...members, ...diffs].flatMap(([name, value]) => (typeof value === 'string' ? [[name, value] as const] : [])))
}
