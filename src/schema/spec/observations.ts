/**
 * The observations: the results of tools.
 *
 * Sources: the specification's section "Observation" for the kinds and their order; contract/payloads.md, section 3,
 * for limits and numbers.
 */
import {
  arrayOf, boolean, closed, dateTime, defaultTo, integer, kinds, nullable, oneOf, optional, ref, required, string,
  union, type Definitions, type Members, type ObjectSchema,
} from './define.ts'

/** The members of FileEditorObservation, and of PlanningFileEditorObservation. */
const fileEditor: Members = {
  command: required(oneOf('view', 'create', 'str_replace', 'insert', 'undo_edit')),
  path: optional(string),
  prev_exist: defaultTo(true, boolean, 'Whether the file existed before.'),
  old_content: optional(string),
  new_content: optional(string),
}

const observationKinds = kinds({
  MCPToolObservation: observation('Result of a tool of an MCP server.', {
    tool_name: required(string),
  }),
  FinishObservation: observation('The task was ended.', {}),
  ThinkObservation: observation('The thought was logged.', {}),
  BrowserObservation: observation('Result of a browser action.', {
    screenshot_data: optional(string, 'Base64, without the prefix of a data URL.'),
    full_output_save_dir: optional(string, 'Where the uncut output is.'),
  }),
  FileEditorObservation: observation('Result of viewing or editing a file.', fileEditor),
  EditObservation: observation('Result of replacing text in a file.', {
    file_path: optional(string),
    is_new_file: defaultTo(false, boolean),
    replacements_made: defaultTo(0, integer),
    old_content: optional(string),
    new_content: optional(string),
  }),
  ListDirectoryObservation: observation('Entries of a directory.', {
    dir_path: optional(string),
    entries: defaultTo([], arrayOf(ref('FileEntry'))),
    total_count: defaultTo(0, integer),
    is_truncated: defaultTo(false, boolean),
  }),
  ReadFileObservation: observation('Lines of a file.', {
    file_path: required(string),
    file_content: defaultTo('', string),
    is_truncated: defaultTo(false, boolean),
    lines_shown: optional(arrayOf(integer, { minItems: 2, maxItems: 2 }), 'First and last line, from 1.'),
    total_lines: optional(integer),
  }),
  WriteFileObservation: observation('Result of writing a file.', {
    file_path: optional(string),
    is_new_file: defaultTo(false, boolean),
    old_content: optional(string),
    new_content: optional(string),
  }),
  GlobObservation: observation('Files found by name.', {
    files: required(arrayOf(string)),
    pattern: required(string),
    search_path: required(string),
    truncated: defaultTo(false, boolean),
  }),
  GrepObservation: observation('Files found by content.', {
    matches: required(arrayOf(string), 'Paths of files.'),
    pattern: required(string),
    search_path: required(string),
    include_pattern: optional(string),
    truncated: defaultTo(false, boolean),
  }),
  PlanningFileEditorObservation: observation('Result of viewing a file or editing the plan.', fileEditor),
  TaskTrackerObservation: observation('The task list.', {
    command: required(oneOf('view', 'plan')),
    task_list: defaultTo([], arrayOf(ref('TaskItem'))),
  }),
  TerminalObservation: observation('Output of a command.', {
    command: required(nullable(string)),
    exit_code: optional(integer, '-1 while the command still runs.'),
    timeout: defaultTo(false, boolean),
    metadata: defaultTo({}, ref('CmdOutputMetadata')),
    full_output_save_dir: optional(string, 'Where the uncut output is.'),
  }),
})

export const observations: Definitions = {
  CmdOutputMetadata: closed('Facts about the end of a command.', {
    exit_code: defaultTo(-1, integer),
    pid: defaultTo(-1, integer),
    username: optional(string),
    hostname: optional(string),
    working_dir: optional(string),
    py_interpreter_path: optional(string),
    prefix: defaultTo('', string),
    suffix: defaultTo('', string),
  }),
  FileEntry: closed('An entry of a directory.', {
    name: required(string),
    path: required(string),
    is_directory: required(boolean),
    size: required(integer, 'Bytes; 0 for directories.'),
    modified_time: required(dateTime),
  }),
  ...observationKinds,
  Observation: union('The result of a tool.', 'kind', Object.keys(observationKinds)),
}

function observation(doc: string, members: Members): ObjectSchema {
  return closed(doc, {
    content: defaultTo([], arrayOf(ref('Content'))),
    is_error: defaultTo(false, boolean),
    ...members,
  })
}
