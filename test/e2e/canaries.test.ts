/**
 * Secrets through the whole of a real server, and then the search for them: in all bytes that it answered, pushed,
 * logged and kept, in the names of files and in the arguments of programs; with agents, servers and providers that tell
 * the secrets that they know, failures of all sorts, a kill and a restart.
 *
 * Where a secret may be, and is not searched for: `keys/` of the data folder; the environment and the lent files of the
 * program that it is for; the request to the provider or server whose own it is; the value of a global secret, asked
 * for by its name; the settings with `X-Expose-Secrets: plaintext`.
 */
import * as assert from 'uvu/assert'
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { join } from 'node:path'
import { access } from '../../src/access.ts'
import { stdioProgram } from '../parts/mcp/carriers.ts'
import { startAnthropicModel } from '../fixtures/anthropic-model.ts'
import { startMcpHttp } from '../fixtures/mcp-http.ts'
import type { ModelStep } from '../fixtures/model-step.ts'
import { exchange, open } from '../http/raw-client.ts'
import { createCanaries, hitsInFiles, hitsInProcesses } from '../support/canaries.ts'
import { makeFolder, until } from '../support/processes.ts'
import { rest, restBy, textAt, type RestResponse, type Call } from '../support/rest.ts'
import { credentialAgent, runToEnd, startProgram, withServer, type Program } from '../support/server.ts'
import { suite } from '../support/suite.ts'
import { connect } from '../support/ws-client.ts'
import { framesOf, messagesOf, outline, startTalk, talkTo, type Talk } from './talk.ts'

const test = suite('canaries', 90_000)
const canaries = createCanaries()
const { folder, remove } = makeFolder()
const sessionKey = canaries.of('session key').replace(/[^A-Za-z0-9]/g, '-')
const environment = {
  AGENT_SERVER_SECRET_KEY: canaries.of('sealing key'),
  DATABASE_PASSWORD: canaries.of('environment of the server'),
  OPENAI_API_KEY: canaries.of('key of a provider in the environment'),
}

/** All that the server has said. */
const heard: (readonly [where: string, text: string])[] = []
const ids: string[] = []
const ended: { stop(): unknown }[] = []
let program: Program

/** A client that remembers everything it is answered. */
function client(key: string | undefined = sessionKey): Program['rest'] {
  const inner = rest(program.url, key)
  const send = async (method: string, path: string, call: Call = {}): Promise<RestResponse> => {
    const answer = await inner.send(method, path, call)
    heard.push([`${method} ${path.replace(/\?.*/, '')}`, JSON.stringify(answer.headers) + answer.text])
    return answer
  }
  return restBy(send)
}

/** A program that breaks at SIGUSR2, outside of every promise and handler of the server, as by a mistake of ours. */
async function start(): Promise<Program> {
  const mistake = join(folder, 'mistake.cjs')
  const secret = JSON.stringify(canaries.of('global secret'))
  writeFileSync(
    mistake,
    `process.on('SIGUSR2', () => { throw new Error('Unexpected ' + ${secret} + ' in ' + JSON.stringify({ text: ` +
      `${secret} })) })`,
  )
  const keyFile = join(folder, 'session-key')
  writeFileSync(keyFile, sessionKey, { mode: 0o600 })
  const surroundings = { withKey: false, environment: { ...environment, NODE_OPTIONS: `--require ${mistake}` } }
  const started = await startProgram(folder, ['--session-api-key-file', keyFile, '--log-level', 'debug'], surroundings)
  rmSync(mistake)
  return started
}

/** Ends the program and keeps its output. */
async function stop(signal: NodeJS.Signals): Promise<number | string> {
  const code = await program.stop(signal)
  heard.push(['standard output', program.stdout()], ['the log', program.stderr()])
  return code
}

async function talk(request: object): Promise<Talk> {
  const started = await startTalk({ ...program, rest: client() }, request)
  ids.push(started.id)
  return started
}

/** The first of them, at the server of the moment. */
function firstTalk(): Talk {
  return talkTo({ ...program, rest: client() }, ids[0] ?? '')
}

/** Sends a word and waits for the end of the run. */
async function work(started: Talk, word = 'Go'): Promise<readonly string[]> {
  const before = (await started.events()).length
  await started.send(word)
  await until(async () => {
    return (await started.events()).length > before + 1 && ['finished', 'error'].includes(await started.status())
  })
  return outline(await started.events())
}

