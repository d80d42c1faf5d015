/** LLM profiles behind a real server: their routes, conversations that switch to one, titles made by one. */
import * as assert from 'uvu/assert'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { check } from '../../src/schema/check.ts'
import { startAnthropicModel } from '../fixtures/anthropic-model.ts'
import type { ModelServer } from '../fixtures/model-server.ts'
import type { ModelStep } from '../fixtures/model-step.ts'
import { until } from '../support/processes.ts'
import { listAt, member, textAt, type RestResponse } from '../support/rest.ts'
import { startServer, withPrograms, withServer, type Reachable, type TestServer } from '../support/server.ts'
import { suite } from '../support/suite.ts'
import { messagesOf, startTalk, talkTo, type Talk } from './talk.ts'

const test = suite('e2e/profiles')
let server: TestServer
const models: ModelServer[] = []

test.before(async () => {
  server = await startServer()
})
test.after(async () => {
  await server.close()
  for (const model of models) await model.close()
})

/** A model that says its name, and makes titles of it. */
async function modelNamed(name: string, steps: readonly ModelStep[] = []): Promise<ModelServer> {
  const model = await startAnthropicModel({
    script: () => [...steps, { text: `I am ${name}.` }], aside: () => `Title by ${name}`,
  })
  models.push(model)
  return model
}

function llmAt(
  model: ModelServer, name: string,
): { model: string; base_url: string; api_key: string; num_retries: number } {
  return { model: `anthropic/${name}`, base_url: model.url, api_key: `key-of-${name}-1234`, num_retries: 0 }
}

/** A stand-in for a model, and a profile of its name that leads to it. */
async function profileNamed(name: string, { rest }: Reachable = server): Promise<ModelServer> {
  const model = await modelNamed(name)
  assert.is((await rest.post(`/api/profiles/${name}`, { llm: llmAt(model, name) })).status, 201)
  return model
}

async function builtInTalk(of: Reachable, name: string, rest: object = {}, agent: object = {}): Promise<Talk> {
  const llm = llmAt(await modelNamed(name), name)
  return startTalk(of, {
    agent: { kind: 'Agent', llm, tools: [{ name: 'terminal' }], ...agent }, autotitle: false, ...rest,
  })
}

async function answerTo(talk: Talk, text: string): Promise<string> {
  await talk.send(text)
  await talk.reaches('finished')
  return messagesOf(await talk.events(), 'agent').at(-1) ?? ''
}

const path = '/api/profiles'
const withFresh = (body: (server: TestServer) => Promise<void>) => () => withServer(body)
const exposed = (name: string, mode: string): Promise<RestResponse> => {
  return server.rest.get(`${path}/${name}`, { 'X-Expose-Secrets': mode })
}

test(
  'a profile is saved, shown without its key, activated, renamed and removed, and the active pointer goes with it',
  withFresh(async ({ rest, dataDir }) => {
    assert.equal((await rest.get(path)).json, { profiles: [], active_profile: null })
    const saved = await rest.post(`${path}/fast`, {
      llm: { model: 'openai/gpt-5.5', api_key: 'key-canary-1234' }, include_secrets: true,
    })
    assert.equal([saved.status, member(saved.json, 'name')], [201, 'fast'])
    assert.ok(textAt(saved.json, 'message') !== '')
    const shown = await rest.get(`${path}/fast`)
    assert.equal([shown.status, check('ProfileDetail', shown.json)], [200, []])
    assert.equal(
      [
        member(shown.json, 'config', 'model'),
        member(shown.json, 'config', 'api_key'),
        member(shown.json, 'api_key_set'),
      ],
      ['openai/gpt-5.5', null, true],
    )
    const activated = await rest.post(`${path}/fast/activate`, {})
    assert.equal([activated.status, member(activated.json, 'name'), member(activated.json, 'llm_applied')], [
      200, 'fast', true,
    ])
    const settings = (await rest.get('/api/settings')).json
    assert.equal(
      [
        member(settings, 'active_profile'),
        member(settings, 'agent_settings', 'llm', 'model'),
        member(settings, 'llm_api_key_is_set'),
      ],
      ['fast', 'openai/gpt-5.5', true],
    )
    const renamed = await rest.post(`${path}/fast/rename`, { new_name: 'faster' })
    assert.equal([renamed.status, member(renamed.json, 'name')], [200, 'faster'])
    assert.is((await rest.get(`${path}/fast`)).status, 404)
    const list = (await rest.get(path)).json
    assert.equal(
      [
        check('ProfileList', list),
        listAt(list, 'profiles').map((profile) => member(profile, 'name')),
        member(list, 'active_profile'),
      ],
      [[], ['faster'], 'faster'],
    )
    for (const _twice of [1, 2]) assert.equal(member((await rest.delete(`${path}/faster`)).json, 'name'), 'faster')
    assert.equal((await rest.get(path)).json, { profiles: [], active_profile: null })
    assert.is(member((await rest.get('/api/settings')).json, 'agent_settings', 'llm', 'model'), 'openai/gpt-5.5')
    assert.not.match(readFileSync(join(dataDir, 'profiles.json'), 'utf8'), 'canary')
  }),
)

