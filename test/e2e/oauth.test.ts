/** Sign-ins to MCP servers over REST, and conversations that use the logins (contract: others.md, section 6). */
import * as assert from 'uvu/assert'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { startAnthropicModel } from '../fixtures/anthropic-model.ts'
import { startOAuth, type OAuthWorld } from '../fixtures/oauth-server.ts'
import { toolNames } from '../fixtures/mcp-session.ts'
import type { ModelServer } from '../fixtures/model-server.ts'
import { makeFolder, until } from '../support/processes.ts'
import { listAt, member, rest, textAt, type RestResponse } from '../support/rest.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { suite } from '../support/suite.ts'
import { startTalk, type Talk } from './talk.ts'

const test = suite('e2e/oauth')
let server: TestServer
let world: OAuthWorld
let model: ModelServer

test.before(async () => {
  server = await startServer()
  const echo = { toolCall: { name: 'echo', input: { text: 'heard', summary: 'Says it' } } }
  model = await startAnthropicModel({ script: (prompt) => (prompt === 'Go' ? [echo] : []) })
})
test.after(async () => {
  await server.close()
  await model.close()
})

/** A test with an authorization server and an MCP server of its own. */
function scene(name: string, body: () => Promise<void>): void {
  test(name, async () => {
    world = await startOAuth()
    try {
      await body()
    } finally {
      await world.close()
    }
  })
}

const authentication = { type: 'oauth', client_name: 'Tests' }

function settings(more: object = {}): object {
  return { url: world.mcp.url, auth: { strategy: 'oauth2', authentication }, ...more }
}

function start(more: object = {}, at: TestServer = server): Promise<RestResponse> {
  return at.rest.post('/api/mcp/oauth/start', { name: 'far', server: settings(), ...more })
}

async function statusOf(id: string, at: TestServer = server): Promise<unknown> {
  return (await at.rest.get(`/api/mcp/oauth/status/${id}`)).json
}

/** The status when it is over. */
async function outcome(id: string, at: TestServer = server): Promise<unknown> {
  let last: unknown
  await until(async () => {
    last = await statusOf(id, at)
    return ['succeeded', 'failed'].includes(textAt(last, 'status'))
  })
  return last
}

/** Acts as a browser with a user who agrees. Returns the page at the end. */
async function browse(authorizationUrl: string): Promise<RestResponse> {
  const { origin, pathname, search } = new URL(await world.agree(authorizationUrl))
  return rest(origin, undefined).get(pathname + search)
}

async function signIn(more: object = {}, at: TestServer = server): Promise<unknown> {
  const { json } = await start(more, at)
  await browse(textAt(json, 'authorization_url'))
  return outcome(textAt(json, 'job_id'), at)
}

scene('a sign-in asks for authorization, takes the answer from the browser and tries the server', async () => {
  const started = await start({ tool_call: { name: 'echo', arguments: { text: 'hello' } } })
  const id = textAt(started.json, 'job_id')
  const url = new URL(textAt(started.json, 'authorization_url'))
  assert.equal([started.status, member(started.json, 'ok'), `${url.origin}${url.pathname}`], [
    200, true, `${world.issuer}/authorize`,
  ])
  assert.equal([...url.searchParams.keys()].sort(), [
    'client_id', 'code_challenge', 'code_challenge_method', 'of', 'redirect_uri', 'resource', 'response_type', 'scope',
    'state',
  ])
  assert.equal(['resource', 'scope', 'redirect_uri'].map((name) => url.searchParams.get(name)), [
    world.mcp.url, 'read write', `${server.url}/api/mcp/oauth/callback`,
  ])
  assert.equal(await statusOf(id), {
    ok: true, status: 'authorizing', job_id: id, callback_ready: true, authorization_url: url.href,
  })

  const page = await browse(url.href)
  assert.equal(
    [
      page.status, page.headers['content-type'], page.headers['content-security-policy'],
      page.headers['referrer-policy'], page.headers['cache-control'],
    ],
    [
      200, 'text/html; charset=utf-8', "frame-ancestors 'none', default-src 'none'", 'no-referrer', 'no-store',
    ],
  )
  const done = await outcome(id)
  assert.equal(
    [member(done, 'ok'), member(done, 'status'), member(done, 'callback_ready'), member(done, 'authorization_url')],
    [true, 'succeeded', false, undefined],
  )
  assert.equal([member(done, 'tools'), member(done, 'tool_result')], [toolNames, { is_error: false, text: 'hello' }])
})

