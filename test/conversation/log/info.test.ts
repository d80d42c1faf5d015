import * as assert from 'uvu/assert'
import { suite } from '../../support/suite.ts'
import { conversationInfo, fullState } from '../../../src/conversation/log/info.ts'
import { initialState } from '../../../src/conversation/log/state.ts'
import { UsageLedger } from '../../../src/conversation/log/usage.ts'
import { isObject, toJsonObject, type JsonValue } from '../../../src/base/json.ts'
import { check } from '../../../src/schema/check.ts'
import { created } from '../../support/conversation.ts'
import { llmOf } from '../../support/llm.ts'

const test = suite('conversation/log/info')

const token = 'as1:00000000:CANARY'
const agent = {
  kind: 'ACPAgent',
  acp_command: ['agent'],
  acp_model: 'chosen',
  acp_resume_session_id: token,
  llm: { model: 'acp-managed', usage_id: 'acp-managed', api_key: token },
  mcp_config: { a: { url: 'https://a', headers: { authorization: token } } },
  agent_context: { skills: [{ name: 's', content: 'c' }], secrets: { A: token } },
}
const secrets = {
  PLAIN: { kind: 'StaticSecret', value: token, description: 'what it is for' },
  LOOKED_UP: { kind: 'LookupSecret', url: 'https://a', headers: { authorization: token } },
}
const options = { includeSkills: false, persistenceDir: '/data/x', subConversationIds: ['child'] }

test('is what the schema calls a conversation, with its nulls', () => {
  const { agent: plain } = created()
  const info = conversationInfo(initialState(created({ agent: { ...plain, acp_model: null } })), {
    ...options, subConversationIds: [],
  })
  assert.equal(check('ConversationInfo', info), [])
  for (const name of ['title', 'metrics', 'leaf_event_id', 'current_model_id', 'parent_conversation_id']) {
    assert.is(info[name], null)
  }
  assert.is(info['persistence_dir'], '/data/x')
})

test('shows no secret, in whatever form the conversation is shown', () => {
  const state = initialState(created({ agent, secrets }))
  for (const shown of [
    conversationInfo(state, options),
    conversationInfo(state, { ...options, includeSkills: true }),
    fullState(state, '/data/x'),
  ]) {
    const text = JSON.stringify(shown)
    assert.not.match(text, 'CANARY')
    assert.not.match(text, 'as1:')
    assert.match(text, '"acp_resume_session_id":"**********"')
    assert.equal(shown['secret_registry'], {
      secret_sources: {
        PLAIN: { kind: 'StaticSecret', description: 'what it is for', value: '**********' },
        LOOKED_UP: {
          kind: 'LookupSecret', description: null, url: 'https://a', headers: { authorization: '**********' },
        },
      },
    })
  }
})

test('a condenser without a model of its own shows the one that it uses, as published clients expect', () => {
  const llm = toJsonObject(llmOf({ model: 'a', api_key: token }))
  const shown = (condenser: JsonValue): unknown => {
    const built = { kind: 'Agent', llm, tools: [], mcp_config: {}, condenser }
    const { agent: one } = conversationInfo(initialState(created({ agent: built })), options)
    return isObject(one) ? one['condenser'] : undefined
  }
  const own = { ...llm, api_key: '**********' }
  const rest = { kind: 'LLMSummarizingCondenser', max_size: 80 }
  assert.equal(shown({ ...rest, llm: null }), { ...rest, llm: { ...own, usage_id: 'condenser' } })
  assert.equal(shown({ ...rest, llm }), { ...rest, llm: own })
  for (const none of [null, { kind: 'NoOpCondenser' }]) assert.equal(shown(none), none)
})

test('leaves skills out unless they are asked for', () => {
  const state = initialState(created({ agent }))
  const skills = (includeSkills: boolean): string =>
    JSON.stringify(conversationInfo(state, { ...options, includeSkills })['agent'])
  assert.match(skills(false), '"skills":[]')
  assert.match(skills(true), '"skills":[{"name":"s","content":"c"}]')
})

test('the model is that of the session, and before there is one the chosen one', () => {
  const state = initialState(created({ agent }))
  assert.is(conversationInfo(state, options)['current_model_id'], 'chosen')
  state.agent_state = {
    acp_current_model_id: 'running',
    acp_available_models: [{ model_id: 'running' }],
    acp_supports_runtime_model_switch: true,
  }
  const info = conversationInfo(state, options)
  assert.is(info['current_model_id'], 'running')
  assert.equal(info['available_models'], [{ model_id: 'running' }])
  assert.is(info['supports_runtime_model_switch'], true)
})

test('the lists of single calls are always empty', () => {
  const state = initialState(created())
  state.stats = new UsageLedger({}).add({ usageId: 'a', model: 'm', cost: 1 })
  const text = JSON.stringify(conversationInfo(state, options)['stats'])
  assert.match(text, '"costs":[],"response_latencies":[],"token_usages":[]')
  assert.match(text, '"accumulated_cost":1')
  state.stats = { usage_to_metrics: { odd: 1 } }
  assert.equal(conversationInfo(state, options)['stats'], state.stats)
  state.stats = {}
  assert.equal(conversationInfo(state, options)['stats'], { usage_to_metrics: {} })
})

test('the full state leaves nulls out and has the open questions, but no title and no times', () => {
  const state = initialState(created())
  state.pending_confirmations = [{ id: 'q' }]
  const shown = fullState(state, '/data/x')
  assert.equal(shown['pending_confirmations'], [{ id: 'q' }])
  for (const name of ['security_analyzer', 'title', 'created_at', 'updated_at', 'hook_config']) {
    assert.not.ok(name in shown, name)
  }
  assert.is(shown['execution_status'], 'idle')
  assert.is(shown['persistence_dir'], '/data/x')
  assert.is(shown['head_is_empty'], true)
})

test('shows a budget with what was spent of it', () => {
  const state = initialState(created({ max_budget_per_task: 2 }))
  state.stats = { usage_to_metrics: { a: { accumulated_cost: 0.5 }, b: { accumulated_cost: 0.25 } } }
  assert.equal(conversationInfo(state, options)['metrics'], {
    model_name: 'default', accumulated_cost: 0.75, max_budget_per_task: 2, accumulated_token_usage: null,
  })
})

test.run()
