/**
 * The server as a library, beyond test/agent-server: refused options, the input of an agent, and an end without a
 * trace.
 */
import { rmSync } from 'node:fs'
import * as assert from 'uvu/assert'
import { join } from 'node:path'
import { AppError, createAgentServer, type AgentServer } from '../../src/index.ts'
import { makeFolder } from '../support/processes.ts'
import { member } from '../support/rest.ts'
import { fakeAgent, startServer, withServer } from '../support/server.ts'
import { suite } from '../support/suite.ts'
import { isObject } from '../../src/base/json.ts'
import { messagesOf, outline, startTalk, type JsonEvent } from './talk.ts'

const test = suite('library')
const key = 'the-key-of-the-host'

/** A server that does not listen, in a folder of its own. */
async function withAgents(body: (server: AgentServer, folder: string) => Promise<void>): Promise<void> {
  const { folder, remove } = makeFolder()
  const server = await createAgentServer({
    dataDir: join(folder, 'data'), workspaceDir: join(folder, 'work'), sessionApiKeys: [key],
  })
  try {
    await body(server, folder)
  } finally {
    await server.close()
    remove()
  }
}

/** Collects the stored events that a watch yields, up to `isLast`. */
async function collect(watched: AsyncGenerator<unknown>, isLast: (event: JsonEvent) => boolean): Promise<JsonEvent[]> {
  const events: JsonEvent[] = []
  for await (const event of watched) {
    if (!isObject(event) || event['key'] === 'full_state' || event['kind'] === 'StreamingDeltaEvent') continue
    events.push(event)
    if (isLast(event)) break
  }
  return events
}
const isFinish = (event: JsonEvent): boolean => event['key'] === 'execution_status' && event['value'] === 'finished'

test('a watch begins with the full state, and ends when its signal is aborted or the server closes', () =>
  withAgents(async (server) => {
    const talk = await server.createConversation({ agent: fakeAgent('echo') })
    const stop = new AbortController()
    const first = talk.watch({ from: 'now', signal: stop.signal })
    assert.is(member((await first.next()).value, 'key'), 'full_state')
    const waiting = first.next()
    stop.abort()
    assert.is((await waiting).done, true)
    const second = talk.watch({ from: 'now', signal: new AbortController().signal })
    await second.next()
    const ending = second.next()
    await server.close()
    assert.is((await ending).done, true)
  }))

test('a conversation that goes while a page is made is left out of the page', async () => {
  const { folder, remove } = makeFolder()
  const folders = { dataDir: join(folder, 'data'), workspaceDir: join(folder, 'work'), sessionApiKeys: [key] }
  const before = await createAgentServer(folders)
  const [gone, kept] = [await before.createConversation(), await before.createConversation()]
  await before.close()
  const server = await createAgentServer(folders)
  await server.conversation(kept.id)
  // The list still has the conversation, as in the middle of a deletion.
  rmSync(join(folders.dataDir, 'conversations', gone.id), { recursive: true })
  assert.equal((await server.conversations()).items.map(({ id }) => id), [kept.id])
  await server.close()
  remove()
})

test('conversations are listed, changed, paged and deleted in process', () =>
  withAgents(async (server) => {
    const first = await server.createConversation({ agent: fakeAgent('echo'), tags: { team: 'one' } })
    const second = await server.createConversation({ agent: fakeAgent('echo') })
    assert.equal((await server.conversations({ oldestFirst: true })).items.map(({ id }) => id), [first.id, second.id])
    const page = await server.conversations({ limit: 1 })
    assert.is(page.items[0]?.id, second.id)
    assert.is((await server.conversations({ pageId: page.nextPageId ?? '' })).items[0]?.id, first.id)
    await first.change({ title: 'a title' })
    const { title, status, tags } = await first.summary()
    assert.equal([title, status, tags], ['a title', 'idle', { team: 'one' }])
    for (const text of ['one', 'two', 'three']) await first.send(text, { run: false })
    const messages = await first.events({ kind: 'MessageEvent', limit: 2 })
    assert.equal(messages.items.map(({ kind }) => kind), ['MessageEvent', 'MessageEvent'])
    const rest = await first.events({ kind: 'MessageEvent', pageId: messages.nextPageId ?? '' })
    assert.is(rest.items.length, 1)
    assert.is(rest.nextPageId, null)
    const [last] = (await first.events({ newestFirst: true, limit: 1 })).items
    assert.equal(await first.event(last?.id ?? ''), last)
    assert.is(await first.event('00000000-0000-4000-8000-000000000000'), undefined)
    await first.delete()
    assert.equal((await server.conversations()).items.map(({ id }) => id), [second.id])
    const gone = await first.summary().then(() => undefined, (thrown: unknown) => thrown)
    assert.is(gone instanceof AppError ? gone.code : '', 'not_found')
  }))

test('settings, secrets and profiles are checked like requests, and shown without their secrets', () =>
  withAgents(async (server) => {
    await server.secrets.put({ name: 'TOKEN', value: 'value-of-token', description: 'for tests' })
    assert.equal(await server.secrets.list(), [{ name: 'TOKEN', description: 'for tests' }])
    await server.secrets.delete('TOKEN')
    assert.equal(await server.secrets.list(), [])
    await server.profiles.save('fast', { model: 'a-model', api_key: 'key-of-a-profile' })
    const [profile] = await server.profiles.list()
    assert.equal([profile?.name, profile?.model, profile?.api_key_set], ['fast', 'a-model', true])
    await server.profiles.delete('fast')
    assert.equal(await server.profiles.list(), [])
    await server.settings.patch({ agent_settings_diff: { llm: { api_key: 'key-of-the-settings' } } })
    assert.not.match(JSON.stringify(await server.settings.view()), 'key-of-the-settings')
    const wrong: object = { agent_settings_diff: 1 }
    const refused = await server.settings.patch(wrong).then(() => undefined, (thrown: unknown) => thrown)
    assert.is(refused instanceof AppError ? refused.code : '', 'invalid_input')
  }))

