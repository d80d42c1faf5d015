/** Which action and observation a tool call becomes, for every sort that agents send. */
import * as assert from 'uvu/assert'
import { actionOf, argumentsOf } from '../../../src/agents/acp/calls/action-of.ts'
import { keptOutputOf } from '../../../src/agents/acp/calls/output.ts'
import { observationOf } from '../../../src/agents/acp/calls/observation-of.ts'
import { partsOf, shapeOf, type CallPart } from '../../../src/agents/acp/calls/shape.ts'
import { mergeToolCall, newToolCall, type ToolCall } from '../../../src/agents/acp/calls/tool-calls.ts'
import { suite } from '../../support/suite.ts'

const test = suite('acp action of')
const diff = (oldText: string | null | undefined, newText = 'new'): object => ({
  type: 'diff', path: 'a.txt', oldText, newText,
})
const block = (text: string): object => ({ type: 'content', content: { type: 'text', text } })

function call(...news: object[]): ToolCall {
  return news.reduce<ToolCall>((before, fields) => mergeToolCall(before, { ...fields }, false), newToolCall)
}

function firstPart(made: ToolCall, titleIsCommand = false): CallPart {
  return partsOf(shapeOf(made, { workingDir: '/project', titleIsCommand }))[0]
}

function action(fields: object, titleIsCommand = false): object {
  const made = call(fields)
  return actionOf(firstPart(made, titleIsCommand), made)
}

function observation(asked: object, ...news: object[]): Record<string, unknown> {
  const part = firstPart(call(asked))
  const made = call(asked, ...news)
  return { ...observationOf(part, made, {
    toolName: made.kind,
    output: keptOutputOf(made),
    outputLimitChars: 30_000,
    saveOutput: () => 'file',
    observationsDir: '/observations',
    note: '',
  }) }
}

const actions: readonly (readonly [name: string, fields: object, action: object, titleIsCommand?: boolean])[] = [
  ['a command', { kind: 'execute', rawInput: { command: 'ls' } }, { kind: 'TerminalAction', command: 'ls' }],
  ['a command in words', { kind: 'execute', rawInput: { command: ['ls', '-l'] } },
    { kind: 'TerminalAction', command: 'ls -l' }],
  ['a command that is the title', { kind: 'execute', title: 'ls' }, { kind: 'TerminalAction', command: 'ls' }, true],
  ['a command that is not told', { kind: 'execute', title: 'Terminal' },
    { kind: 'MCPToolAction', data: { kind: 'execute', locations: [], content: [] } }],
  ['a command of another kind', { kind: 'other', rawInput: { command: 'ls' } },
    { kind: 'MCPToolAction', data: { command: 'ls' } }],
  ['an endless command', { kind: 'execute', rawInput: { command: 'x'.repeat(1_000_001) } },
    { kind: 'MCPToolAction', data: { left_out: 'more than 1000000 characters of input' } }],
  ['a new file', { kind: 'edit', content: [diff(null)] },
    { kind: 'FileEditorAction', command: 'create', path: '/project/a.txt', file_text: 'new' }],
  ['a new file as Gemini tells it', { kind: 'edit', content: [diff('')] },
    { kind: 'FileEditorAction', command: 'create', path: '/project/a.txt', file_text: 'new' }],
  ['a change of a file', { kind: 'edit', content: [diff('old')] },
    { kind: 'FileEditorAction', command: 'str_replace', path: '/project/a.txt', old_str: 'old', new_str: 'new' }],
  ['several commands', { kind: 'execute', rawInput: { commands: ['ls', 'pwd'] } },
    { kind: 'TerminalAction', command: 'ls\npwd' }],
  ['a list of tasks', { rawInput: { todos: [{ content: 'a', status: 'completed', priority: 'high' }] } },
    { kind: 'TaskTrackerAction', command: 'plan', task_list: [{ title: 'a', status: 'done' }] }],
  ['a list of tasks as OpenHands tells it',
    { rawInput: { command: 'plan', task_list: [{ title: 'a', notes: '', status: 'in_progress' }] } },
    { kind: 'TaskTrackerAction', command: 'plan', task_list: [{ title: 'a', status: 'in_progress' }] }],
  ['a list that is none of tasks', { rawInput: { todos: [{ content: 'a' }] } },
    { kind: 'MCPToolAction', data: { todos: [{ content: 'a' }] } }],
  ['a look into a file', { kind: 'read', rawInput: { command: 'view', path: 'a.txt', view_range: [1, 5] } },
    { kind: 'FileEditorAction', command: 'view', path: '/project/a.txt', view_range: [1, 5] }],
  ['a file that is deleted', { kind: 'edit', content: [{ ...diff('old', ''), _meta: { kind: 'delete' } }] },
    { kind: 'MCPToolAction', data: { delete: '/project/a.txt' } }],
  ['a change that is too long', { kind: 'edit', rawInput: { a: 1 }, content: [diff('x'.repeat(1_000_000))] },
    { kind: 'MCPToolAction', data: { a: 1 } }],
  ['an edit that is not told', { kind: 'edit', rawInput: { path: 'a' } },
    { kind: 'MCPToolAction', data: { path: 'a' } }],
  ['an input that is no object', { kind: 'fetch', rawInput: 'https://example.org' },
    { kind: 'MCPToolAction', data: { input: 'https://example.org' } }],
  ['a call with places only', { kind: 'read', locations: [{ path: '/a' }] },
    { kind: 'MCPToolAction', data: { kind: 'read', locations: [{ path: '/a' }], content: [] } }],
  ['a call of which nothing is told', {},
    { kind: 'MCPToolAction', data: { kind: 'other', locations: [], content: [] } }],
]

