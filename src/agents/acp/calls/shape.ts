/**
 * Selects the form in which a tool call is shown: a command, changes of files, a view of a file, a list of tasks, or a
 * tool (decisions 3, "Kind of an action"). Pure.
 *
 * The first form that fits the data of the call is used.
 */
import { resolve } from 'node:path'
import { memberAt, numberOf, objectsOf, textOf, type Fields } from '../../../base/fields.ts'
import { isObject } from '../../../base/json.ts'
import type { TaskItemInput } from '../../../schema/generated/actions.ts'
import { editsOf, lengthOf, pathIn, type Edit } from './edits.ts'
import { tasksOf } from './plan.ts'
import type { ToolCall } from './tool-calls.ts'

export interface ShapeOptions {
  readonly workingDir: string
  /** True when the title of an `execute` call is the command. */
  readonly titleIsCommand: boolean
}

/** A part of a tool call. Each part is shown as one action. A call has one or several parts. */
export type CallPart =
  | { readonly as: 'command'; readonly command: string; readonly workingDir: string | undefined }
  | { readonly as: 'edit'; readonly edit: Edit }
  | { readonly as: 'view'; readonly path: string; readonly range: readonly number[] | undefined }
  | { readonly as: 'tasks'; readonly tasks: readonly TaskItemInput[] }
  | { readonly as: 'tool' }

export type Shape = CallPart | { readonly as: 'edits'; readonly edits: readonly Edit[] }

/** The most characters of a recorded input. A note replaces a longer input, because events hold it more than once. */
export const inputLimitChars = 1_000_000

export function shapeOf(call: ToolCall, options: ShapeOptions): Shape {
  const command = commandOf(call, options)
  if (command !== undefined) return { as: 'command', command, workingDir: textOf(memberAt(call.input, 'cwd')) }
  const [edit, ...more] = editsOf(call, options.workingDir)
  if (edit !== undefined) return isTooLong([edit, ...more]) ? { as: 'tool' } : editShape(edit, more)
  return viewOf(call, options.workingDir) ?? taskShape(call) ?? { as: 'tool' }
}

/** Returns the parts of a call: one for each change of a file, or one part for any other call. */
export function partsOf(shape: Shape): readonly [CallPart, ...CallPart[]] {
  if (shape.as !== 'edits') return [shape]
  const [first = { as: 'tool' } as const, ...more] = shape.edits.map((edit): CallPart => ({ as: 'edit', edit }))
  return [first, ...more]
}

export function isTooLong(edits: readonly Edit[]): boolean {
  return edits.reduce((sum, edit) => sum + lengthOf(edit), 0) > inputLimitChars
}

function editShape(edit: Edit, more: readonly Edit[]): Shape {
  return more.length === 0 ? { as: 'edit', edit } : { as: 'edits', edits: [edit, ...more] }
}

/**
 * Returns the command line of an `execute` call. Several commands (Cline) become several lines. Returns undefined for
 * any other call, for a call without a command, and for a command of more than `inputLimitChars` characters.
 */
export function commandOf(call: ToolCall, { titleIsCommand }: ShapeOptions): string | undefined {
  if (call.kind !== 'execute') return undefined
  const command = memberAt(call.input, 'command')
  const commands = memberAt(call.input, 'commands')
  const areTexts = Array.isArray(commands) && commands.every((one) => typeof one === 'string')
  const several = areTexts ? commands.join('\n') : undefined
  const text = textOf(Array.isArray(command) ? command.join(' ') : command) ?? textOf(several)
  const known = text ?? (titleIsCommand ? textOf(call.title) : undefined)
  return known === undefined || known.length > inputLimitChars ? undefined : known
}

/** Returns the shape of a `view` command of a file editor (OpenHands); undefined for any other call. */
function viewOf({ kind, input }: ToolCall, workingDir: string): Shape | undefined {
  const path = kind === 'read' && memberAt(input, 'command') === 'view' ? pathIn(input) : undefined
  if (path === undefined) return undefined
  const range = memberAt(input, 'view_range')
  const numbers = Array.isArray(range) ? range.flatMap((line) => numberOf(line) ?? []) : []
  return { as: 'view', path: resolve(workingDir, path), range: numbers.length === 2 ? numbers : undefined }
}

/** Returns the shape of a task list, `todos` (opencode) or `task_list` (OpenHands); undefined for any other call. */
function taskShape({ kind, input }: ToolCall): Shape | undefined {
  if (kind === 'execute' || kind === 'edit' || !isObject(input)) return undefined
  const todos = objectsOf(input['todos'])
  const entries = todos.length > 0 ? todos : objectsOf(input['task_list'])
  const isTask = (entry: Fields): boolean => typeof entry['status'] === 'string' && tasksOf([entry])[0]?.title !== ''
  const isList = entries.length > 0 && entries.every(isTask)
  return isList ? { as: 'tasks', tasks: tasksOf(entries) } : undefined
}
