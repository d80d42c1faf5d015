/**
 * Requests with an effect, valid and at the edge, in the order in which a client sends them. Each server gets all of
 * them; ids that a response gives are used in the requests that follow.
 */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { spawnSync } from 'node:child_process'
import { listAt, memberAt } from '../real/member.ts'
import { callServer } from '../real/rest.ts'
import type { Reply, Stage } from './stage.ts'
import type { Subject } from './subject.ts'

const key = 'a-key-of-a-model-that-is-long'
const model = { model: 'openai/stand-in', api_key: key, base_url: 'http://127.0.0.1:9/v1' }
const agent = { agent_kind: 'openhands', llm: model }
const absent = '00000000-0000-4000-8000-00000000abcd'

export async function serverScene({ ask }: Stage): Promise<void> {
  for (const path of ['/alive', '/health', '/ready']) await ask(path, `GET ${path}`, { open: true })
  await ask('server info', 'GET /server_info', { open: true, as: 'shape' })
  await ask('root', 'GET /', { open: true, as: 'shape' })
  await ask('an unknown path', 'GET /api/nothing-here')
  await ask('an unknown path without a key', 'GET /api/nothing-here', { open: true })
  await ask('a method that is not there', 'PUT /api/conversations')
  await ask('OPTIONS without an origin', 'OPTIONS /api/conversations', { open: true })
  const preflight = { 'access-control-request-method': 'POST', 'access-control-request-headers': 'x-session-api-key' }
  await ask('a preflight of loopback', 'OPTIONS /api/conversations', {
    open: true, headers: { origin: 'http://localhost:3000', ...preflight },
  })
  await ask('a preflight of a stranger', 'OPTIONS /api/conversations', {
    open: true, headers: { origin: 'https://example.org', ...preflight },
  })
  await ask('a request of loopback', 'GET /api/settings/secrets', { headers: { origin: 'http://127.0.0.1:3000' } })
  await ask('tools', 'GET /api/tools/', { as: 'shape' })
  await ask('HEAD', 'HEAD /alive', { open: true })
}

export async function settingsScene({ ask }: Stage): Promise<void> {
  const patch = (name: string, body: unknown): Promise<Reply> => ask(name, 'PATCH /api/settings', { body })
  await ask('settings of a fresh server', 'GET /api/settings')
  await ask('settings with secrets', 'GET /api/settings', { headers: { 'x-expose-secrets': 'plaintext' } })
  await ask('settings, unknown exposure', 'GET /api/settings', { headers: { 'x-expose-secrets': 'all' } })
  await ask('schema of agent settings', 'GET /api/settings/agent-schema', { as: 'shape' })
  await ask('schema of conversation settings', 'GET /api/settings/conversation-schema', { as: 'shape' })
  await patch('settings: the model', { agent_settings_diff: { agent_kind: 'openhands', llm: model } })
  await patch('settings: nothing', {})
  await patch('settings: a wrong type', { agent_settings_diff: { llm: 3 } })
  await patch('settings: a wrong value', { conversation_settings_diff: { max_iterations: 0 } })
  await patch('settings: null for a number', { conversation_settings_diff: { max_iterations: null } })
  await patch('settings: an external agent', {
    agent_settings_diff: { agent_kind: 'acp', acp_server: 'custom', acp_command: ['an-agent'] },
  })
  await patch('settings: an unknown agent', { agent_settings_diff: { agent_kind: 'nobody' } })
  await patch('settings: the built-in agent again', { agent_settings_diff: { agent_kind: 'openhands', llm: model } })
  await patch('settings: misc', { misc_settings_diff: { app: { a: 1, list: [1, 2] } } })
  await patch('settings: misc, deep', { misc_settings_diff: { app: { b: 2, list: [3] } } })
  await patch('settings: a profile that is not there', { active_profile: 'nobody' })
  await patch('settings: an agent profile that is no id', { active_agent_profile_id: 'nobody' })
}

export async function secretsScene({ ask }: Stage): Promise<void> {
  const put = (name: string, body: unknown): Promise<Reply> => ask(name, 'PUT /api/settings/secrets', { body })
  await ask('secrets: none', 'GET /api/settings/secrets')
  await put('secrets: one', { name: 'A_SECRET', value: 'the-value-of-it', description: 'of a test' })
  await put('secrets: again', { name: 'A_SECRET', value: 'another-value-of-it' })
  await put('secrets: an empty value', { name: 'EMPTY', value: '' })
  await put('secrets: a wrong name', { name: '9 lives', value: 'a-value-of-nine' })
  await put('secrets: no value', { name: 'B_SECRET' })
  await ask('secrets: listed', 'GET /api/settings/secrets')
  await ask('secrets: read', 'GET /api/settings/secrets/A_SECRET')
  await ask('secrets: removed', 'DELETE /api/settings/secrets/A_SECRET')
  await ask('secrets: removed twice', 'DELETE /api/settings/secrets/A_SECRET')
}