for (const [name, fields, expected, titleIsCommand] of actions) {
  test(`shows ${name}`, () => assert.equal(action(fields, titleIsCommand), expected))
}

test('gives the raw input as the arguments of the call', () => {
  assert.is(argumentsOf(call({ rawInput: { command: 'ls' } })), '{"command":"ls"}')
})

const execute = { kind: 'execute', rawInput: { command: 'ls', cwd: '/project' } }

const outputs: readonly (readonly [name: string, news: object, content: readonly object[]])[] = [
  ['a raw text', { rawOutput: 'out' }, [{ type: 'text', text: 'out' }]],
  ['a raw text rather than its copy in a fence', { rawOutput: 'out', content: [block('```console\nout\n```')] },
    [{ type: 'text', text: 'out' }]],
  ['content without its fence', { content: [block('```console\nout\n```')] }, [{ type: 'text', text: 'out' }]],
  ['content blocks as raw output', { rawOutput: [{ type: 'text', text: 'a' }, { type: 'text', text: 'b' }] },
    [{ type: 'text', text: 'a\nb' }]],
  ['a result of an MCP tool', { rawOutput: { result: { content: [{ type: 'text', text: 'a' }] } } },
    [{ type: 'text', text: 'a' }]],
  ['a bare MCP result with an image', { rawOutput: { content: [{ type: 'image', data: 'AA' }] } },
    [{ type: 'image', image_urls: ['data:image/png;base64,AA'] }]],
  ['another raw output as JSON', { rawOutput: { answer: 42 } }, [{ type: 'text', text: '{"answer":42}' }]],
  ['content where the raw output has no words', { rawOutput: { answer: 42 }, content: [block('forty-two')] },
    [{ type: 'text', text: 'forty-two' }]],
  ['the output alone (opencode, Qwen)',
    { rawOutput: { output: 'a', exitCode: 0 }, content: [block('Command: ls\nOutput: a')] },
    [{ type: 'text', text: 'a' }]],
  ['the results of several commands (Cline)',
    { rawOutput: [{ result: 'a', success: true }, { result: 'b', success: true }] }, [{ type: 'text', text: 'a\nb' }]],
  ['the text of a result (Copilot)', { rawOutput: { content: 'a', detailedContent: 'a' } },
    [{ type: 'text', text: 'a' }]],
  ['the blocks of an observation (OpenHands)',
    { rawOutput: { observation: { content: [{ type: 'text', text: 'a' }] } } }, [{ type: 'text', text: 'a' }]],
  ['a word about an audio', { rawOutput: [{ type: 'audio', data: 'AA', mimeType: 'audio/wav' }] },
    [{ type: 'text', text: '[An audio was left out here]' }]],
  ['nothing', { content: [{ type: 'terminal', terminalId: 't' }] }, []],
]

for (const [name, news, content] of outputs) {
  test(`takes as output ${name}`, () => {
    assert.equal(observation(execute, { status: 'completed', ...news })['content'], content)
  })
}

test('takes the deltas of a terminal in order, and its exit code', () => {
  const delta = (data: string): object => ({ _meta: { terminal_output_delta: { data } } })
  const end = { status: 'completed', _meta: { terminal_exit: { exit_code: 3, signal: null } } }
  assert.equal(observation(execute, delta('a'), delta('b'), end), {
    kind: 'TerminalObservation',
    command: 'ls',
    exit_code: 3,
    metadata: { exit_code: 3, working_dir: '/project' },
    content: [{ type: 'text', text: 'ab' }],
    is_error: true,
  })
})

