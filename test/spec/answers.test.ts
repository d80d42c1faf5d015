/**
 * Every operation of the description, asked of a real server: the answer has to fit the schema that the description
 * gives for that status, and the request has to fit the schema for requests.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import * as assert from 'uvu/assert'
import { isObject } from '../../src/base/json.ts'
import { openapi } from '../../src/schema/generated/openapi.ts'
import { stdioProgram } from '../parts/mcp/carriers.ts'
import { startOAuth, type OAuthWorld } from '../fixtures/oauth-server.ts'
import { faultsOf } from '../schema/json-schema.ts'
import { formOf, formType } from '../parts/files/form.ts'
import { makeRepository } from '../parts/git/repositories.ts'
import { listAt, member, textAt, type Call, type RestResponse } from '../support/rest.ts'
import { fakeAgent, startServer, type TestServer } from '../support/server.ts'
import { until } from '../support/processes.ts'
import { suite } from '../support/suite.ts'
import { Answered, operationsOf } from './answered.ts'

const test = suite('answers and their description')
const document: unknown = JSON.parse(openapi)
const answered = new Answered()
const unknownId = '00000000-0000-4000-8000-000000000000'
let server: TestServer

test.before(async () => {
  server = await startServer({ metrics: true })
})
test.after(() => server.close())

interface Ask {
  /** The parameters of the path, and the query behind it. */
  readonly id?: string
  readonly event?: string
  readonly name?: string
  readonly query?: string
  readonly body?: unknown
  /** A body that is not JSON. */
  readonly raw?: Call
}

/** Asks for an operation by its name in the description and holds request and answer against it. */
async function ask(name: string, status: number, asking: Ask = {}): Promise<RestResponse> {
  const { id = '', event = '', name: secret = '', query = '', body, raw = {} } = asking
  const [method = '', template = ''] = name.split(' ')
  const operation = member(document, 'paths', template, method.toLowerCase())
  assert.ok(isObject(operation), `${name} is not described`)
  const filled = template.replace('{event_id}', event).replace(/\{(?:name|key|path)\}/, secret).replace(/\{\w+\}/, id)
  const answer = await server.rest.send(method, filled + query, body === undefined ? raw : { body })
  assert.is(answer.status, status, `${name}: ${answer.text}`)
  answered.take(name, answer)
  if (status < 300 && body !== undefined) {
    const wanted = member(operation, 'requestBody', 'content', 'application/json', 'schema')
    assert.equal(faultsOf(body, wanted, document), [], `the request of ${name}`)
  }
  if (status === 204) return answer
  const [type] = String(answer.headers['content-type']).split(';')
  const content = member(operation, 'responses', String(status), 'content')
  const described = member(member(content, type ?? '') ?? member(content, '*/*'), 'schema')
  const value = type === 'application/json' ? answer.json : answer.text
  assert.equal(faultsOf(value, described, document), [], `the answer ${status} of ${name}`)
  return answer
}

const conversation = '/api/conversations/{conversation_id}'
const conversationOperations = operationsOf(document)
  .map(({ name }) => name)
  .filter((name) => name.includes('{conversation_id}'))

/** A body for each operation of a conversation that needs one. */
const bodies: Readonly<Record<string, unknown>> = {
  'PATCH ': {},
  'GET /events': [],
  'POST /events': {},
  'POST /events/respond_to_confirmation': { accept: true },
  'POST /confirmation_policy': { policy: { kind: 'NeverConfirm' } },
  'POST /security_analyzer': { security_analyzer: null },
  'POST /secrets': { secrets: {} },
  'POST /navigate': { event_id: null },
  'POST /load_plugin': { plugin_ref: 'a-plugin' },
  'POST /switch_llm': { llm: { model: 'a-model' } },
  'POST /switch_profile': { profile_name: 'a-profile' },
  'POST /switch_acp_model': { model: 'a-model' },
  'POST /switch_acp_mode': { mode: 'a-mode' },
  'POST /switch_acp_option': { option_id: 'an-option', value: 'a-value' },
  'POST /ask_agent': { question: 'Who are you?' },
  'POST /goal': { objective: 'All of it' },
}

