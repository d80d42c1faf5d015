import { join } from 'node:path'
import { readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import * as assert from 'uvu/assert'
import { testCipher } from '../../../support/cipher.ts'
import { suite } from '../../../support/suite.ts'
import { snapshotPath, snapshotsOf } from '../../../support/tool-snapshots.ts'
import { AppError, messageOf } from '../../../../src/base/errors.ts'
import { isObservation } from '../../../../src/schema/generated/observations.ts'
import { isToolDefinition } from '../../../../src/schema/generated/tools.ts'
import { defineTool, toolNameOf } from '../../../../src/parts/builtin/tools/definition.ts'
import { parametersOf, readArguments } from '../../../../src/parts/builtin/tools/parameters.ts'
import type { ClosableTool } from '../../../../src/agents/tool.ts'
import { toolNames } from '../../../../src/parts/builtin/tools/tool-list.ts'
import { createToolSet, type ToolSettings } from '../../../../src/parts/builtin/tools/registry.ts'
import { createThinkTool } from '../../../../src/parts/builtin/tools/think.ts'
import { actionOf, type ToolSet } from '../../../../src/agents/tool.ts'

const test = suite('agents/tools/registry')

function open(settings: Partial<ToolSettings>, terminal?: () => ClosableTool): Promise<ToolSet> {
  return createToolSet({
    cipher: testCipher(), mask: (text) => text,
    workingDir: '/workspace',
    observationsDir: join(tmpdir(), 'never-made'),
    privateDirs: [],
    settings: { tools: [], include_default_tools: [], filter_tools_regex: null, ...settings },
    makers: terminal === undefined ? {} : { terminal },
    signal: new AbortController().signal,
  })
}

async function names(settings: Partial<ToolSettings>): Promise<string[]> {
  return (await open(settings, () => ({ ...createThinkTool(), name: 'terminal' }))).tools.map(({ name }) => name)
}

async function failure(settings: Partial<ToolSettings>): Promise<string> {
  return open(settings).then(() => 'it did not fail', (thrown: unknown) => {
    return (thrown instanceof AppError ? `${thrown.code}: ${messageOf(thrown)}` : 'not expected')
  })
}

const choose = (...tools: string[]): ToolSettings['tools'] => tools.map((name) => ({ name, params: {} }))

test('the settings name the tools, in order', async () => {
  assert.equal(await names({ tools: [] }), [])
  assert.equal(await names({ tools: choose('grep', 'FileEditorTool', 'glob') }), ['grep', 'file_editor', 'glob'])
  assert.equal(await names({ tools: choose('terminal'), include_default_tools: ['FinishTool', 'ThinkTool'] }), [
    'terminal', 'finish', 'think',
  ])
  assert.equal(await names({ include_default_tools: ['ThinkTool'] }), ['think'])
})

test('an empty list of default tools leaves the named tools alone', async () => {
  assert.equal(await names({ tools: choose('terminal'), include_default_tools: [] }), ['terminal'])
})

test('names that nobody has a tool for are left out and told of', async () => {
  const set = await open({
    tools: choose('browser', 'toString', 'glob'), include_default_tools: ['SwitchLLMTool', 'ThinkTool'],
  })
  assert.equal(set.tools.map(({ name }) => name), ['glob', 'think'])
  assert.equal(set.missing, ['browser', 'toString', 'switch_llm'])
})

test('a name that is given twice is refused, unless it is that of a default tool', async () => {
  assert.match(await failure({ tools: choose('glob', 'GlobTool') }), /^invalid_input: Cannot use the tool "glob" twice/)
  assert.equal(await names({ tools: choose('finish', 'glob'), include_default_tools: ['FinishTool'] }), [
    'finish', 'glob',
  ])
})

test('the filter is matched at the start of the names of configured tools only', async () => {
  const tools = choose('grep', 'glob', 'read_file')
  const kept = (filter_tools_regex: string): Promise<string[]> =>
    names({ tools, filter_tools_regex, include_default_tools: ['FinishTool'] })
  assert.equal(await kept('g'), ['grep', 'glob', 'finish'])
  assert.equal(await kept('lob|read'), ['read_file', 'finish'])
  assert.equal(await kept('^(?!grep)'), ['glob', 'read_file', 'finish'])
  assert.equal(await kept('glob$'), ['glob', 'finish'])
  assert.match(await failure({ tools, filter_tools_regex: '(' }), /Cannot use the regular expression: Invalid/)
})

test('a filter that takes for ever is refused', async () => {
  const filter_tools_regex = `(?:${'(?:_|[a-z]|[a-z_])*'.repeat(12)})*!`
  assert.match(await failure({ tools: choose('planning_file_editor'), filter_tools_regex }), /takes too long/)
})

test('closing the set closes each tool that keeps something', async () => {
  let closed = 0
  const set = await open({ tools: choose('terminal', 'glob') }, () => ({
    ...createThinkTool(), close: async () => void closed++,
  }))
  await set.close()
  assert.is(closed, 1)
})

test('a tool gets the parameters that the settings give it', async () => {
  const set = await open({ tools: [{ name: 'planning_file_editor', params: { plan_path: 'docs/plan.md' } }] })
  assert.match(set.tools[0]?.description ?? '', /Only \/workspace\/docs\/plan\.md can be created/)
})

test('the names that settings may use can be listed', () => {
  assert.equal([...toolNames].sort(), [
    'edit', 'file_editor', 'glob', 'grep', 'list_directory', 'planning_file_editor', 'read_file', 'task_tracker',
    'terminal', 'write_file',
  ])
})

test('what models and clients are told of each tool is what the snapshots say', async () => {
  for (const [name, snapshot] of await snapshotsOf()) {
    assert.is(
      snapshot,
      await readFile(snapshotPath(name), 'utf8'),
      `${name}: if the change is meant, run scripts/tool-snapshots`,
    )
  }
})

/** Contract: payloads.md, section 4. */
const annotations: Readonly<Record<string, string>> = {
  file_editor: 'file_editor F T F F',
  planning_file_editor: 'planning_file_editor F F F F',
  read_file: 'read_file T F T F',
  write_file: 'write_file F T F F',
  edit: 'edit F T F F',
  list_directory: 'list_directory T F T F',
  glob: 'glob T F T F',
  grep: 'grep T F T F',
  task_tracker: '- F F T F',
  finish: 'finish T F T F',
  think: '- T F T F',
}

test('definitions have the titles and hints of the contract', async () => {
  const set = await open({
    tools: choose(...Object.keys(annotations).slice(0, -2)), include_default_tools: ['FinishTool', 'ThinkTool'],
  })
  for (const { name, definition, isReadOnly } of set.tools) {
    assert.ok(isToolDefinition(definition), name)
    const { title = '-', readOnlyHint, destructiveHint, idempotentHint, openWorldHint } = definition.annotations ?? {}
    const hints = [readOnlyHint, destructiveHint, idempotentHint, openWorldHint].map((hint) => {
      return (hint === true ? 'T' : 'F')
    })
    assert.is([title, ...hints].join(' '), annotations[name], name)
    assert.is(definition.title, name)
    assert.is(toolNameOf(definition.kind), name)
    assert.is(isReadOnly, readOnlyHint)
    assert.equal(
      definition.meta,
      ['edit', 'read_file', 'write_file'].includes(name) ? { workspace_root: '/workspace' } : undefined,
    )
  }
})

test('wrong arguments are explained with names and never with values', () => {
  const read = readArguments('FileEditorAction', {
    command: 'secret-1', path: 7, view_range: ['secret-2'], extra: 'secret-3',
  })
  assert.not(read.ok)
  const problem = read.ok ? '' : read.problem
  for (const name of ['command', 'path', 'view_range.0', 'extra']) assert.match(problem, name)
  assert.not.match(problem, 'secret')
  const many = readArguments('TaskTrackerAction', { task_list: Array.from({ length: 15 }, () => ({})) })
  assert.match(many.ok ? '' : many.problem, /task_list\.9\.title: Field required; and 5 more$/)
})

test('arguments become the action with its defaults', () => {
  assert.equal(readArguments('EditAction', { file_path: 'a', old_string: 'b', new_string: 'c' }), {
    ok: true,
    action: { kind: 'EditAction', file_path: 'a', old_string: 'b', new_string: 'c', expected_replacements: 1 },
  })
})

test('parameters are made of the members of every action that has a tool', () => {
  for (const action of ['TerminalAction', 'BrowserClickAction', 'BrowserSetStorageAction', 'MCPToolAction'] as const) {
    assert.is(parametersOf(action, {})['type'], 'object')
  }
  assert.throws(() => parametersOf('ThinkAction', { stray: 'x' }), /ThinkAction has no member "stray"/)
})

test('a failure that nobody expected is left to the caller', async () => {
  const tool = (failing: () => never, failed: boolean): ClosableTool => defineTool({
    kind: 'ThinkTool',
    action: 'ThinkAction',
    observation: 'ThinkObservation',
    description: 'x',
    hints: { readOnly: true, destructive: false, idempotent: true },
    run: async () => failing(),
    ...(failed ? { failed: (_, content) => ({ kind: 'ThinkObservation', content, is_error: true }) } : {}),
  })
  const broken = (): never => { throw new TypeError('broken') }
  const expected = (): never => { throw new AppError('conflict', 'expected') }
  const run = (made: ClosableTool): Promise<unknown> =>
    made.run({ kind: 'ThinkAction', thought: 'x' }, { id: 'x', signal: new AbortController().signal })
  assert.is(await run(tool(broken, true)).then(() => '', messageOf), 'broken')
  assert.is(await run(tool(expected, false)).then(() => '', messageOf), 'expected')
  const observation = await run(tool(expected, true))
  assert.ok(isObservation(observation))
  assert.throws(
    () => actionOf({ kind: 'ThinkAction', thought: 'x' }, 'FinishAction'),
    /A tool for FinishAction was given ThinkAction/,
  )
})

test.run()
