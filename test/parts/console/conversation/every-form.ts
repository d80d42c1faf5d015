/**
 * A history with every form of event: each kind of action with its observation, calls that failed, were rejected,
 * blocked or cancelled, and several calls of one response.
 */
import type { ActionInput, ActionKind } from '../../../../src/schema/generated/actions.ts'
import type { Event } from '../../../../src/schema/generated/events.ts'
import type { ObservationInput } from '../../../../src/schema/generated/observations.ts'
import { failure, made, message } from './history-file.ts'

interface Pair {
  readonly action: ActionInput
  readonly observation: ObservationInput
  readonly tool?: string
}

const text = (words: string): readonly [{ readonly type: 'text'; readonly text: string }] => {
  return [{ type: 'text', text: words }]
}

const before = Array.from({ length: 30 }, (_, at) => `const line${at} = ${at}\n`).join('')
const after = before.replace('line7 = 7', 'line7 = seven()').replace('const line20 = 20\n', '')

const colours = [
  '\u001b[1mTests\u001b[0m  \u001b[32m12 passed\u001b[0m, \u001b[31;1m1 failed\u001b[0m, \u001b[33m2 skipped\u001b[0m',
  '\u001b[38;5;208mpalette 208\u001b[0m \u001b[48;2;30;90;160;97mtrue colour\u001b[0m \u001b[7minverse\u001b[27m',
  'Downloading  10 %\rDownloading  55 %\rDownloading 100 %\u001b[K',
  'three\ntwo\n\u001b[2A\u001b[2Kone\n\u001b[1B\u001b]0;title\u0007end',
].join('\n')

function page(screenshot: string): ObservationInput {
  return { kind: 'BrowserObservation', content: text('Title: Example\n[1] <a>More</a>'), screenshot_data: screenshot }
}

const browsed: ObservationInput = { kind: 'BrowserObservation', content: text('Done') }

function filePairs(): readonly Pair[] {
  const path = '/home/user/project/src/lines.ts'
  const changed = { prev_exist: true, old_content: before, new_content: after }
  const entry = { path: '', modified_time: '2026-01-01T00:00:00' }
  return [
    { action: { kind: 'FileEditorAction', command: 'str_replace', path, old_str: 'line7 = 7', new_str: 'line7 = 8' },
      observation: { kind: 'FileEditorObservation', content: text('edited'), command: 'str_replace', ...changed } },
    { action: { kind: 'FileEditorAction', command: 'view', path, view_range: [1, 3] },
      observation: { kind: 'FileEditorObservation', content: text('1\tconst line0 = 0'), command: 'view' } },
    { action: { kind: 'PlanningFileEditorAction', command: 'create', path: '/home/user/PLAN.md', file_text: '# Plan' },
      observation: { kind: 'PlanningFileEditorObservation', content: text('created'), command: 'create' } },
    { action: { kind: 'EditAction', file_path: path, old_string: 'line1 = 1', new_string: 'line1 = one' },
      observation: { kind: 'EditObservation', content: text('edited'), is_new_file: false, replacements_made: 1 } },
    { action: { kind: 'WriteFileAction', file_path: '/home/user/project/new.txt', content: 'first\nsecond\n' },
      observation: { kind: 'WriteFileObservation', content: text('written'), is_new_file: true } },
    { action: { kind: 'ReadFileAction', file_path: path, offset: 0, limit: 5 },
      observation: { kind: 'ReadFileObservation', content: text('read'), file_path: path, file_content: before,
        lines_shown: [1, 30], total_lines: 30 } },
    { action: { kind: 'ListDirectoryAction', dir_path: '/home/user/project' },
      observation: { kind: 'ListDirectoryObservation', content: text('list'), total_count: 2, entries: [
        { ...entry, name: 'src', is_directory: true, size: 0 },
        { ...entry, name: 'README.md', is_directory: false, size: 1234 },
      ] } },
    { action: { kind: 'GlobAction', pattern: '**/*.ts', path: '/home/user/project' },
      observation: { kind: 'GlobObservation', content: text('found'), files: ['src/a.ts', 'src/b.ts'],
        pattern: '**/*.ts', search_path: '/home/user/project', truncated: true } },
    { action: { kind: 'GrepAction', pattern: 'line7', include: '*.ts' },
      observation: { kind: 'GrepObservation', content: text('found'), matches: [path], pattern: 'line7',
        search_path: '/home/user/project', include_pattern: '*.ts' } },
  ]
}

function browserPairs(screenshot: string): readonly Pair[] {
  const named = (action: ActionInput): Pair => ({ action, observation: browsed })
  return [
    { action: { kind: 'BrowserNavigateAction', url: 'https://example.test/' }, observation: page(screenshot) },
    { action: { kind: 'BrowserGetStateAction', include_screenshot: true }, observation: page(screenshot) },
    named({ kind: 'BrowserAction' }),
    named({ kind: 'BrowserClickAction', index: 3 }),
    named({ kind: 'BrowserTypeAction', index: 4, text: 'hello' }),
    named({ kind: 'BrowserScrollAction', direction: 'down' }),
    named({ kind: 'BrowserGoBackAction' }),
    named({ kind: 'BrowserGetContentAction', extract_links: true }),
    named({ kind: 'BrowserListTabsAction' }),
    named({ kind: 'BrowserSwitchTabAction', tab_id: 'ab12' }),
    named({ kind: 'BrowserCloseTabAction', tab_id: 'ab12' }),
    named({ kind: 'BrowserGetStorageAction' }),
    named({ kind: 'BrowserSetStorageAction', storage_state: { cookies: [], origins: [] } }),
    named({ kind: 'BrowserStartRecordingAction' }),
    named({ kind: 'BrowserStopRecordingAction' }),
  ]
}