test('a pointer to another profile stays when one is renamed or removed', async () => {
  const { rest } = server
  for (const name of ['one', 'two', 'three']) await rest.post(`${path}/${name}`, { llm: { model: 'a' } })
  assert.is((await rest.patch('/api/settings', { active_profile: 'two' })).status, 200)
  await rest.post(`${path}/one/rename`, { new_name: 'four' })
  await rest.delete(`${path}/three`)
  assert.is(member((await rest.get(path)).json, 'active_profile'), 'two')
})

test('the header shows keys as tokens or in plain, tokens come back as keys, and a mask does not', async () => {
  const { rest } = server
  await rest.post(`${path}/fast`, {
    llm: { model: 'a', api_key: 'key-canary-1234', aws_session_token: 'token-canary' },
  })
  assert.is(member((await exposed('fast', ' Plaintext ')).json, 'config', 'api_key'), 'key-canary-1234')
  assert.is((await exposed('fast', 'yes')).status, 400)
  const sealed = (await exposed('fast', 'encrypted')).json
  assert.match(textAt(sealed, 'config', 'api_key'), /^as1:/)
  await rest.post(`${path}/copy`, { llm: member(sealed, 'config') })
  assert.is(member((await exposed('copy', 'true')).json, 'api_key_set'), true)
  assert.is(member((await exposed('copy', 'plaintext')).json, 'config', 'api_key'), 'key-canary-1234')
  const redacted = (await rest.get(`${path}/fast`)).json
  assert.is(member(redacted, 'config', 'aws_session_token'), '**********')
  await rest.post(`${path}/copy`, { llm: member(redacted, 'config') })
  const after = (await exposed('copy', 'plaintext')).json
  assert.equal([member(after, 'config', 'api_key'), member(after, 'config', 'aws_session_token')], [null, null])
})

/** Method, path behind `/api/profiles`, body, status. */
const refused: readonly (readonly ['GET' | 'POST' | 'DELETE', string, unknown, number])[] = [
  ['GET', '/unknown', undefined, 404],
  ['POST', '/unknown/activate', undefined, 404],
  ['POST', '/unknown/rename', { new_name: 'other' }, 404],
  ['POST', '/taken/rename', { new_name: 'fast' }, 409],
  ['POST', '/fast/rename', { new_name: 'a b' }, 422],
  ['POST', '/fast/rename', {}, 422],
  ['POST', '/fast', {}, 422],
  ['POST', '/fast', { llm: 'gpt' }, 422],
  ['POST', '/fast', { llm: { model: 7 } }, 422],
  ['POST', '/fast', { llm: { temperature: 0.2 } }, 422],
  ['POST', '/fast/validate', { llm: { model: '' } }, 422],
  ['POST', '/fast', { llm: { model: 'a', api_key: 'as1:00000000:AAAA' } }, 422],
  ['POST', '/fast/validate', {}, 422],
  ['POST', '/fast/validate', { llm: { model: 'a', api_key: 'as1:00000000:AAAA' } }, 422],
  ['POST', '/linked/activate', undefined, 422],
  ['POST', '/bad/activate', undefined, 400],
  ['GET', '/bad', undefined, 400],
  ['GET', '/.hidden', undefined, 422],
  ['GET', '/%2e%2e%2fsettings', undefined, 422],
  ['POST', `/${'x'.repeat(65)}`, { llm: { model: 'a' } }, 422],
  ['DELETE', '/a%20b', undefined, 422],
]
test(
  'what is unknown, taken, damaged, linked to nothing or wrong is refused, and changes nothing',
  withFresh(async (fresh) => {
    const { rest, dataDir } = fresh
    for (const name of ['fast', 'taken']) await rest.post(`${path}/${name}`, { llm: { model: name } })
    await rest.post(`${path}/linked`, { llm: { model: 'a', provider_connection_id: 'gone' } })
    await fresh.server.close()
    const file = join(dataDir, 'profiles.json')
    const stored: { profiles: Record<string, unknown> } = JSON.parse(readFileSync(file, 'utf8'))
    writeFileSync(file, JSON.stringify({ ...stored, profiles: { ...stored.profiles, bad: { llm: { model: 7 } } } }))
    const again = await startServer({ folder: fresh.folder })
    const list = (await again.rest.get(path)).json
    assert.equal(
      listAt(list, 'profiles').map((profile) => [
        member(profile, 'name'), member(profile, 'provider_connection_broken'),
      ]),
      [['fast', false], ['linked', true], ['taken', false]],
    )
    for (const [method, tail, body, status] of refused) {
      const answer = await again.rest.send(method, path + tail, body === undefined ? {} : { body })
      assert.is(answer.status, status, `${method} ${tail} ${answer.text}`)
    }
    assert.equal((await again.rest.get(path)).json, list)
    assert.is((await again.rest.patch('/api/settings', { active_profile: 'bad' })).status, 400)
    assert.is((await again.rest.patch('/api/settings', { active_profile: 'linked' })).status, 422)
    await again.close()
  }),
)

