/** Agent profiles behind a real server: their routes, their stored form, and conversations that start with one. */
import * as assert from 'uvu/assert'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { check } from '../../../src/schema/check.ts'
import { definitions } from '../../../src/parts/profiles/spec.ts'
import { messagesOf, talkTo } from '../../e2e/talk.ts'
import { startAnthropicModel } from '../../fixtures/anthropic-model.ts'
import { listAt, member, textAt, type RestResponse } from '../../support/rest.ts'
import { inServer, startServer, withServer, type TestServer } from '../../support/server.ts'
import { suite } from '../../support/suite.ts'

const test = suite('parts/profiles')
const path = '/api/agent-profiles'
const demo = { agent_kind: 'acp', acp_server: 'custom', acp_command: 'agent-server-demo-agent' }
const unknownId = '00000000-0000-4000-8000-000000000000'
const withFresh = (body: (server: TestServer) => Promise<void>) => () => withServer(body)
const stored = async ({ rest }: TestServer, name: string): Promise<unknown> =>
  member((await rest.get(`${path}/${name}`)).json, 'profile')
const idOf = async (server: TestServer, name: string): Promise<string> => textAt(await stored(server, name), 'id')
const pointer = async ({ rest }: TestServer): Promise<unknown> =>
  member((await rest.get('/api/settings')).json, 'active_agent_profile_id')
const create = ({ rest }: TestServer, body: object): Promise<RestResponse> => rest.post('/api/conversations', body)

test('the first list makes one profile of the settings, also when many ask at once; HEAD makes none', withFresh(async (
  server,
) => {
  const { rest, dataDir } = server
  await rest.send('HEAD', path)
  assert.is(existsSync(join(dataDir, 'agent-profiles.json')), false)
  const lists = await Promise.all([1, 2, 3, 4, 5].map(() => rest.get(path)))
  const [first] = lists.map(({ json }) => json)
  assert.equal([check('AgentProfileList', first, definitions), listAt(first, 'profiles').length], [[], 1])
  for (const { json } of lists) assert.equal(json, first)
  const { id, ...rest1 } = Object(listAt(first, 'profiles')[0])
  assert.equal(rest1, { name: 'default', agent_kind: 'acp', revision: 0, llm_profile_ref: null, mcp_server_refs: null })
  assert.equal([member(first, 'active_agent_profile_id'), await pointer(server)], [id, id])
  assert.is(member(await stored(server, 'default'), 'acp_command'), 'agent-server-demo-agent')
  for (const name of ['default', 'default']) assert.is((await rest.delete(`${path}/${name}`)).status, 200)
  assert.is(await pointer(server), null)
}))

test('no profile is made where one was removed or the pointer says that there was one', withFresh(async (server) => {
  const { rest } = server
  await rest.patch('/api/settings', { active_agent_profile_id: unknownId })
  assert.equal((await rest.get(path)).json, { profiles: [], active_agent_profile_id: unknownId })
}))

test('a command of many words becomes one line that is split into the same words', withFresh(async (server) => {
  const acp_command = ['my agent', "it's", '--flag=a b', '$HOME', '']
  await server.rest.patch('/api/settings', {
    agent_settings_diff: { agent_kind: 'acp', acp_server: 'custom', acp_command },
  })
  await server.rest.get(path)
  const shown = (await server.rest.post(`${path}/default/materialize`)).json
  assert.equal([check('AgentProfileDiagnosis', shown, definitions), member(shown, 'valid')], [[], true])
  assert.equal(member(shown, 'resolved_settings', 'acp_command'), acp_command)
}))

test('the model of the built-in agent becomes an LLM profile if it is the user\'s own', withFresh(async (server) => {
  const { rest } = server
  const llm = { model: 'openai/gpt-5.5', api_key: 'key-of-the-seed-1234' }
  await rest.patch('/api/settings', { agent_settings_diff: { agent_kind: 'openhands', llm } })
  assert.is(member((await rest.get(path)).json, 'profiles', 0, 'llm_profile_ref'), 'default')
  assert.is(member((await rest.get('/api/profiles/default')).json, 'api_key_set'), true)
  const shown = await rest.post(`${path}/default/materialize`)
  assert.equal([member(shown.json, 'valid'), member(shown.json, 'llm_api_key_set')], [true, true])
  assert.not.match(shown.text, 'key-of-the-seed')
}))