test('what the server says about itself fits its description', async () => {
  for (const probe of [
    'GET /alive', 'GET /health', 'GET /ready', 'GET /server_info', 'GET /', 'GET /docs', 'GET /redoc', 'GET /metrics',
  ]) {
    await ask(probe, 200)
  }
  assert.equal((await ask('GET /openapi.json', 200)).json, document)
})

test('settings fit their description', async () => {
  await ask('GET /api/settings', 200)
  const diff = { agent_kind: 'acp', acp_server: 'custom', acp_command: ['agent-server-demo-agent'], acp_model: null }
  await ask('PATCH /api/settings', 200, { body: { agent_settings_diff: diff, misc_settings_diff: { a: 1 } } })
  await ask('PATCH /api/settings', 200, { body: { agent_settings_diff: { agent_kind: 'openhands' } } })
  await ask('PATCH /api/settings', 200, { body: { agent_settings_diff: diff } })
  await ask('PATCH /api/settings', 400, { body: {} })
  await ask('PATCH /api/settings', 422, { body: { agent_settings_diff: 'no object' } })
  await ask('GET /api/settings/agent-schema', 200)
  await ask('GET /api/settings/conversation-schema', 200)
  const name = 'a-server'
  await ask('POST /api/settings/mcp/{key}', 201, { name, body: { command: 'true', enabled: false } })
  await ask('POST /api/settings/mcp/{key}', 409, { name, body: { command: 'true' } })
  await ask('PATCH /api/settings/mcp/{key}', 200, { name, body: { description: 'A server' } })
  await ask('DELETE /api/settings/mcp/{key}', 200, { name })
  await ask('DELETE /api/settings/mcp/{key}', 404, { name })
  await ask('PATCH /api/settings/mcp/{key}', 404, { name, body: { description: 'A server' } })
})

test('global secrets fit their description', async () => {
  const name = 'AN_API_KEY'
  await ask('PUT /api/settings/secrets', 200, { body: { name, value: 'a-value-of-some-length', description: 'A key' } })
  await ask('PUT /api/settings/secrets', 422, { body: { name } })
  await ask('GET /api/settings/secrets', 200)
  await ask('GET /api/settings/secrets/{name}', 200, { name })
  await ask('DELETE /api/settings/secrets/{name}', 200, { name })
  await ask('GET /api/settings/secrets/{name}', 404, { name })
  await ask('DELETE /api/settings/secrets/{name}', 404, { name })
})

test('services that are not here fit their description', async () => {
  const automation = ['automation/health', 'automation/sdk-version', 'automation/v1']
  for (const path of [...automation, 'canvas-extensions/installed', 'vscode/status', 'llm/balance']) {
    await ask(`GET /api/${path}`, 200)
  }
  await ask('POST /api/automation/v1/telemetry/consent', 200)
  for (const path of ['vscode', 'desktop']) await ask(`GET /api/${path}/url`, 503)
  await ask('GET /api/skills/marketplace', 200)
  await ask('GET /api/plugins/marketplace', 200)
  const id = textAt((await ask('POST /api/conversations', 201, { body: {} })).json, 'id')
  await ask(`POST ${conversation}/load_plugin`, 400, { id, body: { plugin_ref: 'a-plugin@a-marketplace' } })
  await ask(`POST ${conversation}/load_plugin`, 422, { id, body: { plugin_ref: '' } })
})

test('lists of models and provider connections fit their description', async () => {
  const connections = '/api/llm/provider-connections'
  for (const list of [
    'providers', 'models', 'models/verified', 'subscription/openai/models', 'subscription/openai/status',
  ]) {
    await ask(`GET /api/llm/${list}`, 200)
  }
  await ask('POST /api/llm/subscription/openai/logout', 200)
  await ask('POST /api/llm/subscription/openai/device/start', 400)
  const { json } = await ask(`POST ${connections}`, 201, {
    body: { display_name: 'Shared', api_key: 'a-key-of-some-length' },
  })
  await ask(`POST ${connections}`, 422, { body: {} })
  await ask(`GET ${connections}`, 200)
  const id = textAt(json, 'id')
  await ask(`PATCH ${connections}/{connection_id}`, 200, { id, body: { base_url: 'https://models.example' } })
  await ask(`PATCH ${connections}/{connection_id}`, 404, { id: unknownId, body: { display_name: 'Other' } })
  await ask(`DELETE ${connections}/{connection_id}`, 200, { id })
  await ask(`DELETE ${connections}/{connection_id}`, 404, { id })
})

