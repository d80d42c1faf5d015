/** MCP tools as tools of the agent, and their results as observations. */
import * as assert from 'uvu/assert'
import { failedObservation, observationOf, resultText } from '../../../src/parts/mcp/result.ts'
import { createMcpTool, modelName } from '../../../src/parts/mcp/tool.ts'
import { AppError } from '../../../src/base/errors.ts'
import type { JsonObject } from '../../../src/base/json.ts'
import { isObservation } from '../../../src/schema/generated/observations.ts'
import { isMcpTool, isToolDefinition, type McpTool } from '../../../src/schema/generated/tools.ts'
import { failure } from '../../support/rpc.ts'
import { suite } from '../../support/suite.ts'

const test = suite('agents/mcp/tool')

/** Returns the content behind the line that says that the tool was executed. */
function shown(result: JsonObject): unknown[] {
  const observation = observationOf('t', result)
  assert.ok(isObservation(observation))
  const [first, ...rest] = observation.content
  assert.is(first?.type === 'text' && first.text, "[Tool 't' executed.]")
  return rest.map((part) => (part.type === 'text' ? part.text : part.image_urls))
}

const png = { type: 'image', mimeType: 'image/png', data: 'AAAA' }
const results: readonly (readonly [name: string, result: JsonObject, parts: readonly unknown[]])[] = [
  ['texts', { content: [{ type: 'text', text: 'a' }, { type: 'text', text: '' }] }, ['a', '']],
  ['nothing', {}, []],
  ['content that is none', { content: 'a' }, []],
  ['an image', { content: [png] }, [['data:image/png;base64,AAAA']]],
  ['a structured result alone', { content: [], structuredContent: { a: 1 } }, ['{"a":1}']],
  ['a structured result with an image', { content: [png], structuredContent: { a: 1 } },
    ['{"a":1}', ['data:image/png;base64,AAAA']]],
  ['a structured result that a text says too',
    { content: [{ type: 'text', text: '{ "a": 1 }' }], structuredContent: { a: 1 } }, ['{ "a": 1 }']],
  ['a text in a resource', { content: [{ type: 'resource', resource: { uri: 'file:///a', text: 'b' } }] },
    ['[Resource file:///a]\nb']],
  ['an image in a resource',
    { content: [{ type: 'resource', resource: { uri: 'a', mimeType: 'image/gif', blob: 'AA==' } }] },
    [['data:image/gif;base64,AA==']]],
  ['a link', { content: [{ type: 'resource_link', uri: 'file:///a', name: 'A' }] }, ['[Resource A: file:///a]']],
  ['sound', { content: [{ type: 'audio', mimeType: 'audio/wav', data: 'AA==' }] },
    ['[1 part of the result could not be shown.]']],
  [
    'what claims to be an image',
    {
      content: [
        { ...png, mimeType: 'text/html' }, { ...png, data: 'A A' }, { type: 'resource', resource: { blob: 'AA==' } },
      ],
    },
    ['[3 parts of the result could not be shown.]'],
  ],
]
for (const [name, result, parts] of results) test(`shows ${name}`, () => assert.equal(shown(result), parts))

test('cuts what is too long, and leaves out what has no room', () => {
  const [cut, ...rest] = shown({ content: [{ type: 'text', text: 'x'.repeat(100_010) }, { type: 'text', text: 'y' }] })
  assert.is(String(cut).length, 100_000 + '\n[cut: 10 more characters]'.length)
  assert.equal(rest, ['[1 part of the result could not be shown.]'])
  const large = { ...png, data: 'A'.repeat(5 * 1024 * 1024) }
  assert.equal(shown({ content: [large, large] }).slice(1), ['[1 part of the result could not be shown.]'])
})

test('says of a result that it is an error', () => {
  assert.is(observationOf('t', { isError: true }).is_error, true)
  assert.is(observationOf('t', { isError: 'yes' }).is_error, false)
  assert.is(failedObservation('t', 'no').is_error, true)
})

test('gives the texts of a result alone', () => {
  assert.is(resultText({ content: [{ type: 'text', text: 'a' }, png, { type: 'text', text: 'b' }] }), 'a\nb')
})

const listed: McpTool = {
  name: 'look.up', description: 'Looks', inputSchema: { $schema: 's', properties: { a: {} }, required: ['a'] },
  annotations: { title: 'Look up', readOnlyHint: true }, _meta: { b: 2 }, outputSchema: {},
}

function toolOf(one: McpTool, call = async (): Promise<JsonObject> => ({})): ReturnType<typeof createMcpTool> {
  return createMcpTool({ listed: one, serverName: 's', call })
}

test('is told to a model with the schema of the server, and to clients as an MCPToolDefinition', () => {
  const { name, description, parameters, definition, isReadOnly } = toolOf(listed)
  assert.equal([name, description], ['look_up', 'Looks'])
  assert.equal(parameters, { $schema: 's', properties: { a: {} }, required: ['a'], type: 'object' })
  assert.ok(isToolDefinition(definition))
  assert.equal(definition, {
    kind: 'MCPToolDefinition',
    description: 'Looks',
    action_type: 'MCPToolAction',
    observation_type: 'MCPToolObservation',
    annotations: {
      title: 'Look up', readOnlyHint: true, destructiveHint: true, idempotentHint: false, openWorldHint: true,
    },
    meta: { b: 2 },
    title: 'Look up',
    mcp_tool: listed,
  })
  // A server that calls its tool harmless is not believed.
  assert.is(isReadOnly, false)
})

test('does without what the server leaves out or gets wrong', () => {
  const { definition, parameters } = toolOf({
    name: 'a', inputSchema: { properties: 7, type: 'array' }, annotations: 'x', _meta: [],
  })
  assert.equal(parameters, { type: 'object', properties: {} })
  assert.is(definition.description, 'A tool of the MCP server "s"')
  assert.equal([definition.title, definition.annotations, definition.meta], ['a', undefined, undefined])
  assert.ok(isMcpTool(Object(definition).mcp_tool))
})

test('has a name that every provider takes', () => {
  assert.equal(['a', 'a.b/c d', 'ä', 'x'.repeat(70)].map(modelName), ['a', 'a_b_c_d', '_', 'x'.repeat(64)])
})

test('takes any object as arguments, and hands it to the server', async () => {
  let got: unknown
  const tool = createMcpTool({
    listed,
    serverName: 's',
    call: async (args) => ({ content: [{ type: 'text', text: JSON.stringify((got = args)) }] }),
  })
  const read = tool.read({ a: { b: [1] } })
  assert.ok(read.ok)
  if (read.ok) await tool.run(read.action, { id: 'c', signal: new AbortController().signal })
  assert.equal(got, { a: { b: [1] } })
})

test('a call that fails is an observation, one that is stopped is none', async () => {
  const action = { kind: 'MCPToolAction', data: {} } as const
  const tool = toolOf(listed, async () => {
    throw new AppError('upstream_failed', 'gone')
  })
  assert.equal(
    await tool.run(action, { id: 'c', signal: new AbortController().signal }), failedObservation('look_up', 'gone'),
  )
  assert.match(
    String(await failure(tool.run(action, { id: 'c', signal: AbortSignal.abort(new Error('stop')) }))), 'stop',
  )
  const broken = toolOf(listed, async () => {
    throw new TypeError('a bug')
  })
  assert.match(String(await failure(broken.run(action, { id: 'c', signal: new AbortController().signal }))), 'a bug')
})

test.run()
