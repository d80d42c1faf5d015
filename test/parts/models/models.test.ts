/** Lists of models and provider connections behind a real server, and LLM profiles that share a key. */
import * as assert from 'uvu/assert'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createModelClient } from '../../../src/parts/builtin/llm/client.ts'
import { modelsOf, providers } from '../../../src/parts/models/models-table.ts'
import { check } from '../../../src/schema/check.ts'
import { toLLM } from '../../../src/schema/generated/llm.ts'
import { definitions } from '../../../src/parts/models/spec.ts'
import { listAt, member, textAt } from '../../support/rest.ts'
import { inServer, startServer, withServer, type TestServer } from '../../support/server.ts'
import { suite } from '../../support/suite.ts'

const test = suite('parts/models')
const path = '/api/llm/provider-connections'
const given = {
  display_name: 'Shared', provider: 'openai', api_key: 'canary-key-of-all-1234', base_url: 'https://models.example/v1',
}
const withFresh = (body: (server: TestServer) => Promise<void>) => () => withServer(body)
const added = async ({ rest }: TestServer, body: object = given): Promise<string> =>
  textAt((await rest.post(path, body)).json, 'id')

test('lists are sorted, filtered by provider, and empty for a stranger', withFresh(async ({ rest }) => {
  const listed = async (query: string): Promise<unknown[]> =>
    listAt((await rest.get(`/api/llm/models${query}`)).json, 'models')
  const known = listAt((await rest.get('/api/llm/providers')).json, 'providers')
  assert.equal([known, known.includes('anthropic')], [[...known].sort(), true])
  const all = await listed('')
  assert.equal(all, [...all].sort())
  assert.equal(await listed('?provider=anthropic'), all.filter((name) => String(name).startsWith('anthropic/')))
  assert.equal(await listed('?provider=nobody'), [])
  const verified = (await rest.get('/api/llm/models/verified')).json
  assert.ok(listAt(verified, 'models', 'openai').includes('gpt-5.5'))
  assert.is(check('VerifiedModels', verified, definitions).length, 0)
}))

test('the built-in agent can call every model and knows every provider of the table', () => {
  const usable = modelsOf(undefined).filter((name) => name !== 'demo/scripted')
  for (const model of usable) createModelClient(toLLM({ model, api_key: 'key-0123456789' }))
  for (const provider of providers) {
    if (provider !== 'demo') createModelClient(toLLM({ model: `${provider}/a`, base_url: 'http://127.0.0.1:1/v1' }))
  }
  assert.throws(() => createModelClient(toLLM({ model: 'nobody/a' })))
})

test('there is no sign-in to subscriptions, and the server says so', withFresh(async ({ rest }) => {
  const base = '/api/llm/subscription/openai'
  assert.equal((await rest.get(`${base}/models`)).json, { vendor: 'openai', models: [] })
  assert.is(member((await rest.get(`${base}/status`)).json, 'connected'), false)
  assert.is(member((await rest.post(`${base}/logout`)).json, 'connected'), false)
  assert.is((await rest.post(`${base}/device/start`)).status, 400)
}))

test(
  'a connection is stored sealed, shown without its key, changed and removed',
  withFresh(async ({ rest, dataDir }) => {
    assert.equal((await rest.get(path)).json, [])
    const made = await rest.post(path, given)
    const id = textAt(made.json, 'id')
    const issues = check('ProviderConnectionView', made.json, definitions)
    assert.equal([made.status, issues, /^[0-9a-f]{32}$/.test(id)], [201, [], true])
    const { api_key: _key, ...shown } = given
    const { created_at, updated_at, ...rest1 } = Object(made.json)
    assert.equal([rest1, typeof created_at, updated_at], [{ ...shown, id, api_key_set: true }, 'number', created_at])
    assert.not.match(readFileSync(join(dataDir, 'provider-connections.json'), 'utf8'), 'canary')
    const changed = await rest.patch(`${path}/${id}`, { display_name: 'Other', base_url: null })
    assert.equal([changed.status, member(changed.json, 'display_name'), member(changed.json, 'base_url')], [
      200, 'Other', null,
    ])
    const removed = await rest.delete(`${path}/${id}`)
    assert.equal([removed.status, member(removed.json, 'api_key_set')], [200, false])
    assert.is((await rest.delete(`${path}/${id}`)).status, 404)
    assert.is((await rest.patch(`${path}/${id}`, { display_name: 'x' })).status, 404)
  }),
)