test('agent profiles fit their description', async () => {
  const agents = '/api/agent-profiles'
  const [name, other] = ['an-agent', 'another-agent']
  const body = { agent_kind: 'acp', acp_server: 'custom', acp_command: 'agent-server-demo-agent' }
  await ask(`POST ${agents}/{name}`, 201, { name, body })
  await ask(`POST ${agents}/{name}`, 422, { name, body: { ...body, foreign: 1 } })
  await ask(`GET ${agents}`, 200)
  const { json } = await ask(`GET ${agents}/{name}`, 200, { name })
  await ask(`GET ${agents}/{name}`, 404, { name: other })
  await ask(`POST ${agents}/{profile_id}/activate`, 200, { id: textAt(json, 'profile', 'id') })
  await ask(`POST ${agents}/{profile_id}/activate`, 404, { id: unknownId })
  await ask(`POST ${agents}/{name}/materialize`, 200, { name })
  await ask(`POST ${agents}/{name}/rename`, 200, { name, body: { new_name: other } })
  await ask(`POST ${agents}/{name}`, 201, { name, body })
  await ask(`POST ${agents}/{name}/rename`, 409, { name, body: { new_name: other } })
  for (const one of [name, other]) await ask(`DELETE ${agents}/{name}`, 200, { name: one })
  await ask(`DELETE ${agents}/{name}`, 422, { name: '-' })
  await ask(`POST ${agents}/{name}/materialize`, 404, { name })
})

test('profiles fit their description', async () => {
  const [name, other] = ['fast', 'faster']
  const body = {
    llm: { model: 'demo/scripted', api_key: 'a-key-of-some-length', extra_headers: { 'X-Key': 'another-key' } },
  }
  await ask('POST /api/profiles/{name}', 201, { name, body })
  await ask('POST /api/profiles/{name}', 422, { name, body: {} })
  await ask('GET /api/profiles', 200)
  await ask('GET /api/profiles/{name}', 200, { name })
  await ask('GET /api/profiles/{name}', 404, { name: other })
  await ask('GET /api/profiles/{name}', 422, { name: '-' })
  await ask('POST /api/profiles/{name}/activate', 200, { name })
  await ask('POST /api/profiles/{name}/activate', 404, { name: other })
  await ask('POST /api/profiles/{name}/validate', 200, { name, body })
  await ask('POST /api/profiles/{name}/validate', 200, { name, body: { llm: { model: 'nobody-knows-it' } } })
  await ask('POST /api/profiles/{name}/rename', 200, { name, body: { new_name: other } })
  await ask('POST /api/profiles/{name}/rename', 404, { name, body: { new_name: other } })
  await ask('POST /api/profiles/{name}', 201, { name, body })
  await ask('POST /api/profiles/{name}/rename', 409, { name, body: { new_name: other } })
  await ask('DELETE /api/profiles/{name}', 200, { name: other })
  await ask('DELETE /api/profiles/{name}', 422, { name: '-' })
  await ask('POST /api/profiles/{name}/validate', 422, { name, body: {} })
})

test('tries of MCP servers fit their description', async () => {
  const name = 'POST /api/mcp/test'
  const works = {
    server: { command: process.execPath, args: [stdioProgram, 'usual'] },
    tool_call: { name: 'echo', arguments: { text: 'a' } },
  }
  await ask(name, 200, { body: { name: 'words', timeout: 60, ...works } })
  await ask(name, 200, { body: { server: { command: 'no-such-program' } } })
  await ask(name, 422, { body: { server: { command: '' } } })
  await ask(name, 422, { body: {} })
})

test('sign-ins to MCP servers fit their description', async () => {
  const world = await startOAuth()
  await signInTo(world).finally(() => world.close())
})

