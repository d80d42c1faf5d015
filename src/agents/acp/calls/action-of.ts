/**
 * Makes the action of an ActionEvent from one part (`CallPart`) of an external agent's tool call (decisions 3). Pure.
 *
 * Data of an MCPToolAction is left out, in whole or in part, if its JSON has more than `inputLimitChars` characters.
 */
import { assertNever } from '../../../base/errors.ts'
import { isEmpty } from '../../../base/fields.ts'
import { isObject } from '../../../base/json.ts'
import type { ActionInput } from '../../../schema/generated/actions.ts'
import type { Edit } from './edits.ts'
import { editsOf } from './edits.ts'
import { inputLimitChars, isTooLong, type CallPart } from './shape.ts'
import { diffsOf, type ToolCall } from './tool-calls.ts'

export function actionOf(part: CallPart, call: ToolCall): ActionInput {
  switch (part.as) {
    case 'command': return { kind: 'TerminalAction', command: part.command }
    case 'edit': return editAction(part.edit)
    case 'view': {
      const range = part.range === undefined ? {} : { view_range: part.range }
      return { kind: 'FileEditorAction', command: 'view', path: part.path, ...range }
    }
    case 'tasks': return { kind: 'TaskTrackerAction', command: 'plan', task_list: part.tasks }
    case 'tool': return { kind: 'MCPToolAction', data: dataOf(call) }
    default: return assertNever(part)
  }
}

/** Returns `task_tracker` for tasks, `delete` or `move` for a deleted or moved file, otherwise the call's ACP kind. */
export function toolNameOf(part: CallPart, call: ToolCall): string {
  if (part.as === 'tasks') return 'task_tracker'
  return part.as === 'edit' && (part.edit.do === 'delete' || part.edit.do === 'move') ? part.edit.do : call.kind
}

/** Returns the action of a call with incomplete input. A `left_out` note replaces data that is too long. */
export function incompleteActionOf(call: ToolCall): ActionInput {
  const { kind, input = null, locations, content } = call
  const data = { incomplete: true, kind, input, locations, content }
  return { kind: 'MCPToolAction', data: withinLimit(data).data }
}

/** Returns the input (`inputObject`) as JSON for `tool_call.arguments`, or a `left_out` note if it is too long. */
export function argumentsOf(call: ToolCall): string {
  return inputOf(call).json
}

/** True when the data or the edits of a call are too long to be shown whole. */
export function isTooLongToShow(call: ToolCall): boolean {
  return isLongInPrint(toolData(call)) || isTooLong(editsOf(call, '/'))
}

function editAction(edit: Edit): ActionInput {
  switch (edit.do) {
    case 'create': return { kind: 'FileEditorAction', command: 'create', path: edit.path, file_text: edit.newText }
    case 'replace': {
      const { path, oldText, newText } = edit
      return { kind: 'FileEditorAction', command: 'str_replace', path, old_str: oldText, new_str: newText }
    }
    case 'insert': {
      const { path, line, newText } = edit
      return { kind: 'FileEditorAction', command: 'insert', path, insert_line: line, new_str: newText }
    }
    case 'delete': return { kind: 'MCPToolAction', data: { delete: edit.path } }
    case 'move': return { kind: 'MCPToolAction', data: { move: edit.path, to: edit.to } }
    default: return assertNever(edit)
  }
}

/** Returns the number of characters in all texts of a value. Stops counting above `inputLimitChars`. */
function charsIn(value: unknown): number {
  if (typeof value === 'string') return value.length
  if (typeof value !== 'object' || value === null) return 0
  let chars = 0
  for (const member of Object.values(value)) {
    chars += charsIn(member)
    if (chars > inputLimitChars) break
  }
  return chars
}

function isLongInPrint(value: unknown): boolean {
  return charsIn(value) > inputLimitChars || JSON.stringify(value).length > inputLimitChars
}

interface Printed {
  readonly data: Readonly<Record<string, unknown>>
  readonly json: string
}

/** Returns the call's input (`inputObject`) and its JSON. A `left_out` note replaces an input that is too long. */
function inputOf(call: ToolCall): Printed {
  return withinLimit(inputObject(call))
}

function withinLimit(data: Readonly<Record<string, unknown>>): Printed {
  // The JSON is at least as long as the texts in it. So if the texts are too long, no JSON is made.
  const json = charsIn(data) > inputLimitChars ? undefined : JSON.stringify(data)
  if (json !== undefined && json.length <= inputLimitChars) return { data, json }
  const leftOut = { left_out: `more than ${inputLimitChars} characters of input` }
  return { data: leftOut, json: JSON.stringify(leftOut) }
}

/** Returns the input, as `{ input }` if it is no object. Without an input, returns kind, locations and content. */
function inputObject({ input, kind, locations, content }: ToolCall): Readonly<Record<string, unknown>> {
  if (isEmpty(input)) return { kind, locations, content }
  return isObject(input) ? input : { input }
}

function dataOf(call: ToolCall): Printed['data'] {
  const all = toolData(call)
  return isLongInPrint(all) ? inputOf(call).data : all
}

/** Returns the data of an MCPToolAction: the input (`inputObject`), and also `content` when the call has diffs. */
function toolData(call: ToolCall): Readonly<Record<string, unknown>> {
  return diffsOf(call).length > 0 ? { ...inputObject(call), content: call.content } : inputObject(call)
}