/** A server on loopback that answers everything with the same function; it ends with the tests. */
async function serving(answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<string> {
  const server = createServer(answer)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  ended.push({ stop: () => (server.closeAllConnections(), server.close()) })
  const address = server.address()
  return `127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`
}

/** Tells all that it was told, in the body and in a header. */
function tellsAll({ url = '', headers }: IncomingMessage, response: ServerResponse): void {
  const told = Object.entries(headers).map(([name, value]) => `${name}: ${String(value)}`).join('; ')
  response.writeHead(401, { 'Content-Type': 'application/json', 'X-Told': encodeURIComponent(told) })
  response.end(
    JSON.stringify({
      error: { type: 'authentication_error', message: `Wrong: ${told} ${url} ${Buffer.from(told).toString('base64')}` },
    }),
  )
}

const call = (name: string, input: Readonly<Record<string, unknown>>): ModelStep => ({ toolCall: { name, input } })

async function scripted(steps: readonly ModelStep[]): Promise<string> {
  const model = await startAnthropicModel({ script: () => steps })
  ended.push({ stop: () => model.close() })
  return model.url
}

function llm(url: string, key: string, more: object = {}): object {
  return { model: 'anthropic/claude-test', base_url: url, api_key: key, num_retries: 0, log_completions: true, ...more }
}

/** An address that holds a secret. */
function addressWith(place: string, host: string, path: string): string {
  return `http://name:${encodeURIComponent(canaries.of(`${place}: user`))}@${host}${path}?token=${encodeURIComponent(canaries.of(`${place}: query`))}`
}

test('the search finds a canary in every form, and none where there is none', () => {
  const seen = createCanaries()
  const value = seen.of('here')
  const base64 = ['', 'x', 'xy', 'xyz'].flatMap((before) => {
    return (['base64', 'base64url'] as const).map((form) => Buffer.from(`${before}${value} `).toString(form))
  })
  const escaped = [
    JSON.stringify(value),
    JSON.stringify(JSON.stringify({ value })),
    encodeURIComponent(value),
    String(new URLSearchParams({ value })),
  ]
  for (const form of [value, ...base64, ...escaped]) {
    assert.equal(seen.hitsIn('there', `{"a":"${form}"}`), ['there: here'], form)
  }
  assert.equal(seen.hitsIn('there', createCanaries().of('here')), [])
})

test.before(async () => {
  program = await start()
})
test.after(async () => {
  await program.stop('SIGKILL')
  for (const one of ended) await one.stop()
  remove()
})

test('settings with every kind of secret are stored, shown and changed', async () => {
  const host = await serving(tellsAll)
  const settings = {
    agent_kind: 'openhands',
    llm: llm(addressWith('address of a stored model', host, '/v1'), canaries.of('stored model key'), {
      aws_access_key_id: canaries.of('AWS key id'),
      aws_secret_access_key: canaries.of('AWS secret key'),
      aws_session_token: canaries.of('AWS session token'),
      extra_headers: { 'X-Extra': canaries.of('header of a model') },
    }),
    mcp_config: {
      program: {
        command: process.execPath,
        args: [stdioProgram, 'crashes'],
        env: { API_KEY: canaries.of('stored variable of an MCP server') },
      },
      headers: { url: `http://${host}/mcp`, headers: { 'X-Key': canaries.of('stored header of an MCP server') } },
      bearer: {
        url: `http://${host}/mcp`, auth: { strategy: 'bearer', value: canaries.of('stored token of an MCP server') },
      },
      basic: {
        url: `http://${host}/mcp`,
        auth: { strategy: 'basic', username: 'me', password: canaries.of('stored password of an MCP server') },
      },
      query: { url: addressWith('address of a stored MCP server', host, '/mcp') },
    },
    verification: {
      critic_api_key: canaries.of('critic key'), critic_server_url: addressWith('address of a critic', host, '/'),
    },
    agent_context: { secrets: { CONTEXT: canaries.of('secret of the context') } },
  }
  const answer = await client().patch('/api/settings', { agent_settings_diff: settings })
  assert.is(answer.status, 200, answer.text)
  await client().get('/api/settings', { 'X-Expose-Secrets': 'encrypted' })
  const own = await talk({})
  await work(own)
  assert.is(await own.status(), 'error')
})

test('secrets that are stored, looked up and lent reach the programs they are for', async () => {
  const words = await serving((_request, response) => void response.end(canaries.of('value that was looked up')))
  const host = await serving(tellsAll)
  const login = JSON.stringify({ tokens: { refresh_token: canaries.of('lent login') } })
  assert.is(
    (await client().put('/api/settings/secrets', { name: 'GLOBAL_TOKEN', value: canaries.of('global secret') })).status,
    200,
  )
  assert.is((await client().put('/api/settings/secrets', { name: 'CODEX_AUTH_JSON', value: login })).status, 200)
  const headers = {
    Authorization: `Bearer ${canaries.of('header of a lookup')}`, Cookie: `a=${canaries.of('cookie of a lookup')}`,
  }
  const secrets = {
    OWN_TOKEN: { kind: 'StaticSecret', value: canaries.of('secret of a conversation') },
    FOUND: { kind: 'LookupSecret', url: `http://${words}/`, headers },
    LOST: { kind: 'LookupSecret', url: addressWith('address of a lookup', host, '/'), headers },
    REFUSED: {
      kind: 'LookupSecret',
      url: `http://${host}/?token=${encodeURIComponent(canaries.of('query of a lookup'))}`,
      headers,
    },
  }
  const tells = await talk({ agent: credentialAgent(), secrets })
  await work(tells, 'show')
  assert.match(messagesOf(await tells.events(), 'agent').join(), /"OWN_TOKEN":"<secret-hidden>"/)
  await tells.post('/secrets', { secrets: { LATE_TOKEN: canaries.of('secret that came later') } })
  const crash = { kind: 'ACPAgent', acp_command: ['/bin/sh', '-c', 'env >&2; env; env | base64 -w0 >&2; exit 3'] }
  const crashes = await talk({ agent: crash, secrets })
  assert.ok((await work(crashes)).some((word) => word.startsWith('error ACP')))
})

test('the built-in agent, its tools, its hooks and its servers may say what they know', async () => {
  const script = [
    'const s = process.env.SHELL_TOKEN',
    'console.log(s, JSON.stringify(s), JSON.stringify(JSON.stringify({ s })), encodeURIComponent(s), String(new ' +
      'URLSearchParams({ s })))',
    'for (const b of ["", "x", "xy"]) for (const f of ["base64", "base64url"]) console.log(Buffer.from(b + s + ' +
      '"z").toString(f))',
    'console.error(s.slice(0, 20)); process.stdout.write(s.slice(0, 9)); setTimeout(() => ' +
      'process.stdout.write(s.slice(9)), 50)',
  ].join('; ')
  const place = join(program.workspaceDir, 'busy')
  const far = await startMcpHttp()
  ended.push({ stop: () => far.close() })
  const host = await serving(tellsAll)
  const model = await scripted([
    call('terminal', {
      command: `SHELL_TOKEN="$SHELL_TOKEN" ${process.execPath} -e '${script.replaceAll("'", '')}'; env | grep TOKEN`,
    }),
    call('terminal', { command: 'echo "$SHELL_TOKEN" > kept; cat kept; ls "$SHELL_TOKEN"; "$SHELL_TOKEN"; rm kept' }),
    call('terminal', { command: 'for i in $(seq 1500); do echo "$i: $SHELL_TOKEN"; done' }),
    call('terminal', { command: 'printf "A=%s\\n" "$SHELL_TOKEN" > kept.env' }),
    call('file_editor', { command: 'view', path: join(place, 'kept.env') }),
    call('file_editor', { command: 'insert', path: join(place, 'kept.env'), insert_line: 1, new_str: 'B=1' }),
    call('file_editor', { command: 'str_replace', path: join(place, 'kept.env'), old_str: 'B=1', new_str: 'B=2' }),
    call('terminal', { command: 'rm kept.env' }),
    call('env', {}),
    { text: 'Done.' },
  ])
  const servers = {
    near: {
      command: process.execPath, args: [stdioProgram, 'usual'], env: { NEAR: canaries.of('variable of an MCP server') },
    },
    crashes: {
      command: process.execPath,
      args: [stdioProgram, 'crashes'],
      env: { API_KEY: canaries.of('variable of an MCP server that fails') },
    },
    far: { url: far.url, headers: { 'X-Key': canaries.of('header of an MCP server') } },
    refuses: {
      url: `http://${host}/mcp`, auth: { strategy: 'api_key', value: canaries.of('key of an MCP server that refuses') },
    },
    queried: { url: `http://${host}/mcp?key=${encodeURIComponent(canaries.of('query of an MCP server'))}` },
  }
  const says = 'echo "$HOOK_TOKEN ${SHELL_TOKEN}"; printf %s "$OPENHANDS_TOOL_NAME" >&2'
  const judges = {
    condenser: { kind: 'LLMSummarizingCondenser', llm: llm(`http://${host}`, canaries.of('key of a condenser')) },
    critic: { api_key: canaries.of('key of a critic'), model_name: 'anthropic/critic', server_url: `http://${host}` },
  }
  const tools = [{ name: 'terminal' }, { name: 'file_editor' }]
  const agent = { kind: 'Agent', llm: llm(model, canaries.of('model key')), tools, mcp_config: servers, ...judges }
  const secrets = { SHELL_TOKEN: { kind: 'StaticSecret', value: canaries.of('secret of a command') } }
  const hook_config = { PreToolUse: [{ hooks: [{ command: says }] }], Stop: [{ hooks: [{ command: says }] }] }
  const busy = await talk({ agent, secrets, hook_config, workspace: { working_dir: place } })
  const words = await work(busy)
  assert.ok(words.includes('TerminalObservation') && words.includes('MCPToolObservation'), words.join())
  assert.match(JSON.stringify(await busy.events()), '<secret-hidden>')
  assert.is(words.filter((word) => word === 'FileEditorObservation').length, 3)
  await busy.post('/ask_agent', { question: 'What is it?' })
  ids.push(textAt((await busy.post('/fork')).json, 'id'))
  await busy.post('/condense')
  await busy.post('/switch_llm', { llm: llm(`http://${host}`, canaries.of('key of another model')) })
  await work(busy)
  assert.is(await busy.status(), 'error')
})

test('a try of an MCP server tells why it failed, and not with what', async () => {
  const host = await serving(tellsAll)
  const servers = [
    {
      command: process.execPath,
      args: [stdioProgram, 'crashes'],
      env: { API_KEY: canaries.of('variable of a tried server') },
    },
    { url: `http://${host}/mcp`, headers: { 'X-Key': canaries.of('header of a tried server') } },
    { url: addressWith('address of a tried server', host, '/mcp') },
    { url: `http://${host}/mcp?key=${encodeURIComponent(canaries.of('query of a tried server'))}` },
    { command: 'no-such-program', env: { API_KEY: canaries.of('variable of a server that is not there') } },
  ]
  for (const server of servers) {
    assert.ok([200, 422].includes((await client().post('/api/mcp/test', { server })).status))
  }
})

test('requests that are refused are not remembered, and their errors name no secret', async () => {
  const secret = (place: string): string => canaries.of(`refused: ${place}`)
  const json = { 'Content-Type': 'application/json' }
  const agent = (more: object): object => ({ agent: { kind: 'Agent', llm: { model: 'x', ...more } } })
  const refusals: readonly (readonly [string, string, Call, number])[] = [
    ['GET', '/api/settings', { headers: { 'X-Session-API-Key': secret('wrong key') } }, 401],
    ['GET', '/api/settings', { headers: { 'X-Session-API-Key': [sessionKey, secret('second key')] } }, 401],
    ['GET', `/api/nothing?token=${encodeURIComponent(secret('query'))}`, {}, 404],
    ['GET',
      `/api/conversations/search?limit=${encodeURIComponent('x')}&key=${encodeURIComponent(secret('query beside'))}`,
      {}, 422],
    [
      'GET',
      '/api/settings',
      {
        headers: {
          Authorization: `Bearer ${secret('authorization')}`, Cookie: `a=${secret('cookie')}`, Origin: 'null',
        },
      },
      403,
    ],
    ['POST', '/api/conversations',
      { raw: `{"secrets":{"A":{"value":${JSON.stringify(secret('cut JSON'))}`, headers: json }, 422],
    ['POST', '/api/conversations', { raw: JSON.stringify(secret('bare text')).slice(1), headers: json }, 422],
    ['POST', '/api/conversations',
      { raw: secret('form'), headers: { 'Content-Type': 'application/x-www-form-urlencoded' } }, 415],
    ['POST', '/api/conversations', { body: agent({ api_key: [secret('key in a list')] }) }, 422],
    ['POST', '/api/conversations',
      { body: agent({ api_key: 'x', num_retries: { api_key: secret('key in a wrong place') } }) }, 422],
    ['POST', '/api/conversations', { body: { secrets: { A: { kind: 'Other', value: secret('unknown kind') } } } }, 422],
    ['POST', '/api/conversations',
      { body: { secrets: { A: { kind: 'LookupSecret', url: 7, headers: { X: secret('lookup header') } } } } }, 422],
    ['POST', '/api/conversations', { body: { max_iterations: canaries.of('global secret') } }, 422],
    ['POST', '/api/conversations', { body: { max_iterations: addressWith('refused: address', 'localhost', '/') } },
      422],
    [
      'PATCH',
      '/api/settings',
      {
        body: {
          agent_settings_diff: {
            mcp_config: { a: { command: 7, env: { K: secret('variable') }, headers: { K: [secret('header')] } } },
          },
        },
      },
      422,
    ],
    [
      'PATCH',
      '/api/settings',
      {
        body: {
          agent_settings_diff: {
            mcp_config: {
              a: {
                url: 'http://x',
                headers: { Authorization: secret('two headers') },
                auth: { strategy: 'bearer', value: secret('beside') },
              },
            },
          },
        },
      },
      422,
    ],
    ['PUT', '/api/settings/secrets', { body: { name: 'not a name', value: secret('value of a bad name') } }, 422],
    ['PUT', '/api/settings/secrets', { body: { name: 'LD_PRELOAD', value: secret('value of a loader') } }, 422],
    ['POST', `/api/conversations/${ids[0]}/secrets`,
      { body: { secrets: { 'no name': secret('secret without a name') } } }, 200],
    ['POST', `/api/conversations/${ids[0]}/switch_llm`,
      { body: { llm: { model: 7, api_key: secret('switched key') } } }, 422],
    ['GET', `/api/conversations/${encodeURIComponent(canaries.of('global secret'))}`, {}, 422],
    ['GET', `/api/settings/secrets/${encodeURIComponent(canaries.of('global secret'))}`, {}, 422],
  ]
  for (const [method, path, call, status] of refusals) {
    assert.is(
      (await client().send(method, path, call)).status,
      status,
      `${method} ${path} ${JSON.stringify(call).slice(0, 200)}`,
    )
  }
  const port = Number(new URL(program.url).port)
  for (const bytes of [
    `GET /${secret('garbage')} HTTP/1.1\r\nX\r\n\r\n`, `X-Session-API-Key: ${secret('no request')}\r\n\r\n`,
  ]) {
    heard.push(['garbage', await exchange(port, bytes)])
  }
})

test('sockets that are refused say nothing of the key they were given', async () => {
  const path = `${program.url}/sockets/events/${ids[0]}`
  const query = `?session_api_key=${encodeURIComponent(canaries.of('wrong key in a query'))}`
  heard.push([
    'an upgrade',
    await connect(path + query).then(() => 'opened', (refused: unknown) => JSON.stringify(refused) + String(refused)),
  ])
  const first = await connect(path)
  first.send(JSON.stringify({ type: 'auth', session_api_key: canaries.of('wrong key in a first message') }))
  const { code, reason } = await first.closed
  assert.is(code, 4001)
  heard.push(['a socket', reason + first.messages.join()])
  const right = await connect(`${path}?session_api_key=${encodeURIComponent(sessionKey)}`)
  right.send(`{"role":"user","content":[{"type":"text","key":${JSON.stringify(canaries.of('frame that is cut'))}`)
  right.send(
    JSON.stringify({ role: 7, api_key: canaries.of('frame that is wrong'), content: [{ type: 'text', text: 1 }] }),
  )
  // The conversation may have failed before: then joining it is answered with one more error.
  const codes = ['JSONDecodeError', 'ValidationError']
  await right.until(() => codes.every((wanted) => framesOf(right).some(({ code: one }) => one === wanted)))
  await right.close()
  heard.push(['a socket', right.messages.join('\n')])
})

test('an error that nobody catches ends the server, and its words are masked', async () => {
  assert.is(await stop('SIGUSR2'), 1)
  assert.match(program.stderr(), 'Error: Unexpected <secret-hidden> in {"text":"<secret-hidden>"}')
  program = await start()
})

test('an error that nobody expected is answered with an id, and its words are masked in the log', async () => {
  const secret = canaries.of('secret in an unexpected error')
  let faults = 0
  const clock = (): number => {
    if (faults-- > 0) {
      throw new Error(
        `Unexpected ${secret} in ${JSON.stringify({ secret })} and ${Buffer.from(secret).toString('base64')}`,
      )
    }
    return Date.now()
  }
  await withServer(async ({ rest, log }) => {
    assert.is((await rest.put('/api/settings/secrets', { name: 'KNOWN', value: secret })).status, 200)
    faults = 1
    const { status, text } = await rest.get('/server_info')
    assert.is(status, 500)
    assert.match(text, /"error_id":"[0-9a-f]{32}"/)
    const line = log.find((one) => one.includes('A request failed unexpectedly')) ?? ''
    assert.match(line, 'Unexpected <secret-hidden> in')
    heard.push(['an unexpected error', text], ['the log of an unexpected error', log.join('')])
  }, { clock })
})

test('options that are refused are not shown', async () => {
  const wrong = {
    AGENT_SERVER_SECRET_KEY: canaries.of('sealing key that is unused'),
    AGENT_SERVER_SESSION_API_KEY: `${canaries.of('session key that is wrong')}é`,
  }
  const { code, stdout, stderr } = await runToEnd(
    ['serve', '--data-dir', join(folder, 'other'), '--workspace-dir', join(folder, 'another')], folder, wrong,
  )
  assert.is(code, 2, stderr)
  heard.push(['a refused option', stdout + stderr])
})

test('a failure inside tells the client an id, and the log no secret', async () => {
  const path = join(program.dataDir, 'settings.json')
  renameSync(path, `${path}.away`)
  mkdirSync(path)
  const answer = await client().patch('/api/settings', {
    agent_settings_diff: { llm: { api_key: canaries.of('key that cannot be stored') } },
  })
  assert.ok(answer.status === 409 || answer.status >= 500, answer.text)
  rmSync(path, { recursive: true })
  renameSync(`${path}.away`, path)
})

/** Reads everything there is to read over REST and sockets. */
async function readAll(): Promise<void> {
  const paths = Object.keys(access).filter((name) => {
    return name.startsWith('GET ') &&
      !name.includes('/sockets/') &&
      !name.endsWith('/stream') &&
      !name.endsWith('/{name}')
  })
  const [event] = await firstTalk().events()
  for (const [index, id] of ids.entries()) {
    for (const path of paths.filter((one) => index === 0 || one.includes('{conversation_id}'))) {
      await client().get(path.slice(4).replace('{conversation_id}', id).replace('{event_id}', String(event?.['id'])))
    }
    const socket = await connect(`${program.url}/sockets/events/${id}?resend_mode=all`, {
      'X-Session-API-Key': sessionKey,
    })
    const count = Number((await client().get(`/api/conversations/${id}/events/count`)).text)
    await socket.until(() => framesOf(socket).length > count)
    await socket.close()
    heard.push([`the socket of ${id}`, socket.messages.join('\n')])
    const stream = open(Number(new URL(program.url).port))
    stream.socket.write(
      `GET /api/conversations/${id}/events/stream?resend_mode=all HTTP/1.1\r\nHost: localhost\r\n` +
        `X-Session-API-Key: ${sessionKey}\r\n\r\n`,
    )
    heard.push([`the stream of ${id}`, await stream.until((text) => text.split('\ndata: ').length > 2)])
    stream.socket.destroy()
  }
}

function hits(): string[] {
  return [
    ...heard.flatMap(([where, text]) => canaries.hitsIn(where, text)),
    ...hitsInFiles(canaries, program.dataDir, ['keys']),
    ...hitsInFiles(canaries, program.workspaceDir, []),
    ...hitsInProcesses(canaries),
  ]
}

test(
  'no canary is anywhere: not while all of it runs, not after a kill and a restart, not in a check of the data',
  async () => {
    await readAll()
    const whileItRuns = hits()
    await stop('SIGKILL')
    program = await start()
    await readAll()
    await stop('SIGTERM')
    for (const command of [['verify'], ['doctor']]) {
      const { stdout, stderr } = await runToEnd(
        [...command, '--data-dir', program.dataDir, '--workspace-dir', program.workspaceDir], folder, environment,
      )
      heard.push([command.join(), stdout + stderr])
    }
    assert.equal([...new Set([...whileItRuns, ...hits()])], [])
    assert.ok(heard.some(([where, text]) => where === 'the log' && text.includes('"level":"debug"')))
    process.stdout.write(`${canaries.places.length} canaries, ${heard.length} answers, streams and logs\n`)
    assert.ok(canaries.places.length >= 60, String(canaries.places.length))
  },
)

test.run()
