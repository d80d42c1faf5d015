/**
 * Builds the tools of a conversation from the names in its settings.
 *
 * The settings name a tool by its name (`file_editor`) or by the kind of its definition (`FileEditorTool`).
 * `filter_tools_regex` does not apply to `include_default_tools` (contract/tests.md, "filter_tools_regex").
 */
import { join } from 'node:path'
import { AppError } from '../../../base/errors.ts'
import type { Cipher } from '../../../settings/cipher.ts'
import { PatternThread } from '../../patterns/pattern-thread.ts'
import type { fileToolNames } from './tool-list.ts'
import { toolNameOf } from './definition.ts'
import { createEditTool } from './edit.ts'
import type { EditorScope } from './file-change.ts'
import { createFileEditorTool, createPlanningFileEditorTool } from './file-editor.ts'
import { createFileScope, type FileLimits } from './file-scope.ts'
import { createFinishTool } from './finish.ts'
import { createGlobTool } from './glob.ts'
import { createGrepTool } from './grep.ts'
import { createListDirectoryTool } from './list-directory.ts'
import { createReadFileTool } from './read-file.ts'
import { createTaskTrackerTool } from './task-tracker.ts'
import { createThinkTool } from './think.ts'
import type { ToolMaker, ToolSet } from '../../../agents/tool.ts'
import { createUndoHistory } from './undo-history.ts'
import { createWriteFileTool } from './write-file.ts'

const undoLimits = { limitEntries: 100, limitBytes: 64 * 1024 * 1024 }
const filterTimeoutMs = 1000

export interface ToolSetOptions {
  readonly workingDir: string
  /** The private folder for files of tools. It may not exist yet. */
  readonly observationsDir: string
  /** Private folders of the server: no path that a model gives to a file tool may lead into them. */
  readonly privateDirs: readonly string[]
  /** Encrypts the contents that the undo history keeps. */
  readonly cipher: Cipher
  /** Masks secrets in text that tools store. */
  readonly mask: (text: string) => string
  readonly settings: ToolSettings
  /** Functions that make further tools, such as `terminal`, by tool name. */
  readonly makers?: Readonly<Record<string, ToolMaker>>
  readonly limits?: Partial<FileLimits>
  readonly signal: AbortSignal
}

export interface ToolSettings {
  readonly tools: readonly ToolChoice[]
  readonly include_default_tools: readonly string[]
  readonly filter_tools_regex: string | null
}

export interface ToolChoice {
  readonly name: string
  readonly params: Readonly<Record<string, unknown>>
}

/** Makes the tools that the settings name. @throws AppError, such as `invalid_input` for a name that is repeated */
export async function createToolSet(options: ToolSetOptions): Promise<ToolSet> {
  const { settings, signal } = options
  const makers: Readonly<Record<string, ToolMaker>> = { ...fileTools(options), ...defaultTools, ...options.makers }
  const choices = settings.tools.map(withOwnName)
    .flatMap((choice) => expand(choice, makers))
  assertUnique(choices.map(({ name }) => name))
  const names = await filterNames(choices.map(({ name }) => name), settings.filter_tools_regex, signal)
  const kept = choices.filter(({ name }) => names.includes(name))
  const defaults = settings.include_default_tools.map((name) => withOwnName({ name, params: {} }))
  const all = [...kept, ...defaults.filter(({ name }) => !kept.some((choice) => choice.name === name))]
  const tools = all.flatMap(({ name, params }) => (Object.hasOwn(makers, name) ? (makers[name]?.(params) ?? []) : []))
  const missing = all.map(({ name }) => name).filter((name) => !Object.hasOwn(makers, name))
  return { tools, missing, close: async () => { await Promise.all(tools.map(async (tool) => tool.close?.())) } }
}

/**
 * Returns the names whose beginning matches the pattern; all names without a pattern.
 * @throws AppError `invalid_input` for an invalid or slow pattern; an error of the worker thread; the signal's reason
 */
export async function filterNames(
  names: readonly string[], pattern: string | null, signal: AbortSignal,
): Promise<readonly string[]> {
  if (pattern === null || names.length === 0) return names
  const thread = await PatternThread.start({ source: `^(?:${pattern})`, flags: '', timeoutMs: filterTimeoutMs, signal })
  try {
    const kept: string[] = []
    for (const name of names) if (await thread.test(name)) kept.push(name)
    return kept
  } finally {
    await thread.close()
  }
}

const defaultTools: Readonly<Record<string, ToolMaker>> = { finish: createFinishTool, think: createThinkTool }

function fileTools(options: ToolSetOptions): Record<(typeof fileToolNames)[number], ToolMaker> {
  const { observationsDir, cipher } = options
  const history = createUndoHistory(join(observationsDir, 'undo'), undoLimits, cipher)
  const scope: EditorScope = { ...createFileScope(options), history }
  return {
    file_editor: () => createFileEditorTool(scope),
    planning_file_editor: ({ plan_path }) =>
      createPlanningFileEditorTool(scope, typeof plan_path === 'string' ? plan_path : undefined),
    read_file: () => createReadFileTool(scope),
    write_file: () => createWriteFileTool(scope),
    edit: () => createEditTool(scope),
    list_directory: () => createListDirectoryTool(scope),
    glob: () => createGlobTool(scope),
    grep: () => createGrepTool(scope),
    task_tracker: () => createTaskTrackerTool(join(observationsDir, 'tasks.json'), options.mask),
  }
}

function withOwnName({ name, params }: ToolChoice): ToolChoice {
  return { name: name.endsWith('Tool') ? toolNameOf(name) : name, params }
}

/** Returns whether the name means the tool `task`, or the tool set that has only this tool. */
export function isTaskToolSet(name: string): boolean {
  return ['task_tool_set', 'TaskToolSet', 'task'].includes(name)
}

/** Replaces a tool set by its tools (contract/payloads.md, section 4). Keeps other tools, and a set without tools. */
function expand(choice: ToolChoice, makers: Readonly<Record<string, ToolMaker>>): readonly ToolChoice[] {
  if (isTaskToolSet(choice.name) && Object.hasOwn(makers, 'task')) return [{ ...choice, name: 'task' }]
  if (choice.name !== 'browser_tool_set' && choice.name !== 'BrowserToolSet') return [choice]
  const names = Object.keys(makers).filter((name) => name.startsWith('browser_'))
  return names.length === 0 ? [choice] : names.map((name) => ({ name, params: choice.params }))
}

function assertUnique(names: readonly string[]): void {
  const double = names.find((name, index) => names.indexOf(name) < index)
  if (double !== undefined) {
    throw new AppError('invalid_input', `Cannot use the tool "${double}" twice: give each tool once`)
  }
}