test(
  'settings or profiles that cannot be read are refused with 409, and nothing is renamed or removed',
  withFresh(async (fresh) => {
    await fresh.rest.post(`${path}/fast`, { llm: { model: 'a' } })
    await fresh.server.close()
    const [settings, profiles] = [join(fresh.dataDir, 'settings.json'), join(fresh.dataDir, 'profiles.json')]
    const sound = readFileSync(profiles, 'utf8')
    writeFileSync(settings, 'damaged')
    const again = await startServer({ folder: fresh.folder })
    for (const [method, tail, body] of [
      ['GET', ''], ['DELETE', '/fast'], ['POST', '/fast/rename', { new_name: 'x' }], ['POST', '/fast/activate'],
    ] as const) {
      assert.is((await again.rest.send(method, path + tail, body === undefined ? {} : { body })).status, 409, tail)
    }
    assert.is(readFileSync(profiles, 'utf8'), sound)
    assert.is((await again.rest.get(`${path}/fast`)).status, 200)
    await again.close()
    writeFileSync(profiles, 'damaged')
    const third = await startServer({ folder: fresh.folder })
    assert.is((await third.rest.get(`${path}/fast`)).status, 409)
    await third.close()
    assert.is(readFileSync(profiles, 'utf8'), 'damaged')
  }),
)

test('a model is tried before it is stored', async () => {
  const model = await modelNamed('tried')
  const good = await server.rest.post(`${path}/new/validate`, { llm: llmAt(model, 'tried') })
  assert.equal([good.status, good.json], [200, { valid: true }])
  assert.is(model.requests[0]?.apiKey, 'key-of-tried-1234')
  assert.equal((await server.rest.post(`${path}/new/validate`, { llm: { model: 'demo/scripted' } })).json, {
    valid: true,
  })
  const bad = await server.rest.post(`${path}/new/validate`, {
    llm: { model: 'nobody-knows-it', api_key: 'key-canary-1234' },
  })
  assert.equal([bad.status, member(bad.json, 'valid'), member(bad.json, 'error', 'type')], [
    200, false, 'LLMBadRequestError',
  ])
  assert.not.match(bad.text, 'canary')
  assert.is((await server.rest.get(`${path}/new`)).status, 404)
})

test('new conversations are driven by the profile that was activated', withFresh(async (fresh) => {
  await fresh.rest.patch('/api/settings', { agent_settings_diff: { agent_kind: 'openhands' } })
  const model = await profileNamed('chosen', fresh)
  await fresh.rest.post(`${path}/chosen/activate`)
  const talk = await startTalk(fresh, { autotitle: false })
  assert.is(await answerTo(talk, 'Who?'), 'I am chosen.')
  assert.is(model.requests[0]?.apiKey, 'key-of-chosen-1234')
}))

test(
  'a conversation switches to the model of a profile, counted under its name, and keeps it when the profile is gone',
  async () => {
    await profileNamed('second')
    const talk = await builtInTalk(server, 'first')
    assert.is(await answerTo(talk, 'Who?'), 'I am first.')
    assert.equal((await talk.post('/switch_profile', { profile_name: 'second' })).json, { success: true })
    const agent = member((await talk.get()).json, 'agent')
    assert.equal(['model', 'usage_id', 'api_key'].map((name) => member(agent, 'llm', name)), [
      'anthropic/second', 'profile:second', '**********',
    ])
    await server.rest.delete(`${path}/second`)
    assert.is(await answerTo(talk, 'And now?'), 'I am second.')
    assert.ok(member((await talk.get()).json, 'stats', 'usage_to_metrics', 'profile:second') !== undefined)
    assert.not.match(JSON.stringify(await talk.events()), 'key-of-second')
  },
)

