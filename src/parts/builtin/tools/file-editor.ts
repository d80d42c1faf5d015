/**
 * The tools `file_editor` and `planning_file_editor`: view files and directories, create, replace, insert, undo.
 *
 * `planning_file_editor` may change only one file, the plan.
 */
import { resolve } from 'node:path'
import { AppError } from '../../../base/errors.ts'
import type { Action } from '../../../schema/generated/actions.ts'
import type { Observation } from '../../../schema/generated/observations.ts'
import type { TextContent } from '../../../schema/generated/values.ts'
import type { ContainedPath } from '../../workspace-files/paths.ts'
import { defineTool, type ToolDescription } from './definition.ts'
import { createFile, editFile, undoChange, type EditorScope, type FileChange } from './file-change.ts'
import { contentMember, needed } from './file-scope.ts'
import { parseViewRange, viewDirectory, viewFile } from './file-view.ts'
import { insertLines, replaceOccurrences } from './text-edit.ts'
import { textContent, type Tool, type ToolRun } from '../../../agents/tool.ts'

export const defaultPlanPath = '.agents_tmp/PLAN.md'

type EditorAction = Extract<Action, { kind: 'FileEditorAction' | 'PlanningFileEditorAction' }>
type EditorObservation = Extract<Observation, { kind: 'FileEditorObservation' | 'PlanningFileEditorObservation' }>

const commands = `Commands:
- view: the lines of a text file with their numbers, or the entries of a directory (two levels, without hidden ones). \
view_range shows a part of a file.
- create: a new file with file_text. Missing directories are made. An existing file is refused.
- str_replace: replaces old_str by new_str. old_str must occur exactly once, with all white space as in the file and \
without line numbers; take enough lines around it to make it unique.
- insert: puts new_str behind the line insert_line; 0 is the beginning of the file.
- undo_edit: takes back the last edit of the file by this tool, unless the file was changed by something else since.
Paths are inside the workspace. Line ends and encoding of a file are kept.`

const parameters = {
  command: 'What to do.',
  path: 'Absolute path of the file or directory.',
  file_text: 'For create: the content of the file.',
  old_str: 'For str_replace: the text to replace.',
  new_str: 'For str_replace: the text in its place, nothing by default. For insert: the lines to insert.',
  insert_line: 'For insert: the line behind which new_str goes, 0 for the beginning.',
  view_range: 'For view of a file: first and last line, from 1, such as [11, 40]; [11, -1] shows all from line 11 on.',
}

export function createFileEditorTool(scope: EditorScope): Tool {
  return defineTool({
    kind: 'FileEditorTool',
    action: 'FileEditorAction',
    observation: 'FileEditorObservation',
    description: `View, create and edit text files.\n${commands}`,
    parameters,
    hints: { readOnly: false, destructive: true, idempotent: false },
    ...editing('FileEditorObservation', scope, () => undefined),
  })
}

export function createPlanningFileEditorTool(scope: EditorScope, planPath: string = defaultPlanPath): Tool {
  const plan = resolve(scope.workspace.workingDir, planPath)
  return defineTool({
    kind: 'PlanningFileEditorTool',
    action: 'PlanningFileEditorAction',
    observation: 'PlanningFileEditorObservation',
    description: `View any file and write the plan. Only ${plan} can be created and edited; all other files can be ` +
      `viewed only.\n${commands}`,
    parameters,
    hints: { readOnly: false, destructive: false, idempotent: false },
    ...editing('PlanningFileEditorObservation', scope, (path) => assertPlan(plan, path)),
  })
}

function assertPlan(plan: string, path: string): void {
  if (path !== plan) {
    throw new AppError('invalid_input', `Cannot change "${path}": only the plan "${plan}" can be changed`)
  }
}

type Run = Pick<ToolDescription<'FileEditorAction' | 'PlanningFileEditorAction'>, 'run' | 'failed' | 'asks'>

function editing(kind: EditorObservation['kind'], scope: EditorScope, assertWritable: (path: string) => void): Run {
  return { run, failed, asks: async ({ command, path }) => command !== 'view' && scope.workspace.isInRepository(path) }

  async function run(action: EditorAction, call: ToolRun): Promise<EditorObservation> {
    const { command, path } = action
    if (command === 'view') return scope.workspace.at(path, (place) => view(action, place, call))
    // Check before `workspace.at` creates directories. The callback checks again, because `at` follows links.
    assertWritable(resolve(scope.workspace.workingDir, path))
    const makeParents = command === 'create'
    return scope.change(() => scope.workspace.at(path, async (place) => {
      call.signal.throwIfAborted()
      assertWritable(place.path)
      return changed(action, place, await change(action, place))
    }, { makeParents, refusesRepositories: call.isApproved !== true }))
  }

  async function view(action: EditorAction, place: ContainedPath, { signal }: ToolRun): Promise<EditorObservation> {
    if (place.kind === 'directory') {
      if (action.view_range !== undefined) throw new AppError('invalid_input', 'Cannot use view_range with a directory')
      return observation(action, place.path, await viewDirectory(place, scope, signal))
    }
    return observation(action, place.path, await viewFile(place, parseViewRange(action.view_range), scope, signal))
  }

  async function change(action: EditorAction, place: ContainedPath): Promise<FileChange> {
    const { command, file_text, old_str, new_str, insert_line } = action
    if (command === 'create') return createFile(place, needed('file_text', file_text, command), scope)
    if (command === 'undo_edit') return undoChange(place, scope)
    if (command === 'insert') {
      const [line, lines] = [needed('insert_line', insert_line, command), needed('new_str', new_str, command)]
      return editFile(place, scope, (file) => insertLines(file, line, lines))
    }
    const from = needed('old_str', old_str, command)
    return editFile(place, scope, (file) => replaceOccurrences(file, { from, to: new_str ?? '', expected: 1 }))
  }

  function changed(
    action: EditorAction, place: ContainedPath, { text, before, after, existed }: FileChange,
  ): EditorObservation {
    return {
      ...observation(action, place.path, text),
      prev_exist: existed,
      ...contentMember('old_content', before, scope),
      ...contentMember('new_content', after, scope),
    }
  }

  function observation({ command }: EditorAction, path: string, text: string): EditorObservation {
    return { kind, content: textContent(text), is_error: false, command, path, prev_exist: true }
  }

  function failed({ command, path }: EditorAction, content: readonly TextContent[]): EditorObservation {
    return { kind, content, is_error: true, command, path, prev_exist: true }
  }
}