async function signInTo(world: OAuthWorld): Promise<void> {
  const far = {
    url: world.mcp.url, auth: { strategy: 'oauth2', authentication: { type: 'oauth', client_name: 'Tests' } },
  }
  const { json } = await ask('POST /api/mcp/oauth/start', 200, { body: { name: 'far', server: far } })
  await ask('POST /api/mcp/oauth/start', 422, { body: { name: 'far' } })
  const id = textAt(json, 'job_id')
  const address = new URL(await world.agree(textAt(json, 'authorization_url')))
  await ask('GET /api/mcp/oauth/callback', 400, { query: '?state=unknown' })
  await ask('GET /api/mcp/oauth/callback', 200, { query: address.search })
  await ask('POST /api/mcp/oauth/callback/{job_id}', 404, { id: unknownId, body: { callback_url: address.href } })
  await until(async () => {
    return member((await ask('GET /api/mcp/oauth/status/{job_id}', 200, { id })).json, 'status') === 'succeeded'
  })
  await ask('GET /api/mcp/oauth/status/{job_id}', 404, { id: unknownId })
  const second = (await ask('POST /api/mcp/oauth/start', 200, { body: { name: 'far', server: far } })).json
  const body = { callback_url: await world.agree(textAt(second, 'authorization_url')) }
  await ask('POST /api/mcp/oauth/callback/{job_id}', 200, { id: textAt(second, 'job_id'), body })
  await ask('DELETE /api/mcp/oauth/logins/{name}', 200, { name: 'far' })
  await ask('DELETE /api/mcp/oauth/logins/{name}', 404, { name: 'far' })
}

test('skills, hooks and tools fit their description', async () => {
  const hooks = JSON.stringify({ stop: [{ hooks: [{ command: 'true' }] }] })
  for (const [file, text] of [
    ['.openhands/hooks.json', hooks], ['.agents/skills/a.md', 'A skill.'], ['AGENTS.md', 'Instructions.'],
  ] as const) {
    mkdirSync(dirname(join(server.workspaceDir, file)), { recursive: true })
    writeFileSync(join(server.workspaceDir, file), text)
  }
  const body = { project_dir: server.workspaceDir }
  assert.is(listAt((await ask('POST /api/skills', 200, { body })).json, 'skills').length, 2)
  await ask('POST /api/skills', 422, { body: { load_user: 'perhaps' } })
  await ask('POST /api/skills/sync', 200)
  assert.is(member((await ask('POST /api/hooks', 200, { body })).json, 'hook_config', 'stop', 0, 'matcher'), '*')
  await ask('POST /api/hooks', 200, { body: {} })
  await ask('POST /api/hooks', 422, { body: { project_dir: server.dataDir } })
  await ask('GET /api/tools/', 200)
  await ask('POST /api/sub-agents', 200, { body })
  await ask('POST /api/sub-agents', 422, { body: [] })
})

test('installed skills and plugins fit their description', async () => {
  const source = join(server.workspaceDir, 'a-plugin')
  for (const [file, text] of [
    ['.plugin/plugin.json', '{"name":"an-extension"}'], ['skills/a/SKILL.md', '---\ndescription: A.\n---\nText.'],
    ['SKILL.md', '---\nname: an-extension\ndescription: A.\n---\nText.'],
  ] as const) {
    mkdirSync(dirname(join(source, file)), { recursive: true })
    writeFileSync(join(source, file), text)
  }
  for (const kind of ['skill', 'plugin']) {
    const [all, one] = [`/api/${kind}s`, `/api/${kind}s/installed/{${kind}_name}`]
    const id = 'an-extension'
    await ask(`POST ${all}/install`, 400, { body: { source: '/dev/null' } })
    await ask(`POST ${all}/install`, 403, { body: { source: server.dataDir } })
    await ask(`POST ${all}/install`, 404, { body: { source: '/nowhere/at/all' } })
    await ask(`POST ${all}/install`, 200, { body: { source } })
    await ask(`POST ${all}/install`, 409, { body: { source, force: false } })
    await ask(`GET ${all}/installed`, 200)
    await ask(`GET ${one}`, 200, { id })
    await ask(`PATCH ${one}`, 200, { id, body: { enabled: true } })
    await ask(`POST ${one}/refresh`, 200, { id })
    if (kind === 'plugin') await ask('POST /api/plugins', 200, { body: {} })
    if (kind === 'plugin') await ask('POST /api/plugins', 422, { body: [] })
    await ask(`DELETE ${one}`, 200, { id })
    await ask(`GET ${one}`, 404, { id })
    await ask(`PATCH ${one}`, 404, { id, body: { enabled: true } })
    await ask(`POST ${one}/refresh`, 404, { id })
    await ask(`DELETE ${one}`, 404, { id })
  }
})

