/** When the tool calls of a turn enter the history, with which content, and how each is answered (decisions, 3). */
import * as assert from 'uvu/assert'
import { CallMemory } from '../../../src/agents/acp/calls/call-memory.ts'
import { silentLog } from '../../../src/base/log.ts'
import { suite } from '../../support/suite.ts'
import { announced, filled, json, watch, type Watched } from './watched-turn.ts'

const test = suite('acp turn calls')

test('waits with an action that is only announced', () => {
  const turn = watch()
  turn.call(announced)
  turn.timers.advanceTo(29_999)
  assert.equal(turn.kinds(), [])
})

const occasions: readonly (readonly [name: string, happen: (turn: Watched) => void])[] = [
  ['permission is asked', ({ events }) => void events.asks({ toolCallId: 't1' })],
  ['it is in progress, and 500 ms pass',
    ({ call, timers }) => (call({ status: 'in_progress' }), timers.advanceTo(500))],
  ['it has completed', ({ call }) => call({ status: 'completed' })],
  ['it has failed', ({ call }) => call({ status: 'failed' })],
  ['raw output comes', ({ call }) => call({ rawOutput: 'x' })],
  ['terminal output comes', ({ call }) => call({ _meta: { terminal_output_delta: { data: 'x' } } })],
  ['its command stands still for 2 s', ({ timers }) => timers.advanceTo(2000)],
  ['the turn ends', ({ events }) => events.close('over')],
  ['the agent says that the turn is over', ({ events }) => events.finish('over')],
]

for (const [name, happen] of occasions) {
  test(`records an announced action with its newest title and input when ${name}`, () => {
    const turn = watch()
    turn.call(announced)
    turn.call(filled)
    happen(turn)
    const [first] = turn.drafts
    assert.match(json(first), /"kind":"ActionEvent".*"TerminalAction","command":"ls -l".*"summary":"ls -l"/)
    turn.events.close('over')
    assert.is(turn.timers.waiting, 0)
  })
}

const otherNews: readonly (readonly [name: string, happen: (turn: Watched) => void])[] = [
  ['an empty chunk', ({ text }) => text('')],
  ['text', ({ text }) => text('so')],
  ['a thought', ({ thought }) => thought('so')],
  ['another call', ({ call }) => call({ ...announced, toolCallId: 't2' })],
  ['a plan', ({ events }) => events.update({ sessionUpdate: 'plan', entries: [{ content: 'a' }] })],
  ['a figure', ({ events }) => events.update({ sessionUpdate: 'usage_update', used: 1 })],
]

for (const [name, happen] of otherNews) {
  test(`does not record a call that grows because of ${name}`, () => {
    const turn = watch()
    turn.call(announced)
    turn.call({ rawInput: { description: 'a list' } })
    happen(turn)
    turn.timers.advanceTo(20_000)
    assert.not.match(json(turn.drafts), /"tool_call_id":"t1"/)
    turn.call({ rawInput: { description: 'a list', command: 'ls -l' } })
    turn.timers.advanceTo(22_000)
    assert.match(json(turn.drafts), /"TerminalAction","command":"ls -l".*"tool_call_id":"t1"/)
    turn.events.close('over')
  })
}

test('begins the time anew with every change, and not with news that change nothing', () => {
  const turn = watch()
  turn.call(announced)
  turn.call({ rawInput: { command: 'ls' } })
  turn.timers.advanceTo(1500)
  turn.call({ rawInput: { command: 'ls', timeout: 1 } })
  turn.timers.advanceTo(3000)
  turn.call({ title: 'List' })
  turn.timers.advanceTo(3499)
  assert.equal(turn.kinds(), [])
  turn.timers.advanceTo(3500)
  assert.match(json(turn.drafts[0]), /"command":"ls".*"summary":"List"/)
})

