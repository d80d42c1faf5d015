/** MCP servers behind a real server: as tools of the built-in agent, and tried by themselves. */
import * as assert from 'uvu/assert'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isObject } from '../../src/base/json.ts'
import { stdioProgram } from '../parts/mcp/carriers.ts'
import { startAnthropicModel } from '../fixtures/anthropic-model.ts'
import { startMcpHttp, type McpHttpOptions, type McpHttpServer } from '../fixtures/mcp-http.ts'
import { toolNames } from '../fixtures/mcp-session.ts'
import type { ModelServer } from '../fixtures/model-server.ts'
import type { ModelStep } from '../fixtures/model-step.ts'
import { listAt, member, textAt } from '../support/rest.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { suite } from '../support/suite.ts'
import { outline, startTalk, type JsonEvent } from './talk.ts'

const test = suite('e2e/mcp')
let server: TestServer
/** The servers that the tests have started; they end after the last test. */
const started: { close(): Promise<void> }[] = []

test.before(async () => {
  server = await startServer()
})
test.after(async () => {
  await server.close()
  for (const one of started) await one.close()
})

async function scripted(steps: readonly ModelStep[]): Promise<ModelServer> {
  const model = await startAnthropicModel({ script: () => steps })
  started.push(model)
  return model
}

async function remote(options: McpHttpOptions): Promise<McpHttpServer> {
  const far = await startMcpHttp(options)
  started.push(far)
  return far
}

function agentWith(model: ModelServer, servers: object): object {
  const llm = { model: 'anthropic/claude-test', base_url: model.url, api_key: 'key-of-the-model', num_retries: 0 }
  return { kind: 'Agent', llm, tools: [], mcp_config: servers }
}

function program(word: string, more: object = {}): object {
  return { command: process.execPath, args: [stdioProgram, word], ...more }
}

function call(name: string, input: Readonly<Record<string, unknown>> = {}): ModelStep {
  return { toolCall: { name, input } }
}

function answersTo(events: readonly JsonEvent[]): string[] {
  return events.filter(({ kind }) => kind === 'ObservationEvent').map((event) => {
    return listAt(event, 'observation', 'content')
      .map((part) => String(member(part, 'text') ?? member(part, 'image_urls')))
      .join('|')
  })
}

/** The names of the tools that the model was told of, request by request. One for a title tells of none. */
function toldTo(model: ModelServer): string[][] {
  const lists = model.requests.map(({ body }) => member(body, 'tools'))
  return lists.flatMap((tools) => {
    return (Array.isArray(tools) && tools.length > 0 ? [tools.map((tool) => textAt(tool, 'name'))] : [])
  })
}

test('the tools of a server are listed, called and answered like any other, and no secret shows', async () => {
  const model = await scripted([
    call('echo', { text: 'got the-token-of-a', summary: 'Says it' }), call('env'), call('image'), { text: 'Done it.' },
  ])
  const servers = {
    words: program('usual', { env: { API_TOKEN: 'the-token-of-a', OTHER: 'x${MINE}' } }),
    off: program('usual', { enabled: false }),
  }
  const secrets = { MINE: { kind: 'StaticSecret', value: 'the-value-of-mine' } }
  const talk = await startTalk(server, { agent: agentWith(model, servers), secrets })
  await talk.send('Go')
  await talk.reaches('finished')
  const events = await talk.events()
  assert.equal(outline(events).filter((word) => /^MCP| message/.test(word)), [
    'user message', 'MCPToolAction', 'MCPToolObservation', 'MCPToolAction', 'MCPToolObservation', 'MCPToolAction',
    'MCPToolObservation', 'agent message',
  ])
  const [, , echo] = listAt(events[0], 'tools')
  assert.equal([member(echo, 'kind'), member(echo, 'title'), member(echo, 'mcp_tool', 'name')], [
    'MCPToolDefinition', 'echo', 'echo',
  ])
  assert.equal(toldTo(model)[0], [...toolNames, 'finish', 'think'].sort((a, b) => order(a) - order(b)))
  const action = events.find(({ kind }) => kind === 'ActionEvent')
  assert.equal(member(action, 'action'), { data: { text: 'got <secret-hidden>' }, kind: 'MCPToolAction' })
  assert.equal([member(action, 'tool_name'), member(action, 'summary')], ['echo', 'Says it'])
  const [said, env = '', image] = answersTo(events)
  assert.is(said, "[Tool 'echo' executed.]|got <secret-hidden>")
  assert.match(env, '"API_TOKEN":"<secret-hidden>"')
  assert.match(env, '"OTHER":"x<secret-hidden>"')
  assert.is(image, "[Tool 'image' executed.]|a dot|data:image/png;base64,AAAA")
  assert.not(/the-token-of-a|the-value-of-mine/.test(JSON.stringify(events)))
  assert.equal(member((await talk.get()).json, 'agent_state', 'mcp_servers'), [
    { name: 'words', type: 'stdio', status: 'ready' }, { name: 'off', type: 'stdio', status: 'disabled' },
  ])
  await server.rest.delete(talk.path)
})