test('a conversation and its run fit their description', async () => {
  const workspace = { working_dir: server.workspaceDir }
  const body = { confirmation_policy: { kind: 'AlwaysConfirm' }, tags: { a: 'b' }, workspace }
  const id = textAt((await ask('POST /api/conversations', 201, { body })).json, 'id')
  await ask('POST /api/conversations', 200, { body: { ...body, conversation_id: id } })
  await ask('POST /api/conversations', 422, { body: { max_iterations: 0 } })
  const message = { role: 'user', content: [{ type: 'text', text: 'Show me what you can do.' }], run: true }
  await ask(`POST ${conversation}/events`, 200, { id, body: message })
  await until(async () => {
    return listAt((await ask(`GET ${conversation}/confirmations`, 200, { id })).json, 'items').length > 0
  })
  await ask(`POST ${conversation}/run`, 409, { id: await running() })
  const policy = { kind: 'ConfirmRisky', threshold: 'HIGH', confirm_unknown: false }
  await ask(`POST ${conversation}/confirmation_policy`, 200, { id, body: { policy } })
  const analyzer = { kind: 'LLMSecurityAnalyzer' }
  await ask(`POST ${conversation}/security_analyzer`, 200, { id, body: { security_analyzer: analyzer } })
  await ask(`POST ${conversation}/secrets`, 200, { id, body: { secrets: { A_NAME: 'a-value-of-some-length' } } })
  await ask(`POST ${conversation}/events/respond_to_confirmation`, 200, { id, body: { accept: true, reason: 'yes' } })
  await until(async () => {
    return member((await ask(`GET ${conversation}`, 200, { id })).json, 'execution_status') === 'finished'
  })
  await ask(`GET ${conversation}/agent_final_response`, 200, { id })
  await ask(`GET ${conversation}/workspace-entries`, 200, { id })
  await ask(`GET ${conversation}/workspace-entries`, 400, { id, query: '?path=../..' })
  // For a moment after it has finished, a run is still being wound up and may not be repeated.
  await until(async () => (await server.rest.post(`/api/conversations/${id}/run`)).status !== 409)
  await ask(`POST ${conversation}/run`, 200, { id })
  await ask(`POST ${conversation}/pause`, 200, { id })
  await ask(`POST ${conversation}/interrupt`, 200, { id })
  await ask(`PATCH ${conversation}`, 200, { id, body: { title: 'A title' } })
  await checkHistory(id)
  await checkCopies(id)
  const agent = textAt(
    (await ask('POST /api/conversations', 201, { body: { agent: fakeAgent('fork'), max_budget_per_task: 1 } })).json,
    'id',
  )
  await ask(`POST ${conversation}/ask_agent`, 200, { id: agent, body: { question: 'Who are you?' } })
  await ask(`POST ${conversation}/switch_acp_mode`, 200, { id: agent, body: { mode: 'ask' } })
  await ask(`POST ${conversation}/switch_acp_model`, 200, { id: agent, body: { model: 'big' } })
  const optional = textAt(
    (await ask('POST /api/conversations', 201, { body: { agent: fakeAgent('options') } })).json, 'id',
  )
  const effort = { option_id: 'effort', value: 'high' }
  await ask(`POST ${conversation}/switch_acp_option`, 200, { id: optional, body: effort })
  await ask(`GET ${conversation}`, 200, { id: agent })
  await ask(`POST ${conversation}/switch_llm`, 400, { id: agent, body: { llm: { model: 'gpt-5.5' } } })
  const builtIn = textAt(
    (await ask('POST /api/conversations', 201, { body: { agent: { llm: { model: 'demo/scripted' } } } })).json, 'id',
  )
  await ask(`POST ${conversation}/goal`, 200, { id: builtIn, body: { objective: 'Hello', max_iterations: 1_000_000 } })
  await ask(`POST ${conversation}/goal`, 409, { id: builtIn, body: { objective: 'Hello' } })
  await ask(`POST ${conversation}/goal/stop`, 200, { id: builtIn })
  await ask(`POST ${conversation}/interrupt`, 200, { id: builtIn })
  await ask(`POST ${conversation}/goal/resume`, 200, { id: builtIn })
  await ask(`POST ${conversation}/interrupt`, 200, { id: builtIn })
  await ask(`POST ${conversation}/goal`, 400, { id: agent, body: { objective: 'Hello' } })
  await ask(`POST ${conversation}/goal/resume`, 400, { id: agent })
  await ask(`POST ${conversation}/switch_llm`, 200, { id: builtIn, body: { llm: { model: 'gpt-5.5' } } })
  await ask(`POST ${conversation}/switch_profile`, 400, { id: agent, body: { profile_name: 'fast' } })
  await ask(`POST ${conversation}/switch_profile`, 200, { id: builtIn, body: { profile_name: 'fast' } })
})