export async function profilesScene({ ask }: Stage): Promise<void> {
  const save = (name: string, profile: string, body: unknown): Promise<Reply> => (
    ask(name, `POST /api/profiles/${profile}`, { body })
  )
  await ask('profiles: none', 'GET /api/profiles')
  await save('profiles: saved', 'first', { llm: model, include_secrets: true })
  await save('profiles: saved without secrets', 'second', { llm: model, include_secrets: false })
  await save('profiles: no model', 'third', {})
  await save('profiles: a wrong name', 'a%20b', { llm: model })
  await ask('profiles: listed', 'GET /api/profiles')
  await ask('profiles: read', 'GET /api/profiles/first')
  await ask('profiles: read with secrets', 'GET /api/profiles/first', { headers: { 'x-expose-secrets': 'plaintext' } })
  await ask('profiles: activated', 'POST /api/profiles/first/activate')
  await ask('profiles: renamed', 'POST /api/profiles/first/rename', { body: { new_name: 'renamed' } })
  await ask('profiles: renamed to a name that is taken', 'POST /api/profiles/renamed/rename', {
    body: { new_name: 'second' },
  })
  await ask('profiles: renamed to itself', 'POST /api/profiles/renamed/rename', { body: { new_name: 'renamed' } })
  await ask('profiles: removed', 'DELETE /api/profiles/second')
  await ask('profiles: removed twice', 'DELETE /api/profiles/second')
  await ask('profiles: listed with an active one', 'GET /api/profiles')
}

export async function agentProfilesScene({ ask }: Stage): Promise<void> {
  const save = (name: string, profile: string, body: unknown): Promise<Reply> => (
    ask(name, `POST /api/agent-profiles/${profile}`, { body })
  )
  const acp = { agent_kind: 'acp', acp_server: 'claude-code', acp_model: 'opus' }
  await ask('agent profiles: seeded', 'GET /api/agent-profiles')
  const saved = await save('agent profiles: external', 'mine', acp)
  await save('agent profiles: external again', 'mine', { ...acp, acp_model: 'sonnet' })
  await save('agent profiles: a member too many', 'other', { ...acp, surplus: 1 })
  await save('agent profiles: built in', 'own', { agent_kind: 'openhands', llm_profile_ref: 'renamed' })
  await save('agent profiles: a dangling profile', 'loose', { agent_kind: 'openhands', llm_profile_ref: 'nobody' })
  await ask('agent profiles: read', 'GET /api/agent-profiles/mine')
  await ask('agent profiles: made', 'POST /api/agent-profiles/own/materialize')
  await ask('agent profiles: made, dangling', 'POST /api/agent-profiles/loose/materialize')
  const id = memberAt(saved.body, 'agent_profile', 'id') ?? memberAt(saved.body, 'id') ?? absent
  await ask('agent profiles: activated', `POST /api/agent-profiles/${id}/activate`)
  await ask('agent profiles: renamed', 'POST /api/agent-profiles/mine/rename', { body: { new_name: 'yours' } })
  await ask('agent profiles: listed', 'GET /api/agent-profiles')
  await ask('agent profiles: removed', 'DELETE /api/agent-profiles/yours')
}

export async function modelsScene({ ask }: Stage): Promise<void> {
  for (const path of ['providers', 'models', 'models/verified', 'models?provider=nobody']) {
    await ask(`models: ${path}`, `GET /api/llm/${path}`, { as: 'shape' })
  }
  await ask('models: login', 'GET /api/llm/subscription/openai/status')
  await ask('connections: none', 'GET /api/llm/provider-connections')
  const made = await ask('connections: made', 'POST /api/llm/provider-connections', {
    body: { provider: 'openai', name: 'ours', api_key: key },
  })
  const id = String(memberAt(made.body, 'id') ?? memberAt(made.body, 'connection', 'id') ?? absent)
  await ask('connections: changed', `PATCH /api/llm/provider-connections/${id}`, { body: { name: 'theirs' } })
  await ask('connections: listed', 'GET /api/llm/provider-connections')
  await ask('connections: removed', `DELETE /api/llm/provider-connections/${id}`)
}

