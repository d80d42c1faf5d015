/**
 * Whether the descriptions of the settings forms have the shape that existing clients read (contract/settings.md 3.4).
 */
import * as assert from 'uvu/assert'
import {
  agentSchema, conversationSchema, type SettingsField, type SettingsSchema,
} from '../../../src/parts/forms/schema-view.ts'
import { suite } from '../../support/suite.ts'

const test = suite('parts/forms/schema-view')

function fieldsOf(schema: SettingsSchema): SettingsField[] {
  return schema.sections.flatMap(({ fields }) => fields)
}

function fieldNamed(schema: SettingsSchema, key: string): SettingsField {
  const field = fieldsOf(schema).find((candidate) => candidate.key === key)
  if (field === undefined) throw new RangeError(`Expected a field "${key}"`)
  return field
}

test('has the sections of the agent settings in their order', () => {
  const { model_name, sections } = agentSchema()
  assert.is(model_name, 'AgentSettings')
  assert.equal(sections.map(({ key, label, variant }) => [key, label, variant]), [
    ['general', 'General', null],
    ['llm', 'LLM', 'openhands'],
    ['agent_context', 'Memory', 'openhands'],
    ['condenser', 'Condenser', 'openhands'],
    ['verification', 'Verification', 'openhands'],
    ['acp', 'ACP', 'acp'],
    ['llm', 'LLM', 'acp'],
  ])
})

test('lists the fields of the general and the acp section', () => {
  const keysOf = (key: string): string[] =>
    agentSchema().sections.find((section) => section.key === key)?.fields.map((field) => field.key) ?? []
  assert.equal(keysOf('general'), [
    'agent', 'tools', 'enable_sub_agents', 'enable_switch_llm_tool', 'tool_concurrency_limit', 'mcp_config',
  ])
  assert.equal(keysOf('agent_context'), ['agent_context.load_memory'])
  assert.equal(keysOf('acp'), [
    'acp_server', 'acp_command', 'acp_args', 'acp_model', 'acp_session_mode', 'acp_prompt_timeout',
    'acp_startup_timeout',
  ])
  assert.ok(agentSchema().sections[0]?.fields.every(({ variant }) => variant === 'openhands'))
})

test('describes a secret without a default', () => {
  assert.equal(fieldNamed(agentSchema(), 'llm.api_key'), {
    key: 'llm.api_key', label: 'API Key', section: 'llm', section_label: 'LLM', value_type: 'string', default: null,
    prominence: 'critical', depends_on: [], secret: true, choices: [], variant: 'openhands',
  })
})

test('offers the kinds of condensers, and says of every field which agent has it', () => {
  const { choices, default: initial, value_type } = fieldNamed(agentSchema(), 'condenser.condenser_kind')
  assert.equal(choices, [
    { value: 'llm_summarizing', label: 'LLM Summarizing' }, { value: 'no_op', label: 'No Op' },
  ])
  assert.equal([initial, value_type], ['llm_summarizing', 'string'])
  for (const field of fieldsOf(conversationSchema())) assert.is(field.variant, null)
})

test('offers the four servers by name', () => {
  const { choices, prominence, default: initial } = fieldNamed(agentSchema(), 'acp_server')
  assert.equal(choices, [
    { value: 'claude-code', label: 'Claude Code' },
    { value: 'codex', label: 'Codex' },
    { value: 'gemini-cli', label: 'Gemini CLI' },
    { value: 'custom', label: 'Custom' },
  ])
  assert.equal([prominence, initial], ['critical', 'claude-code'])
})

const types: readonly (readonly [string, string, unknown])[] = [
  ['llm.model', 'string', 'gpt-5.5'],
  ['llm.num_retries', 'integer', 5],
  ['llm.temperature', 'number', null],
  ['llm.stream', 'boolean', false],
  ['llm.litellm_extra_body', 'object', {}],
  ['mcp_config', 'object', {}],
  ['tools', 'array', null],
  ['acp_command', 'array', []],
  ['acp_model', 'string', null],
  ['acp_prompt_timeout', 'number', 1800],
]
for (const [key, type, initial] of types) {
  test(`${key} is of type ${type}`, () => {
    const field = fieldNamed(agentSchema(), key)
    assert.equal([field.value_type, field.default], [type, initial])
  })
}

test('names critical and major fields as the contract does', () => {
  const keysOf = (prominence: string): string[] => [
    ...new Set(fieldsOf(agentSchema()).filter((field) => field.prominence === prominence).map(({ key }) => key)),
  ].sort()
  assert.equal(keysOf('critical'), [
    'acp_model', 'acp_server', 'condenser.enabled', 'llm.api_key', 'llm.auth_type', 'llm.model',
    'llm.subscription_vendor', 'verification.critic_api_key', 'verification.critic_enabled',
    'verification.enable_iterative_refinement',
  ])
  assert.equal(keysOf('major'), [
    'agent', 'agent_context.load_memory', 'enable_sub_agents', 'llm.base_url', 'llm.provider_connection_id',
    'tool_concurrency_limit', 'tools',
  ])
})

test('depends only on fields that are there, and has no field for the kind', () => {
  const keys = new Set(fieldsOf(agentSchema()).map(({ key }) => key))
  for (const { depends_on } of fieldsOf(agentSchema())) assert.ok(depends_on.every((key) => keys.has(key)))
  assert.not.ok(keys.has('agent_kind'))
})

test('describes the conversation settings', () => {
  const { model_name, sections } = conversationSchema()
  assert.is(model_name, 'ConversationSettings')
  const shown = sections.map(({ key, fields }) => [
    key, fields.map((field) => [field.key, field.prominence, field.value_type]),
  ])
  assert.equal(shown, [
    ['general', [['max_iterations', 'major', 'integer']]],
    ['verification', [['confirmation_mode', 'critical', 'boolean'], ['security_analyzer', 'major', 'string']]],
  ])
  const analyzer = fieldNamed(conversationSchema(), 'security_analyzer')
  assert.equal([analyzer.depends_on, analyzer.choices.map(({ value }) => value)], [
    ['confirmation_mode'], ['llm', 'none'],
  ])
})

test.run()
