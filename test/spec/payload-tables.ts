/**
 * The tables of actions, observations and tool definitions (spec: "Action", spec: "Observation", spec:
 * "ToolDefinition"), in the notation of notation.ts. They were written from the text of the specification and, where it
 * shows no fields, from contract: payloads.md, sections 2 to 4, not from the schema.
 */
import type { Table } from './notation.ts'

const fileEditor: Table = {
  command: 'view|create|str_replace|insert|undo_edit, required',
  path: 'string, required',
  file_text: 'string or null',
  old_str: 'string or null',
  new_str: 'string or null',
  insert_line: 'integer >= 0 or null',
  view_range: 'integer[] or null',
}

export const actions: Readonly<Record<string, Table>> = {
  MCPToolAction: { data: 'object = {}' },
  FinishAction: { message: 'string, required' },
  ThinkAction: { thought: 'string, required' },
  BrowserAction: {},
  BrowserClickAction: { index: 'integer >= 0, required', new_tab: 'boolean = false' },
  BrowserCloseTabAction: { tab_id: 'string of 4, required' },
  BrowserGetContentAction: { extract_links: 'boolean = false', start_from_char: 'integer >= 0 = 0' },
  BrowserGetStateAction: { include_screenshot: 'boolean = false' },
  BrowserGetStorageAction: {},
  BrowserGoBackAction: {},
  BrowserListTabsAction: {},
  BrowserNavigateAction: { url: 'string, required', new_tab: 'boolean = false' },
  BrowserScrollAction: { direction: 'up|down = "down"' },
  BrowserSetStorageAction: { storage_state: 'object, required' },
  BrowserStartRecordingAction: {},
  BrowserStopRecordingAction: {},
  BrowserSwitchTabAction: { tab_id: 'string of 4, required' },
  BrowserTypeAction: { index: 'integer >= 0, required', text: 'string, required' },
  FileEditorAction: fileEditor,
  EditAction: {
    file_path: 'string, required',
    old_string: 'string, required',
    new_string: 'string, required',
    expected_replacements: 'integer >= 0 = 1',
  },
  ListDirectoryAction: { dir_path: 'string = "."', recursive: 'boolean = false' },
  ReadFileAction: { file_path: 'string, required', offset: 'integer >= 0 or null', limit: 'integer >= 1 or null' },
  WriteFileAction: { file_path: 'string, required', content: 'string, required' },
  GlobAction: { pattern: 'string, required', path: 'string or null' },
  GrepAction: { pattern: 'string, required', path: 'string or null', include: 'string or null' },
  PlanningFileEditorAction: fileEditor,
  TaskTrackerAction: { command: 'view|plan = "view"', task_list: 'TaskItem[] = []' },
  TerminalAction: {
    command: 'string, required',
    is_input: 'boolean = false',
    timeout: 'number >= 0 or null',
    reset: 'boolean = false',
  },
}

const editedFile: Table = {
  command: 'view|create|str_replace|insert|undo_edit, required',
  path: 'string or null',
  prev_exist: 'boolean = true',
  old_content: 'string or null',
  new_content: 'string or null',
}

/** Fields behind the two that every observation begins with. */
export const observations: Readonly<Record<string, Table>> = {
  MCPToolObservation: { tool_name: 'string, required' },
  FinishObservation: {},
  ThinkObservation: {},
  BrowserObservation: { screenshot_data: 'string or null', full_output_save_dir: 'string or null' },
  FileEditorObservation: editedFile,
  EditObservation: {
    file_path: 'string or null',
    is_new_file: 'boolean = false',
    replacements_made: 'integer = 0',
    old_content: 'string or null',
    new_content: 'string or null',
  },
  ListDirectoryObservation: {
    dir_path: 'string or null',
    entries: 'FileEntry[] = []',
    total_count: 'integer = 0',
    is_truncated: 'boolean = false',
  },
  ReadFileObservation: {
    file_path: 'string, required',
    file_content: 'string = ""',
    is_truncated: 'boolean = false',
    lines_shown: 'integer[] of 2 or null',
    total_lines: 'integer or null',
  },
  WriteFileObservation: {
    file_path: 'string or null',
    is_new_file: 'boolean = false',
    old_content: 'string or null',
    new_content: 'string or null',
  },
  GlobObservation: {
    files: 'string[], required',
    pattern: 'string, required',
    search_path: 'string, required',
    truncated: 'boolean = false',
  },
  GrepObservation: {
    matches: 'string[], required',
    pattern: 'string, required',
    search_path: 'string, required',
    include_pattern: 'string or null',
    truncated: 'boolean = false',
  },
  PlanningFileEditorObservation: editedFile,
  TaskTrackerObservation: { command: 'view|plan, required', task_list: 'TaskItem[] = []' },
  TerminalObservation: {
    command: 'string or null, required',
    exit_code: 'integer or null',
    timeout: 'boolean = false',
    metadata: 'CmdOutputMetadata = {}',
    full_output_save_dir: 'string or null',
  },
}

/** The types that actions and observations are made of. */
export const parts: Readonly<Record<string, Table>> = {
  TaskItem: { title: 'string, required', notes: 'string = ""', status: 'todo|in_progress|done = "todo"' },
  FileEntry: {
    name: 'string, required',
    path: 'string, required',
    is_directory: 'boolean, required',
    size: 'integer, required',
    modified_time: 'date-time, required',
  },
  CmdOutputMetadata: {
    exit_code: 'integer = -1',
    pid: 'integer = -1',
    username: 'string or null',
    hostname: 'string or null',
    working_dir: 'string or null',
    py_interpreter_path: 'string or null',
    prefix: 'string = ""',
    suffix: 'string = ""',
  },
}

export const toolKinds: readonly string[] = [
  'MCPToolDefinition', 'FinishTool', 'ThinkTool', 'BrowserClickTool', 'BrowserCloseTabTool', 'BrowserGetContentTool',
  'BrowserGetStateTool', 'BrowserGetStorageTool', 'BrowserGoBackTool', 'BrowserListTabsTool', 'BrowserNavigateTool',
  'BrowserScrollTool', 'BrowserSetStorageTool', 'BrowserStartRecordingTool', 'BrowserStopRecordingTool',
  'BrowserSwitchTabTool', 'BrowserToolSet', 'BrowserTypeTool', 'FileEditorTool', 'EditTool', 'ListDirectoryTool',
  'ReadFileTool', 'WriteFileTool', 'GlobTool', 'GrepTool', 'PlanningFileEditorTool', 'TaskTrackerTool', 'TerminalTool',
]

/** Fields behind `kind`, the same for every tool; an MCP tool adds `mcp_tool`. */
export const tool: Table = {
  description: 'string, required',
  action_type: 'string, required',
  observation_type: 'string or null',
  annotations: 'ToolAnnotations or null',
  meta: 'object or null',
  title: 'string or null',
}

export const toolParts: Readonly<Record<string, Table>> = {
  ToolAnnotations: {
    title: 'string or null',
    readOnlyHint: 'boolean = false',
    destructiveHint: 'boolean = true',
    idempotentHint: 'boolean = false',
    openWorldHint: 'boolean = true',
  },
  McpTool: { name: 'string, required', inputSchema: 'object, required' },
}