export async function machineScene(stage: Stage): Promise<void> {
  const { ask, subject } = stage
  const run = (name: string, body: unknown): Promise<Reply> => (
    ask(`bash: ${name}`, 'POST /api/bash/execute_bash_command', { body })
  )
  await run('output', { command: 'echo out' })
  await run('both outputs and a code', { command: 'echo out; echo err >&2; exit 3' })
  await run('nothing', { command: 'true' })
  await run('an empty command', { command: '' })
  await run('a time limit', { command: 'sleep 9', timeout: 1 })
  await run('a folder that is not there', { command: 'true', cwd: join(subject.folder, 'nowhere') })
  const started = await ask('bash: started', 'POST /api/bash/start_bash_command', { body: { command: 'echo one' } })
  const id = String(memberAt(started.body, 'id') ?? absent)
  const outputs = `GET /api/bash/bash_events/search?command_id__eq=${id}&kind__eq=BashOutput`
  await stage.until(outputs, ({ body }) => memberAt(body, 'items', '0') !== undefined)
  await ask('bash: one event', `GET /api/bash/bash_events/${id}`)
  await ask('bash: search', `GET /api/bash/bash_events/search?command_id__eq=${id}&limit=1`, { as: 'shape' })
  await ask('bash: batch', 'GET /api/bash/bash_events/', { body: [id, absent] })
  await ask('bash: cleared', 'DELETE /api/bash/bash_events', { as: 'shape' })
  await filesScene(stage)
  await gitScene(stage)
}

async function filesScene({ ask, subject }: Stage): Promise<void> {
  const folder = join(subject.folder, 'work', 'files')
  const path = (name: string): string => encodeURIComponent(join(folder, name))
  await mkdir(join(folder, 'inner'), { recursive: true })
  await writeFile(join(folder, 'text.txt'), 'some text\n')
  const type = 'multipart/form-data; boundary=cut'
  const part = (name: string): string => (
    `--cut\r\nContent-Disposition: form-data; name="${name}"; filename="a.txt"\r\n\r\nhello\r\n--cut--\r\n`
  )
  await ask('files: home', 'GET /api/file/home', { as: 'shape' })
  await ask('files: uploaded', `POST /api/file/upload?path=${path('new/a.txt')}`, { raw: { type, text: part('file') } })
  await ask('files: no part', `POST /api/file/upload?path=${path('b.txt')}`, { raw: { type, text: part('other') } })
  await ask('files: a relative path', 'POST /api/file/upload?path=a.txt', { raw: { type, text: part('file') } })
  await ask('files: downloaded', `GET /api/file/download?path=${path('text.txt')}`)
  await ask('files: a folder downloaded', `GET /api/file/download?path=${path('inner')}`)
  await ask('files: nothing downloaded', `GET /api/file/download?path=${path('nowhere')}`)
  await ask('files: a relative download', 'GET /api/file/download?path=text.txt')
  await ask('files: folders', `GET /api/file/search_subdirs?path=${encodeURIComponent(folder)}`)
  await ask('files: folders of nothing', `GET /api/file/search_subdirs?path=${path('nowhere')}`)
  await ask('files: folders of a file', `GET /api/file/search_subdirs?path=${path('text.txt')}`)
  await ask('workspaces: none', 'GET /api/workspaces')
  await ask('workspaces: one', 'POST /api/workspaces', { body: { workspaces: [{ id: 'a', name: 'A', path: folder }] } })
  await ask('workspaces: listed', 'GET /api/workspaces')
  await ask('workspaces: removed', `DELETE /api/workspaces?path=${encodeURIComponent(folder)}`)
  await ask('workspaces: removed twice', `DELETE /api/workspaces?path=${encodeURIComponent(folder)}`)
  await ask('hooks', 'POST /api/hooks', { body: { project_dir: folder } })
  await ask('cookie', 'POST /api/auth/workspace-session', { as: 'shape' })
}

