/**
 * Chooses the pieces (piece.ts) that show an action and its result, such as a command with its output. Pure functions.
 *
 * `forms` has a function for each known kind of action. An action of an unknown kind is shown as JSON.
 */
import { listAt, memberAt, type Members, numberAt, objectAt, textAt } from '../values.ts'
import { content, images, parsed } from './content-pieces.ts'
import { contentText, objectsAt, optionalText, textsAt } from './fields.ts'
import type { CallView, Entry, Parts, Piece, Task } from './piece.ts'
import { isTask, subAgent } from './sub-agent.ts'
import { statusOf, type Call } from './timeline.ts'

type Form = (parts: Parts) => Partial<CallView>

const shown = { isOpen: true }

const forms: Readonly<Record<string, Form>> = {
  TerminalAction: terminal,
  FileEditorAction: fileEditor,
  PlanningFileEditorAction: fileEditor,
  EditAction: ({ action, observation }) => ({
    verb: 'Edit', subject: textAt(action, 'file_path'), ...shown,
    pieces: changed(observation, action['old_string'], action['new_string']),
  }),
  WriteFileAction: ({ action, observation }) => ({
    verb: 'Write', subject: textAt(action, 'file_path'), ...shown,
    pieces: changed(observation, '', action['content']),
  }),
  ReadFileAction: ({ action, observation }) => ({
    verb: 'Read', subject: textAt(action, 'file_path'), facts: linesShown(observation),
    pieces: file(textAt(observation, 'file_content'), listAt(observation, 'lines_shown')[0]),
  }),
  ListDirectoryAction: ({ action, observation }) => ({
    verb: 'List', subject: textAt(action, 'dir_path'),
    facts: counted(numberAt(observation, 'total_count'), 'entry', 'entries'),
    pieces: [{ type: 'entries', entries: objectsAt(observation, 'entries').map(entryOf), isCut: isCut(observation) }],
  }),
  GlobAction: (parts) => found('Find files', parts, 'files'),
  GrepAction: (parts) => found('Search', parts, 'matches'),
  TaskTrackerAction: ({ action, observation }) => {
    const list = listAt(observation, 'task_list').length > 0 ? observation : action
    const tasks = objectsAt(list, 'task_list').map(taskOf)
    return { verb: 'Tasks', subject: '', facts: [progressOf(tasks)], pieces: [{ type: 'tasks', tasks }] }
  },
  ThinkAction: ({ action }) => {
    return { verb: 'Think', subject: '', pieces: [{ type: 'markdown', text: textAt(action, 'thought') }] }
  },
  FinishAction: ({ action }) => {
    return { verb: 'Finish', subject: '', ...shown, pieces: [{ type: 'markdown', text: textAt(action, 'message') }] }
  },
  MCPToolAction: ({ action, observation }) => ({
    subject: briefJson(action['data']),
    pieces: [{ type: 'json', label: 'Arguments', value: action['data'] }, ...content(observation)],
  }),
  BrowserAction: (parts) => browser('Browser', '', parts),
  BrowserClickAction: (parts) => browser('Click', element(parts), parts),
  BrowserCloseTabAction: (parts) => browser('Close tab', textAt(parts.action, 'tab_id'), parts),
  BrowserGetContentAction: (parts) => browser('Read page', '', parts),
  BrowserGetStateAction: (parts) => browser('Look at page', '', parts),
  BrowserGetStorageAction: (parts) => browser('Read storage', '', parts),
  BrowserGoBackAction: (parts) => browser('Go back', '', parts),
  BrowserListTabsAction: (parts) => browser('List tabs', '', parts),
  BrowserNavigateAction: (parts) => browser('Open', textAt(parts.action, 'url'), parts),
  BrowserScrollAction: (parts) => browser('Scroll', textAt(parts.action, 'direction'), parts),
  BrowserSetStorageAction: (parts) => {
    const value = parts.action['storage_state']
    const view = browser('Restore storage', '', parts)
    return { ...view, pieces: [{ type: 'json', label: 'Storage', value }, ...view.pieces ?? []] }
  },
  BrowserStartRecordingAction: (parts) => browser('Start recording', '', parts),
  BrowserStopRecordingAction: (parts) => browser('Stop recording', '', parts),
  BrowserSwitchTabAction: (parts) => browser('Switch to tab', textAt(parts.action, 'tab_id'), parts),
  BrowserTypeAction: (parts) => browser('Type', `${textAt(parts.action, 'text')} into ${element(parts)}`, parts),
}

const formOf: ReadonlyMap<string, Form> = new Map(Object.entries(forms))

