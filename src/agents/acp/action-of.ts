/**
 * Which action and which observation a tool call becomes (decisions, 3: "which action"). Pure.
 *
 * The richest kind that the information at hand fills honestly: a command with its words becomes a TerminalAction, an edit
 * with exactly one diff a FileEditorAction, everything else an MCPToolAction with what the agent sent. The choice is made
 * once, when the action is recorded, and the observation follows it. Gemini gives a command only as the title of the
 * call, word for word, so its titles count as commands.
 */
import { resolve } from 'node:path'
import { assertNever } from '../../base/errors.ts'
import { isObject } from '../../base/json.ts'
import type { ActionInput } from '../../schema/generated/actions.ts'
import type { ObservationInput } from '../../schema/generated/observations.ts'
import type { ContentInput } from '../../schema/generated/values.ts'
import { isEmpty, memberAt, textOf } from '../../base/fields.ts'
import { outputOf, shorten } from './output.ts'
import { diffsOf, newToolCall, type Diff, type ToolCall } from './tool-calls.ts'

export interface ShapeOptions {
  readonly workingDir: string
  /** The agent's titles of `execute` calls are the commands themselves. */
  readonly titleIsCommand: boolean
}

/** What a call is shown as. */
export type Shape =
  | { readonly as: 'command'; readonly command: string; readonly workingDir: string | undefined }
  | { readonly as: 'edit'; readonly path: string; readonly isNew: boolean }
  | { readonly as: 'tool' }

/** A longer input is not copied into the history, which would hold it several times. */
const inputLimitChars = 1_000_000

export function shapeOf(call: ToolCall, options: ShapeOptions): Shape {
  const command = call.kind === 'execute' ? commandOf(call, options) : undefined
  if (command !== undefined) return { as: 'command', command, workingDir: textOf(memberAt(call.input, 'cwd')) }
  const diff = call.kind === 'edit' ? onlyDiff(call) : undefined
  if (diff === undefined || isTooLong(diff)) return { as: 'tool' }
  return { as: 'edit', path: resolve(options.workingDir, diff.path), isNew: diff.oldText === null }
}

export function actionOf(shape: Shape, call: ToolCall): ActionInput {
  switch (shape.as) {
    case 'command': return { kind: 'TerminalAction', command: shape.command }
    case 'edit': return editAction(shape.path, onlyDiff(call))
    case 'tool': return { kind: 'MCPToolAction', data: dataOf(call) }
    default: return assertNever(shape)
  }
}

/** The action of a call that is recorded before its input is known: what is known, and that it is not all. */
export function incompleteActionOf(call: ToolCall): ActionInput {
  const { kind, input = null, locations, content } = call
  const data = { incomplete: true, kind, input, locations, content }
  return { kind: 'MCPToolAction', data: withinLimit(data).data }
}

/** The raw input as the JSON text that `tool_call.arguments` holds. */
export function argumentsOf(call: ToolCall): string {
  return inputOf(call).json
}

export interface ObservationOptions {
  readonly toolName: string
  /** Replaces secrets. */
  readonly mask: (text: string) => string
  readonly outputLimitChars: number
  /** Keeps an output that is too long for an event and gives the name of its file. */
  readonly saveOutput: (text: string) => string
  /** Where such files are. */
  readonly observationsDir: string
  /** What has to be said of the call before its output; empty mostly. */
  readonly note: string
}

export function observationOf(shape: Shape, call: ToolCall, options: ObservationOptions): ObservationInput {
  const output = outputOf(call)
  const full = options.mask(keptOf(output.text))
  const isCut = full.length > options.outputLimitChars
  const text = isCut ? shorten(full, options.outputLimitChars, options.saveOutput(full)) : full
  const place = isCut ? { full_output_save_dir: options.observationsDir } : {}
  const is_error = call.status === 'failed'
  const content: ContentInput[] = [
    ...[options.note, text].filter((part) => part !== '').map(textContent),
    ...output.images.map((url): ContentInput => ({ type: 'image', image_urls: [url] })),
  ]
  if (is_error && content.length === 0) content.push(textContent('The agent reported that this failed and gave no output'))
  switch (shape.as) {
    case 'command': return { ...commandEnd(shape, call), content, is_error, ...place }
    case 'edit': return { ...editEnd(shape, call), content, is_error }
    case 'tool': return {
      kind: 'MCPToolObservation',
      tool_name: options.toolName,
      content: [textContent(`[Tool '${options.toolName}' executed.]`), ...content],
      is_error,
    }
    default: return assertNever(shape)
  }
}