test(
  'a server that hangs holds up neither the answer nor another server, whose new tools come at the next step',
  async () => {
    const model = await scripted([call('grows'), call('grown_1'), { text: 'Done it.' }])
    const far = await remote({})
    const talk = await startTalk(server, {
      agent: agentWith(model, { stuck: program('hangs'), far: { url: far.sseUrl, transport: 'sse' } }),
    })
    await talk.send('Go')
    await talk.reaches('finished')
    const [first = [], second = []] = toldTo(model)
    assert.not(first.includes('grown_1'))
    assert.ok(second.includes('grown_1'))
    assert.equal(member((await talk.get()).json, 'agent_state', 'mcp_servers'), [
      { name: 'stuck', type: 'stdio', status: 'starting' }, { name: 'far', type: 'sse', status: 'ready' },
    ])
    await server.rest.delete(talk.path)
  },
)

test('a call waits for the user where the policy says so', async () => {
  const model = await scripted([call('echo', { text: 'a' }), { text: 'Done it.' }])
  const talk = await startTalk(server, {
    agent: agentWith(model, { a: program('usual') }), confirmation_policy: { kind: 'AlwaysConfirm' },
  })
  await talk.send('Go')
  await talk.reaches('waiting_for_confirmation')
  assert.equal(answersTo(await talk.events()), [])
  await talk.post('/events/respond_to_confirmation', { accept: true })
  await talk.reaches('finished')
  assert.equal(answersTo(await talk.events()), ["[Tool 'echo' executed.]|a"])
})

test('servers of the settings drive new conversations, with their secrets sealed', async () => {
  const model = await scripted([call('env'), { text: 'Done it.' }])
  const { kind, tools, ...rest } = Object(
    agentWith(model, { a: program('usual', { env: { API_TOKEN: 'token-of-settings' } }) }),
  )
  await server.rest.patch('/api/settings', { agent_settings_diff: { agent_kind: 'openhands', ...rest } })
  assert.not(readFileSync(join(server.dataDir, 'settings.json'), 'utf8').includes('token-of-settings'))
  const talk = await startTalk(server, {})
  await talk.send('Go')
  await talk.reaches('finished')
  assert.match(answersTo(await talk.events())[0] ?? '', '"API_TOKEN":"<secret-hidden>"')
  assert.equal([kind, tools], ['Agent', []])
})

async function tried(request: object): Promise<unknown> {
  const { status, json, text } = await server.rest.post('/api/mcp/test', request)
  if (status !== 200) throw new Error(`Expected 200, got ${status} ${text}`)
  return json
}

test('a try tells the tools of a program or an address', async () => {
  assert.equal(await tried({ server: program('pages') }), { ok: true, tools: ['page-0', 'page-1', 'page-2'] })
  const far = await remote({})
  assert.equal(
    await tried({
      name: 'far', server: { type: 'shttp', url: far.url, auth: { strategy: 'bearer', value: 'bearer-token' } },
    }),
    { ok: true, tools: [...toolNames] },
  )
  assert.equal(await tried({ server: { type: 'sse', url: far.sseUrl } }), { ok: true, tools: [...toolNames] })
  assert.is(far.seen[0]?.headers.authorization, 'Bearer bearer-token')
})