test('does not believe a command that stands still once the agent has lengthened one', () => {
  const turn = watch()
  turn.call(announced)
  turn.call({ rawInput: { command: 'rm -rf /ho' } })
  turn.call({ rawInput: { command: 'rm -rf /home/x' } })
  turn.timers.advanceTo(29_000)
  assert.equal(turn.kinds(), [])
  turn.call({ rawInput: { command: 'rm -rf /home/x/tmp' }, status: 'in_progress' })
  turn.timers.advanceTo(30_999)
  assert.equal(turn.kinds(), [])
  turn.timers.advanceTo(31_000)
  assert.match(json(turn.drafts), /"TerminalAction","command":"rm -rf \/home\/x\/tmp"/)
  const next = { toolCallId: 't2', ...announced, rawInput: { command: 'rm -rf /et' } }
  turn.call(next)
  turn.timers.advanceTo(50_000)
  assert.is(turn.kinds().length, 1, 'in the next call it is known from the beginning')
})

test('takes JSON that comes as a text when all of it is there', () => {
  const turn = watch()
  turn.call({ ...announced, rawInput: '{"command":"echo \\' })
  turn.timers.advanceTo(10_000)
  turn.call({ rawInput: '{"command":"echo \\"hi\\""}' })
  turn.timers.advanceTo(11_999)
  assert.equal(turn.kinds(), [])
  turn.timers.advanceTo(12_000)
  assert.match(json(turn.drafts[0]), /"TerminalAction","command":"echo \\"hi\\""/)
})

test('waits with a pending edit for a path with its text, and with other kinds until they run', () => {
  const turn = watch()
  const edit = { toolCallId: 'e', title: 'Write', kind: 'edit', status: 'pending' }
  turn.call({ ...edit, rawInput: {} })
  turn.call({ ...edit, rawInput: { file_path: '/a', old_string: 'x' } })
  turn.call({ toolCallId: 'g', title: 'Grep', kind: 'search', status: 'pending', rawInput: { pattern: 'x' } })
  turn.timers.advanceTo(20_000)
  assert.equal(turn.kinds(), [])
  turn.call({ ...edit, rawInput: { file_path: '/a', old_string: 'x', new_string: 'y' } })
  turn.call({ toolCallId: 'g', status: 'in_progress' })
  turn.timers.advanceTo(20_500)
  assert.match(json(turn.drafts), /"tool_call_id":"g"/)
  turn.timers.advanceTo(22_000)
  assert.match(json(turn.drafts[1]), /"old_str":"x","new_str":"y".*"tool_call_id":"e"/)
})