scene('OAuth state makes an encrypted round trip: no token is in an answer, a log or a file', async () => {
  const done = await signIn()
  const state = member(done, 'oauth_state')
  assert.match(textAt(state, 'tokens', 'access_token'), /^as1:/)
  const auth = { strategy: 'oauth2', authentication, state }
  await server.rest.patch('/api/settings', { agent_settings_diff: { mcp_config: { saved: settings({ auth }) } } })
  const plain = await server.rest.get('/api/settings', { 'X-Expose-Secrets': 'plaintext' })
  assert.match(
    textAt(plain.json, 'agent_settings', 'mcp_config', 'saved', 'auth', 'state', 'tokens', 'access_token'), /^access-/,
  )
  const tried = await server.rest.post('/api/mcp/test', { name: 'another', server: settings({ auth }) })
  assert.is(member(tried.json, 'ok'), true)

  const shown = [
    JSON.stringify(done), tried.text, (await server.rest.get('/api/settings')).text, server.log.join('\n'),
  ].join('\n')
  const files = ['mcp-logins.json', 'settings.json']
    .map((name) => readFileSync(join(server.dataDir, name), 'utf8'))
    .join('\n')
  for (const text of [shown, files]) assert.not.match(text, /(?:access|refresh)-[0-9a-f]{16}/)
  assert.is(statSync(join(server.dataDir, 'mcp-logins.json')).mode & 0o777, 0o600)
})

scene('a client may bring the address by hand: only that of its own sign-in, and only once', async () => {
  const { json } = await start()
  const id = textAt(json, 'job_id')
  const bring = (address: string): Promise<RestResponse> => {
    return server.rest.post(`/api/mcp/oauth/callback/${id}`, { callback_url: address })
  }
  const address = await world.agree(textAt(json, 'authorization_url'))
  const wrong = [
    'no address', address.replace('state=', 'state=x'), address.replace('/callback', '/elsewhere'),
    address.replace('127.0.0.1', 'localhost'), `${address}&state=y`,
  ]
  for (const one of wrong) assert.is((await bring(one)).status, 400, one)
  assert.is(member(await statusOf(id), 'status'), 'authorizing')
  assert.is((await bring(address)).status, 200)
  assert.is((await bring(address)).status, 409)
  assert.is(member(await outcome(id), 'status'), 'succeeded')
  assert.is(world.grants('authorization_code').length, 1)
  const { searchParams } = new URL(address)
  const words = [
    searchParams.get('code'), searchParams.get('state'), world.grants('authorization_code')[0]?.get('code_verifier'),
  ]
  for (const word of words) {
    assert.not(server.log.join('\n').includes(String(word)), 'a secret of the sign-in is in the log')
  }
})

scene('a browser with an unknown, a wrong or a used state gets a page that tells nothing', async () => {
  const { json } = await start()
  const callback = new URL(await world.agree(textAt(json, 'authorization_url')))
  const anyone = rest(server.url, undefined)
  const visit = (query: string): Promise<RestResponse> => anyone.get(`/api/mcp/oauth/callback${query}`)
  for (const query of [
    '', '?code=a', '?state=', '?state=<script>alert(1)</script>', `?state=${'x'.repeat(43)}`,
    `${callback.search}&state=z`,
  ]) {
    const { status, text } = await visit(query)
    assert.equal([status, text.includes('script'), text.includes('No sign-in waits')], [400, false, true])
  }
  assert.is((await anyone.send('HEAD', callback.pathname + callback.search)).status, 400)
  assert.is((await visit(callback.search)).status, 200)
  assert.is((await visit(callback.search)).status, 400)
  assert.is(member(await outcome(textAt(json, 'job_id')), 'status'), 'succeeded')
})

scene('an unknown sign-in is 404, a server without OAuth 400, one that is none 422', async () => {
  assert.is((await server.rest.get('/api/mcp/oauth/status/none')).status, 404)
  assert.is((await server.rest.post('/api/mcp/oauth/callback/none', { callback_url: 'x' })).status, 404)
  for (const other of [
    { command: 'x' },
    { url: 'https://a.example' },
    { url: 'https://a.example', auth: { strategy: 'bearer', value: 'x' } },
  ]) {
    assert.is((await start({ server: other })).status, 400)
  }
  assert.is(
    (await start({
      server: { url: 'https://a.example', headers: { authorization: 'x' }, auth: { strategy: 'oauth2' } },
    })).status,
    422,
  )
  assert.is((await start({ timeout: 0 })).status, 422)
})

scene('a server that nobody is signed in to is tried in vain', async () => {
  const { json } = await server.rest.post('/api/mcp/test', { name: 'far', server: settings() })
  assert.equal([member(json, 'ok'), member(json, 'error_kind')], [false, 'connection'])
  assert.match(textAt(json, 'error'), 'POST /api/mcp/oauth/start')
  assert.equal(world.shown, [])
})

