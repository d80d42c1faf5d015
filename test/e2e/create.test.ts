/**
 * `POST /api/conversations`: which agent, which folder, which id, and which requests are refused (contract:
 * conversations.md 1).
 */
import * as assert from 'uvu/assert'
import { randomUUID } from 'node:crypto'
import { existsSync, readFileSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { check } from '../../src/schema/check.ts'
import { listAt, member, textAt } from '../support/rest.ts'
import { fakeAgent, startServer, withServer, type TestServer } from '../support/server.ts'
import { suite } from '../support/suite.ts'
import { messagesOf, startTalk, talkTo, userMessage } from './talk.ts'

const test = suite('create')
let server: TestServer

test.before(async () => {
  server = await startServer()
})
test.after(() => server.close())

const create = (body: unknown) => server.rest.post('/api/conversations', body)

test('a request that names nothing gets the stored agent and a folder of its own', async () => {
  const { status, json } = await create({})
  assert.is(status, 201)
  assert.equal(check('ConversationInfo', json), [])
  assert.is(member(json, 'agent', 'kind'), 'ACPAgent')
  assert.equal(member(json, 'agent', 'acp_command'), ['agent-server-demo-agent'])
  assert.is(member(json, 'workspace', 'working_dir'), join(server.workspaceDir, textAt(json, 'id').replaceAll('-', '')))
  assert.ok(statSync(textAt(json, 'workspace', 'working_dir')).isDirectory())
  assert.is(member(json, 'execution_status'), 'idle')
  assert.equal(member(json, 'confirmation_policy'), { kind: 'NeverConfirm' })
  assert.is(member(json, 'max_iterations'), 500)
})

test('the info has every member of the contract, nulls included', async () => {
  const { json } = await create({})
  const names = Object.keys(typeof json === 'object' && json !== null ? json : {}).sort()
  assert.equal(names, [
    'activated_knowledge_skills', 'agent', 'agent_state', 'available_models', 'blocked_actions', 'blocked_messages',
    'client_tools', 'confirmation_policy', 'created_at', 'current_model_id', 'execution_status',
    'forked_from_conversation_id', 'forked_from_event_id', 'hook_config', 'id', 'invoked_skills',
    'last_user_message_id', 'launched_agent_profile', 'leaf_event_id', 'max_iterations', 'metrics',
    'parent_conversation_id', 'persistence_dir', 'secret_registry', 'security_analyzer', 'stats', 'stuck_detection',
    'sub_conversation_ids', 'supports_runtime_model_switch', 'tags', 'title', 'updated_at', 'workspace',
  ])
  for (const name of ['created_at', 'updated_at']) {
    assert.match(textAt(json, name), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/)
  }
})

/** Members of a request that name the agent, and the place in the answer that shows it. */
const agents: readonly (readonly [string, object, (string | number)[], unknown])[] = [
  ['an ACP agent', { agent: fakeAgent('echo') }, ['agent', 'acp_command', 2], 'echo'],
  ['an ACP agent of a preset, with command and model',
    { agent: { kind: 'ACPAgent', acp_server: 'claude-code', acp_command: [] } }, ['agent', 'acp_model'], 'opus[1m]'],
  ['a built-in agent', { agent: { kind: 'Agent', llm: { model: 'x/y' } } }, ['agent', 'llm', 'model'], 'x/y'],
  ['a built-in agent without its kind', { agent: { llm: { model: 'x/y' } } }, ['agent', 'kind'], 'Agent'],
  ['ACP settings', { agent_settings: { agent_kind: 'acp', acp_command: ['my-agent'] } }, ['agent', 'acp_command', 0],
    'my-agent'],
  ['a command line of settings, split as a shell does',
    { agent_settings: { agent_kind: 'acp', acp_command: `my-agent "two words"` } }, ['agent', 'acp_command', 1],
    'two words'],
  ['built-in settings', { agent_settings: { agent_kind: 'openhands', llm: { model: 'x/y' } } },
    ['agent', 'llm', 'model'], 'x/y'],
  ['settings without a kind, which mean the built-in agent', { agent_settings: { llm: { model: 'x/y' } } },
    ['agent', 'kind'], 'Agent'],
  ['an agent that wins over settings',
    { agent: { kind: 'Agent', llm: { model: 'x/y' } }, agent_settings: { agent_kind: 'acp' } }, ['agent', 'kind'],
    'Agent'],
]
for (const [what, body, path, value] of agents) {
  test(`creates a conversation with ${what}`, async () => {
    const { status, json, text } = await create(body)
    assert.is(status, 201, text)
    assert.equal(check('ConversationInfo', json), [])
    assert.is(member(json, ...path), value)
  })
}

const workspaces = (): readonly (readonly [string, unknown, string])[] => [
  ['a folder that is not there', { working_dir: join(server.folder, 'new', 'deep') },
    join(server.folder, 'new', 'deep')],
  ['a relative folder, under the workspace folder', { working_dir: 'some/place' },
    join(server.workspaceDir, 'some/place')],
  ['a folder with `type` and no kind, as the TypeScript client sends it',
    { working_dir: join(server.folder, 'new'), type: 'local' }, join(server.folder, 'new')],
]
test('takes any folder as a workspace, makes it, and makes it a repository', async () => {
  for (const [what, workspace, path] of workspaces()) {
    const { status, json, text } = await create({ workspace })
    assert.is(status, 201, `${what}: ${text}`)
    assert.equal(member(json, 'workspace'), { working_dir: path, kind: 'LocalWorkspace' }, what)
    assert.ok(existsSync(path), what)
  }
  assert.ok(existsSync(join(server.folder, 'new', 'deep', '.git')))
})

test('refuses the data folder, what is in it and what holds it, also through a link, and makes nothing', async () => {
  const link = join(server.folder, 'link')
  symlinkSync(server.dataDir, link)
  const before = readdirSync(server.dataDir).sort()
  const inside = ['', 'keys', 'conversations', 'made/by/a/client'].map((name) => join(server.dataDir, name))
  for (const path of [...inside, server.folder, '/', join(link, 'keys'), join(server.dataDir, '..', 'data')]) {
    const { status, text } = await create({ workspace: { working_dir: path } })
    assert.is(status, 422, `${path}: ${text}`)
  }
  assert.equal(readdirSync(server.dataDir).sort(), before)
})

test('says why a folder cannot be a workspace', async () => {
  const file = join(server.folder, 'a-file')
  writeFileSync(file, 'x')
  for (const [path, why] of [
    [file, /not a folder/], [join(file, 'below'), /not a folder/], ['a\0b', /NUL/], ['x'.repeat(300), /too long/],
  ] as const) {
    const { status, json } = await create({ workspace: { working_dir: path } })
    assert.is(status, 422, path)
    assert.match(textAt(json, 'detail'), why)
  }
})

const profile = randomUUID()
/** Invalid bodies, the status, and the place of the fault that the answer names. */
const invalid: readonly (readonly [string, unknown, number, (string | number)[] | RegExp])[] = [
  ['no body', undefined, 422, ['body']],
  ['a body that is no object', [], 422, ['body']],
  ['an agent without a kind and without an LLM', { agent: { acp_command: ['x'] } }, 422, ['body', 'agent']],
  ['an agent of an unknown kind', { agent: { kind: 'Other' } }, 422, ['body', 'agent']],
  ['an ACP agent without a command', { agent: { kind: 'ACPAgent' } }, 422, ['body', 'agent', 'acp_command']],
  ['a custom ACP agent with an empty command', { agent: { kind: 'ACPAgent', acp_command: [] } }, 422, /acp_command/],
  ['settings of an unknown kind', { agent_settings: { agent_kind: 'other' } }, 422, /Settings validation failed/],
  ['a profile beside an agent', { agent_profile_id: profile, agent: fakeAgent('echo') }, 422, /agent_profile_id/],
  ['a profile beside settings', { agent_profile_id: profile, agent_settings: {} }, 422, /agent_profile_id/],
  ['an unknown profile', { agent_profile_id: profile }, 404, /not found/],
  ['a profile id that is no UUID', { agent_profile_id: 'x' }, 422, ['body', 'agent_profile_id']],
  ['a conversation id that is no UUID', { conversation_id: 'x' }, 422, ['body', 'conversation_id']],
  ['a conversation id that climbs', { conversation_id: '../../etc' }, 422, ['body', 'conversation_id']],
  ['a tag with a bad key', { tags: { 'Bad-Key': 'x' } }, 422, ['body', 'tags', 'Bad-Key']],
  ['a tag that is too long', { tags: { key: 'x'.repeat(257) } }, 422, ['body', 'tags', 'key']],
  ['a policy of an unknown kind', { confirmation_policy: { kind: 'Perhaps' } }, 422, ['body', 'confirmation_policy']],
  ['an unknown threshold', { confirmation_policy: { kind: 'ConfirmRisky', threshold: 'UNKNOWN' } }, 422,
    ['body', 'confirmation_policy', 'threshold']],
  ['no iterations', { max_iterations: 0 }, 422, ['body', 'max_iterations']],
  ['a first message of the assistant', { initial_message: { role: 'assistant' } }, 422,
    ['body', 'initial_message', 'role']],
  ['a workspace without a folder', { workspace: {} }, 422, ['body', 'workspace', 'working_dir']],
  ['a secret without kind and value', { secrets: { A: {} } }, 422, ['body', 'secrets', 'A']],
  ['a secret that changes how programs load', { secrets: { LD_PRELOAD: { kind: 'StaticSecret', value: 'x' } } }, 422,
    /LD_PRELOAD/],
  ['encrypted secrets that do not open',
    { secrets_encrypted: true, secrets: { A: { kind: 'StaticSecret', value: 'as1:AAAA' } } }, 422,
    /encrypted secret "A"/],
  ['hooks of an unknown name', { hook_config: { before_lunch: [] } }, 422, ['body', 'hook_config', 'before_lunch']],
  ['hooks that are named twice', { hook_config: { stop: [], Stop: [] } }, 422, ['body', 'hook_config', 'Stop']],
  ['an unknown parent', { parent_conversation_id: profile }, 422, /Parent conversation not found/],
]
test('refuses what is not valid and says where', async () => {
  const count = async (): Promise<unknown> => (await server.rest.get('/api/conversations/count')).json
  const before = await count()
  for (const [what, body, status, where] of invalid) {
    const answer = await create(body)
    assert.is(answer.status, status, `${what}: ${answer.text}`)
    if (where instanceof RegExp) assert.match(textAt(answer.json, 'detail'), where, what)
    else assert.ok(
      listAt(answer.json, 'detail').some((issue) => same(member(issue, 'loc'), where)), `${what}: ${answer.text}`,
    )
  }
  assert.is(await count(), before)
})

test('takes an id with dashes or without, in any case, and shows it with dashes', async () => {
  for (const id of [randomUUID(), randomUUID().replaceAll('-', ''), randomUUID().toUpperCase()]) {
    const { status, json } = await create({ conversation_id: id })
    assert.is(status, 201)
    assert.is(textAt(json, 'id').replaceAll('-', ''), id.replaceAll('-', '').toLowerCase())
    for (const form of [id, textAt(json, 'id'), textAt(json, 'id').replaceAll('-', '')]) {
      assert.is((await server.rest.get(`/api/conversations/${form}`)).status, 200)
    }
  }
})

test('an id that exists already gives the stored conversation and changes nothing', async () => {
  const first = await create({ conversation_id: randomUUID(), tags: { a: '1' } })
  const second = await create({
    conversation_id: member(first.json, 'id'), tags: { b: '2' }, agent: fakeAgent('echo'),
    initial_message: userMessage('not sent'),
  })
  assert.is(second.status, 200)
  assert.equal(second.json, first.json)
  assert.equal(await talkTo(server, textAt(first.json, 'id')).events(), [])
})

test('the same id twenty times at once makes one conversation, and its first message is sent once', async () => {
  const body = { conversation_id: randomUUID(), agent: fakeAgent('echo'), initial_message: userMessage('hello') }
  const answers = await Promise.all(Array.from({ length: 20 }, () => create(body)))
  assert.equal(answers.map(({ status }) => status).sort(), [...Array.from({ length: 19 }, () => 200), 201])
  assert.is(new Set(answers.map(({ json }) => member(json, 'id'))).size, 1)
  const talk = talkTo(server, textAt(answers[0]?.json, 'id'))
  await talk.reaches('finished')
  assert.equal(messagesOf(await talk.events(), 'user'), ['hello'])
})

test('the first message is always run and gives the title', async () => {
  const request = { agent: fakeAgent('echo'), initial_message: userMessage('  Write\n a  poem  ', false) }
  const talk = await startTalk(server, request)
  await talk.reaches('finished')
  const { json } = await talk.get()
  assert.is(member(json, 'title'), 'Write a poem')
  const untitled = await startTalk(server, { ...request, autotitle: false })
  await untitled.reaches('finished')
  assert.is(member((await untitled.get()).json, 'title'), null)
})

test('a parent needs the same workspace, and both sides show the link', async () => {
  const workspace = { working_dir: join(server.folder, 'family') }
  const parent = await startTalk(server, { workspace })
  const other = await create({ parent_conversation_id: parent.id })
  assert.is(other.status, 422)
  const own = randomUUID()
  assert.is((await create({ conversation_id: own, parent_conversation_id: own })).status, 422)
  const child = await startTalk(server, { workspace, parent_conversation_id: parent.id })
  assert.is(member((await child.get()).json, 'parent_conversation_id'), parent.id)
  assert.equal(member((await parent.get()).json, 'sub_conversation_ids'), [child.id])
  await server.rest.delete(parent.path)
  assert.is(member((await child.get()).json, 'parent_conversation_id'), parent.id)
})

test('unknown members are ignored, and `__proto__` is one of them', async () => {
  const raw = '{"__proto__":{"max_iterations":7},"constructor":1,"nonsense":[1],"tags":{"a":"1"}}'
  const { status, json, text } = await server.rest.send('POST', '/api/conversations', { raw })
  assert.is(status, 201, text)
  assert.is(member(json, 'max_iterations'), 500)
})

test('secrets go in and never come out: not in answers, frames, the log of the server or its files', () =>
  withServer(async (own) => {
    const secret = 'a-secret-value-of-the-test'
    const created = await own.rest.post('/api/conversations', {
      agent: {
        ...fakeAgent('environment'),
        mcp_config: { tool: { command: 'x', env: { TOKEN: secret } } },
        llm: { model: 'm', api_key: secret },
      },
      secrets: {
        MY_TOKEN: { kind: 'StaticSecret', value: secret, description: 'mine' },
        FAR: { kind: 'LookupSecret', url: 'http://127.0.0.1:1/', headers: { Authorization: secret } },
      },
    })
    const shown = { kind: 'StaticSecret', description: 'mine', value: '**********' }
    assert.equal(member(created.json, 'secret_registry', 'secret_sources', 'MY_TOKEN'), shown)
    const talk = talkTo(own, textAt(created.json, 'id'))
    assert.is((await talk.post('/secrets', { secrets: { SECOND: `second-${secret}` } })).status, 200)
    const socket = await own.socket(talk.id)
    await talk.send('show me your environment')
    await talk.reaches('finished')
    const answer = messagesOf(await talk.events(), 'agent').join()
    for (const name of ['MY_TOKEN', 'SECOND']) assert.match(answer, name)
    const infos = [
      await talk.get('?include_skills=true'),
      await own.rest.get(`/api/conversations?ids=${talk.id}`),
      await own.rest.get('/api/conversations/search'),
    ]
    const texts = [
      created.text, answer, ...infos.map(({ text }) => text), ...socket.messages, ...own.log, ...filesIn(own.dataDir),
    ]
    for (const text of texts) assert.not.match(text, secret)
    await socket.close()
  }))

/** The content of every file below a folder. */
function filesIn(folder: string): string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
  return entries.filter((entry) => entry.isFile()).map((entry) => {
    return readFileSync(join(entry.parentPath, entry.name), 'latin1')
  })
}

function same(left: unknown, right: unknown): boolean {
  return JSON.stringify(left) === JSON.stringify(right)
}

test.run()
