/**
 * Settings and global secrets over REST (`PATCH /api/settings`; spec: Endpoints, spec: "Global secret"; contract:
 * settings.md 1-3 and 6).
 */
import * as assert from 'uvu/assert'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { check } from '../../src/schema/check.ts'
import { member, textAt, type RestResponse } from '../support/rest.ts'
import { fakeAgent, startServer, withServer, type TestServer } from '../support/server.ts'
import { suite } from '../support/suite.ts'
import { startTalk } from './talk.ts'

const test = suite('settings')
const path = '/api/settings'
const secret = 'a-secret-value-of-the-test'

const patchAgent = (server: TestServer, diff: object): Promise<RestResponse> => {
  return server.rest.patch(path, { agent_settings_diff: diff })
}

test('a fresh server shows the demonstration agent, and everything fits the schema', () =>
  withServer(async ({ rest }) => {
    const { status, json } = await rest.get(path)
    assert.is(status, 200)
    assert.equal(check('SettingsResponse', json), [])
    const shown = { agent_kind: 'acp', acp_server: 'custom', acp_command: ['agent-server-demo-agent'], acp_model: null }
    for (const [name, value] of Object.entries(shown)) assert.equal(member(json, 'agent_settings', name), value, name)
    assert.is(member(json, 'llm_api_key_is_set'), false)
    assert.equal([member(json, 'active_profile'), member(json, 'active_agent_profile_id')], [null, null])
    for (const kind of ['agent', 'conversation']) {
      assert.ok(textAt((await rest.get(`${path}/${kind}-schema`)).json, 'model_name').length > 0)
    }
  }))

/** A diff of the spec's four fields, and the values that are stored after it. */
const choices: readonly (readonly [object, Record<string, unknown>])[] = [
  [{ agent_kind: 'acp', acp_server: 'claude-code' }, { acp_server: 'claude-code', acp_model: 'opus[1m]' }],
  [{ agent_kind: 'acp', acp_server: 'codex', acp_command: [] }, { acp_server: 'codex', acp_model: 'gpt-5.5' }],
  [{ acp_server: 'gemini-cli', acp_model: 'my-model' }, { acp_server: 'gemini-cli', acp_model: 'my-model' }],
  [{ acp_command: 'npx -y @agentclientprotocol/codex-acp@9' },
    { acp_server: 'codex', acp_command: ['npx', '-y', '@agentclientprotocol/codex-acp@9'] }],
  [{ acp_command: ['my-codex-acp-wrapper'] }, { acp_server: 'custom' }],
  [{ acp_command: `my-agent 'two words'` }, { acp_server: 'custom', acp_command: ['my-agent', 'two words'] }],
  [{ agent_kind: 'openhands' }, { agent_kind: 'openhands', acp_server: undefined }],
  [{ agent_kind: 'acp', acp_command: ['my-agent'] },
    { agent_kind: 'acp', acp_command: ['my-agent'], acp_server: 'custom' }],
  [{ acp_prompt_timeout: 5, acp_args: ['--x'] },
    { acp_command: ['my-agent'], acp_prompt_timeout: 5, acp_args: ['--x'] }],
  [{ acp_prompt_timeout: null }, { acp_prompt_timeout: 1800, acp_args: ['--x'] }],
  [{}, { acp_args: ['--x'] }],
]
test('each choice is stored, answered and shown alike, and survives a restart', () =>
  withServer(async (server) => {
    let last: unknown
    for (const [diff, expected] of choices) {
      const { status, json, text } = await patchAgent(server, diff)
      assert.is(status, 200, `${JSON.stringify(diff)} ${text}`)
      for (const [name, value] of Object.entries(expected)) {
        assert.equal(member(json, 'agent_settings', name), value, `${JSON.stringify(diff)}: ${name}`)
      }
      last = (await server.rest.get(path)).json
      assert.equal(last, json)
    }
    await server.server.close()
    const again = await startServer({ folder: server.folder })
    assert.equal((await again.rest.get(path)).json, last)
    await again.close()
  }))

test('an empty command of a preset is stored as it is and shown resolved', () =>
  withServer(async (server) => {
    const { json } = await patchAgent(server, { acp_server: 'claude-code', acp_command: [] })
    assert.is(member(json, 'agent_settings', 'acp_command', 0), 'npx')
    const stored: unknown = JSON.parse(readFileSync(join(server.dataDir, 'settings.json'), 'utf8'))
    assert.equal(member(stored, 'agent_settings', 'acp_command'), [])
  }))