test('a model that nobody chose becomes none, and the profile says what is missing', withFresh(async ({ rest }) => {
  await rest.patch('/api/settings', { agent_settings_diff: { agent_kind: 'openhands' } })
  assert.is(member((await rest.get(path)).json, 'profiles', 0, 'llm_profile_ref'), 'default')
  assert.equal(listAt((await rest.get('/api/profiles')).json, 'profiles'), [])
  const shown = (await rest.post(`${path}/default/materialize`)).json
  assert.equal(
    [member(shown, 'valid'), member(shown, 'llm_profile_resolved'), member(shown, 'resolved_settings')],
    [false, false, null],
  )
  assert.match(textAt(shown, 'errors', 0), '"default" not found')
}))

test(
  'saving takes the name of the path, keeps the id, counts revisions and refuses what no profile has',
  withFresh(async (server) => {
    const { rest } = server
    const given = { ...demo, id: unknownId, name: 'other', revision: 7 }
    const saved = await rest.post(`${path}/mine`, given)
    assert.equal([saved.status, saved.json], [201, { name: 'mine', message: 'Agent profile "mine" saved' }])
    const first = await stored(server, 'mine')
    assert.equal([member(first, 'name'), member(first, 'revision'), member(first, 'schema_version')], ['mine', 0, 2])
    assert.is.not(member(first, 'id'), unknownId)
    assert.is((await rest.post(`${path}/mine`, { ...demo, acp_model: 'm' })).status, 201)
    const second = await stored(server, 'mine')
    assert.equal([member(second, 'id'), member(second, 'revision'), member(second, 'acp_model')], [
      member(first, 'id'), 1, 'm',
    ])
    const refused = await rest.post(`${path}/mine`, { ...demo, llm_profile_ref: 'fast' })
    assert.equal([refused.status, member(refused.json, 'detail', 0, 'loc')], [422, ['body', 'llm_profile_ref']])
    for (const [name, body] of [
      ['mine', {}], ['mine', { agent_kind: 'other' }], ['mine', { schema_version: 3, ...demo }], ['a b', demo],
    ] as const) {
      assert.is((await rest.post(`${path}/${encodeURIComponent(name)}`, body)).status, 422, JSON.stringify(body))
    }
    assert.is(member(await stored(server, 'mine'), 'revision'), 1)
  }),
)

test('activating sets the pointer only, renaming keeps it, deleting clears it', withFresh(async (server) => {
  const { rest } = server
  await rest.post(`${path}/one`, demo)
  await rest.post(`${path}/two`, demo)
  const id = await idOf(server, 'one')
  const before = member((await rest.get('/api/settings')).json, 'agent_settings')
  const done = await rest.post(`${path}/${id}/activate`, {})
  assert.equal([done.status, member(done.json, 'id'), member(done.json, 'agent_settings_applied')], [200, id, false])
  assert.equal([await pointer(server), member((await rest.get('/api/settings')).json, 'agent_settings')], [id, before])
  assert.is((await rest.post(`${path}/one/rename`, { new_name: 'uno' })).status, 200)
  assert.equal([await pointer(server), await idOf(server, 'uno')], [id, id])
  assert.is((await rest.post(`${path}/uno/rename`, { new_name: 'two' })).status, 409)
  await rest.delete(`${path}/two`)
  assert.is(await pointer(server), id)
  await rest.delete(`${path}/uno`)
  assert.is(await pointer(server), null)
}))

test('what is not there is 404', withFresh(async ({ rest }) => {
  assert.is((await rest.get(`${path}/none`)).status, 404)
  assert.is((await rest.post(`${path}/none/rename`, { new_name: 'a' })).status, 404)
  assert.is((await rest.post(`${path}/none/materialize`)).status, 404)
  assert.is((await rest.post(`${path}/${unknownId}/activate`, {})).status, 404)
}))

test('fifty profiles and no more, but each may be replaced', withFresh(async ({ rest }) => {
  for (let number = 1; number <= 50; number++) assert.is((await rest.post(`${path}/p${number}`, demo)).status, 201)
  assert.is((await rest.post(`${path}/p51`, demo)).status, 409)
  assert.is((await rest.post(`${path}/p50`, demo)).status, 201)
}))