test('what is no connection is refused', withFresh(async (server) => {
  const { rest } = server
  const id = await added(server)
  for (const body of [
    {}, { ...given, foreign: 1 }, { ...given, api_key: '' }, { ...given, api_key: '**********' },
    { ...given, display_name: '' },
  ]) {
    assert.is((await rest.post(path, body)).status, 422, JSON.stringify(body))
  }
  for (const body of [
    {}, { api_key: null }, { api_key: ' ' }, { display_name: null }, { provider: null }, { foreign: 1 },
  ]) {
    assert.is((await rest.patch(`${path}/${id}`, body)).status, 422, JSON.stringify(body))
  }
  for (let count = 1; count < 64; count++) await added(server)
  assert.is((await rest.post(path, given)).status, 409)
}))

test('an address with credentials is sealed and redacted', withFresh(async ({ rest, dataDir }) => {
  const made = await rest.post(path, { ...given, base_url: 'https://user:canary-of-the-address@models.example/v1' })
  assert.is(member(made.json, 'base_url'), '**********')
  assert.not.match(readFileSync(join(dataDir, 'provider-connections.json'), 'utf8'), 'canary')
}))

test('a linked profile has no key of its own and uses the newest one of its connection', withFresh(async (server) => {
  const { rest } = server
  const id = await added(server)
  const llm = {
    model: 'openai/gpt-5.5', api_key: 'own-key-of-the-profile', base_url: 'https://own.example',
    provider_connection_id: id,
  }
  await rest.post('/api/profiles/linked', { llm })
  const own = (await rest.get('/api/profiles/linked', { 'X-Expose-Secrets': 'plaintext' })).json
  assert.equal(
    [member(own, 'config', 'api_key'), member(own, 'config', 'base_url'), member(own, 'api_key_set')],
    [null, null, true],
  )
  const [listed] = listAt((await rest.get('/api/profiles')).json, 'profiles')
  assert.equal([member(listed, 'provider_connection_broken'), member(listed, 'api_key_set')], [false, true])
  await rest.patch(`${path}/${id}`, { api_key: 'canary-rotated-key-1234' })
  await rest.post('/api/profiles/linked/activate')
  const settings = await rest.get('/api/settings', { 'X-Expose-Secrets': 'plaintext' })
  const used = member(settings.json, 'agent_settings', 'llm')
  assert.equal([member(used, 'api_key'), member(used, 'base_url')], ['canary-rotated-key-1234', given.base_url])
  const refused = await rest.delete(`${path}/${id}`)
  assert.is(refused.status, 409)
  assert.match(refused.text, 'LLM profile(s): linked and referenced by the active agent settings')
}))

test('the key of a connection without an address goes to its provider only', withFresh(async ({ rest }) => {
  const broken: unknown[] = []
  for (const [provider, model, status] of [
    ['openai', 'gpt-5.5', 200], ['OpenAI', 'openai/gpt-5.5', 200], ['openai', 'anthropic/claude', 422],
    ['custom', 'anthropic/claude', 200], ['anthropic', 'openrouter/anthropic/claude', 422],
  ] as const) {
    const connection = { display_name: 'A', provider, api_key: 'canary-connection-key' }
    const id = textAt((await rest.post(path, connection)).json, 'id')
    await rest.post('/api/profiles/linked', { llm: { model, provider_connection_id: id } })
    const [listed] = listAt((await rest.get('/api/profiles')).json, 'profiles')
    broken.push(member(listed, 'provider_connection_broken'))
    const { status: given, text } = await rest.post('/api/profiles/linked/activate')
    assert.is(given, status, `${provider} ${model}`)
    if (status === 422) assert.match(text, `the key of its provider connection is for \\"${provider}\\"`)
  }
  assert.equal(broken, [false, false, true, false, true])
}))

test('a link that leads nowhere is said in the list and refused in use', withFresh(async ({ rest }) => {
  await rest.post('/api/profiles/broken', { llm: { model: 'openai/gpt-5.5', provider_connection_id: 'gone' } })
  const [listed] = listAt((await rest.get('/api/profiles')).json, 'profiles')
  assert.equal([member(listed, 'provider_connection_broken'), member(listed, 'api_key_set')], [true, false])
  assert.is((await rest.post('/api/profiles/broken/activate')).status, 422)
}))

test('connections outlive the server', async () => {
  const first = await startServer()
  try {
    const id = await added(first)
    await first.server.close()
    await inServer(first.folder, async ({ rest }) => {
      assert.equal(listAt((await rest.get(path)).json).map((one) => member(one, 'id')), [id])
    })
  } finally {
    await first.close()
  }
})

test.run()