/** A conversation with the server under the name `far`, whose model calls a tool of it when it hears `Go`. */
async function talkOf(): Promise<Talk> {
  const llm = { model: 'anthropic/claude-test', base_url: model.url, api_key: 'key-of-the-model', num_retries: 0 }
  return startTalk(server, { agent: { kind: 'Agent', llm, tools: [], mcp_config: { far: settings() } } })
}

async function say(text: string, ...talks: readonly Talk[]): Promise<void> {
  await Promise.all(talks.map((talk) => talk.send(text)))
  for (const talk of talks) await talk.reaches('finished')
}

async function results(talk: Talk): Promise<string[]> {
  const events = await talk.events()
  return events.filter(({ kind }) => kind === 'ObservationEvent').map((event) => {
    return listAt(event, 'observation', 'content').map((part) => String(member(part, 'text'))).join('|')
  })
}

async function stateOf(talk: Talk): Promise<unknown> {
  return member((await talk.get()).json, 'agent_state', 'mcp_servers', 0)
}

scene('a conversation goes on without a server that needs a login, says so, and has it after the sign-in', async () => {
  const talk = await talkOf()
  await say('Hello', talk)
  const state = await stateOf(talk)
  assert.equal([member(state, 'name'), member(state, 'status')], ['far', 'needs_login'])
  assert.match(textAt(state, 'detail'), 'POST /api/mcp/oauth/start')
  assert.equal(world.shown, [])
  await signIn()
  await say('Go', talk)
  assert.equal(await results(talk), ["[Tool 'echo' executed.]|heard"])
  assert.is(member(await stateOf(talk), 'status'), 'ready')
})

scene(
  'a token that ends between the start and a call is renewed, once for all conversations, and the calls are done',
  async () => {
    await signIn()
    const talks = await Promise.all([talkOf(), talkOf()])
    await say('Get ready', ...talks)
    world.expire()
    await say('Go', ...talks)
    for (const talk of talks) assert.equal(await results(talk), ["[Tool 'echo' executed.]|heard"])
    assert.is(world.grants('refresh_token').length, 1)
  },
)

scene('a login that cannot be renewed is over: the call says so, and the next step needs a login', async () => {
  await signIn()
  const talk = await talkOf()
  await say('Get ready', talk)
  world.behaviour.answers = { '/as/token': { status: 400, body: '{"error":"invalid_grant"}' } }
  world.expire()
  await say('Go', talk)
  const [result = ''] = await results(talk)
  assert.match(result, 'Nobody is signed in to the server')
  assert.equal([member(await stateOf(talk), 'status'), world.grants('refresh_token').length], ['needs_login', 1])
})

scene('a login outlives a restart, and is renewed after it', async () => {
  const { folder, remove } = makeFolder()
  const first = await startServer({ folder })
  await signIn({}, first)
  await first.close()
  world.expire()
  const second = await startServer({ folder })
  const { json } = await second.rest.post('/api/mcp/test', { name: 'far', server: settings() })
  assert.equal([member(json, 'ok'), world.grants('refresh_token').length], [true, 1])
  const elsewhere = await second.rest.post('/api/mcp/test', { name: 'other', server: settings() })
  assert.is(member(elsewhere.json, 'ok'), false, 'a login is for one name')
  await second.close()
  remove()
})

scene('a login can be forgotten', async () => {
  await signIn()
  const file = join(server.dataDir, 'mcp-logins.json')
  assert.match(readFileSync(file, 'utf8'), world.mcp.url)
  assert.equal((await server.rest.delete('/api/mcp/oauth/logins/far')).json, { deleted: true })
  assert.not.match(readFileSync(file, 'utf8'), world.mcp.url)
  assert.is((await server.rest.delete('/api/mcp/oauth/logins/far')).status, 404)
  const { json } = await server.rest.post('/api/mcp/test', { name: 'far', server: settings() })
  assert.match(textAt(json, 'error'), 'Nobody is signed in')
})

scene('a public address of the server is where browsers come back', async () => {
  const other = await startServer({ publicUrl: 'https://agents.example.org/base/' })
  const { json } = await start({}, other)
  const url = new URL(textAt(json, 'authorization_url'))
  assert.is(url.searchParams.get('redirect_uri'), 'https://agents.example.org/base/api/mcp/oauth/callback')
  const named = await rest(other.url, undefined).get('/api/mcp/oauth/callback', { Host: 'agents.example.org' })
  assert.is(named.status, 400, 'the host is known, the state is not')
  await other.close()
})

test.run()