async function gitScene({ ask, subject }: Stage): Promise<void> {
  const folder = join(subject.folder, 'work', 'repository')
  await mkdir(folder, { recursive: true })
  const git = (...args: string[]): void => {
    const who = ['-c', 'user.name=A', '-c', 'user.email=a@example.org']
    spawnSync('git', [...who, ...args], { cwd: folder, stdio: 'ignore' })
  }
  const path = encodeURIComponent(folder)
  await ask('git: no repository', `GET /api/git/changes?path=${path}`)
  git('init', '-q', '-b', 'main')
  await writeFile(join(folder, 'tracked.txt'), 'one\n')
  git('add', '-A')
  git('commit', '-q', '-m', 'first')
  await writeFile(join(folder, 'tracked.txt'), 'two\n')
  await writeFile(join(folder, 'new.txt'), 'new\n')
  await ask('git: changes', `GET /api/git/changes?path=${path}`)
  await ask('git: changes since', `GET /api/git/changes?path=${path}&ref=HEAD`)
  await ask('git: changes since nothing', `GET /api/git/changes?path=${path}&ref=nowhere`)
  await ask('git: a file', `GET /api/git/diff?path=${path}%2Ftracked.txt`)
  await ask('git: a new file', `GET /api/git/diff?path=${path}%2Fnew.txt`)
  await ask('git: no file', `GET /api/git/diff?path=${path}%2Fnowhere.txt`)
  const commits = await ask('git: commits', `GET /api/git/commits?path=${path}&limit=5`, { as: 'shape' })
  const sha = String(memberAt(commits.body, 'commits', 0, 'sha') ?? 'none')
  await ask('git: changes of a commit', `GET /api/git/commits/${sha}/changes?path=${path}`)
  await ask('git: a bad commit', `GET /api/git/commits/zzz/changes?path=${path}`)
}

export async function conversationsScene({ ask, subject }: Stage): Promise<void> {
  const workspace = { kind: 'LocalWorkspace', working_dir: join(subject.folder, 'work', 'talk') }
  const create = (name: string, body: unknown): Promise<Reply> => (
    ask(`conversation: ${name}`, 'POST /api/conversations', { body })
  )
  const id = '11111111-1111-4111-8111-111111111111'
  const at = `/api/conversations/${id}`
  await ask('conversations: none', 'GET /api/conversations/search')
  await create('created', { conversation_id: id, agent_settings: agent, workspace, tags: { made: 'here' } })
  await create('created twice', { conversation_id: id, agent_settings: agent, workspace })
  await create('by an agent', { agent: { kind: 'Agent', llm: model, tools: [] }, workspace })
  await create('an external agent', {
    agent_settings: { agent_kind: 'acp', acp_server: 'custom', acp_command: ['an-agent'] }, workspace,
  })
  await create('a bad tag', { agent_settings: agent, workspace, tags: { 'Not OK': 'x' } })
  await create('a bad id', { conversation_id: 'nobody', agent_settings: agent, workspace })
  await create('no steps', { agent_settings: agent, workspace, max_iterations: 0 })
  await ask('conversation: read', `GET ${at}`)
  await ask('conversation: read by a bare id', `GET /api/conversations/${id.replaceAll('-', '')}`)
  await ask('conversation: batch', `GET /api/conversations?ids=${id}&ids=${absent}`)
  await ask('conversation: an empty batch', 'GET /api/conversations')
  await ask('conversations: listed', 'GET /api/conversations/search?limit=1', { as: 'shape' })
  await ask('conversations: limit 0', 'GET /api/conversations/search?limit=0')
  await ask('conversations: limit 101', 'GET /api/conversations/search?limit=101')
  await ask('conversations: idle', 'GET /api/conversations/search?status=idle&sort_order=UPDATED_AT', { as: 'shape' })
  await ask('conversations: counted', 'GET /api/conversations/count')
  await changesOf(ask, at)
  await eventsOf(ask, at)
  await ask('conversation: fork', `POST ${at}/fork`, { body: { title: 'Copy' } })
  await ask('conversation: fork at nothing', `POST ${at}/fork`, { body: { from_event_id: 'nothing' } })
  await ask('conversation: removed', `DELETE ${at}`)
  await ask('conversation: removed twice', `DELETE ${at}`)
  await create('no workspace', { agent_settings: agent })
  await create('no agent', { workspace })
  await removeAll(subject)
}