test('what is not there, and what is no id, fits its description for every operation of a conversation', async () => {
  for (const name of conversationOperations) {
    const body = bodies[name.replace(conversation, '')]
    await ask(name, 404, { id: unknownId, event: 'unknown', body })
    await ask(name, 422, { id: 'nonsense', event: 'unknown', body })
  }
})

test('files and the list of workspaces fit their description', async () => {
  const path = `?path=${encodeURIComponent(join(server.folder, 'a', 'file'))}`
  const raw = { raw: formOf('content'), headers: formType }
  await ask('POST /api/file/upload', 200, { query: path, raw })
  await ask('POST /api/file/upload', 400, { query: '?path=relative', raw })
  await ask('POST /api/file/upload', 422, { raw })
  await ask('POST /api/file/upload', 403, { query: '?path=/proc/file', raw })
  await ask('GET /api/file/download', 200, { query: path })
  await ask('GET /api/file/download', 404, { query: `${path}x` })
  await ask('GET /api/file/download', 403, { query: '?path=/proc/self/environ' })
  await ask('POST /api/file/create_directory', 200, { query: `${path}-folder` })
  await ask('POST /api/file/create_directory', 400, { query: path })
  await ask('GET /api/file/home', 200)
  await ask('GET /api/file/home', 422, { query: '?include_hidden=perhaps' })
  await ask('GET /api/file/search_subdirs', 200, { query: `?path=${encodeURIComponent(server.folder)}` })
  await ask('GET /api/file/search_subdirs', 400, { query: '?path=relative' })
  const entry = { id: '1', name: 'a', path: '/a' }
  await ask('POST /api/workspaces', 200, { body: { workspaces: [{ ...entry, parentPath: null }] } })
  await ask('POST /api/workspaces', 422, { body: {} })
  await ask('POST /api/workspaces/parents', 422, { body: {} })
  await ask('POST /api/workspaces/parents', 200, { body: { parents: [entry] } })
  await ask('GET /api/workspaces', 200)
  await ask('DELETE /api/workspaces', 200, { query: '?path=/a' })
  await ask('DELETE /api/workspaces', 404, { query: '?path=/a' })
  await ask('DELETE /api/workspaces/parents', 200, { query: '?path=/a' })
  await ask('DELETE /api/workspaces/parents', 422)
})

test('changes and commits fit their description', async () => {
  const repository = makeRepository(join(server.folder, 'repository'))
  repository.write('a', 'x')
  repository.git('add', '--all')
  repository.git('commit', '--quiet', '-m', 'first')
  const query = `?path=${encodeURIComponent(repository.root)}`
  const id = repository.git('rev-parse', 'HEAD').trim()
  await ask('GET /api/git/changes', 200, { query })
  await ask('GET /api/git/changes', 400, { query: `${query}&ref=none` })
  await ask('GET /api/git/changes', 403, { query: '?path=/proc/self' })
  await ask('GET /api/git/diff', 200, { query: `${query}/a` })
  await ask('GET /api/git/diff', 422, { query: `${query}&commit=x` })
  await ask('GET /api/git/commits', 200, { query })
  await ask('GET /api/git/commits', 422, { query: `${query}&limit=0` })
  await ask('GET /api/file/archive', 200, { query: `${query}&format=tar.gz` })
  await ask('GET /api/file/archive', 400, { query: '?path=relative' })
  await ask('GET /api/file/archive', 403, { query: '?path=/proc/self' })
  await ask('GET /api/file/archive', 404, { query: '?path=/nowhere' })
  await ask('GET /api/git/commits/{sha}/changes', 200, { id, query })
  await ask('GET /api/git/commits/{sha}/changes', 422, { id: 'x', query })
})

