/** From calls as models write them to actions, or to errors (contract: payloads.md, section 5). */
import * as assert from 'uvu/assert'
import {
  modelTool, prepareCalls, withOwnIds, type PrepareOptions,
} from '../../../src/parts/builtin/calls/tool-calls.ts'
import { createFinishTool } from '../../../src/parts/builtin/tools/finish.ts'
import { defineTool } from '../../../src/parts/builtin/tools/definition.ts'
import type { Tool } from '../../../src/agents/tool.ts'
import { isObject } from '../../../src/base/json.ts'
import { toObservation } from '../../../src/schema/generated/observations.ts'
import type { MessageToolCall } from '../../../src/schema/generated/values.ts'
import { suite } from '../../support/suite.ts'

const test = suite('agents/builtin/tool-calls')

const editor = toolFor('FileEditorTool', 'FileEditorAction', false)
const glob = toolFor('GlobTool', 'GlobAction', true)
const tracker = toolFor('TaskTrackerTool', 'TaskTrackerAction', false)
const tools = [editor, glob, tracker, createFinishTool()]

function toolFor(
  kind: 'FileEditorTool' | 'GlobTool' | 'TaskTrackerTool',
  action: 'FileEditorAction' | 'GlobAction' | 'TaskTrackerAction',
  readOnly: boolean,
): Tool {
  return defineTool({
    kind, action, observation: 'ThinkObservation', description: kind,
    hints: { readOnly, destructive: false, idempotent: false },
    run: async () => toObservation({ kind: 'ThinkObservation' }),
  })
}

function call(name: string, args: object | string, id = 'x'): MessageToolCall {
  return { id, name, arguments: typeof args === 'string' ? args : JSON.stringify(args), origin: 'completion' }
}

function prepare(
  calls: readonly MessageToolCall[], options: Partial<PrepareOptions> = {},
): ReturnType<typeof prepareCalls> {
  return prepareCalls(calls, { tools, usesDeclaredRisk: true, mask: (text) => text, isCut: false, ...options })
}

function one(given: MessageToolCall, options: Partial<PrepareOptions> = {}): ReturnType<typeof prepareCalls>[number] {
  const [prepared] = prepare([given], options)
  if (prepared === undefined) throw new Error('expected a call')
  return prepared
}

const view = { command: 'view', path: '/a' }

test('every tool is told with a summary, and one that changes something with a risk', () => {
  const parametersOf = (tool: Tool): string[] => {
    const { properties } = modelTool(tool).parameters
    return isObject(properties) ? Object.keys(properties) : []
  }
  assert.equal(parametersOf(editor).slice(0, 3), ['summary', 'security_risk', 'command'])
  assert.equal(parametersOf(glob), ['summary', 'pattern', 'path'])
  assert.equal(modelTool({ ...glob, parameters: { type: 'object' } }).parameters['required'], undefined)
})

test('the risk counts with an analyzer and for a tool that changes something, and is UNKNOWN otherwise', () => {
  const riskOf = (name: string, args: object, usesDeclaredRisk: boolean): string => {
    const prepared = one(call(name, args), { usesDeclaredRisk })
    return prepared.ok ? prepared.risk : prepared.error
  }
  assert.is(riskOf('file_editor', { ...view, security_risk: 'HIGH' }, true), 'HIGH')
  assert.is(riskOf('file_editor', { ...view, security_risk: 'HIGH' }, false), 'UNKNOWN')
  assert.is(riskOf('file_editor', view, true), 'UNKNOWN')
  assert.is(riskOf('glob', { pattern: '*', security_risk: 'HIGH' }, true), 'UNKNOWN')
  assert.is(riskOf('file_editor', { ...view, security_risk: 'hunter2' }, true),
    "Error validating the arguments of tool 'file_editor': security_risk: expected one of LOW, MEDIUM, HIGH, UNKNOWN")
  assert.is(riskOf('file_editor', { ...view, security_risk: 'hunter2' }, false), 'UNKNOWN')
  assert.is(riskOf('glob', { pattern: '*', security_risk: 'hunter2' }, true), 'UNKNOWN')
})

test('the summary is the model\'s, else the tool with its arguments', () => {
  const summaryOf = (args: object): string => {
    const prepared = one(call('file_editor', args))
    return prepared.ok ? prepared.summary : prepared.error
  }
  assert.is(summaryOf({ ...view, summary: 'Look at a' }), 'Look at a')
  for (const summary of [undefined, ' ', 7]) {
    assert.is(summaryOf({ ...view, summary }), 'file_editor: {"command":"view","path":"/a"}')
  }
  assert.is(summaryOf({ command: 'create', path: '/a', file_text: 'x'.repeat(1000) }).length, 200)
})