test('records after 30 s without a change what is known, and says that it is not all', () => {
  const turn = watch()
  turn.call(announced)
  turn.timers.advanceTo(20_000)
  turn.call({ rawInput: { description: 'Clean' }, title: 'Terminal' })
  turn.timers.advanceTo(49_999)
  assert.equal(turn.kinds(), [])
  turn.timers.advanceTo(50_000)
  assert.match(json(turn.drafts[0]), /"MCPToolAction","data":\{"incomplete":true,"kind":"execute","input":\{"description":"Clean"\}.*"summary":"Terminal \[incomplete: /)
  turn.call({ rawInput: { description: 'Clean', command: 'rm -rf x' }, status: 'completed' })
  assert.match(json(turn.drafts[1]), /"TerminalObservation","command":"rm -rf x"/)
  assert.match(
    json(turn.drafts[1]),
    /told the input after this call was recorded: \{\\"description\\":\\"Clean\\",\\"command\\":\\"rm -rf x\\"\}/,
  )
})

test('carries in the observation of an edit a diff that came later', () => {
  const turn = watch()
  turn.call({
    toolCallId: 'w', title: 'write', kind: 'edit', status: 'in_progress',
    rawInput: { filePath: '/project/a', content: 'x' },
  })
  turn.timers.advanceTo(500)
  turn.call({
    toolCallId: 'w', status: 'completed', content: [{ type: 'diff', path: '/project/a', oldText: null, newText: 'x' }],
  })
  assert.match(json(turn.drafts[0]), /"MCPToolAction","data":\{"filePath":"\/project\/a","content":"x"\}/)
  assert.match(
    json(turn.drafts[1]), /"FileEditorObservation","command":"create","path":"\/project\/a".*"new_content":"x"/,
  )
})

test('carries in the observation of an edit the newest diff of its file', () => {
  const turn = watch()
  const diff = (oldText: string, newText: string): object => ({ type: 'diff', path: '/project/a', oldText, newText })
  turn.call({ toolCallId: 'w', title: 'edit', kind: 'edit', status: 'in_progress', content: [diff('x', 'y')] })
  turn.timers.advanceTo(500)
  turn.call({ toolCallId: 'w', status: 'completed', content: [diff('before\nx', 'before\ny')] })
  assert.match(json(turn.drafts[0]), /"str_replace","path":"\/project\/a","old_str":"x","new_str":"y"/)
  assert.match(json(turn.drafts[1]), /"old_content":"before\\nx","new_content":"before\\ny"/)
})

test('gives a question for an action that was recorded with less an action of its own', () => {
  const turn = watch()
  turn.call(announced)
  turn.timers.advanceTo(30_000)
  const [asked] = turn.events.asks({ toolCallId: 't1', title: 'rm -rf x', rawInput: { command: 'rm -rf x' } })
  assert.is(asked?.id, 't1~1')
  assert.match(
    json(turn.drafts[1]),
    /"ObservationEvent".*"tool_call_id":"t1".*see the action t1~1.*"is_error":false.*"action_id":"e1"/,
  )
  assert.match(json(turn.drafts[2]), /"TerminalAction","command":"rm -rf x".*"tool_call_id":"t1~1"/)
  turn.call({ status: 'completed' })
  assert.match(json(turn.drafts[3]), /"tool_call_id":"t1~1"/)
  assert.equal(turn.kinds(), ['ActionEvent', 'ObservationEvent', 'ActionEvent', 'ObservationEvent'])
})

test('shows of a question about another change that change, and not the diff that was told before', () => {
  const turn = watch()
  const diff = { type: 'diff', path: '/a', oldText: 'x', newText: 'y' }
  turn.call({
    toolCallId: 'p', title: 'Edit', kind: 'edit', status: 'in_progress',
    rawInput: { path: '/a', old_str: 'x', new_str: 'y' }, content: [diff],
  })
  turn.timers.advanceTo(500)
  const ask = (rawInput: object): unknown =>
    turn.events.asks({ toolCallId: 'p', title: 'Edit', status: 'pending', rawInput })[0]?.shape
  assert.equal(ask({ path: '/a', why: 'because' }), {
    as: 'edit', edit: { do: 'replace', path: '/a', oldText: 'x', newText: 'y' },
  })
  assert.equal(ask({ path: '/b', old_str: 'all', new_str: '' }), {
    as: 'edit', edit: { do: 'replace', path: '/b', oldText: 'all', newText: '' },
  })
  assert.match(json(turn.drafts.at(-1)), /"FileEditorAction","command":"str_replace","path":"\/b","old_str":"all"/)
})

test('takes a question that says no more than the action for that action', () => {
  const turn = watch()
  const diff = { type: 'diff', path: '/a', oldText: 'x', newText: 'y' }
  turn.call({ toolCallId: 'p', title: 'Edit', kind: 'edit', status: 'in_progress', content: [diff] })
  turn.timers.advanceTo(500)
  const [asked] = turn.events.asks({
    toolCallId: 'p',
    title: 'Edit files',
    status: 'pending',
    content: [{ type: 'content', content: { type: 'text', text: 'May I?' } }],
  })
  assert.is(asked?.id, 'p')
  assert.equal(turn.kinds(), ['ActionEvent'])
})

test('takes a question without the folder of a command for the action that has it', () => {
  const turn = watch()
  turn.call(announced)
  turn.call({ status: 'in_progress', rawInput: { command: 'ls -l', description: 'Look', cwd: '/project' } })
  turn.timers.advanceTo(500)
  const [asked] = turn.events.asks({ toolCallId: 't1', status: 'pending', rawInput: { command: 'ls -l' } })
  assert.is(asked?.id, 't1')
  const [elsewhere] = turn.events.asks({
    toolCallId: 't1', status: 'pending', rawInput: { command: 'ls -l', cwd: '/etc' },
  })
  assert.is(elsewhere?.id, 't1~1', 'another folder is other work')
})

test('tells what an agent changes after the call was allowed', () => {
  const turn = watch()
  turn.events.asks({ toolCallId: 't1', ...filled, kind: 'execute' })
  turn.events.allowed('t1')
  turn.call({ rawInput: { command: 'rm -rf /' }, status: 'completed' })
  assert.match(
    json(turn.drafts[1]),
    /"command":"rm -rf \/".*changed this call after it was allowed. It says now: \{\\"command\\":\\"rm -rf \/\\"\}/,
  )
})

test('tells what an agent changes after the call was recorded, but not what it adds', () => {
  const changed = (input: object): string => {
    const turn = watch()
    turn.call({ ...announced, ...filled })
    turn.timers.advanceTo(2000)
    turn.call({ rawInput: input, status: 'completed' })
    return json(turn.drafts[1])
  }
  assert.match(changed({ command: 'ls -a' }), /"command":"ls -a".*changed this call after it was recorded/)
  assert.not.match(changed({ command: 'ls -l', description: 'list' }), /changed|told/)
})

test('answers a question that was allowed and not heard of again without an error', () => {
  const turn = watch()
  turn.call({ toolCallId: 'real', title: 'ls', kind: 'execute', status: 'in_progress', rawInput: { command: 'ls' } })
  const [asked] = turn.events.asks({ toolCallId: 'own-id', title: 'Run ls', rawInput: { command: 'ls' } })
  turn.events.allowed(asked?.id ?? '')
  turn.call({ toolCallId: 'real', status: 'completed', rawOutput: 'a' })
  turn.events.finish('the agent did not say')
  assert.equal(turn.kinds().filter((kind) => kind === 'ActionEvent').length, 2)
  assert.is(turn.kinds().includes('AgentErrorEvent'), false)
  assert.match(json(turn.drafts.at(-1)), /"tool_call_id":"own-id".*This was allowed.*"is_error":false/)
})

test(
  'gives a question for an action that was recorded as incomplete an action of its own, though it says the same',
  () => {
    const turn = watch()
    turn.call(announced)
    turn.call({ rawInput: { command: 'rm -rf /ho' } })
    turn.call({ rawInput: { command: 'rm -rf /home/x' } })
    turn.timers.advanceTo(30_000)
    assert.match(json(turn.drafts), /incomplete/)
    const [asked] = turn.events.asks({ toolCallId: 't1', rawInput: { command: 'rm -rf /home/x' } })
    assert.equal([asked?.id, asked?.shape.as], ['t1~1', 'command'])
    assert.match(json(turn.drafts.at(-1)), /"TerminalAction","command":"rm -rf \/home\/x"/)
  },
)

const bare = { toolCallId: 'confirmation', title: 'Confirm Agent Actions', kind: 'other', status: 'pending' }

test('takes a question that names no work for questions about the open calls, each on record before', () => {
  const turn = watch()
  const list = { toolCallId: 'a', title: 'List', kind: 'execute', status: 'in_progress', rawInput: { command: 'ls' } }
  const write = {
    toolCallId: 'b', title: 'Write', kind: 'edit', status: 'in_progress',
    content: [{ type: 'diff', path: '/project/x', oldText: null, newText: 'x' }],
  }
  turn.call(list)
  turn.call(write)
  const asked = turn.events.asks(bare)
  assert.equal(asked.map(({ id, title, shape }) => [id, title, shape.as]), [
    ['a', 'Confirm Agent Actions: List', 'command'], ['b', 'Confirm Agent Actions: Write', 'edit'],
  ])
  assert.match(json(turn.drafts[0]), /"TerminalAction","command":"ls".*"tool_call_id":"a"/)
  assert.match(json(turn.drafts[1]), /"FileEditorAction".*"tool_call_id":"b"/)
  turn.events.allowed('a')
  turn.events.rejects('b', 'no')
  turn.call({ toolCallId: 'a', status: 'completed', rawOutput: 'x' })
  turn.events.finish('over')
  assert.equal(turn.kinds(), ['ActionEvent', 'ActionEvent', 'UserRejectObservation', 'ObservationEvent'])
})

test('takes a question that names no work for one of its own when every open call was allowed', () => {
  const turn = watch()
  turn.call({ toolCallId: 'a', title: 'List', kind: 'execute', status: 'in_progress', rawInput: { command: 'ls' } })
  turn.events.asks(bare)
  turn.events.allowed('a')
  assert.equal(turn.events.asks(bare).map(({ id }) => id), ['confirmation'])
})

const questionsOfTheirOwn: readonly (readonly [name: string, changes: object])[] = [
  ['an input', { rawInput: { url: 'http://x' } }],
  ['a kind', { kind: 'fetch' }],
  ['words about it', { content: [{ type: 'content', content: { type: 'text', text: 'May I?' } }] }],
  ['empty lists (Gemini)', { content: [], locations: [] }],
]

for (const [name, changes] of questionsOfTheirOwn) {
  test(`takes a question with ${name} for one of its own beside an open call`, () => {
    const turn = watch()
    turn.call({ toolCallId: 'a', title: 'Look', kind: 'read', status: 'in_progress', rawInput: { path: 'x' } })
    assert.equal(turn.events.asks({ ...bare, ...changes }).map(({ id }) => id), ['confirmation'])
  })
}

test('drops the end of a call of an earlier turn, with a line in the log', () => {
  const lines: string[] = []
  const log = {
    ...silentLog, info: (message: string, fields?: object) => void lines.push(`${message} ${json(fields)}`),
  }
  const memory = new CallMemory()
  memory.add('t1')
  const turn = watch({ memory, log })
  turn.call({ status: 'completed', title: 'ls', kind: 'execute', rawInput: { command: 'ls' }, rawOutput: 'x' })
  turn.call({ status: 'in_progress', _meta: { terminal_output_delta: { data: 'x' } } })
  turn.events.close('over')
  assert.equal(turn.kinds(), [])
  assert.is(lines.length, 2)
  assert.match(lines[0] ?? '', /a tool call that has already ended was dropped.*"call":"t1"/)
})

test('tells apart ids that are used again, in the same turn and in a later one', () => {
  const memory = new CallMemory()
  for (const expected of [['t1', 't1~1'], ['t1~2', 't1~3']]) {
    const turn = watch({ memory })
    for (const id of expected) {
      turn.events.update({ sessionUpdate: 'tool_call', toolCallId: 't1', ...announced, ...filled })
      turn.call({ status: 'completed' })
      assert.match(json(turn.drafts.at(-1)), new RegExp(`"tool_call_id":"${id}"`))
    }
    assert.equal(turn.kinds(), ['ActionEvent', 'ObservationEvent', 'ActionEvent', 'ObservationEvent'])
  }
})

test('tells those who read along how far a call is', () => {
  const turn = watch()
  turn.call(announced)
  turn.call({ title: 'Write a' })
  turn.call({ rawInput: { file_path: '/a' } })
  turn.call({ rawInput: { file_path: '/a', content: 'x'.repeat(300) } })
  turn.call({ rawInput: { file_path: '/a', content: 'x'.repeat(400) } })
  turn.call({ rawInput: { file_path: '/a', content: 'x'.repeat(2100) } })
  assert.equal(turn.deltas, [
    { reasoning_content: '\n[Preparing: Terminal]\n' },
    { reasoning_content: '\n[Preparing: Write a]\n' },
    { reasoning_content: '\n[Preparing: Write a, 256 characters or more]\n' },
    { reasoning_content: '\n[Preparing: Write a, 2048 characters or more]\n' },
  ])
})

test('does not take news about figures for news about something else', () => {
  const turn = watch()
  turn.call(announced)
  for (const sessionUpdate of [
    'usage_update', 'session_info_update', 'available_commands_update', 'current_mode_update', 'user_message_chunk',
    'anything_new',
  ]) {
    turn.events.update({ sessionUpdate })
  }
  assert.equal(turn.kinds(), [])
})

test('waits for the input of a call that runs before it tells it', () => {
  const turn = watch()
  turn.call({ ...announced, status: 'in_progress' })
  turn.timers.advanceTo(20_000)
  assert.equal(turn.kinds(), [])
  turn.call(filled)
  turn.timers.advanceTo(20_500)
  assert.equal(turn.kinds(), ['ActionEvent'])
})

test('gives each call one action and one answer, whatever comes twice', () => {
  const turn = watch()
  turn.call({ ...announced, ...filled, status: 'in_progress' })
  turn.events.asks({ toolCallId: 't1', status: 'pending' })
  turn.call({ status: 'completed', rawOutput: 'a file' })
  turn.call({ status: 'failed', rawOutput: 'no' })
  turn.call({ _meta: { terminal_exit: { exit_code: 1 } } })
  turn.events.close('over')
  assert.equal(turn.kinds(), ['ActionEvent', 'ObservationEvent'])
  assert.match(json(turn.drafts[1]), /"a file".*"is_error":false.*"action_id":"e1"/)
})

test('answers a call that was refused at once and ignores how the agent ends it', () => {
  const turn = watch()
  const [asked] = turn.events.asks({ toolCallId: 't1', ...filled, kind: 'execute' })
  assert.is(asked?.id, 't1')
  assert.is(asked?.title, 'ls -l')
  turn.events.rejects('t1', 'not now')
  turn.call({ status: 'failed', rawOutput: 'refused' })
  turn.events.rejects('t1', 'twice')
  turn.events.close('over')
  assert.equal(turn.kinds(), ['ActionEvent', 'UserRejectObservation'])
  assert.match(json(turn.drafts[1]), /"rejection_reason":"not now"/)
})

test('gives a call that asks again after its end an action of its own', () => {
  const turn = watch()
  turn.events.asks({ toolCallId: 't1', ...filled })
  turn.events.rejects('t1', 'no')
  const [again] = turn.events.asks({ toolCallId: 't1', ...filled })
  assert.is(again?.id, 't1~1')
  turn.call({ status: 'completed' })
  assert.equal(turn.kinds(), ['ActionEvent', 'UserRejectObservation', 'ActionEvent', 'ObservationEvent'])
  assert.is(turn.events.asks({ toolCallId: 't1', ...filled })[0]?.id, 't1~2')
  assert.match(json(turn.drafts[3]), /"tool_call_id":"t1~1".*"action_id":"e3"/)
})

test('begins no call with an update that describes none, or without an id', () => {
  const turn = watch()
  turn.call({ _meta: { terminal_exit: { exit_code: 0 } } })
  turn.events.update({ sessionUpdate: 'tool_call', title: 'no id' })
  assert.equal(turn.events.asks({ title: 'no id' }), [])
  turn.events.close('over')
  assert.equal(turn.kinds(), [])
})

test('answers every open call with an error when it is not waited for any more', () => {
  const turn = watch()
  turn.call({ ...announced, ...filled, status: 'in_progress' })
  turn.call({ ...announced, toolCallId: 't2' })
  assert.is(turn.events.hasOpenCalls, true)
  turn.events.abandonCalls('stopped')
  assert.is(turn.events.hasOpenCalls, false)
  assert.equal(turn.kinds(), ['ActionEvent', 'ActionEvent', 'AgentErrorEvent', 'AgentErrorEvent'])
})

test('gives up on calls when too many are open', () => {
  const turn = watch()
  for (let index = 0; index <= 1000; index++) turn.call({ ...announced, toolCallId: `t${index}` })
  assert.is(turn.kinds().filter((kind) => kind === 'AgentErrorEvent').length, 1000)
})

test('takes nothing after the end', () => {
  const turn = watch()
  turn.events.close('over')
  turn.events.close('over')
  turn.text('late')
  turn.call({ status: 'completed' })
  assert.equal(turn.events.asks({ toolCallId: 't1' }), [])
  assert.equal(turn.kinds(), [])
})

test('the memory of calls reads the history again after a failure, and then no more', async () => {
  const memory = new CallMemory()
  const reads = [() => Promise.reject(new Error('the disk failed')), () => Promise.resolve(['t1'])]
  const host = { toolCallIds: () => reads.shift()?.() ?? Promise.reject(new Error('read once more')) }
  const outcomes = await Promise.allSettled([memory.recall(host), memory.recall(host)])
  assert.equal(outcomes.map(({ status }) => status), ['rejected', 'rejected'])
  await memory.recall(host)
  assert.ok(memory.has('t1'))
  await memory.recall(host)
})

test.run()