/** The observation of a call of which there is nothing but a word of this server to tell. */
export function noteObservation(shape: Shape, toolName: string, note: string): ObservationInput {
  const content = [textContent(note)]
  switch (shape.as) {
    case 'command': return { ...commandEnd(shape, newToolCall), content, is_error: false }
    case 'edit': return { ...editEnd(shape, newToolCall), content, is_error: false }
    case 'tool': return { kind: 'MCPToolObservation', tool_name: toolName, content, is_error: false }
    default: return assertNever(shape)
  }
}

/** True when the action leaves out what the call does, because that is too long. */
export function isTooLongToShow(call: ToolCall): boolean {
  return isLongInPrint(toolData(call)) || diffsOf(call).some(isTooLong)
}

function textContent(text: string): ContentInput {
  return { type: 'text', text }
}

/** A command is a text, or the words of one. */
function commandOf(call: ToolCall, { titleIsCommand }: ShapeOptions): string | undefined {
  const command = memberAt(call.input, 'command')
  const text = textOf(Array.isArray(command) ? command.join(' ') : command)
  const known = text ?? (titleIsCommand ? textOf(call.title) : undefined)
  return known === undefined || known.length > inputLimitChars ? undefined : known
}

function onlyDiff(call: ToolCall): Diff | undefined {
  const diffs = diffsOf(call)
  return diffs.length === 1 ? diffs[0] : undefined
}

function isTooLong(diff: Diff): boolean {
  return diff.newText.length + (diff.oldText?.length ?? 0) > inputLimitChars
}

function editAction(path: string, diff: Diff | undefined): ActionInput {
  const { oldText = null, newText = '' } = diff ?? {}
  if (oldText === null) return { kind: 'FileEditorAction', command: 'create', path, file_text: newText }
  return { kind: 'FileEditorAction', command: 'str_replace', path, old_str: oldText, new_str: newText }
}

function commandEnd(
  shape: Shape & { as: 'command' },
  { exitCode }: ToolCall,
): ObservationInput & { kind: 'TerminalObservation' } {
  const metadata = { ...(exitCode === undefined ? {} : { exit_code: exitCode }), working_dir: shape.workingDir ?? null }
  return { kind: 'TerminalObservation', command: shape.command, exit_code: exitCode ?? null, metadata }
}

/** The texts of the diff, which for a part of a file are that part; none when the edit failed. */
function editEnd(shape: Shape & { as: 'edit' }, call: ToolCall): ObservationInput & { kind: 'FileEditorObservation' } {
  const diff = call.status === 'failed' ? undefined : onlyDiff(call)
  return {
    kind: 'FileEditorObservation',
    command: shape.isNew ? 'create' : 'str_replace',
    path: shape.path,
    prev_exist: !shape.isNew,
    old_content: diff?.oldText ?? null,
    new_content: diff?.newText ?? null,
  }
}

/** A longer output is cut, also in its file. */
const keptLimitChars = 4_000_000

function keptOf(text: string): string {
  if (text.length <= keptLimitChars) return text
  return `${text.slice(0, keptLimitChars)}\n[The rest of the output was too long to keep]\n`
}

/** The characters of all texts in a value, counted as far as the limit. */
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

/** The raw input, or what the agent sent in its place. */
function inputOf(call: ToolCall): Printed {
  return withinLimit(inputObject(call))
}

function withinLimit(data: Readonly<Record<string, unknown>>): Printed {
  // What is long for certain is not printed to be measured.
  const json = charsIn(data) > inputLimitChars ? undefined : JSON.stringify(data)
  if (json !== undefined && json.length <= inputLimitChars) return { data, json }
  const leftOut = { left_out: `more than ${inputLimitChars} characters of input` }
  return { data: leftOut, json: JSON.stringify(leftOut) }
}

function inputObject({ input, kind, locations, content }: ToolCall): Readonly<Record<string, unknown>> {
  if (isEmpty(input)) return { kind, locations, content }
  return isObject(input) ? input : { input }
}

function dataOf(call: ToolCall): Printed['data'] {
  const all = toolData(call)
  return isLongInPrint(all) ? inputOf(call).data : all
}

/** Diffs beside an input belong to it where the action has no other place for them. */
function toolData(call: ToolCall): Readonly<Record<string, unknown>> {
  return diffsOf(call).length > 0 ? { ...inputObject(call), content: call.content } : inputObject(call)
}
