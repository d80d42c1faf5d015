/**
 * The actions: the requests of an agent to a tool.
 *
 * Sources: the specification's section "Action" for the kinds and their order; contract/payloads.md, section 2.
 */
import {
  arrayOf, boolean, closed, defaultTo, integer, integerOf, kinds, numberOf, oneOf, openObject, optional, ref,
  required, string, stringOf, union, type Definitions, type Members,
} from './define.ts'

const tabId = stringOf({ minLength: 4, maxLength: 4 })
const atLeast0 = integerOf({ minimum: 0 })

/** FileEditorAction and PlanningFileEditorAction have the same members. */
const fileEditor: Members = {
  command: required(oneOf('view', 'create', 'str_replace', 'insert', 'undo_edit')),
  path: required(string, 'Absolute path of a file or directory.'),
  file_text: optional(string, 'Required for create.'),
  old_str: optional(string, 'Required for str_replace.'),
  new_str: optional(string, 'For str_replace, where its absence adds no text; required for insert.'),
  insert_line: optional(atLeast0, 'Required for insert. The text is inserted after this line.'),
  view_range: optional(arrayOf(integer), 'First and last line, from 1; -1 is the end. Without it the whole file.'),
}

const actionKinds = kinds({
  MCPToolAction: closed('Calls a tool of an MCP server.', {
    data: defaultTo({}, openObject, 'Arguments of the call, not validated here.'),
  }),
  FinishAction: closed('Ends the task.', {
    message: required(string, 'Final message to the user.'),
  }),
  ThinkAction: closed('Logs a thought and changes nothing.', {
    thought: required(string),
  }),
  BrowserAction: closed('Base of the browser actions.', {}),
  BrowserClickAction: closed('Clicks an element.', {
    index: required(atLeast0, 'Index of the element in the browser state.'),
    new_tab: defaultTo(false, boolean),
  }),
  BrowserCloseTabAction: closed('Closes a tab.', {
    tab_id: required(tabId, 'Id from the tab list.'),
  }),
  BrowserGetContentAction: closed('Reads the page as markdown.', {
    extract_links: defaultTo(false, boolean),
    start_from_char: defaultTo(0, atLeast0),
  }),
  BrowserGetStateAction: closed('Reads the state of the page.', {
    include_screenshot: defaultTo(false, boolean),
  }),
  BrowserGetStorageAction: closed('Reads cookies, local storage and session storage.', {}),
  BrowserGoBackAction: closed('Goes back in the history of the tab.', {}),
  BrowserListTabsAction: closed('Lists the open tabs.', {}),
  BrowserNavigateAction: closed('Opens an address.', {
    url: required(string),
    new_tab: defaultTo(false, boolean),
  }),
  BrowserScrollAction: closed('Scrolls the page.', {
    direction: defaultTo('down', oneOf('up', 'down')),
  }),
  BrowserSetStorageAction: closed('Restores cookies and storage.', {
    storage_state: required(openObject, 'Holds `cookies` and `origins`, as the get-storage action returns them.'),
  }),
  BrowserStartRecordingAction: closed('Begins a recording.', {}),
  BrowserStopRecordingAction: closed('Ends a recording.', {}),
  BrowserSwitchTabAction: closed('Switches to a tab.', {
    tab_id: required(tabId, 'Id from the tab list.'),
  }),
  BrowserTypeAction: closed('Types into an element.', {
    index: required(atLeast0, 'Index of the element in the browser state.'),
    text: required(string),
  }),
  FileEditorAction: closed('Views or edits a file.', fileEditor),
  EditAction: closed('Replaces text in a file.', {
    file_path: required(string),
    old_string: required(string, 'Empty: the file is created.'),
    new_string: required(string),
    expected_replacements: defaultTo(1, atLeast0),
  }),
  ListDirectoryAction: closed('Lists a directory.', {
    dir_path: defaultTo('.', string),
    recursive: defaultTo(false, boolean, 'True to list two levels of folders.'),
  }),
  ReadFileAction: closed('Reads a file.', {
    file_path: required(string),
    offset: optional(atLeast0, 'First line, from 0.'),
    limit: optional(integerOf({ minimum: 1 }), 'Number of lines.'),
  }),
  WriteFileAction: closed('Writes a file.', {
    file_path: required(string),
    content: required(string),
  }),
  GlobAction: closed('Finds files by name.', {
    pattern: required(string),
    path: optional(string, 'Absolute directory; the working directory by default.'),
  }),
  GrepAction: closed('Finds files by content.', {
    pattern: required(string, 'A regular expression.'),
    path: optional(string, 'Absolute directory; the working directory by default.'),
    include: optional(string, 'Searches only files whose name fits this pattern.'),
  }),
  PlanningFileEditorAction: closed('Views any file, or edits the plan.', fileEditor),
  TaskTrackerAction: closed('Shows or replaces the task list.', {
    command: defaultTo('view', oneOf('view', 'plan')),
    task_list: defaultTo([], arrayOf(ref('TaskItem')), 'The new list, for the command `plan`.'),
  }),
  TerminalAction: closed('Runs a command, or writes to the running command.', {
    command: required(string, 'Empty: reads more output. With `is_input`: a text, or the name of a key.'),
    is_input: defaultTo(false, boolean),
    timeout: optional(numberOf({ minimum: 0 }), 'Seconds.'),
    reset: defaultTo(false, boolean, 'True to start the shell anew; excludes `is_input`.'),
  }),
})

export const actions: Definitions = {
  TaskItem: closed('A line of a task list.', {
    title: required(string),
    notes: defaultTo('', string),
    status: defaultTo('todo', oneOf('todo', 'in_progress', 'done')),
  }),
  ...actionKinds,
  Action: union('The request of an agent to a tool.', 'kind', Object.keys(actionKinds)),
}