export function describeCall(call: Call): CallView {
  const { body } = call.action
  const action = objectAt(body, 'action')
  const observation = objectAt(call.result?.body, 'observation')
  const form = isTask(call) ? subAgent : formOf.get(textAt(action, 'kind'))
  const usual: CallView = {
    verb: textAt(body, 'tool_name') || 'Call', subject: '', facts: [], isOpen: false, pieces: [],
  }
  const view = { ...usual, ...(form ?? unknownForm(body))({ action, observation }) }
  const isTrouble = statusOf(call) !== 'open' && statusOf(call) !== 'done'
  const pieces = [...view.pieces, ...resultPieces(call, observation, view.pieces)]
  return { ...view, facts: view.facts.filter((fact) => fact !== ''), isOpen: view.isOpen || isTrouble, pieces }
}

/** Returns the subject to show for a call: a path inside `folder` relative to `folder`, any other text unchanged. */
export function subjectIn(folder: string, { subject, pieces }: CallView): string {
  const isPath = folder !== '' && pieces.every(({ type }) => type !== 'command')
  return isPath && subject.startsWith(`${folder}/`) ? subject.slice(folder.length + 1) : subject
}

/** Returns the pieces of a result that is shown without its action, for example because the action is not loaded. */
export function resultOnly(body: Members): readonly Piece[] {
  const observation = objectAt(body, 'observation')
  const text = optionalText(body, 'error') ?? optionalText(body, 'rejection_reason')
  return text === undefined ? content(observation) : [{ type: 'problem', text }]
}

/** Returns the pieces that follow `pieces`: the error of the result or, if `pieces` is empty, the content. */
function resultPieces({ result }: Call, observation: Members, pieces: readonly Piece[]): readonly Piece[] {
  if (result === undefined) return []
  const { kind, body } = result
  if (kind === 'AgentErrorEvent') return [{ type: 'problem', text: textAt(body, 'error') }]
  if (kind === 'UserRejectObservation') return [{ type: 'problem', text: textAt(body, 'rejection_reason') }]
  const text = contentText(observation, 'content')
  if (observation['is_error'] === true) {
    const isShown = pieces.some((piece) => 'text' in piece && piece.text === text)
    return isShown || text === '' ? [] : [{ type: 'problem', text }]
  }
  if (pieces.length > 0) return []
  const found = content(observation)
  return found.length > 0 ? found : leftOver(observation)
}

/** Returns the members of an observation except `kind`, `content` and `is_error` as a JSON piece, if there are any. */
function leftOver(observation: Members): readonly Piece[] {
  const { kind: _, content: __, is_error: ___, ...rest } = observation
  return Object.keys(rest).length === 0 ? [] : [{ type: 'json', label: 'Result', value: rest }]
}

/** Returns the `Form` for an action of unknown kind: it shows the action, or if that is empty, the call's arguments. */
function unknownForm(body: Members): Form {
  return ({ action, observation }) => {
    const isThere = Object.keys(action).length > 0
    const value: unknown = isThere ? action : parsed(textAt(body, 'tool_call', 'arguments'))
    const label = isThere ? 'Action' : 'Arguments'
    return { ...shown, pieces: [{ type: 'json', label, value, ...shown }, ...content(observation)] }
  }
}

function terminal({ action, observation }: Parts): Partial<CallView> {
  const command = textAt(action, 'command')
  const code = numberAt(observation, 'exit_code')
  const output = contentText(observation, 'content')
  const isInput = action['is_input'] === true
  const facts = [
    code === undefined ? '' : code === -1 ? 'still running' : `exit code ${code}`,
    observation['timeout'] === true ? 'timed out' : '',
    action['reset'] === true ? 'new shell' : '',
    fullOutput(observation),
  ]
  return {
    verb: isInput ? 'Type' : command === '' ? 'Wait for output' : 'Run', subject: command, facts, ...shown,
    pieces: [
      ...(command === '' ? [] : [{ type: 'command', text: command } as const]),
      ...(output === '' ? [] : [{ type: 'terminal', text: output } as const]),
      ...images(observation),
    ],
  }
}

function fullOutput(observation: Members): string {
  const folder = textAt(observation, 'full_output_save_dir')
  return folder === '' ? '' : `whole output in ${folder}`
}