test('commands of clients fit their description', async () => {
  const run = await ask('POST /api/bash/execute_bash_command', 200, { body: { command: 'echo x' } })
  await ask('POST /api/bash/execute_bash_command', 422, { body: {} })
  await ask('POST /api/bash/start_bash_command', 200, { body: { command: 'true', cwd: '/', timeout: 5 } })
  await ask('GET /api/bash/bash_events/search', 200)
  await ask('GET /api/bash/bash_events/search', 422, { query: '?limit=0' })
  const event = textAt(run.json, 'id')
  await ask('GET /api/bash/bash_events/{event_id}', 200, { event })
  await ask('GET /api/bash/bash_events/{event_id}', 404, { event: 'none' })
  await ask('GET /api/bash/bash_events/', 200, { body: [event, 'none'] })
  await ask('GET /api/bash/bash_events/', 422, { body: {} })
  await ask('POST /api/bash/start_bash_command', 422, { body: {} })
  const sleeping = await ask('POST /api/bash/start_bash_command', 200, { body: { command: 'sleep 300' } })
  const id = textAt(sleeping.json, 'id')
  await ask('POST /api/bash/bash_commands/{command_id}/stop', 200, { id })
  await ask('POST /api/bash/bash_commands/{command_id}/stop', 404, { id })
  await ask('DELETE /api/bash/bash_events', 200)
})

test('files of workspaces fit their description', async () => {
  const root = join(server.folder, 'site')
  mkdirSync(root)
  writeFileSync(join(root, 'a.txt'), 'x')
  const workspace = { working_dir: root }
  const id = textAt((await ask('POST /api/conversations', 201, { body: { workspace } })).json, 'id')
  assert.is((await ask(`GET ${conversation}/workspace/{path}`, 200, { id, name: 'a.txt' })).text, 'x')
  await ask('GET /api/console/conversations/{conversation_id}/search', 200, { id, query: '?text=a' })
  await ask('POST /api/auth/workspace-session', 204)
  await ask('DELETE /api/auth/workspace-session', 204)
})

test('the console fits its description', async () => {
  await ask('GET /console/', 200)
  const page = await server.rest.get('/console/')
  const [, digest = '', file = ''] = /assets\/([\w-]+)\/([\w.]+)"/.exec(page.text) ?? []
  const asset = await server.rest.get(`/console/assets/${digest}/${file}`)
  assert.is(asset.status, 200)
  answered.take('GET /console/assets/{digest}/{file}', asset)
  const none = await server.rest.get(`/console/assets/${digest}/none`)
  assert.is(none.status, 404)
  answered.take('GET /console/assets/{digest}/{file}', none)
  const { json } = await ask('POST /api/console/codes', 200)
  const body = { code: textAt(json, 'code') }
  await ask('POST /api/console/sign-in', 200, { body })
  await ask('POST /api/console/sign-in', 401, { body })
  await ask('POST /api/console/sessions', 200)
  const sessions = await ask('GET /api/console/sessions', 200)
  await ask('DELETE /api/console/sessions/{session_id}', 200, { id: textAt(sessions.json, 'items', 0, 'id') })
  await ask('POST /api/console/verify', 200)
  await ask('POST /api/console/sign-out', 200)
  await ask('DELETE /api/console/sessions/{session_id}', 404, { id: unknownId })
})

test('what is told of agents fits its description', async () => {
  const examined = await ask('GET /api/doctor', 200)
  // The finding comes from the part `browser`.
  assert.ok(listAt(examined.json, 'items').some((item) => textAt(item, 'subject') === 'browser'))
  await ask('GET /api/doctor/agents', 200)
  await ask('POST /api/doctor/agents/{name}', 200, { name: 'codex' })
  await ask('POST /api/doctor/agents/{name}', 404, { name: 'none' })
  await ask('POST /api/agents/{name}/install', 404, { name: 'none' })
  await ask('GET /api/agents/installations', 200)
})

