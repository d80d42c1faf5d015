/**
 * The server as a library: mounted on a host's own http.Server, driven and watched in process, closed without a trace.
 */
import { once } from 'node:events'
import { createServer } from 'node:http'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { AppError, createAgentServer, type AgentServer, type AgentServerOptions, type HostModel } from '../src/index.ts'
import { isObject } from '../src/base/json.ts'
import { makeFolder, until } from './support/processes.ts'
import { rest } from './support/rest.ts'
import { connect } from './support/ws-client.ts'
import { suite } from './support/suite.ts'

const test = suite('agent-server')

async function withLibrary(
  body: (server: AgentServer, folder: string) => Promise<void>, options: Partial<AgentServerOptions> = {},
): Promise<void> {
  const { folder, remove } = makeFolder()
  const folders = { dataDir: join(folder, 'data'), workspaceDir: join(folder, 'work') }
  const server = await createAgentServer({ ...folders, sessionApiKeys: ['the-key-of-the-host'], ...options })
  try {
    await body(server, folder)
  } finally {
    await server.close()
    remove()
  }
}

/** Watches until the status is reached; gives everything that was seen. */
async function watchUntil(server: AgentServer, id: string, status: string): Promise<Record<string, unknown>[]> {
  const stop = new AbortController()
  const seen: Record<string, unknown>[] = []
  const conversation = await server.conversation(id)
  for await (const event of conversation.watch({ from: 'beginning', signal: stop.signal })) {
    assert.ok(isObject(event))
    seen.push(event)
    if (event['key'] === 'execution_status' && event['value'] === status) stop.abort()
  }
  return seen
}

test('runs a conversation in process: created, driven, watched, answered', () =>
  withLibrary(async (server) => {
    const conversation = await server.createConversation({ confirmation_policy: { kind: 'AlwaysConfirm' } })
    await conversation.send('run: echo from the library')
    await watchUntil(server, conversation.id, 'waiting_for_confirmation')
    await conversation.respond({ accept: true })
    const seen = await watchUntil(server, conversation.id, 'finished')
    assert.is(seen[0]?.['key'], 'full_state')
    assert.ok(seen.some(({ kind }) => kind === 'ObservationEvent'))
    assert.match(await conversation.finalResponse(), 'exit code 0')
  }))

test('goes on watching after an event, and refuses one that it does not know', () =>
  withLibrary(async (server) => {
    const conversation = await server.createConversation()
    await conversation.send('one', { run: false })
    await conversation.send('two', { run: false })
    const all: unknown[] = []
    const stop = new AbortController()
    for await (const event of conversation.watch({ from: 'beginning', signal: stop.signal })) {
      all.push(event)
      if (JSON.stringify(event).includes('two')) stop.abort()
    }
    const first = all.find((event) => isObject(event) && event['kind'] === 'MessageEvent')
    assert.ok(isObject(first) && typeof first['id'] === 'string')
    const watcher = conversation.watch({ from: { after: first['id'] }, signal: new AbortController().signal })
    await watcher.next()
    const { value } = await watcher.next()
    assert.equal(value, all[all.indexOf(first) + 1])
    await watcher.return(undefined)
    const unknown = conversation.watch({ from: { after: conversation.id }, signal: new AbortController().signal })
    assert.is(await codeOf(unknown.next()), 'not_found')
  }))

