/** Tools of the client: how the model and clients see them, and the outcome of a call. */
import * as assert from 'uvu/assert'
import { AppError } from '../../../../src/base/errors.ts'
import type { JsonObject } from '../../../../src/base/json.ts'
import { createClientTool, withClientTools } from '../../../../src/parts/builtin/tools/client-tool.ts'
import { createThinkTool } from '../../../../src/parts/builtin/tools/think.ts'
import { toClientTool } from '../../../../src/schema/generated/conversations.ts'
import { isToolDefinition } from '../../../../src/schema/generated/tools.ts'
import { suite } from '../../../support/suite.ts'

const test = suite('agents/tools/client-tool')

const never = new AbortController().signal
const parameters = { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] }
const show = toClientTool({ name: 'show_file', description: 'Shows a file', parameters })

test('a model is told what the client said, and clients see a definition under its own name', () => {
  const tool = createClientTool(show)
  assert.equal([tool.name, tool.description, tool.parameters, tool.isReadOnly], [
    'show_file', 'Shows a file', parameters, false,
  ])
  assert.ok(isToolDefinition(tool.definition))
  assert.equal(tool.definition, {
    kind: 'MCPToolDefinition', description: 'Shows a file', action_type: 'MCPToolAction',
    observation_type: 'MCPToolObservation',
    title: 'show_file', mcp_tool: { name: 'show_file', description: 'Shows a file', inputSchema: parameters },
  })
})

test('what the client says of a tool is believed: its title, and that it only reads', () => {
  const tool = createClientTool(toClientTool({ ...show, annotations: { title: 'Show', readOnlyHint: true } }))
  assert.equal([tool.definition.title, tool.isReadOnly], ['Show', true])
  assert.is(tool.definition.annotations?.readOnlyHint, true)
})

test('a schema of nothing is one of an object without members', () => {
  assert.equal(createClientTool(toClientTool({ ...show, parameters: {} })).parameters, {
    type: 'object', properties: {},
  })
})

test('a call is told to have been handed on, and is no failure', async () => {
  const tool = createClientTool(show)
  const read = tool.read({ path: 'a', more: 1 })
  assert.equal(read, { ok: true, action: { kind: 'MCPToolAction', data: { path: 'a', more: 1 } } })
  const observation = await tool.run({ kind: 'MCPToolAction', data: {} }, { id: '1', signal: never })
  assert.equal(observation.kind === 'MCPToolObservation' && [observation.tool_name, observation.is_error], [
    'show_file', false,
  ])
  assert.match(JSON.stringify(observation.content), 'handed on to the client')
})

const reads: readonly (readonly [args: JsonObject, problem: string | undefined])[] = [
  [{}, 'path: required, but missing'],
  [{ other: 1 }, 'path: required, but missing'],
  [{ path: 7 }, undefined],
]
for (const [args, problem] of reads) {
  test(`the arguments ${JSON.stringify(args)} are ${problem === undefined ? 'passed on' : 'refused'}`, () => {
    const read = createClientTool(show).read(args)
    assert.is(read.ok ? undefined : read.problem, problem)
  })
}

test('a call that was stopped before it began is not handed on', async () => {
  const reason = new Error('stopped')
  const running = createClientTool(show).run({ kind: 'MCPToolAction', data: {} }, {
    id: '1', signal: AbortSignal.abort(reason),
  })
  assert.is(await running.catch((thrown: unknown) => thrown), reason)
})

test('client tools stand behind the agent\'s own, and may not take the name of one', () => {
  const set = { tools: [createThinkTool()], missing: [], close: async () => undefined }
  assert.is(withClientTools(set, []), set)
  assert.equal(withClientTools(set, [show]).tools.map(({ name }) => name), ['think', 'show_file'])
  assert.throws(() => withClientTools(set, [{ ...show, name: 'think' }]), (thrown: unknown) => {
    return thrown instanceof AppError && thrown.code === 'invalid_input' && thrown.message.includes('"think"')
  })
})

test.run()