const refused: readonly (readonly [unknown, number, string | RegExp])[] = [
  [undefined, 422, 'missing'],
  [[], 422, 'model_attributes_type'],
  [{}, 400, /Nothing to update/],
  [{ agent_settings_diff: null }, 400, /Nothing to update/],
  [{ nonsense: 1 }, 400, /Nothing to update/],
  [{ agent_settings_diff: [] }, 422, 'dict_type'],
  [{ agent_settings_diff: 'x' }, 422, 'dict_type'],
  [{ active_profile: '../x' }, 422, 'string_pattern_mismatch'],
  [{ active_profile: 'unknown' }, 404, /not found/],
  [{ active_agent_profile_id: 'x' }, 422, /./],
  [{ agent_settings_diff: { agent_kind: 'other' } }, 422, /^Settings validation failed$/],
  [{ agent_settings_diff: { acp_server: 'other' } }, 422, /^Settings validation failed$/],
  [{ agent_settings_diff: { agent_kind: 'acp', acp_env: { LD_PRELOAD: 'x' } } }, 422,
    /"LD_PRELOAD" of "acp_env" decides which code programs load$/],
  [{ agent_settings_diff: { acp_command: 7 } }, 422, /^Settings validation failed$/],
  [{ agent_settings_diff: { acp_command: 'unclosed "' } }, 422, /./],
  [{ agent_settings_diff: { acp_prompt_timeout: 0 } }, 422, /^Settings validation failed$/],
  [{ agent_settings_diff: { schema_version: 99 } }, 422,
    /^Settings validation failed: "schema_version" is 99, newer than 5, the newest that this server knows$/],
  [{ agent_settings_diff: { mcp_config: { x: { command: 'y', surprise: secret } } } }, 422,
    /^Settings validation failed$/],
  [{ conversation_settings_diff: { confirmation_mode: null } }, 422, /^Settings validation failed$/],
  [{ agent_settings_diff: { acp_model: 'x' }, conversation_settings_diff: { max_iterations: 0 } }, 422,
    /^Settings validation failed$/],
]
test('what is not valid is refused as a whole, without repeating a value', () =>
  withServer(async ({ rest }) => {
    const before = (await rest.get(path)).text
    for (const [body, status, what] of refused) {
      const answer = await rest.patch(path, body)
      assert.is(answer.status, status, `${JSON.stringify(body)} ${answer.text}`)
      const shown = what instanceof RegExp ? member(answer.json, 'detail') : member(answer.json, 'detail', 0, 'type')
      if (what instanceof RegExp) assert.match(typeof shown === 'string' ? shown : JSON.stringify(shown), what)
      else assert.is(shown, what, answer.text)
      assert.not.match(answer.text, secret)
    }
    assert.is((await rest.get(path)).text, before)
  }))

test('a bare pointer may be cleared, and other settings merge', () =>
  withServer(async ({ rest }) => {
    assert.is((await rest.patch(path, { active_profile: null })).status, 200)
    assert.is((await rest.patch(path, { active_agent_profile_id: null })).status, 200)
    await rest.patch(path, { misc_settings_diff: { app: { a: 1, b: [1, 2], c: 'x' } } })
    const { json } = await rest.patch(path, {
      misc_settings_diff: { app: { b: [3], c: null } }, conversation_settings_diff: { max_iterations: 7 },
    })
    assert.equal(member(json, 'misc_settings'), { app: { a: 1, b: [3] } })
    assert.is(member(json, 'conversation_settings', 'max_iterations'), 7)
  }))

test('a body with `__proto__` changes no prototype and stores nothing of it', () =>
  withServer(async ({ rest }) => {
    const raw = '{"misc_settings_diff":{"__proto__":{"polluted":1},"a":{"__proto__":{"polluted":1}},"constructor":{"prototype":{"polluted":1}}}}'
    const { status } = await rest.send('PATCH', path, { raw })
    assert.ok(status === 200 || status === 422, String(status))
    assert.is(Reflect.get({}, 'polluted'), undefined)
    assert.is((await rest.get(path)).status, 200)
  }))