test('a try calls a tool, and tells of one that is not there without calling', async () => {
  const outcome = async (name: string, args?: object): Promise<unknown> => {
    return member(await tried({ server: program('usual'), tool_call: { name, arguments: args } }), 'tool_result')
  }
  assert.equal(await outcome('echo', { text: 'verbatim' }), { is_error: false, text: 'verbatim' })
  assert.equal(await outcome('fails'), { is_error: true, text: 'it broke' })
  assert.equal(await outcome('refuses'), { is_error: true, text: 'Unknown argument' })
  const missing = await outcome('missing')
  assert.is(member(missing, 'is_error'), true)
  assert.match(textAt(missing, 'text'), 'The server has no tool "missing". Available: echo, env')
})

test('a try that fails says how, without secrets', async () => {
  const env = { API_KEY: 'key-in-the-try' }
  const failures: readonly (readonly [request: object, kind: string, error: RegExp])[] = [
    [{ server: program('crashes', { env }) }, 'connection',
      /^The server exited with code 3: no good: <secret-hidden>$/],
    [{ server: { command: 'no-such-program' } }, 'connection', /there is no such program/],
    [{ server: { url: 'http://127.0.0.1:1/mcp' } }, 'connection', /nothing listens there/],
    [{ server: program('hangs'), timeout: 0.5 }, 'timeout', /^The server took more than 500 ms$/],
    [{ server: program('usual'), timeout: 1.5, tool_call: { name: 'hangs' } }, 'timeout', /more than 1500 ms$/],
    [{ server: program('usual'), tool_call: { name: 'dies' } }, 'connection', /exited with code 7: out of luck$/],
    [{ server: program('refuses') }, 'unknown', /^\[-32602\] Unsupported client$/],
  ]
  for (const [request, kind, error] of failures) {
    const answer = await tried(request)
    assert.equal([member(answer, 'ok'), member(answer, 'error_kind')], [false, kind])
    assert.match(textAt(answer, 'error'), error)
  }
})

test('a try takes encrypted values, and refuses what settings would refuse', async () => {
  await server.rest.patch('/api/settings', {
    agent_settings_diff: { mcp_config: { a: program('usual', { env: { API_TOKEN: 'sealed-token-1' } }) } },
  })
  const settings = (await server.rest.get('/api/settings', { 'X-Expose-Secrets': 'encrypted' })).json
  const sealed = member(settings, 'agent_settings', 'mcp_config', 'a')
  assert.ok(isObject(sealed) && !JSON.stringify(sealed).includes('sealed-token-1'))
  const env = textAt(await tried({ server: sealed, tool_call: { name: 'env' } }), 'tool_result', 'text')
  assert.match(env, '"API_TOKEN":"<secret-hidden>"')
  const refused: readonly object[] = [
    {}, { server: {} }, { server: { command: '' } }, { server: { type: 'pigeon', url: 'http://a' } },
    { server: program('usual'), timeout: 0 },
    { server: program('usual'), timeout: 121 }, { server: program('usual'), name: '' },
    { server: { ...program('usual'), more: 1 } },
    { server: { url: 'http://a', headers: { Authorization: 'x' }, auth: { strategy: 'bearer', value: 'y' } } },
  ]
  for (const request of refused) {
    assert.is((await server.rest.post('/api/mcp/test', request)).status, 422, JSON.stringify(request))
  }
})

test('a server that stops ends the tries that are under way', async () => {
  const own = await startServer()
  const trying = own.rest.post('/api/mcp/test', { server: program('hangs'), timeout: 120 }).catch(() => undefined)
  await own.rest.post('/api/mcp/test', { server: program('pages') })
  await own.close()
  await trying
})

/** In the order in which a conversation has them: its own tools first. */
function order(name: string): number {
  const own = ['finish', 'think'].indexOf(name)
  return own === -1 ? 2 + toolNames.findIndex((one) => one === name) : own
}

test.run()