async function changesOf(ask: Stage['ask'], at: string): Promise<void> {
  await ask('conversation: title', `PATCH ${at}`, { body: { title: '  A title  ' } })
  await ask('conversation: an empty title', `PATCH ${at}`, { body: { title: '' } })
  await ask('conversation: a long title', `PATCH ${at}`, { body: { title: 'x'.repeat(201) } })
  await ask('conversation: tags', `PATCH ${at}`, { body: { tags: { other: 'tag' } } })
  await ask('conversation: nothing changed', `PATCH ${at}`, { body: {} })
  await ask('conversation: policy', `POST ${at}/confirmation_policy`, { body: { policy: { kind: 'AlwaysConfirm' } } })
  await ask('conversation: unknown policy', `POST ${at}/confirmation_policy`, { body: { policy: { kind: 'Maybe' } } })
  await ask('conversation: no analyzer', `POST ${at}/security_analyzer`, { body: { security_analyzer: null } })
  await ask('conversation: analyzer', `POST ${at}/security_analyzer`, {
    body: { security_analyzer: { kind: 'LLMSecurityAnalyzer' } },
  })
  await ask('conversation: secrets', `POST ${at}/secrets`, {
    body: { secrets: { ONE: 'a-value-of-one', TWO: { value: 'a-value-of-two' } } },
  })
  await ask('conversation: secrets of a wrong type', `POST ${at}/secrets`, { body: { secrets: 3 } })
  await ask('conversation: pause', `POST ${at}/pause`)
  await ask('conversation: interrupt', `POST ${at}/interrupt`)
  await ask('conversation: last words', `GET ${at}/agent_final_response`)
  await ask('conversation: switch_profile', `POST ${at}/switch_profile`, { body: { profile_name: 'renamed' } })
  await ask('conversation: switch_llm', `POST ${at}/switch_llm`, { body: { llm: { ...model, model: 'openai/other' } } })
  await ask('conversation: switch to no profile', `POST ${at}/switch_profile`, { body: { profile_name: 'nobody' } })
  await ask('conversation: switch_acp_model', `POST ${at}/switch_acp_model`, { body: { model: 'opus' } })
  await ask('conversation: goal without words', `POST ${at}/goal`, { body: { objective: '' } })
  await ask('conversation: goal resumed', `POST ${at}/goal/resume`)
  await ask('conversation: goal stopped', `POST ${at}/goal/stop`)
  await ask('conversation: trajectory', `GET /api/file/download-trajectory/${at.split('/').at(-1)}`, { as: 'shape' })
}

/** Lists of the requests that follow are empty on both servers. */
async function removeAll(server: Subject): Promise<void> {
  const found = await callServer(server, 'GET', '/api/conversations/search?limit=100')
  for (const { id } of listAt(found, 'items').map((item) => ({ id: memberAt(item, 'id') }))) {
    await callServer(server, 'DELETE', `/api/conversations/${String(id)}`)
  }
}

async function eventsOf(ask: Stage['ask'], at: string): Promise<void> {
  const say = (name: string, body: unknown): Promise<Reply> => ask(`message: ${name}`, `POST ${at}/events`, { body })
  const text = [{ type: 'text', text: 'Hello' }]
  await say('one', { role: 'user', content: text })
  await say('of the agent', { role: 'assistant', content: text })
  await say('of nobody', { role: 'nobody', content: text })
  await say('empty', { role: 'user', content: [] })
  await say('a picture', { role: 'user', content: [{ type: 'image', image_urls: ['data:image/png;base64,AA=='] }] })
  await say('of an unknown type', { role: 'user', content: [{ type: 'video' }] })
  const page = await ask('events: searched', `GET ${at}/events/search?kind=MessageEvent&limit=1`)
  const id = String(memberAt(page.body, 'items', 0, 'id'))
  await ask('events: one', `GET ${at}/events/${id}`)
  await ask('events: batch', `GET ${at}/events`, { body: [id, absent] })
  await ask('events: counted', `GET ${at}/events/count?source=user`)
  await ask('events: by text', `GET ${at}/events/search?body=hello&source=user`)
  await ask('events: of an unknown kind', `GET ${at}/events/search?kind=Nothing`)
  await ask('events: of a bad time', `GET ${at}/events/search?timestamp__gte=yesterday`)
  await ask('events: an unknown order', `GET ${at}/events/search?sort_order=RANDOM`)
  await ask('events: from an unknown page', `GET ${at}/events/search?page_id=nothing&limit=1`, { as: 'shape' })
  await ask('confirmation: nothing waits', `POST ${at}/events/respond_to_confirmation`, { body: { accept: false } })
  await ask('navigate: nowhere', `POST ${at}/navigate`, { body: { event_id: 'nothing' } })
  await ask('navigate: to the root', `POST ${at}/navigate`, { body: { event_id: null } })
}
