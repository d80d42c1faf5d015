/**
 * Makes the observation of a tool call, or of one part of the call, from the call's output (decisions 3). Pure.
 *
 * A command with a non-zero exit code is an error, even if the agent reports the call as `completed`.
 */
import { assertNever } from '../../../base/errors.ts'
import { memberAt } from '../../../base/fields.ts'
import type { ObservationInput } from '../../../schema/generated/observations.ts'
import type { ContentInput } from '../../../schema/generated/values.ts'
import type { Edit } from './edits.ts'
import { exitCodeOf, saysFailure } from './exit-code.ts'
import { shorten, type Output } from './output.ts'
import type { CallPart } from './shape.ts'
import { newToolCall, type ToolCall } from './tool-calls.ts'

export interface ObservationOptions {
  readonly toolName: string
  /** The output of the call, masked. */
  readonly output: Output
  readonly outputLimitChars: number
  /** Stores a long output and returns the name of its file. */
  readonly saveOutput: (text: string) => string
  /** The folder in which `saveOutput` puts its files. */
  readonly observationsDir: string
  /** A note of this server to put before the output, or an empty text. */
  readonly note: string
}

export function observationOf(part: CallPart, call: ToolCall, options: ObservationOptions): ObservationInput {
  const { text: full, images } = options.output
  const isCut = full.length > options.outputLimitChars
  const text = isCut ? shorten(full, options.outputLimitChars, options.saveOutput(full)) : full
  const place = isCut ? { full_output_save_dir: options.observationsDir } : {}
  const is_error = hasFailed(part, call)
  const content: ContentInput[] = [
    ...[options.note, text].filter((words) => words !== '').map(textContent),
    ...images.map((url): ContentInput => ({ type: 'image', image_urls: [url] })),
  ]
  const isEmptyFailure = is_error && content.length === 0
  if (isEmptyFailure) content.push(textContent('The agent reported that this failed and gave no output'))
  switch (part.as) {
    case 'command': return { ...commandEnd(part, call), content, is_error, ...place }
    case 'tasks': return { kind: 'TaskTrackerObservation', command: 'plan', task_list: part.tasks, content, is_error }
    case 'view': return viewEnd(part, { content, is_error })
    case 'edit':
    case 'tool': {
      const opening = [textContent(`[Tool '${options.toolName}' executed.]`)]
      return changed(part, options.toolName, { call, content, is_error, opening })
    }
    default: return assertNever(part)
  }
}

export function noteObservation(
  part: CallPart,
  toolName: string,
  note: string,
  call: ToolCall = newToolCall,
): ObservationInput {
  const content = [textContent(note)]
  const is_error = hasFailed(part, call)
  switch (part.as) {
    case 'command': return { ...commandEnd(part, call), content, is_error }
    case 'tasks': return { kind: 'TaskTrackerObservation', command: 'plan', task_list: part.tasks, content, is_error }
    case 'view': return viewEnd(part, { content, is_error })
    case 'edit':
    case 'tool': return changed(part, toolName, { call, content, is_error, opening: [] })
    default: return assertNever(part)
  }
}

export function hasFailed(part: CallPart, call: ToolCall): boolean {
  if (call.status === 'failed' || saysFailure(call.rawOutput)) return true
  return part.as === 'command' && (exitCodeOf(call) ?? 0) !== 0
}

function textContent(text: string): ContentInput {
  return { type: 'text', text }
}

function commandEnd(
  part: CallPart & { as: 'command' },
  call: ToolCall,
): ObservationInput & { kind: 'TerminalObservation' } {
  const exitCode = exitCodeOf(call)
  const metadata = { ...(exitCode === undefined ? {} : { exit_code: exitCode }), working_dir: part.workingDir ?? null }
  return { kind: 'TerminalObservation', command: part.command, exit_code: exitCode ?? null, metadata }
}

interface End {
  readonly call: ToolCall
  readonly content: readonly ContentInput[]
  readonly is_error: boolean
  /** The content before the output in an MCPToolObservation. */
  readonly opening: readonly ContentInput[]
}

function viewEnd({ path }: CallPart & { as: 'view' }, end: Pick<End, 'content' | 'is_error'>): ObservationInput {
  return { kind: 'FileEditorObservation', command: 'view', path, prev_exist: true, ...end }
}

function changed(
  part: CallPart & { as: 'edit' | 'tool' },
  tool_name: string,
  { call, content, is_error, opening }: End,
): ObservationInput {
  const texts = part.as === 'edit' ? fileTexts(part.edit, call) : undefined
  if (texts === undefined) return { kind: 'MCPToolObservation', tool_name, content: [...opening, ...content], is_error }
  // A failed or pending edit may have changed nothing, so the texts of the file are unknown.
  const contents = is_error || call.status === 'pending' ? { old_content: null, new_content: null } : texts.contents
  const { command, path } = texts
  const prev_exist = command !== 'create'
  return { kind: 'FileEditorObservation', command, path, prev_exist, ...contents, content, is_error }
}

interface FileTexts {
  readonly command: 'create' | 'str_replace' | 'insert'
  readonly path: string
  readonly contents: { readonly old_content: string | null; readonly new_content: string | null }
}

/** Returns the texts before and after an edit, each null if unknown; undefined for a deleted or moved file. */
function fileTexts(edit: Edit, { rawOutput }: ToolCall): FileTexts | undefined {
  const [before, after] = ['old_content', 'new_content'].map((name) => memberAt(rawOutput, 'observation', name))
  const old_content = typeof before === 'string' ? before : null
  const whole = typeof after === 'string' ? { old_content, new_content: after } : undefined
  const { path } = edit
  switch (edit.do) {
    case 'create':
      return { command: 'create', path, contents: whole ?? { old_content: null, new_content: edit.newText } }
    case 'replace': {
      const contents = whole ?? { old_content: edit.oldText, new_content: edit.newText }
      return { command: 'str_replace', path, contents }
    }
    case 'insert': return { command: 'insert', path, contents: whole ?? { old_content: null, new_content: null } }
    case 'delete':
    case 'move': return undefined
    default: return assertNever(edit)
  }
}