function fileEditor({ action, observation }: Parts): Partial<CallView> {
  const path = textAt(action, 'path')
  switch (textAt(action, 'command')) {
    case 'create':
      return { verb: 'Create', subject: path, ...shown, pieces: changed(observation, '', action['file_text']) }
    case 'str_replace':
      return {
        verb: 'Edit', subject: path, ...shown,
        pieces: changed(observation, action['old_str'], action['new_str'] ?? ''),
      }
    case 'insert':
      return {
        verb: 'Insert', subject: path, ...shown, facts: [`after line ${numberAt(action, 'insert_line') ?? 0}`],
        pieces: changed(observation, '', action['new_str']),
      }
    case 'undo_edit':
      return { verb: 'Undo edit', subject: path, ...shown, pieces: changed(observation, undefined, undefined) }
    default: {
      const [first] = listAt(action, 'view_range')
      const text = contentText(observation, 'content')
      const facts = typeof first === 'number' ? [`from line ${first}`] : []
      const shownText = text === '' ? [] : [{ type: 'text', text } as const]
      return { verb: 'View', subject: path, facts, pieces: [...shownText, ...images(observation)] }
    }
  }
}

/** Returns a diff of `old_content` and `new_content`. Without `new_content`, compares `before` and `after`, if any. */
function changed(observation: Members, before: unknown, after: unknown): readonly Piece[] {
  const [old, fresh] = [observation['old_content'], observation['new_content']]
  const from = typeof fresh === 'string' ? old ?? '' : before
  const to = typeof fresh === 'string' ? fresh : after
  if (typeof from !== 'string' || typeof to !== 'string') return []
  return [{ type: 'diff', before: from, after: to }]
}

function file(text: string, first: unknown): readonly Piece[] {
  return text === '' ? [] : [{ type: 'file', text, firstLine: typeof first === 'number' ? first : 1 }]
}

function linesShown(observation: Members): readonly string[] {
  const [first, last] = listAt(observation, 'lines_shown')
  const total = numberAt(observation, 'total_lines')
  if (typeof first !== 'number' || typeof last !== 'number') return []
  return [`lines ${first} to ${last}${total === undefined ? '' : ` of ${total}`}`]
}

function counted(count: number | undefined, singular: string, plural: string): readonly string[] {
  return count === undefined ? [] : [count === 1 ? `1 ${singular}` : `${count} ${plural}`]
}

function isCut(observation: Members): boolean {
  return observation['is_truncated'] === true || observation['truncated'] === true
}

function found(verb: string, { action, observation }: Parts, member: string): Partial<CallView> {
  const paths = textsAt(observation, member)
  const place = textAt(action, 'path') || textAt(observation, 'search_path')
  const include = textAt(action, 'include')
  const isDone = memberAt(observation, member) !== undefined
  return {
    verb, subject: textAt(action, 'pattern'),
    facts: [place, include, ...(isDone ? counted(paths.length, 'file', 'files') : [])],
    pieces: isDone ? [{ type: 'paths', paths, isCut: isCut(observation) }] : [],
  }
}

/** Returns how many tasks are done, such as "1 of 3 done". */
export function progressOf(tasks: readonly Task[]): string {
  return `${tasks.filter(({ status }) => status === 'done').length} of ${tasks.length} done`
}

/** Returns the newest task list among the calls; undefined when there is none. */
export function newestTasks(calls: readonly Call[]): readonly Task[] | undefined {
  const call = calls.findLast(({ action }) => textAt(action.body, 'action', 'kind') === 'TaskTrackerAction')
  const piece = call === undefined ? undefined : describeCall(call).pieces.find(({ type }) => type === 'tasks')
  return piece?.type === 'tasks' ? piece.tasks : undefined
}

/** Returns a value as JSON in one line, without the outer braces, cut after 120 characters. */
function briefJson(value: unknown): string {
  const text = (JSON.stringify(value) ?? '').replace(/^\{|\}$/g, '')
  return text.length > 120 ? `${text.slice(0, 120)} …` : text
}

function entryOf(entry: Members): Entry {
  return {
    name: textAt(entry, 'name'), isFolder: entry['is_directory'] === true, size: numberAt(entry, 'size') ?? 0,
  }
}

function taskOf(task: Members): Task {
  return { title: textAt(task, 'title'), notes: textAt(task, 'notes'), status: textAt(task, 'status') }
}

function element({ action }: Parts): string {
  return `element ${numberAt(action, 'index') ?? '?'}`
}

function browser(verb: string, subject: string, { observation }: Parts): Partial<CallView> {
  const screenshot = textAt(observation, 'screenshot_data')
  const picture: readonly Piece[] = screenshot === '' ? [] : [
    { type: 'image', src: dataUrlOf(screenshot), alt: 'The page after this step' },
  ]
  return {
    verb, subject, facts: [fullOutput(observation)], isOpen: picture.length > 0,
    pieces: [...picture, ...content(observation)],
  }
}

/** Returns the data URL of an image in base64. A data URL stays as it is. */
function dataUrlOf(data: string): string {
  const type = data.startsWith('/9j/') ? 'jpeg' : data.startsWith('UklGR') ? 'webp' : 'png'
  return data.startsWith('data:') ? data : `data:image/${type};base64,${data}`
}