test('a conversation starts with the agent of a profile, and says which', withFresh(async (server) => {
  const { rest } = server
  await rest.patch('/api/settings', { agent_settings_diff: { agent_kind: 'acp', acp_server: 'codex' } })
  await rest.post(`${path}/mine`, demo)
  const id = await idOf(server, 'mine')
  const initial_message = { content: [{ type: 'text', text: 'hello' }] }
  const made = await create(server, { agent_profile_id: id.replaceAll('-', '').toUpperCase(), initial_message })
  assert.is(made.status, 201, made.text)
  assert.equal(member(made.json, 'launched_agent_profile'), { agent_profile_id: id, revision: 0 })
  assert.equal(member(made.json, 'agent', 'acp_command'), ['agent-server-demo-agent'])
  await talkTo(server, textAt(made.json, 'id')).reaches('finished')
  await rest.delete(`${path}/mine`)
  const later = await rest.get(`/api/conversations/${textAt(made.json, 'id')}`)
  assert.equal(member(later.json, 'launched_agent_profile'), { agent_profile_id: id, revision: 0 })
  assert.is((await create(server, { agent_profile_id: id })).status, 404)
}))

test('members that no profile has come from settings of the same preset', withFresh(async (server) => {
  const { rest } = server
  const diff = {
    agent_kind: 'acp', acp_server: 'custom', acp_command: ['x'], acp_env: { MY_VARIABLE: 'of the settings' },
  }
  await rest.patch('/api/settings', { agent_settings_diff: diff })
  await rest.post(`${path}/same`, demo)
  await rest.post(`${path}/other`, { agent_kind: 'acp', acp_server: 'codex' })
  const shown = async (name: string): Promise<unknown> =>
    member((await rest.post(`${path}/${name}/materialize`)).json, 'resolved_settings', 'acp_env')
  assert.equal([await shown('same'), await shown('other')], [diff.acp_env, {}])
  const codex = (await rest.post(`${path}/other/materialize`)).json
  assert.equal([member(codex, 'acp_api_key_secret_name'), member(codex, 'acp_file_secret_names')], [
    'OPENAI_API_KEY', ['CODEX_AUTH_JSON'],
  ])
}))

test('a custom agent without a command is refused at the start and explained before', withFresh(async (server) => {
  await server.rest.post(`${path}/empty`, { agent_kind: 'acp', acp_server: 'custom' })
  const shown = (await server.rest.post(`${path}/empty/materialize`)).json
  assert.equal([member(shown, 'valid'), member(shown, 'errors')], [
    false, ['acp_command is required when acp_server is "custom"'],
  ])
  assert.is((await create(server, { agent_profile_id: await idOf(server, 'empty') })).status, 422)
}))

test(
  'the built-in agent has the model of the LLM profile, streaming, and the MCP servers that are named',
  withFresh(async (server) => {
    const { rest } = server
    const model = await startAnthropicModel({ script: () => [{ text: 'I am the model of the profile.' }] })
    try {
      const mcp_config = { kept: { command: 'true', enabled: false }, left: { command: 'true', enabled: false } }
      await rest.patch('/api/settings', {
        agent_settings_diff: { agent_kind: 'openhands', mcp_config, agent_context: { load_memory: true } },
      })
      const llm = { model: 'anthropic/claude', base_url: model.url, api_key: 'key-of-the-model-1234', num_retries: 0 }
      await rest.post('/api/profiles/fast', { llm })
      await rest.post(`${path}/mine`, {
        llm_profile_ref: 'fast', mcp_server_refs: ['kept'], tools: [{ name: 'terminal' }],
      })
      const made = await create(server, {
        agent_profile_id: await idOf(server, 'mine'), initial_message: { content: [{ type: 'text', text: 'hi' }] },
      })
      assert.is(made.status, 201, made.text)
      const agent = member(made.json, 'agent')
      assert.equal([member(agent, 'llm', 'stream'), member(agent, 'agent_context', 'load_memory')], [true, true])
      assert.equal(Object.keys(Object(member(agent, 'mcp_config'))), ['kept'])
      const talk = talkTo(server, textAt(made.json, 'id'))
      await talk.reaches('finished')
      assert.equal(messagesOf(await talk.events(), 'agent'), ['I am the model of the profile.'])
    } finally {
      await model.close()
    }
  }),
)