test('webhooks and their dead letters fit their description', async () => {
  await ask('GET /api/webhooks', 200)
  await ask('GET /api/webhooks/dead_letters', 200)
  await ask('GET /api/webhooks/dead_letters', 422, { query: '?limit=0' })
  await ask('POST /api/webhooks/dead_letters/{letter_id}/redeliver', 404, { id: unknownId })
  await ask('DELETE /api/webhooks/dead_letters/{letter_id}', 404, { id: unknownId })
})

test('chat completions fit their description', async () => {
  const messages = [{ role: 'user', content: 'Say hello' }]
  await ask('GET /v1/models', 200)
  await ask('GET /v1/models/{model_id}', 200, { id: 'openhands' })
  await ask('GET /v1/models/{model_id}', 404, { id: 'none' })
  await ask('POST /v1/chat/completions', 200, { body: { model: 'openhands', messages } })
  await ask('POST /v1/chat/completions', 404, { body: { model: 'none', messages } })
  await ask('POST /v1/chat/completions', 400, { body: { model: 'openhands', messages: [] } })
})

test('the init of a server that does not wait for it fits its description', async () => {
  await ask('GET /api/init', 404)
  await ask('POST /api/init', 404)
})

test('every operation of the description has answered well, and with an error', () => {
  answered.assertComplete(operationsOf(document))
})

test.run()

/** Every way to read a history. */
async function checkHistory(id: string): Promise<void> {
  const { json } = await ask(`GET ${conversation}/events/search`, 200, { id, query: '?limit=3&kind=ActionEvent' })
  await ask(`GET ${conversation}/events/search`, 200, { id })
  await ask(`GET ${conversation}/events/search`, 422, { id, query: '?limit=0' })
  await ask(`GET ${conversation}/events/count`, 200, { id })
  const event = textAt(json, 'items', 0, 'id')
  await ask(`GET ${conversation}/events/{event_id}`, 200, { id, event })
  await ask(`GET ${conversation}/events`, 200, { id, body: [event, 'unknown'] })
  await ask('GET /api/conversations/search', 200)
  await ask('GET /api/conversations/search', 422, { query: '?limit=0' })
  await ask('GET /api/conversations/count', 422, { query: '?status=unknown' })
  await ask('GET /api/file/download-trajectory/{conversation_id}', 200, { id })
  await ask('GET /api/conversations/count', 200, { query: '?status=finished' })
  await ask('GET /api/conversations', 200, { query: `?ids=${id}&ids=${unknownId}` })
  await ask('GET /api/conversations', 422)
  await ask(`POST ${conversation}/navigate`, 200, { id, body: { event_id: event } })
}

async function checkCopies(id: string): Promise<void> {
  const { json } = await ask(`POST ${conversation}/fork`, 201, { id, body: { title: 'A fork' } })
  const fork = textAt(json, 'id')
  await ask(`POST ${conversation}/fork`, 409, { id, body: { id: fork } })
  await ask(`POST ${conversation}/switch_acp_model`, 400, { id, body: { model: 'no-such-model' } })
  await ask(`POST ${conversation}/switch_acp_mode`, 400, { id, body: { mode: 'no-such-mode' } })
  await ask(`POST ${conversation}/switch_acp_option`, 400, { id, body: { option_id: 'none', value: 'x' } })
  await ask(`POST ${conversation}/ask_agent`, 400, { id, body: { question: 'Who are you?' } })
  await ask(`POST ${conversation}/condense`, 400, { id })
  await ask(`DELETE ${conversation}`, 200, { id: fork })
}

/** A conversation whose agent is at work. */
async function running(): Promise<string> {
  const { json } = await server.rest.post('/api/conversations', {})
  const id = textAt(json, 'id')
  const content = [{ type: 'text', text: 'run: sleep 60' }]
  await server.rest.post(`/api/conversations/${id}/events`, { content, run: true })
  return id
}