test('twenty patches at once all hold', () =>
  withServer(async ({ rest }) => {
    const numbers = Array.from({ length: 20 }, (_, index) => index)
    const answers = await Promise.all(
      numbers.map((number) => rest.patch(path, { misc_settings_diff: { [`key${number}`]: number } })),
    )
    assert.equal([...new Set(answers.map(({ status }) => status))], [200])
    const { json } = await rest.get(path)
    assert.equal(member(json, 'misc_settings'), Object.fromEntries(numbers.map((number) => [`key${number}`, number])))
  }))

test('secret values are redacted, sealed or plain as the header asks, and only when reading', () =>
  withServer(async (server) => {
    const diff = {
      llm: { model: 'm', api_key: secret }, mcp_config: { tool: { command: 'x', env: { TOKEN: secret } } },
    }
    const changed = await server.rest.send('PATCH', path, {
      body: { agent_settings_diff: diff }, headers: { 'X-Expose-Secrets': 'plaintext' },
    })
    assert.not.match(changed.text, secret)
    const places = [['llm', 'api_key'], ['mcp_config', 'tool', 'env', 'TOKEN']]
    const shown = async (mode?: string): Promise<unknown[]> => {
      const { json, text } = await server.rest.get(path, mode === undefined ? {} : { 'x-expose-secrets': mode })
      assert.is(member(json, 'llm_api_key_is_set'), true, text)
      return places.map((place) => member(json, 'agent_settings', ...place))
    }
    assert.equal(await shown(), ['**********', '**********'])
    assert.equal(await shown(' Plaintext '), [secret, secret])
    for (const mode of ['encrypted', 'TRUE']) {
      for (const value of await shown(mode)) assert.match(String(value), /^as1:/)
    }
    for (const mode of ['false', 'yes', '', 'plain']) {
      assert.is((await server.rest.get(path, { 'X-Expose-Secrets': mode })).status, 400, mode)
    }
    const [token] = await shown('encrypted')
    await patchAgent(server, { llm: { api_key: token } })
    assert.equal(await shown('plaintext'), [secret, secret])
    const file = join(server.dataDir, 'settings.json')
    assert.not.match(readFileSync(file, 'utf8'), secret)
    assert.is(statSync(file).mode & 0o777, 0o600)
    assert.not.match(server.log.join(''), secret)
  }))

test('a mask that is sent back is never stored as a value', () =>
  withServer(async (server) => {
    await patchAgent(server, { llm: { model: 'm', api_key: secret } })
    const { json } = await patchAgent(server, { llm: { api_key: '**********' } })
    assert.is(member(json, 'agent_settings', 'llm', 'api_key'), null)
    assert.is(member(json, 'llm_api_key_is_set'), false)
  }))

test('secrets are listed by name, given by name, replaced and deleted', () =>
  withServer(async ({ rest, dataDir, log }) => {
    const at = `${path}/secrets`
    assert.equal((await rest.get(at)).json, { secrets: [] })
    assert.equal((await rest.put(at, { name: 'B_KEY', value: secret })).json, { name: 'B_KEY', description: null })
    await rest.put(at, { name: 'A_NAME', value: 'x', description: 'short' })
    assert.equal((await rest.get(at)).json, {
      secrets: [{ name: 'A_NAME', description: 'short' }, { name: 'B_KEY', description: null }],
    })
    const value = await rest.get(`${at}/B_KEY`)
    assert.equal([value.status, value.text], [200, secret])
    assert.match(String(value.headers['content-type']), /^text\/plain/)
    assert.match(String(value.headers['cache-control']), /no-store/)
    assert.not.match(readFileSync(join(dataDir, 'secrets.json'), 'utf8'), secret)
    await rest.put(at, { name: 'B_KEY', value: '  ' })
    assert.is((await rest.get(`${at}/B_KEY`)).status, 404)
    assert.equal((await rest.delete(`${at}/B_KEY`)).json, { deleted: true })
    assert.is((await rest.delete(`${at}/B_KEY`)).status, 404)
    assert.is((await rest.get(`${at}/NONE`)).status, 404)
    assert.not.match(log.join(''), secret)
  }))

