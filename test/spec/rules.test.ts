/**
 * Sentences of the specification that take a whole server to hold: which agent drives which conversation, how a secret
 * reaches the agent's program, how clients stay in step without asking.
 */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { isObject } from '../../src/base/json.ts'
import { messagesOf, startTalk, type Talk } from '../e2e/talk.ts'
import { member, textAt } from '../support/rest.ts'
import { fakeAgent, withServer, type TestServer } from '../support/server.ts'
import { suite } from '../support/suite.ts'

const test = suite('rules of the specification')

test('a new choice of agent drives the conversations started afterwards, and none that is there already', () => {
  return withServer(async (server) => {
    await choose(server, 'echo')
    const before = await startTalk(server)
    await before.send('first')
    await before.reaches('finished')
    await choose(server, 'refusal')
    const after = await startTalk(server)
    await after.send('second')
    await after.reaches('error')
    await before.send('third')
    await before.reaches('finished')
    assert.match(messagesOf(await before.events(), 'agent').at(-1) ?? '', 'third')
    assert.equal(await commandOf(before), fakeAgent('echo').acp_command)
    assert.equal(await commandOf(after), fakeAgent('refusal').acp_command)
  })
})

test('a conversation that runs while the choice changes goes on with its agent', () => withServer(async (server) => {
  await choose(server, 'never')
  const talk = await startTalk(server)
  await talk.send('work')
  await talk.reaches('running')
  await choose(server, 'echo')
  assert.is(await talk.status(), 'running')
  assert.equal(await commandOf(talk), fakeAgent('never').acp_command)
  await talk.post('/interrupt')
}))

test('a global secret reaches the program of the agent under its name, and changes and goes with it', () => {
  return withServer(async (server) => {
    const name = 'VENDORA_API_KEY'
    assert.is(await seenByAgent(server, name), undefined)
    await server.rest.put('/api/settings/secrets', { name, value: 'the-first-value' })
    assert.is(await seenByAgent(server, name), 'the-first-value')
    await server.rest.put('/api/settings/secrets', { name, value: 'the-second-value' })
    assert.is(await seenByAgent(server, name), 'the-second-value')
    await server.rest.delete(`/api/settings/secrets/${name}`)
    assert.is(await seenByAgent(server, name), undefined)
  })
})

test('a client on a socket hears of every change of state as REST gives it', () => withServer(async (server) => {
  const talk = await startTalk(server, { agent: fakeAgent('echo') })
  const socket = await server.socket(talk.id)
  const policy = { kind: 'ConfirmRisky', threshold: 'LOW', confirm_unknown: true }
  await talk.post('/confirmation_policy', { policy })
  await server.rest.patch(talk.path, { tags: { a: 'b' } })
  await talk.send('hello')
  await talk.reaches('finished')
  await socket.until(() => socket.messages.filter((frame) => frame.includes('"key":"full_state"')).length === 2)
  const frames = socket.messages.map((text): unknown => JSON.parse(text)).filter(isObject)
  const updates = frames.filter(({ kind }) => kind === 'ConversationStateUpdateEvent')
  const valuesOf = (wanted: string): unknown[] => updates.filter(({ key }) => key === wanted).map(({ value }) => value)
  assert.equal(valuesOf('confirmation_policy'), [policy])
  assert.equal(valuesOf('tags'), [{ a: 'b' }])
  assert.equal(valuesOf('execution_status'), ['running', 'finished'])
  const { json } = await talk.get()
  const last = valuesOf('full_state').at(-1)
  for (const name of [
    'id', 'execution_status', 'confirmation_policy', 'tags', 'workspace', 'agent', 'last_user_message_id',
  ]) {
    assert.equal(member(last, name), member(json, name), name)
  }
  await socket.close()
}))

test('the system prompt of an external agent has neither tools nor a cache marker', () => withServer(async (server) => {
  const talk = await startTalk(server, { agent: fakeAgent('echo') })
  await talk.send('hello')
  await talk.reaches('finished')
  const [event, ...others] = (await talk.events()).filter(({ kind }) => kind === 'SystemPromptEvent')
  assert.equal(others, [])
  assert.is(member(event, 'source'), 'agent')
  assert.equal(member(event, 'tools'), [])
  assert.is(member(event, 'system_prompt', 'cache_prompt'), false)
}))

test('only a message of the agent names the response it is from', () => withServer(async (server) => {
  const talk = await startTalk(server, { agent: fakeAgent('echo') })
  await talk.send('hello')
  await talk.reaches('finished')
  const messages = (await talk.events()).filter(({ kind }) => kind === 'MessageEvent')
  assert.equal(messages.map((event) => [event['source'], typeof event['llm_response_id']]), [
    ['user', 'undefined'],
    ['agent', 'string'],
  ])
}))

test('a run that fails ends with one error of the conversation and its status, and can go on', () => {
  return withServer(async (server) => {
    const talk = await startTalk(server, { agent: fakeAgent('exit-start') })
    await talk.send('hello')
    await talk.reaches('error')
    const failures = (await talk.events()).filter(({ kind }) => kind === 'ConversationErrorEvent')
    assert.equal(failures.map((event) => Object.keys(event)), [['kind', 'id', 'timestamp', 'source', 'code', 'detail']])
    assert.is((await talk.post('/run')).status, 200)
  })
})

test.run()

async function choose({ rest }: TestServer, behaviour: string): Promise<void> {
  const { acp_command } = fakeAgent(behaviour)
  const diff = { agent_kind: 'acp', acp_server: 'custom', acp_command }
  assert.is((await rest.patch('/api/settings', { agent_settings_diff: diff })).status, 200)
}

async function commandOf(talk: Talk): Promise<unknown> {
  return member((await talk.get()).json, 'agent', 'acp_command')
}

/** The value of a variable in the environment of a new conversation's agent, by way of a file: output is masked. */
async function seenByAgent(server: TestServer, name: string): Promise<string | undefined> {
  const talk = await startTalk(server)
  await talk.send(`run: printenv ${name} > seen.txt || rm seen.txt`)
  await talk.reaches('finished')
  const path = join(textAt((await talk.get()).json, 'workspace', 'working_dir'), 'seen.txt')
  return existsSync(path) ? readFileSync(path, 'utf8').trimEnd() : undefined
}