test('serves behind a host\'s own http.Server, sockets too, and leaves that server open', () =>
  withLibrary(async (server) => {
    const host = createServer(server.handlers.request).on('upgrade', server.handlers.upgrade)
    host.listen(0, '127.0.0.1')
    await once(host, 'listening')
    const address = host.address()
    const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`
    const client = rest(url, 'the-key-of-the-host')
    const { id } = await server.createConversation()
    assert.is((await client.get(`/api/conversations/${id}`)).status, 200)
    const socket = await connect(`${url}/sockets/events/${id}`, { 'X-Session-API-Key': 'the-key-of-the-host' })
    assert.match(await socket.next(), 'full_state')
    await server.close()
    assert.is((await socket.closed).code, 1012)
    assert.is((await client.get('/ready')).status, 503)
    host.close()
  }))

test('shows an agent nothing of the environment of the process it lives in', () =>
  withLibrary(async (server) => {
    process.env['LIBRARY_CANARY'] = 'canary-in-the-process'
    const conversation = await server.createConversation()
    await conversation.send('run: /usr/bin/env; echo done')
    const seen = await watchUntil(server, conversation.id, 'finished')
    delete process.env['LIBRARY_CANARY']
    const text = JSON.stringify(seen)
    assert.match(text, 'AGENT_SERVER_CHILD')
    assert.not.match(text, 'canary-in-the-process')
    assert.not.match(text, 'the-key-of-the-host')
  }))

test('pauses what runs when it is closed, once, and can be opened again on the same folder', async () => {
  const { folder, remove } = makeFolder()
  const options = {
    dataDir: join(folder, 'data'), workspaceDir: join(folder, 'work'), sessionApiKeys: ['the-key-of-the-host'],
  }
  const first = await createAgentServer(options)
  const conversation = await first.createConversation({ confirmation_policy: { kind: 'AlwaysConfirm' } })
  await conversation.send('go')
  await watchUntil(first, conversation.id, 'waiting_for_confirmation')
  await Promise.all([first.close(), first.close()])
  assert.is(await codeOf(first.createConversation()), 'unavailable')
  const second = await createAgentServer(options)
  const seen = await watchUntil(second, conversation.id, 'paused')
  assert.not.ok(seen.some(({ kind }) => kind === 'PauseEvent' || kind === 'ConversationErrorEvent'))
  await second.close()
  remove()
})

test('a closed server changes no settings, secrets or profiles, which another server may own', async () => {
  const { folder, remove } = makeFolder()
  const options = {
    dataDir: join(folder, 'data'), workspaceDir: join(folder, 'work'), sessionApiKeys: ['the-key-of-the-host'],
  }
  const first = await createAgentServer(options)
  await first.secrets.put({ name: 'ONE', value: 'the first value' })
  const late = first.profiles.save('in-time', { model: 'a/b' })
  await first.close()
  await late
  const second = await createAgentServer(options)
  await second.settings.patch({ agent_settings_diff: { agent_kind: 'acp', acp_server: 'codex' } })
  assert.is(await codeOf(first.settings.patch({ agent_settings_diff: { acp_model: 'stale' } })), 'unavailable')
  assert.is(await codeOf(first.secrets.put({ name: 'TWO', value: 'the second value' })), 'unavailable')
  assert.is(await codeOf(first.secrets.delete('ONE')), 'unavailable')
  assert.is(await codeOf(first.profiles.save('late', { model: 'a/b' })), 'unavailable')
  assert.is(await codeOf(first.profiles.delete('in-time')), 'unavailable')
  await second.close()
  const third = await createAgentServer(options)
  assert.equal((await third.secrets.list()).map(({ name }) => name), ['ONE'])
  assert.equal((await third.profiles.list()).map(({ name }) => name), ['in-time'])
  assert.match(JSON.stringify((await third.settings.view()).agent_settings), '"acp_server":"codex"')
  await third.close()
  remove()
})

test('a closed server does not listen, and a server that is closed while it begins to listen keeps no port', () =>
  withLibrary(async (server, folder) => {
    await server.close()
    assert.is(await codeOf(server.listen()), 'unavailable')
    const folders = { dataDir: join(folder, 'other'), workspaceDir: join(folder, 'work') }
    const ports = (): number => process.getActiveResourcesInfo().filter((kind) => kind === 'TCPServerWrap').length
    const before = ports()
    const other = await createAgentServer({ ...folders, port: 0 })
    const listening = codeOf(other.listen())
    await other.close()
    assert.is(await listening, 'unavailable')
    assert.is(ports(), before)
  }, { port: 0 }))

test('a server whose port was taken listens when the port is free', async () => {
  const other = createServer()
  other.listen(0, '127.0.0.1')
  await once(other, 'listening')
  const address = other.address()
  assert.ok(typeof address === 'object' && address !== null)
  await withLibrary(async (server) => {
    assert.is(await codeOf(server.listen()), 'cannot_listen')
    other.close()
    await once(other, 'close')
    assert.is((await server.listen()).port, address.port)
    assert.match(String(await server.listen().catch((thrown: unknown) => thrown)), 'The server listens already')
  }, { port: address.port })
})

test('no conversation is made when the limit of runs refuses its first message', () =>
  withLibrary(async (server) => {
    const busy = await server.createConversation()
    await busy.send('run: sleep 600')
    const message = { role: 'user', content: [{ type: 'text', text: 'Hello' }], run: true } as const
    const request = { initial_message: message }
    assert.is(await codeOf(server.createConversation(request)), 'too_many_runs')
    assert.equal((await server.conversations()).items.map(({ id }) => id), [busy.id])
    assert.is((await server.createConversation({ ...request, conversation_id: busy.id })).id, busy.id)
    await busy.interrupt()
    await busy.ended()
    await (await server.createConversation(request)).ended()
  }, { maxRuns: 1 }))

test('LLM profiles have the rules of their routes: names, users, the active profile', () =>
  withLibrary(async (server) => {
    const { url } = await server.listen()
    const { profiles, settings } = server
    for (const name of ['', '../../etc', 'a/b']) {
      assert.is(await codeOf(profiles.save(name, { model: 'a/b' })), 'invalid_input', name)
    }
    assert.equal(await profiles.list(), [])
    await profiles.save('fast', { model: 'a/b' })
    await settings.patch({ active_profile: 'fast' })
    const client = rest(url, 'the-key-of-the-host')
    assert.is((await client.post('/api/agent-profiles/reviewer', { llm_profile_ref: 'fast' })).status, 201)
    assert.is(await codeOf(profiles.delete('fast')), 'conflict')
    assert.is((await settings.view()).active_profile, 'fast')
    assert.is((await client.delete('/api/agent-profiles/reviewer')).status, 200)
    await profiles.delete('fast')
    assert.is((await settings.view()).active_profile, null)
  }, { port: 0 }))

test('ended waits for the end of the run, and for a confirmation, and gives the status', () =>
  withLibrary(async (server) => {
    const { signal } = new AbortController()
    const conversation = await server.createConversation({ confirmation_policy: { kind: 'AlwaysConfirm' } })
    assert.is(await conversation.ended(), 'idle')
    for (const accept of [true, false]) {
      await conversation.send('run: echo from the library')
      assert.is(await conversation.ended(signal), 'waiting_for_confirmation')
      for (const { id } of await conversation.questions()) await conversation.respond({ id, accept })
      assert.is(await conversation.ended(signal), 'finished')
    }
    await conversation.send('run: echo again')
    await conversation.ended()
    await conversation.interrupt()
    assert.is(await conversation.ended(), 'paused')
  }))

test('ended gives up when its signal aborts or the conversation is deleted', async () => {
  const hangs: HostModel = ({ signal }) => new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason))
  })
  await withLibrary(async (server) => {
    const agent = { kind: 'Agent', llm: { model: 'slow' } } as const
    const conversation = await server.createConversation({ agent })
    await conversation.send('hello')
    const stop = new AbortController()
    const waiting = conversation.ended(stop.signal).catch((thrown: unknown) => thrown)
    await until(() => server.load().conversations.sums.readers > 0)
    stop.abort('enough')
    assert.is(await waiting, 'enough')
    const deleted = codeOf(conversation.ended())
    await conversation.delete()
    assert.is(await deleted, 'not_found')
    const other = await server.createConversation({ agent })
    await other.send('hello')
    const paused = other.ended()
    await server.close()
    assert.is(await paused, 'paused')
  }, { models: () => hangs })
})

test('refuses options that are unknown, unsafe or of the wrong kind, and a folder that is owned', () =>
  withLibrary(async (_server, folder) => {
    const dataDir = join(folder, 'data')
    const workspaceDir = join(folder, 'work')
    assert.is(
      await codeOf(createAgentServer({ dataDir, workspaceDir, sessionApiKeys: ['k-of-another'] })), 'owned_by_another',
    )
    const other = join(folder, 'other')
    assert.is(await codeOf(createAgentServer({ dataDir: other, workspaceDir, host: '0.0.0.0' })), 'invalid_option')
    assert.is(await codeOf(createAgentServer({ dataDir: other, workspaceDir: join(other, 'work') })), 'invalid_option')
  }))

test('refuses a request that is not valid as the route does', () =>
  withLibrary(async (server) => {
    assert.is(await codeOf(server.createConversation({ max_iterations: 0 })), 'invalid_input')
    assert.is(await codeOf(server.conversation('00000000-0000-4000-8000-000000000001')), 'not_found')
  }))

async function codeOf(promise: Promise<unknown>): Promise<string> {
  try {
    await promise
  } catch (thrown) {
    if (thrown instanceof AppError) return thrown.code
    throw thrown
  }
  return 'none'
}

test.run()