test('a tool that has a summary of its own gets it too', () => {
  const own: Tool = {
    ...glob,
    parameters: { type: 'object', properties: { summary: { type: 'string' } } },
    read: ({ summary }) => ({ ok: true, action: { kind: 'ThinkAction', thought: String(summary) } }),
  }
  const prepared = one(call('glob', { summary: 'mine' }), { tools: [own] })
  assert.equal(prepared.ok && [prepared.action, prepared.summary], [{ kind: 'ThinkAction', thought: 'mine' }, 'mine'])
})

test('arguments in another form are read when their meaning is plain', () => {
  const actionOf = (name: string, args: object): unknown => {
    const prepared = one(call(name, args))
    return prepared.ok ? prepared.action : prepared.error
  }
  assert.match(JSON.stringify(actionOf('file_editor', { ...view, view_range: '[1, 5]' })), '"view_range":[1,5]')
  assert.match(
    JSON.stringify(actionOf('task_tracker', { command: 'plan', task_list: '[{"title":"a\nb"}]' })), '"title":"a\\nb"',
  )
  assert.match(
    JSON.stringify(actionOf('file_editor', { command: 'create', path: '/a', file_text: ['one', 'two'] })),
    '"file_text":"one\\ntwo"',
  )
})

test('other wrong types fail with the name of the argument and never with its value', () => {
  const secret = 'hunter2'
  const bad: [string, object, RegExp][] = [
    ['file_editor', { ...view, view_range: secret }, /view_range/],
    ['file_editor', { ...view, view_range: '{"a":1}' }, /view_range/],
    ['file_editor', { ...view, path: [secret, 7] }, /path/],
    ['file_editor', { ...view, path: { secret } }, /path/],
    ['file_editor', { path: secret }, /command/],
    ['file_editor', { ...view, command: secret }, /command/],
    ['file_editor', { ...view, insert_line: secret }, /insert_line/],
    ['glob', { pattern: 7 }, /pattern/],
    ['task_tracker', { task_list: [{ title: 'a', status: secret }] }, /task_list\.0\.status/],
  ]
  for (const [name, args, word] of bad) {
    const prepared = one(call(name, args))
    assert.is(prepared.ok, false, JSON.stringify(args))
    assert.match(prepared.ok ? '' : prepared.error, word)
    assert.not.match(prepared.ok ? '' : prepared.error, secret)
    assert.is(prepared.call.name, name)
  }
})

test('an unknown tool keeps its name, and the error lists the tools that there are', () => {
  const prepared = one(call('fly', '{{'))
  assert.is(prepared.call.name, 'fly')
  assert.is(
    prepared.ok ? '' : prepared.error, "Tool 'fly' not found. Available: file_editor, glob, task_tracker, finish",
  )
  const broken = one(call('str_replace_editor', '{{hunter2'))
  assert.is(broken.call.name, 'str_replace_editor')
  assert.is(broken.ok ? '' : broken.error, "Error validating the arguments of tool 'file_editor': Expected the arguments as a JSON object: they are not valid JSON")
})

test('a repaired call has the name of the tool and its arguments as they came', () => {
  const args = { path: '/a', old_str: 'x', new_str: 'y', security_risk: 'LOW', summary: 's' }
  const prepared = one(call('str_replace_editor', args))
  assert.equal(prepared.call, call('file_editor', args))
  assert.match(JSON.stringify(prepared.ok && prepared.action), '"command":"str_replace"')
})

test('the last call of an answer that was cut off is not executed, however whole it looks', () => {
  const [first, last] = prepare([call('glob', { pattern: 'a' }, '1'), call('glob', { pattern: 'b' }, '2')], {
    isCut: true,
  })
  assert.is(first?.ok, true)
  assert.is(last?.ok, false)
  assert.match(last?.ok === false ? last.error : '', 'cut off at the limit of output tokens')
})

test('what follows a call of finish is dropped', () => {
  const prepared = prepare([
    call('fly', {}, '1'), call('finish', { message: 'x' }, '2'), call('glob', { pattern: 'a' }, '3'),
  ])
  assert.equal(prepared.map(({ call: { id } }) => id), ['1', '2'])
})

test('arguments that no event could hold are left out and not executed', () => {
  const prepared = one(call('file_editor', { command: 'create', path: '/a', file_text: 'x'.repeat(1024 * 1024) }))
  assert.is(prepared.ok, false)
  assert.is(prepared.call.arguments, '{}')
  assert.match(prepared.ok ? '' : prepared.error, /The arguments have 10486\d\d characters: expected at most 1048576/)
})

test('calls with an id that is empty, came before or is another\'s get one of their own', () => {
  let count = 0
  const calls = ['a', '', 'b', 'b', 'old'].map((id) => call('glob', {}, id))
  const ids = withOwnIds(calls, (id) => id === 'old', () => `new-${++count}`).map(({ id }) => id)
  assert.equal(ids, ['a', 'new-1', 'b', 'new-2', 'new-3'])
})

test.run()