test('a run that is under way goes on with the new model from its next step', async () => {
  await profileNamed('later')
  const steps = [
    { toolCall: { name: 'terminal', input: { command: 'until [ -e go ]; do sleep 0.05; done; echo gone' } } },
  ]
  const before = await modelNamed('before', steps)
  const talk = await startTalk(server, {
    agent: { kind: 'Agent', llm: llmAt(before, 'before'), tools: [{ name: 'terminal' }] }, autotitle: false,
  })
  await talk.send('Work')
  await until(async () => (await talk.events()).some(({ kind }) => kind === 'ActionEvent'))
  assert.is((await talk.post('/switch_profile', { profile_name: 'later' })).status, 200)
  writeFileSync(join(textAt((await talk.get()).json, 'workspace', 'working_dir'), 'go'), '')
  await talk.reaches('finished')
  assert.equal(messagesOf(await talk.events(), 'agent'), ['Done.'])
  assert.equal([before.requests.length, models.at(-2)?.requests.length], [1, 1])
})

test('what a conversation switched to outlives a kill of the server', withPrograms(async (start) => {
  const first = await start()
  await profileNamed('kept', first)
  const talk = await builtInTalk(first, 'gone')
  await talk.post('/switch_profile', { profile_name: 'kept' })
  await first.stop('SIGKILL')
  const second = await start()
  const again = talkTo(second, talk.id)
  assert.is(textAt((await again.get()).json, 'agent', 'llm', 'usage_id'), 'profile:kept')
  assert.is(await answerTo(again, 'Who?'), 'I am kept.')
  assert.is(textAt((await second.rest.get(`${path}/kept`)).json, 'config', 'model'), 'anthropic/kept')
}))

test(
  'a condenser with a copy of the model goes on with the new one, and one with a model of its own keeps it',
  async () => {
    await profileNamed('next')
    const own = llmAt(await modelNamed('own'), 'own')
    const copying = await modelNamed('copied')
    const copy = llmAt(copying, 'copied')
    for (const [llm, expected] of [
      [{ ...copy, usage_id: 'mine' }, 'anthropic/next'],
      [{ ...own, usage_id: 'mine' }, 'anthropic/own'],
      [null, 'anthropic/next'],
    ] as const) {
      const talk = await startTalk(server, {
        agent: { kind: 'Agent', llm: copy, condenser: { llm }, tools: [] }, autotitle: false,
      })
      for (const text of ['One', 'Two']) await answerTo(talk, text)
      await talk.post('/switch_profile', { profile_name: 'next' })
      const shown = member((await talk.get()).json, 'agent', 'condenser', 'llm')
      assert.equal([member(shown, 'model'), member(shown, 'usage_id')], [expected, llm?.usage_id ?? 'condenser'])
      assert.is((await talk.post('/condense')).status, 200)
      const usage = member((await talk.get()).json, 'stats', 'usage_to_metrics', llm === null ? 'condenser' : 'mine')
      assert.is(member(usage, 'model_name'), expected)
    }
  },
)

test('an unknown profile, a malformed name, an unknown conversation and an external agent are refused', async () => {
  const talk = await builtInTalk(server, 'alone')
  assert.is((await talk.post('/switch_profile', { profile_name: 'nobody' })).status, 404)
  for (const body of [{}, { profile_name: '../x' }, { profile_name: 7 }]) {
    assert.is((await talk.post('/switch_profile', body)).status, 422)
  }
  assert.is(
    (await server.rest.post('/api/conversations/00000000-0000-4000-8000-000000000000/switch_profile', {
      profile_name: 'a',
    })).status,
    404,
  )
  const external = await startTalk(server, { agent: { kind: 'ACPAgent', acp_command: ['agent-server-demo-agent'] } })
  const refusal = await external.post('/switch_profile', { profile_name: 'nobody' })
  assert.equal([refusal.status, member(refusal.json, 'detail')], [
    400, 'Cannot switch the model: the conversation is not driven by the built-in agent',
  ])
})

test(
  'a title is made by the profile that was named for it, for an external agent too, else by the model of the agent',
  async () => {
    const model = await profileNamed('namer')
    const titleOf = async (talk: Talk): Promise<unknown> => {
      await talk.send('Fix it')
      await until(async () => member((await talk.get()).json, 'title') !== null)
      return member((await talk.get()).json, 'title')
    }
    const talk = await builtInTalk(server, 'worker', { autotitle: true, title_llm_profile: 'namer' })
    assert.is(await titleOf(talk), 'Title by namer')
    await until(async () => member((await talk.get()).json, 'stats', 'usage_to_metrics', 'title') !== undefined)
    const external = { agent: { kind: 'ACPAgent', acp_command: ['agent-server-demo-agent'] }, autotitle: true }
    assert.is(await titleOf(await startTalk(server, { ...external, title_llm_profile: 'namer' })), 'Title by namer')
    assert.is(model.requests[0]?.apiKey, 'key-of-namer-1234')
    assert.is(
      await titleOf(await builtInTalk(server, 'fallback', { autotitle: true, title_llm_profile: 'nobody' })),
      'Title by fallback',
    )
    assert.is(await titleOf(await startTalk(server, { ...external, title_llm_profile: 'nobody' })), 'Fix it')
  },
)

test.run()
