/** The choices that a session offers and has made, as its answers and its updates tell them. */
import * as assert from 'uvu/assert'
import { failedMcpServer, withFailure, type McpServerState } from '../../../src/agents/acp/session/mcp-servers.ts'
import {
  choicesState, readChoices, updateChoices, withMode, withModel,
} from '../../../src/agents/acp/session/session-choices.ts'
import { suite } from '../../support/suite.ts'

const test = suite('acp session choices')

const modes = { currentModeId: 'a', availableModes: [{ id: 'a' }, { id: 'b' }] }
const models = { currentModelId: 'x', availableModels: [{ modelId: 'x' }] }
const choices = readChoices({ modes, models })

test('follows the mode and the options that the agent tells', () => {
  assert.is(updateChoices(choices, { sessionUpdate: 'current_mode_update', currentModeId: 'b' }).modes.current, 'b')
  const option = { id: 'model', currentValue: 'z', options: [{ value: 'z' }] }
  const both = updateChoices(choices, {
    sessionUpdate: 'config_option_update', configOptions: [option, { id: 'm', category: 'mode', currentValue: 'b' }],
  })
  assert.equal([both.modes.current, both.models.current, both.models.via], ['b', 'z', { configId: 'model' }])
  const mode = updateChoices(choices, {
    sessionUpdate: 'config_option_update', configOptions: [{ id: 'mode', currentValue: 'b' }],
  })
  assert.equal([mode.modes.current, mode.models], ['b', choices.models])
})

test('tells mode and model by their category, and shows every other option that can be chosen', () => {
  const effort = {
    id: 'effort', name: 'Effort', category: 'thought_level', type: 'select', currentValue: 'low',
    options: [{ value: 'low' }, { group: 'g', options: [{ value: 'high', name: 'High' }] }],
  }
  const { modes: found, models: models2, options } = readChoices({ configOptions: [
    { id: 'work', category: 'mode', type: 'select', currentValue: 'a', options: [{ value: 'a' }, { value: 'b' }] },
    { id: 'brain', category: 'model', type: 'select', currentValue: 'x', options: [{ value: 'x' }] },
    effort, { id: 'fast', type: 'boolean', currentValue: true }, { type: 'select' }, null,
  ] })
  assert.equal([found.current, found.offered, found.configId], ['a', ['a', 'b'], 'work'])
  assert.equal([models2.current, models2.via], ['x', { configId: 'brain' }])
  assert.equal(options.map(({ shown }) => shown), [{
    option_id: 'effort', name: 'Effort', description: null, category: 'thought_level', current_value: 'low',
    values: [{ value: 'low', name: null, description: null }, { value: 'high', name: 'High', description: null }],
  }, {
    option_id: 'fast', name: null, description: null, category: null, current_value: 'true',
    values: [{ value: 'true', name: null, description: null }, { value: 'false', name: null, description: null }],
  }])
  const updated = updateChoices(readChoices({}), { sessionUpdate: 'config_option_update', configOptions: [effort] })
  assert.equal(updated.options.map(({ id, current, values }) => [id, current, values]), [
    ['effort', 'low', ['low', 'high']],
  ])
})

test('gives the same object back for what changes nothing', () => {
  const updates = [
    { sessionUpdate: 'current_mode_update', currentModeId: 'a' },
    { sessionUpdate: 'current_mode_update' },
    { sessionUpdate: 'config_option_update', configOptions: [] },
    { sessionUpdate: 'agent_message_chunk' },
  ]
  for (const update of updates) assert.is(updateChoices(choices, update), choices)
  assert.is(withMode(choices, 'a'), choices)
  assert.is(withModel(choices, 'x'), choices)
  assert.is(withModel(choices, 'y').models.current, 'y')
})

test('shows nothing chosen as null', () => {
  assert.equal(choicesState(readChoices(null)), {
    acp_current_model_id: null,
    acp_available_models: [],
    acp_supports_runtime_model_switch: false,
    acp_current_mode_id: null,
    acp_available_modes: [],
    acp_config_options: [],
  })
})

test('knows the report of an MCP server that did not start, whatever is in its name', () => {
  const failed = {
    toolCallId: 'mcp_startup.a.b%2Fc.0-1', status: 'failed', content: [{ content: { text: 'why' } }, {}],
  }
  assert.equal(failedMcpServer(failed), { name: 'a.b/c', detail: 'why' })
  assert.is(failedMcpServer({ ...failed, toolCallId: 'mcp_startup.%E0%A4%A.1' })?.name, '%E0%A4%A')
  for (const other of [{ ...failed, status: 'completed' }, { ...failed, toolCallId: 'call' }, {}]) {
    assert.is(failedMcpServer(other), undefined)
  }
})

test('marks the server that failed, also under the name that the agent gave it', () => {
  const states: McpServerState[] = [
    { name: 'my server', type: 'stdio', status: 'handed_over' }, { name: 'b', type: 'http', status: 'handed_over' },
  ]
  assert.equal(withFailure(states, { name: 'my_server', detail: 'why' })[0], {
    name: 'my server', type: 'stdio', status: 'failed', detail: 'why',
  })
  assert.is(withFailure(states, { name: 'b', detail: 'x'.repeat(1000) })[1]?.detail?.length, 500)
  assert.equal(withFailure(states, { name: 'c', detail: '' }), states)
})

test.run()