test('what a profile refers to and is not there: 422 for a server, 404 for a model', withFresh(async (server) => {
  const { rest } = server
  await rest.post(`${path}/servers`, { ...demo, mcp_server_refs: ['gone', 'gone', 'lost'] })
  const shown = (await rest.post(`${path}/servers/materialize`)).json
  assert.equal([member(shown, 'valid'), member(shown, 'dangling_mcp_server_refs')], [false, ['gone', 'lost']])
  const refused = await create(server, { agent_profile_id: await idOf(server, 'servers') })
  assert.equal([refused.status, member(refused.json, 'detail')], [422, 'MCP server(s) not configured: gone, lost'])
  await rest.post(`${path}/model`, { llm_profile_ref: 'none' })
  assert.is((await create(server, { agent_profile_id: await idOf(server, 'model') })).status, 404)
  assert.is((await create(server, { agent_profile_id: unknownId })).status, 404)
  assert.is((await create(server, { agent_profile_id: unknownId, agent_settings: {} })).status, 422)
}))

test('an LLM profile that is in use stays, and its new name reaches the profiles', withFresh(async (server) => {
  const { rest } = server
  await rest.post('/api/profiles/fast', { llm: { model: 'demo/scripted' } })
  await rest.post(`${path}/mine`, { llm_profile_ref: 'fast' })
  const refused = await rest.delete('/api/profiles/fast')
  assert.equal([refused.status, member(refused.json, 'detail')], [
    409, 'Profile "fast" is used by the agent profiles mine',
  ])
  await rest.post('/api/profiles/fast/rename', { new_name: 'faster' })
  assert.equal(
    [member(await stored(server, 'mine'), 'llm_profile_ref'), member(await stored(server, 'mine'), 'revision')],
    ['faster', 1],
  )
  await rest.delete(`${path}/mine`)
  assert.is((await rest.delete('/api/profiles/faster')).status, 200)
}))

test(
  'the credentials of a critic\'s address are sealed in the file, redacted in views, and gone when a view is saved',
  withFresh(async (server) => {
    const { rest, dataDir } = server
    const verification = {
      critic_enabled: true, critic_server_url: 'https://user:canary-of-the-critic@critic.example/v1',
    }
    await rest.post(`${path}/mine`, { llm_profile_ref: 'fast', verification })
    const file = readFileSync(join(dataDir, 'agent-profiles.json'), 'utf8')
    assert.not.match(file, 'canary')
    assert.match(file, 'as1:')
    const shown = await stored(server, 'mine')
    assert.is(member(shown, 'verification', 'critic_server_url'), '**********')
    await rest.post(`${path}/mine`, shown)
    assert.is(member(await stored(server, 'mine'), 'verification', 'critic_server_url'), null)
  }),
)

test('profiles outlive the server, and one that was spoilt costs no other', async () => {
  const first = await startServer()
  try {
    for (const name of ['good', 'spoilt']) await first.rest.post(`${path}/${name}`, demo)
    const before = await stored(first, 'good')
    await first.server.close()
    const file = join(first.dataDir, 'agent-profiles.json')
    const content = JSON.parse(readFileSync(file, 'utf8'))
    content.profiles.spoilt.acp_server = 'nobody'
    writeFileSync(file, JSON.stringify(content))
    await inServer(first.folder, async (again) => {
      assert.equal(await stored(again, 'good'), before)
      assert.equal(listAt((await again.rest.get(path)).json, 'profiles').map((one) => member(one, 'name')), ['good'])
      assert.is((await again.rest.get(`${path}/spoilt`)).status, 400)
      assert.is((await again.rest.post(`${path}/good`, demo)).status, 201)
      assert.match(readFileSync(file, 'utf8'), '"nobody"')
      assert.is((await again.rest.post(`${path}/spoilt`, demo)).status, 201)
      writeFileSync(join(again.folder, 'done'), '')
    })
  } finally {
    await first.close()
  }
})

test('a file that cannot be read is refused and left as it is', async () => {
  const first = await startServer()
  try {
    await first.server.close()
    const file = join(first.dataDir, 'agent-profiles.json')
    writeFileSync(file, '{ not JSON')
    await inServer(first.folder, async ({ rest }) => {
      for (const answer of [await rest.get(path), await rest.post(`${path}/a`, demo)]) assert.is(answer.status, 409)
    })
    assert.is(readFileSync(file, 'utf8'), '{ not JSON')
  } finally {
    await first.close()
  }
})

test('without the part there are no profiles', () => withServer(async (server) => {
  assert.is((await server.rest.get(path)).status, 501)
  assert.is((await create(server, { agent_profile_id: unknownId })).status, 404)
  await server.rest.post('/api/profiles/fast', { llm: {} })
  assert.is((await server.rest.delete('/api/profiles/fast')).status, 200)
}, { parts: ['demo'] }))

test.run()