test('the answer says which secrets are not hidden everywhere', () =>
  withServer(async ({ rest }) => {
    const at = '/api/settings/secrets'
    const cases = [
      ['LONG_ONE', 'hunter2hunter2', undefined], ['PIN', 's3crt', 'PIN=whole-words'],
      ['TINY_KEY', 'x', 'TINY_KEY=none'], ['WORD', 'terminal', 'WORD=none'], ['NONE', ' ', undefined],
    ] as const
    for (const [name, value, told] of cases) {
      const answer = await rest.put(at, { name, value })
      assert.is(answer.status, 200)
      assert.is(answer.headers['x-secret-masking'], told)
    }
    assert.is((await rest.get(`${at}/TINY_KEY`)).text, 'x')
  }))

const badSecrets: readonly (readonly [unknown, RegExp])[] = [
  [{ name: '1A', value: secret }, /Invalid secret name/],
  [{ name: 'a-b', value: secret }, /Invalid secret name/],
  [{ name: `A${'b'.repeat(64)}`, value: secret }, /Invalid secret name/],
  [{ name: 'PATH', value: secret }, /how programs load/],
  [{ name: 'NODE_OPTIONS', value: secret }, /how programs load/],
  [{ name: 'TAR_OPTIONS', value: secret }, /how programs load/],
  [{ name: 'A', value: 'x\0y' }, /NUL/],
]
test('refuses names and values that cannot be a variable', () =>
  withServer(async ({ rest }) => {
    for (const [body, why] of badSecrets) {
      const { status, json, text } = await rest.put(`${path}/secrets`, body)
      assert.is(status, 422, text)
      assert.match(textAt(json, 'detail'), why)
      assert.not.match(text, secret)
    }
    const unshaped = await rest.put(`${path}/secrets`, { name: 'A', value: [secret] })
    assert.is(unshaped.status, 422)
    assert.not.match(unshaped.text, secret)
    for (const method of ['GET', 'DELETE']) assert.is((await rest.send(method, `${path}/secrets/a-b`)).status, 422)
    assert.equal((await rest.get(`${path}/secrets`)).json, { secrets: [] })
  }))

test('files of a newer version, or damaged ones, are refused with 409 in every way and left as they are', async () => {
  for (const content of ['{"version":99,"agent_settings":{}}', '{"version":1', 'nonsense', '[]', '']) {
    await withServer(async (first) => {
      const files = ['settings.json', 'secrets.json'].map((name) => join(first.dataDir, name))
      await first.server.close()
      for (const file of files) writeFileSync(file, content)
      const { rest, close } = await startServer({ folder: first.folder })
      const uses = [
        rest.get(path), rest.patch(path, { misc_settings_diff: {} }), rest.post('/api/conversations', {}),
        rest.get(`${path}/secrets`), rest.put(`${path}/secrets`, { name: 'A', value: 'x' }),
        rest.delete(`${path}/secrets/A`),
      ]
      for (const answer of await Promise.all(uses)) {
        assert.is(answer.status, 409, `${content} ${answer.text}`)
        assert.type(member(answer.json, 'detail'), 'string')
      }
      for (const file of files) assert.is(readFileSync(file, 'utf8'), content)
      assert.is((await rest.get('/ready')).status, 503)
      await close()
    })
  }
})

test('a new choice is for conversations started later; a running one keeps its agent', () =>
  withServer(async (server) => {
    const before = await startTalk(server)
    await patchAgent(server, { acp_command: ['another-agent'], acp_model: 'another' })
    const after = await startTalk(server)
    assert.equal(member((await before.get()).json, 'agent', 'acp_command'), ['agent-server-demo-agent'])
    assert.equal(member((await after.get()).json, 'agent', 'acp_command'), ['another-agent'])
    await before.send('run: echo still the demonstration agent')
    await before.reaches('finished')
    await after.send('hello')
    await after.reaches('error')
  }))

test('variables that are no secrets are shown, reach the agent and are masked nowhere', () => withServer(async (
  running,
) => {
  const acp_env = { OPENAI_MODEL: 'gpt-mock-of-the-house' }
  const { acp_command } = fakeAgent('environment')
  const diff = { agent_kind: 'acp', acp_server: 'custom', acp_command, acp_env }
  const settings = await running.rest.patch(path, { agent_settings_diff: diff })
  assert.equal(member(settings.json, 'agent_settings', 'acp_env'), acp_env, settings.text)
  const talk = await startTalk(running, {})
  await talk.send('go')
  await talk.reaches('finished')
  assert.match(JSON.stringify(await talk.events()), /OPENAI_MODEL.{1,8}gpt-mock-of-the-house/)
}))

test.run()
