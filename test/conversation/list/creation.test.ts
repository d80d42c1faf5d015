import { randomBytes } from 'node:crypto'
import * as assert from 'uvu/assert'
import { suite } from '../../support/suite.ts'
import { AppError, type ErrorCode } from '../../../src/base/errors.ts'
import { isJsonObject, type JsonObject } from '../../../src/base/json.ts'
import { createAgentVault } from '../../../src/conversation/agent/vault.ts'
import { settleRequest, type CreationDeps } from '../../../src/conversation/list/creation.ts'
import { dashed } from '../../../src/conversation/list/ids.ts'
import type { Created } from '../../../src/conversation/log/origins.ts'
import { isLoaderVariable } from '../../../src/base/loader-variable.ts'
import { parse } from '../../../src/schema/check.ts'
import { StartConversationRequest } from '../../../src/schema/generated/conversations.ts'
import { createCipher } from '../../../src/settings/cipher.ts'
import { freshSettings } from '../../../src/settings/patch.ts'
import { builtInProviders } from '../../../src/settings/providers-table.ts'
import { failureOf, featuresOf, objectOf, startMillis } from '../../support/conversation.ts'

const test = suite('conversation/list/creation')

const parentId = '11111111-1111-4111-8111-111111111111'

function setUp(): { deps: CreationDeps; hidden: Map<string, readonly string[]> } {
  const cipher = createCipher({ keys: [Buffer.alloc(32, 1)], random: randomBytes })
  const hidden = new Map<string, readonly string[]>()
  const setMasked = (owner: string, values: readonly string[]): void =>
    void (values.length === 0 ? hidden.delete(owner) : hidden.set(owner, values))
  const deps: CreationDeps = {
    shard: undefined,
    clock: () => startMillis,
    vault: createAgentVault({ cipher, providers: builtInProviders, setMasked, isLoaderVariable }),
    settings: async () => freshSettings(),
    launchProfile: async (profileId) => {
      if (profileId === parentId) throw new AppError('not_found', 'No such profile')
      return { ...freshSettings(), launched: { agent_profile_id: profileId, revision: 3 } }
    },
    preparePlace: async (requested, id) => {
      if (requested === '/refused') throw new AppError('invalid_input', 'Cannot use it')
      return requested ?? `/workspaces/${id}`
    },
    agentKind: async ({ kind }) => ({
      ...featuresOf(kind), create: () => { throw new Error('Expected no agent') },
    }),
    pluginsFor: async () => ({ skills: [], hooks: [], agents: [], servers: {} }),
    workingDirOf: async (id) => (id === parentId ? '/shared' : undefined),
  }
  return { deps, hidden }
}

function requestOf(body: JsonObject): StartConversationRequest {
  const parsed = parse(StartConversationRequest, body)
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.issues))
  return parsed.value
}

const settle = (body: JsonObject): Promise<Created> => settleRequest(requestOf(body), setUp().deps)

