/**
 * Holds the schema against the tables of the specification, which stand here a second time, written from its text.
 *
 * Types, presence, defaults and order are compared; the work of validators with them is tested in test/schema.
 */
import * as assert from 'uvu/assert'
import type { ObjectSchema } from '../../src/schema/spec/define.ts'
import { registry } from '../../src/schema/registry.ts'
import { suite } from '../support/suite.ts'
import * as eventTables from './event-tables.ts'
import { printObject, type Table } from './notation.ts'
import * as payloadTables from './payload-tables.ts'

const test = suite('tables of the specification')

test('the event kinds are the fourteen of the table, in its order', () => {
  assert.equal(variantsOf('Event'), Object.keys(eventTables.events))
  assert.is(variantsOf('Event').length, 14)
})

for (const [kind, { source, ...own }] of Object.entries({ ...eventTables.events, ...eventTables.frames })) {
  test(`event: ${kind} is closed and has the fields of the table`, () => {
    const presence = source === 'required' ? ', required' : ` = "${source}"`
    const common = { id: 'string', timestamp: 'string', source: `agent|user|environment${presence}` }
    assertTable(kind, { kind: `"${kind}", required`, ...common, ...own }, 'refused')
  })
}

test('the frames of live streams are no events', () => {
  assert.equal(variantsOf('PushFrame'), Object.keys(eventTables.frames))
})

for (const [name, table] of Object.entries(eventTables.embedded)) {
  const isOpen = name === 'Message' || name === 'ImageContent'
  test(`object: ${name} has the fields of the table`, () => assertTable(name, table, isOpen ? 'dropped' : 'refused'))
}

for (const [name, table] of Object.entries(eventTables.errors)) {
  test(`error: ${name} has the fields of the table`, () => assertTable(name, table, 'dropped'))
}

test('the action kinds are the twenty-eight of the table, in its order', () => {
  assert.equal(variantsOf('Action'), Object.keys(payloadTables.actions))
  assert.is(variantsOf('Action').length, 28)
})

for (const [kind, table] of Object.entries(payloadTables.actions)) {
  test(`action: ${kind} is closed and has the fields of the table`, () => {
    assertTable(kind, { kind: `"${kind}", required`, ...table }, 'refused')
  })
}

test('the observation kinds are the fourteen of the list, in its order', () => {
  assert.equal(variantsOf('Observation'), Object.keys(payloadTables.observations))
  assert.is(variantsOf('Observation').length, 14)
})

for (const [kind, table] of Object.entries(payloadTables.observations)) {
  test(`observation: ${kind} is closed and has the fields of the contract`, () => {
    const common = { content: '(TextContent|ImageContent)[] = []', is_error: 'boolean = false' }
    assertTable(kind, { kind: `"${kind}", required`, ...common, ...table }, 'refused')
  })
}

for (const [name, table] of Object.entries(payloadTables.parts)) {
  test(`payload: ${name} is closed and has the fields of the contract`, () => assertTable(name, table, 'refused'))
}

test('the tool kinds are the twenty-eight of the list, in its order', () => {
  const [mcp, ...builtIn] = payloadTables.toolKinds
  assert.is(payloadTables.toolKinds.length, 28)
  assert.equal(variantsOf('ToolDefinition'), [mcp, 'BuiltInTool'])
  assertTable('BuiltInTool', { kind: `${builtIn.join('|')}, required`, ...payloadTables.tool }, 'dropped')
  const mcpTool = { mcp_tool: 'McpTool, required' }
  assertTable('MCPToolDefinition', { kind: `"${mcp}", required`, ...payloadTables.tool, ...mcpTool }, 'dropped')
})

for (const [name, table] of Object.entries(payloadTables.toolParts)) {
  const unknown = name === 'McpTool' ? 'kept' : 'dropped'
  test(`tool: ${name} has the fields of the contract`, () => assertTable(name, table, unknown))
}

test('the agent settings have the four fields of the specification', () => {
  const { agent_kind, acp_server, acp_command, acp_model } = printObject(objectOf('AcpAgentSettings'))
  assert.equal({ agent_kind, acp_server, acp_command, acp_model }, {
    agent_kind: '"acp", required',
    acp_server: 'claude-code|codex|gemini-cli|custom = "claude-code"',
    acp_command: 'string[] = []',
    acp_model: 'string or null',
  })
  assert.is(printObject(objectOf('OpenHandsAgentSettings'))['agent_kind'], '"openhands" = "openhands"')
  assert.is(printObject(objectOf('SettingsPatch'))['agent_settings_diff'], 'object or null')
})

test.run()

function assertTable(name: string, table: Table, unknown: ObjectSchema['unknown']): void {
  const schema = objectOf(name)
  assert.equal(Object.entries(printObject(schema)), Object.entries(table))
  assert.is(schema.unknown, unknown)
}

function objectOf(name: string): ObjectSchema {
  const schema = registry[name]
  if (schema?.type !== 'object') throw new TypeError(`There is no object "${name}" in the schema`)
  return schema
}

function variantsOf(name: string): readonly string[] {
  const schema = registry[name]
  if (schema?.type !== 'union') throw new TypeError(`There is no union "${name}" in the schema`)
  return schema.variants
}