function otherPairs(): readonly Pair[] {
  const tasks = [
    { title: 'Read the code', notes: 'all of it', status: 'done' }, { title: 'Mend it', status: 'in_progress' },
    { title: 'Prove it', status: 'todo' },
  ] as const
  return [
    { action: { kind: 'TerminalAction', command: 'npm test' },
      observation: { kind: 'TerminalObservation', command: 'npm test', content: text(colours), exit_code: 1 } },
    { action: { kind: 'ThinkAction', thought: 'The **index** is off by one.' },
      observation: { kind: 'ThinkObservation', content: text('noted') } },
    { action: { kind: 'TaskTrackerAction', command: 'plan', task_list: tasks },
      observation: { kind: 'TaskTrackerObservation', content: text('planned'), command: 'plan', task_list: tasks } },
    { action: { kind: 'MCPToolAction', data: { query: 'weather', days: 3 } }, tool: 'weather_forecast',
      observation: { kind: 'MCPToolObservation', content: text('{"sunny": true, "days": [1, 2]}'),
        tool_name: 'weather_forecast' } },
    { action: { kind: 'FinishAction', message: 'All **done**.' },
      observation: { kind: 'FinishObservation', content: text('finished') } },
  ]
}

const answer = [
  'Here is the result:', '```ts\nconst a = 1\n```', '> quoted', '- [x] one\n- [ ] two [link](https://example.test/)',
].join('\n\n')

let calls = 0

function asked(action: ActionInput | null, tool: string, more: object = {}): Event {
  const id = `form_${++calls}`
  const told = { id, name: tool, arguments: '{"some": "arguments"}', origin: 'completion' } as const
  return made({
    kind: 'ActionEvent', source: 'agent', thought: [], action, tool_name: tool, tool_call_id: id, tool_call: told,
    llm_response_id: `response_${id}`, ...more,
  })
}

function* pairEvents({ action, observation, tool = 'tool' }: Pair): Generator<Event> {
  const event = asked(action, tool)
  yield event
  yield made({
    kind: 'ObservationEvent', source: 'environment', action_id: event.id, tool_name: tool,
    tool_call_id: `form_${calls}`, observation,
  })
}

function* troubles(): Generator<Event> {
  const command = (words: string): ActionInput => ({ kind: 'TerminalAction', command: words })
  const refused = asked(command('rm -rf build'), 'terminal', { security_risk: 'HIGH' })
  yield refused
  yield rejected(refused.id, 'user', 'Keep the folder')
  const blocked = asked(command('git push --force'), 'terminal', { security_risk: 'MEDIUM' })
  yield blocked
  yield rejected(blocked.id, 'hook', 'Pushes are not allowed')
  yield asked(command('sleep 100'), 'terminal')
  yield failed('Cancelled by the user')
  yield asked(null, 'no_such_tool')
  yield failed('There is no tool "no_such_tool"')
  yield asked(command('make'), 'terminal')
}

function failed(error: string): Event {
  return made({ kind: 'AgentErrorEvent', error, tool_name: 'terminal', tool_call_id: `form_${calls}` })
}

function rejected(actionId: string, by: 'user' | 'hook', reason: string): Event {
  return made({
    kind: 'UserRejectObservation', tool_name: 'terminal', tool_call_id: `form_${calls}`, action_id: actionId,
    rejection_reason: reason, rejection_source: by,
  })
}

function* group(): Generator<Event> {
  const open: [Event, string][] = []
  for (const name of ['a.ts', 'b.ts', 'c.ts']) {
    const action = { kind: 'ReadFileAction', file_path: `/home/user/project/${name}` } as const
    const thought = open.length === 0 ? text('I read the three files first.') : []
    const event = asked(action, 'read_file', { llm_response_id: 'response_group', thought, reasoning_content: 'Hm.' })
    open.push([event, `form_${calls}`])
    yield event
  }
  for (const [event, id] of open) {
    yield made({
      kind: 'ObservationEvent', source: 'environment', action_id: event.id, tool_name: 'read_file', tool_call_id: id,
      observation: { kind: 'ReadFileObservation', content: text('ok'), file_path: 'x', file_content: 'text of it\n' },
    })
  }
}

/** The kinds of actions in the order in which `everyForm` has them. */
export const shownKinds: readonly ActionKind[] = pairs('').map(({ action }) => action.kind)

function pairs(screenshot: string): readonly Pair[] {
  return [...otherPairs(), ...filePairs(), ...browserPairs(screenshot)]
}

/** @param screenshot An image in base64. */
export function* everyForm(screenshot: string): Generator<Event> {
  yield message('# Please mend it\n\n1. look\n2. mend\n\n| a | b |\n|---|--:|\n| 1 | 2 |', 'user')
  yield* group()
  for (const pair of pairs(screenshot)) yield* pairEvents(pair)
  yield* troubles()
  yield failure('LLMRateLimitError', 'The model refuses more requests for 20 seconds')
  yield message(answer)
}