test('settles everything that an empty request leaves open', async () => {
  const created = await settle({})
  assert.match(created.id, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  assert.equal({ ...created, id: '', agent: {}, working_dir: '' }, {
    id: '', created_at: '2026-11-21T12:00:00.000000Z', agent: {}, working_dir: '',
    confirmation_policy: { kind: 'NeverConfirm' },
    security_analyzer: null, max_iterations: 500, stuck_detection: true, autotitle: true, tags: {}, secrets: {},
    hook_config: null, client_tools: [], agent_definitions: [], parent_conversation_id: null,
    launched_agent_profile: null,
    max_budget_per_task: null,
    title_llm_profile: null, made_by: undefined,
  })
  assert.is(created.working_dir, `/workspaces/${created.id}`)
  assert.equal([created.agent['kind'], created.agent['acp_command']], ['ACPAgent', ['agent-server-demo-agent']])
})

test('takes what the request says', async () => {
  const given = {
    confirmation_policy: { kind: 'ConfirmRisky', threshold: 'LOW', confirm_unknown: false },
    security_analyzer: { kind: 'LLMSecurityAnalyzer' },
    max_iterations: 7,
    stuck_detection: false,
    autotitle: false,
    tags: { a: '1' },
    hook_config: {
      stop: [], pre_tool_use: [], post_tool_use: [], user_prompt_submit: [], session_start: [], session_end: [],
    },
  }
  const created = await settle({
    ...given,
    workspace: { working_dir: '/mine' },
    agent: { kind: 'Agent', llm: { model: 'demo/scripted' } },
    client_tools: [{ name: 't', description: 'd' }],
    secrets: { A: { kind: 'StaticSecret', value: 'a long value' } },
  })
  for (const [name, value] of Object.entries(given)) assert.equal(objectOf(created)[name], value, name)
  assert.is(created.working_dir, '/mine')
  assert.equal(created.client_tools, [{ name: 't', description: 'd', parameters: { type: 'object', properties: {} } }])
  assert.match(String(created.secrets['A']?.['value']), /^as1:/)
})

test('an id of either form becomes the dashed one', async () => {
  const id = 'ABCDEF00-0000-4000-8000-000000000001'
  for (const form of [id, id.replaceAll('-', ''), id.toLowerCase()]) {
    assert.is((await settle({ conversation_id: form })).id, id.toLowerCase())
    assert.is(dashed(form), id.toLowerCase())
  }
})

test('a parent must be there, be another one, and work in the same folder', async () => {
  const shared = { workspace: { working_dir: '/shared' } }
  assert.is((await settle({ ...shared, parent_conversation_id: parentId })).parent_conversation_id, parentId)
  const other = '22222222-2222-4222-8222-222222222222'
  const cases: readonly JsonObject[] = [
    { ...shared, parent_conversation_id: other },
    { ...shared, parent_conversation_id: parentId, conversation_id: parentId.replaceAll('-', '') },
    { workspace: { working_dir: '/elsewhere' }, parent_conversation_id: parentId },
    { parent_conversation_id: parentId },
  ]
  for (const body of cases) assert.is(await failureOf(settle(body)), 'invalid_input')
})

const refusals: readonly (readonly [body: JsonObject, code: ErrorCode])[] = [
  [{ agent_profile_id: parentId }, 'not_found'],
  [{ agent_profile_id: parentId, agent: { kind: 'ACPAgent', acp_command: ['x'] } }, 'invalid_input'],
  [{ agent_profile_id: parentId, agent_settings: {} }, 'invalid_input'],
  [{ workspace: { working_dir: '/refused' } }, 'invalid_input'],
  [{ secrets: { PATH: { kind: 'StaticSecret', value: 'a long value' } } }, 'invalid_input'],
]

test('client tools that are given twice are refused', async () => {
  const tool = { name: 't', description: 'd' }
  assert.is(
    await failureOf(settle({ agent: { kind: 'Agent', llm: { model: 'demo/scripted' } }, client_tools: [tool, tool] })),
    'invalid_input',
  )
})

for (const [body, code] of refusals) {
  test(`${JSON.stringify(body)} is refused with ${code}, and nothing stays masked`, async () => {
    const { deps, hidden } = setUp()
    const secrets = { A: { kind: 'StaticSecret', value: 'a long value' }, ...objectOf(body['secrets'] ?? {}) }
    assert.is(await failureOf(settleRequest(requestOf({ ...body, secrets }), deps)), code)
    assert.is(hidden.size, 0)
  })
}

test('appends the instructions of the request to those of the built-in agent alone', async () => {
  const agent = { kind: 'Agent', llm: { model: 'x/y' }, agent_context: { system_message_suffix: 'Be brief.' } }
  const additions = { agent_launch_additions: { system_message_suffix_append: ' Speak French. ' } }
  const suffix = async (body: JsonObject): Promise<unknown> => {
    const { agent: settled } = await settle({ ...body, ...additions })
    return isJsonObject(settled['agent_context']) ? settled['agent_context']['system_message_suffix'] : undefined
  }
  assert.is(await suffix({ agent }), 'Be brief.\n\nSpeak French.')
  assert.is(await suffix({ agent: { kind: 'Agent', llm: { model: 'x/y' } } }), 'Speak French.')
  const told: string[] = []
  const external = requestOf({ agent: { kind: 'ACPAgent', acp_command: ['x'] }, ...additions })
  await settleRequest(external, setUp().deps, (member) => void told.push(member))
  assert.equal(told, ['agent_launch_additions'])
})

test.run()