const raw = (rawOutput: unknown, status = 'completed'): object => ({ status, rawOutput })
const exits: readonly (readonly [name: string, news: object, code: number | null, isError: boolean])[] = [
  ['opencode', raw({ output: 'x', metadata: { output: 'x', exit: 3 } }), 3, true],
  ['opencode, for a good end', raw({ output: 'x', metadata: { output: 'x', exit: 0 } }), 0, false],
  ['Qwen', raw({ type: 'shell_result', output: 'x', exitCode: 3 }, 'failed'), 3, true],
  ['Copilot', raw({ content: 'x', contents: [{ type: 'shell_exit', exitCode: 3 }] }), 3, true],
  ['OpenHands', raw({ observation: { exit_code: 3, content: [] } }), 3, true],
  ['OpenHands, of a command that goes on', raw({ observation: { exit_code: -1, content: [] } }), null, false],
  ['OpenHands, of its own failure', raw({ observation: { exit_code: -1, is_error: true, content: [] } }), null, true],
  ['Claude, in words', raw('Exit code 3\nout', 'failed'), 3, true],
  ['nobody, in words that a good command printed', raw('Exit code 3\nout'), null, false],
  ['Cline, of the first command that failed',
    raw([{ result: 'x', success: true }, { result: 'y', error: 'Command exited with code 3', success: false }]), 3,
    true],
  ['Cline, of commands that went well', raw([{ result: 'x', success: true }]), 0, false],
  ['nobody', raw('out'), null, false],
]

for (const [name, news, code, isError] of exits) {
  test(`the exit code as told by ${name}`, () => {
    const { exit_code, is_error } = observation(execute, news)
    assert.equal([exit_code, is_error], [code, isError])
  })
}

test('keeps a bounded part of an endless output', () => {
  const data = 'x'.repeat(9 * 1024 * 1024)
  const made = call(
    execute,
    { _meta: { terminal_output_delta: { data } } },
    { _meta: { terminal_output_delta: { data } } },
    { _meta: { terminal_output_delta: { data } } },
  )
  assert.match(made.terminalOutput.slice(-100), /too long to keep/)
  assert.ok(made.terminalOutput.length < 17 * 1024 * 1024)
})

test('does not take for output what explains a call before it runs', () => {
  assert.equal(observation(execute, { content: [block('List the files')] }, { status: 'completed' })['content'], [])
  assert.equal(
    observation(execute, { status: 'in_progress', content: [block('out')] }, { status: 'completed' })['content'],
    [{ type: 'text', text: 'out' }],
  )
})

test('says so when a call failed and gave no output', () => {
  const failed = observation(execute, { status: 'failed' })
  assert.is(failed['is_error'], true)
  assert.match(JSON.stringify(failed['content']), /failed and gave no output/)
})

test('shows the end of an edit with its texts, and without them when it failed', () => {
  const edit = { kind: 'edit', content: [diff('old')] }
  const end = { kind: 'FileEditorObservation', command: 'str_replace', path: '/project/a.txt', prev_exist: true }
  assert.equal(observation(edit, { status: 'completed' }), {
    ...end, old_content: 'old', new_content: 'new', content: [], is_error: false,
  })
  assert.is(observation(edit, { status: 'failed' })['new_content'], null)
  assert.equal(observation({ kind: 'edit', content: [diff(null)] }, { status: 'completed' }), {
    ...end, command: 'create', prev_exist: false, old_content: null, new_content: 'new', content: [], is_error: false,
  })
})

test('shows any other call with the line that clients expect first', () => {
  assert.equal(observation({ kind: 'read', rawInput: { path: 'a' } }, { status: 'completed', rawOutput: 'text' }), {
    kind: 'MCPToolObservation',
    tool_name: 'read',
    content: [{ type: 'text', text: "[Tool 'read' executed.]" }, { type: 'text', text: 'text' }],
    is_error: false,
  })
})

test('keeps what is known when news is empty, null, of another type or goes backwards', () => {
  const made = call({ title: 'a', kind: 'read', status: 'completed', rawInput: { x: 1 }, locations: [{ path: 'p' }] }, {
    title: '', kind: null, status: 'pending', rawInput: {}, content: 'x', locations: null, rawOutput: '', _meta: null,
  })
  assert.equal([made.title, made.kind, made.status, made.input, made.locations], [
    'a', 'read', 'completed', { x: 1 }, [{ path: 'p' }],
  ])
})

test.run()