test('a run is stopped in process, and its questions are listed', () =>
  withAgents(async (server) => {
    const asking = await server.createConversation({ confirmation_policy: { kind: 'AlwaysConfirm' } })
    await asking.send('write: x.txt x')
    const signal = AbortSignal.timeout(20_000)
    for await (const event of asking.watch({ from: 'beginning', signal })) {
      if (event.kind === 'ConversationStateUpdateEvent' && event.value === 'waiting_for_confirmation') break
    }
    assert.is((await asking.questions()).length, 1)
    await asking.interrupt()
    assert.is((await asking.summary()).status, 'paused')
    assert.equal(await asking.questions(), [])
    await asking.pause()
  }))

test('questions are answered in process', () =>
  withAgents(async (server) => {
    const talk = await server.createConversation({ confirmation_policy: { kind: 'AlwaysConfirm' } })
    const watched = collect(talk.watch({ from: 'now', signal: new AbortController().signal }), (event) => {
      if (event['value'] === 'waiting_for_confirmation') {
        void talk.respond({ accept: false, reason: 'the host says no' })
      }
      return isFinish(event)
    })
    await talk.send('write: x.txt x')
    const rejection = (await watched).find(({ kind }) => kind === 'UserRejectObservation')
    assert.is(rejection?.['rejection_reason'], 'the host says no')
  }))

test('what is refused is an AppError with a code of the closed list', () =>
  withAgents(async (server) => {
    const cases: readonly (readonly [() => Promise<unknown>, string])[] = [
      [() => server.conversation('no-such-id'), 'not_found'],
      [() => server.createConversation({ max_iterations: 0 }), 'invalid_input'],
      [() => server.createConversation({ workspace: { working_dir: '/' } }), 'invalid_input'],
      [() => createAgentServer({ dataDir: 'relative', workspaceDir: '/tmp/x' }), 'invalid_option'],
      [
        async () => {
          return (await server.createConversation())
            .watch({ from: { after: 'unknown' }, signal: AbortSignal.timeout(1000) })
            .next()
        },
        'not_found',
      ],
    ]
    for (const [call, code] of cases) {
      const error = await call().then(() => undefined, (thrown: unknown) => thrown)
      assert.instance(error, AppError)
      assert.is(error instanceof AppError ? error.code : '', code)
    }
  }))

test('only what the host gives and the base set allows reaches an agent', () =>
  withServer(async (server) => {
    const talk = await startTalk(server, 'environment')
    await talk.send('show')
    await talk.reaches('finished')
    const environment: unknown = JSON.parse(messagesOf(await talk.events(), 'agent').join(''))
    assert.equal([member(environment, 'LANG'), member(environment, 'PASSED'), member(environment, 'OTHER')], [
      'C', 'yes', undefined,
    ])
    assert.is(member(environment, 'AGENT_SERVER_SESSION_API_KEY'), undefined)
  }, {
    environment: { LANG: 'C', PASSED: 'yes', OTHER: 'no', AGENT_SERVER_SESSION_API_KEY: 'x' },
    passEnv: ['PASSED', 'AGENT_SERVER_SESSION_API_KEY'],
  }))

test('close is idempotent, ends a running turn as paused, and leaves no handle', async () => {
  const { folder, remove } = makeFolder()
  const kinds = (): string[] =>
    process.getActiveResourcesInfo().filter((kind) => kind !== 'Timeout' && !kind.includes('FSReq')).sort()
  const before = kinds()
  const server = await startServer({ folder })
  const talk = await startTalk(server, 'never')
  const socket = await server.socket(talk.id)
  await talk.send('hello')
  await talk.reaches('running')
  await Promise.all([server.server.close(), server.server.close()])
  await server.server.close()
  await socket.closed
  assert.equal(kinds(), before)
  const again = await startServer({ folder })
  assert.is(member((await again.rest.get(talk.path)).json, 'execution_status'), 'paused')
  await again.close()
  remove()
})

test('close leaves no timer after an external agent ran', async () => {
  const timers = (): number => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length
  const before = timers()
  await withAgents(async (server) => {
    const talk = await server.createConversation({ agent: fakeAgent('echo') })
    const watched = collect(talk.watch({ from: 'beginning', signal: new AbortController().signal }), isFinish)
    await talk.send('hello')
    await watched
    await server.close()
    assert.is(timers(), before)
  })
})

test('while it closes it takes no new work, and afterwards it says so', () =>
  withAgents(async (server) => {
    const talk = await server.createConversation({ agent: fakeAgent('echo') })
    const closing = server.close()
    for (const call of [() => server.createConversation(), () => talk.send('too late'), () => talk.run()]) {
      const error = await call().then(() => undefined, (thrown: unknown) => thrown)
      assert.instance(error, AppError)
    }
    await closing
    assert.instance(await server.conversation(talk.id).then(() => undefined, (thrown: unknown) => thrown), AppError)
  }))

test('two servers in one process know nothing of each other', () =>
  withServer((first) =>
    withServer(async (second) => {
      const talk = await startTalk(first)
      assert.is((await second.rest.get(talk.path)).status, 404)
      await first.rest.put('/api/settings/secrets', { name: 'ONLY_FIRST', value: 'a value of the first' })
      assert.equal((await second.rest.get('/api/settings/secrets')).json, { secrets: [] })
      assert.equal(outline(await talk.events()), [])
    }),
  ))

test.run()
