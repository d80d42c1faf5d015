/**
 * Bad requests, bad agents and bad surroundings: each is refused or survived, and after each nothing acknowledged is
 * lost.
 */
import * as assert from 'uvu/assert'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { open, statuses } from '../http/raw-client.ts'
import { until } from '../support/processes.ts'
import { member, textAt, type Call } from '../support/rest.ts'
import { fakeAgent, startServer, type TestServer } from '../support/server.ts'
import { suite } from '../support/suite.ts'
import { messagesOf, outline, startTalk, talkTo, userMessage, type JsonEvent, type Talk } from './talk.ts'

const test = suite('bad input')
let server: TestServer
let keeper: Talk
const acknowledged: string[] = []

test.before(async () => {
  server = await startServer({ agentLineLimitBytes: 256 * 1024 })
  keeper = await startTalk(server)
})
test.after(() => server.close())

/** Checks the server after any bad input: every client is answered, and acknowledged data is there. */
async function assertSound(): Promise<void> {
  assert.is((await server.rest.get('/ready')).status, 200)
  const text = `message ${acknowledged.length}`
  assert.is((await keeper.send(text, false)).status, 200)
  acknowledged.push(text)
  assert.equal(messagesOf(await keeper.events(), 'user'), acknowledged)
  assert.not.match(server.log.join(''), /unexpectedly/)
}

const create = '/api/conversations'
const json = { 'Content-Type': 'application/json' }
const refused: readonly (readonly [string, string, string, Call, number, string])[] = [
  ['JSON that is cut', 'POST', create, { raw: '{"tags":' }, 422, 'json_invalid'],
  ['two values', 'POST', create, { raw: '{} {}' }, 422, 'json_invalid'],
  ['no UTF-8', 'POST', create, { raw: Buffer.from('7b2261223a22ff227d', 'hex') }, 422, 'json_invalid'],
  ['a million brackets', 'POST', create, { raw: '['.repeat(1_000_000) }, 422, 'json_invalid'],
  ['a text', 'POST', create, { raw: '"x"' }, 422, 'model_attributes_type'],
  ['null', 'POST', create, { raw: 'null' }, 422, 'model_attributes_type'],
  ['a number too large', 'POST', create, { raw: '{"max_iterations":1e400}' }, 422, 'finite_number'],
  ['no content type', 'POST', create, { raw: '{}', headers: { 'Content-Type': '' } }, 415, ''],
  ['a form', 'POST', create, { raw: 'a=1', headers: { 'Content-Type': 'application/x-www-form-urlencoded' } }, 415, ''],
  ['plain text', 'POST', create, { raw: '{}', headers: { 'Content-Type': 'text/plain' } }, 415, ''],
  ['another charset', 'POST', create, { raw: '{}', headers: { 'Content-Type': 'application/json; charset=utf-16' } },
    415, ''],
  ['a compressed body', 'POST', create, { raw: '{}', headers: { ...json, 'Content-Encoding': 'gzip' } }, 415, ''],
  ['a long target', 'GET', `/${'x'.repeat(17_000)}`, {}, 414, ''],
  ['long headers', 'GET', '/alive', { headers: { 'X-Long': 'x'.repeat(40_000) } }, 431, ''],
  ['an unknown path', 'GET', '/api/nothing', {}, 404, ''],
  ['a path that climbs', 'GET', '/api/conversations/../../etc/passwd', {}, 404, ''],
  ['a path that is not decodable', 'GET', '/api/conversations/%ff', {}, 400, ''],
  ['an unknown method', 'PUT', create, {}, 405, ''],
  ['a method nobody knows', 'PROPFIND', create, {}, 405, ''],
]
for (const [what, method, path, call, status, type] of refused) {
  test(`refuses ${what} with ${status}`, async () => {
    const answer = await server.rest.send(method, path, call)
    assert.is(answer.status, status, answer.text)
    if (type !== '') assert.is(member(answer.json, 'detail', 0, 'type'), type, answer.text)
    else assert.ok(member(answer.json, 'detail') !== undefined)
    await assertSound()
  })
}

test('a body of 100 MB is refused with 413 before it is sent, and after 16 MiB when it is not announced', async () => {
  const head = `POST ${create} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n` +
    `X-Session-API-Key: ${server.key}\r\n`
  const announced = open(Number(new URL(server.url).port))
  announced.socket.write(`${head}Content-Length: 100000000\r\n\r\n`)
  assert.equal(statuses(await announced.until((text) => text.includes('"detail"'))), [413])
  announced.socket.destroy()
  const chunked = open(Number(new URL(server.url).port))
  chunked.socket.write(`${head}Transfer-Encoding: chunked\r\n\r\n`)
  const chunk = Buffer.concat([Buffer.from('100000\r\n'), Buffer.alloc(0x100000, 0x20), Buffer.from('\r\n')])
  for (let sent = 0; sent < 17; sent++) chunked.socket.write(chunk)
  assert.equal(statuses(await chunked.until((text) => text.includes('"detail"'))), [413])
  chunked.socket.destroy()
  await assertSound()
})

test('no body is read for who has no key', async () => {
  const stranger = open(Number(new URL(server.url).port))
  stranger.socket.write(
    `POST ${create} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n`,
  )
  assert.equal(statuses(await stranger.until((text) => text.includes('"detail"'))), [401])
  stranger.socket.destroy()
})

test('bodiless requests may announce JSON, and answers never echo a secret of the request', async () => {
  const empty = await server.rest.send('POST', `${keeper.path}/pause`, { headers: json })
  assert.is(empty.status, 200)
  const secret = 'a-secret-value-of-the-test'
  const body = {
    secrets: { A: { kind: 'Other', value: secret } },
    agent: { kind: 'Agent', llm: { api_key: [secret] } },
    mcp: 1,
    max_iterations: 'x',
  }
  const answer = await server.rest.post(create, body)
  assert.is(answer.status, 422)
  assert.not.match(answer.text, secret)
  const headers = await server.rest.post(create, {
    agent: {
      kind: 'ACPAgent', acp_command: ['x'], mcp_config: { a: { url: 7, headers: { X: secret }, env: { A: [secret] } } },
    },
  })
  assert.is(headers.status, 422)
  assert.not.match(headers.text, secret)
  await assertSound()
})

const sh = (script: string): object => ({
  kind: 'ACPAgent', acp_command: ['/bin/sh', '-c', script], acp_startup_timeout: 5,
})
/** An agent that fails, the code of its error, and a pattern of the error's words. */
const badAgents: readonly (readonly [string, object, string, RegExp])[] = [
  ['is not installed', { kind: 'ACPAgent', acp_command: ['no-such-agent-program'] }, 'ACPSpawnError',
    /no such program/],
  ['is no program', { kind: 'ACPAgent', acp_command: ['/etc/passwd'] }, 'ACPSpawnError', /executed|EACCES/],
  ['exits at once and says why', fakeAgent('exit-start'), 'ACPInitError', /cannot find my configuration/],
  ['says nothing', { ...fakeAgent('silent'), acp_startup_timeout: 0.5 }, 'ACPStartupTimeout', /0\.5 s/],
  ['floods with garbage lines', { ...sh('exec yes garbage'), acp_startup_timeout: 0.5 }, 'ACPStartupTimeout', /./],
  ['writes one endless line', sh("exec tr '\\0' x < /dev/zero"), 'ACPInitError', /./],
  ['speaks another version', fakeAgent('wrong-version'), 'ACPInitError', /version 2/],
  ['wants a login', fakeAgent('login'), 'ACPAuthRequired', /Authentication required/],
  ['dies in a tool call', fakeAgent('exit-in-tool'), 'ACPPromptError', /./],
  ['dies in the middle of a line', fakeAgent('exit-mid-line'), 'ACPPromptError', /panic/],
  ['writes a line beyond the limit while it works', fakeAgent('huge-line'), 'ACPPromptError', /./],
  ['closes its output', fakeAgent('closes-output'), 'ACPPromptError', /./],
  ['falls silent', { ...fakeAgent('never-a-word'), acp_prompt_timeout: 0.5 }, 'ACPPromptError', /0\.5 s|by itself/],
]
for (const [what, agent, code, words] of badAgents) {
  test(`an agent that ${what} ends the run with one ${code}, and the conversation can be run again`, async () => {
    const talk = await startTalk(server, { agent })
    for (let run = 0; run < 2; run++) {
      if (run === 0) await talk.send('hello')
      else await talk.runAgain()
      await until(async () => errorsOf(await talk.events()).length > run)
      await talk.reaches('error')
      const events = await talk.events()
      const errors = errorsOf(events)
      assert.is(errors.length, run + 1, outline(events).join())
      assert.is(errors[run]?.['code'], code, JSON.stringify(errors))
      assert.match(textAt(errors[run], 'detail'), words)
      assert.equal(unanswered(events), [])
    }
    await assertSound()
  })
}

const oddAgents = [
  'banner', 'half-json', 'broken-messages', 'flood', 'late', 'answers-twice', 'other-requests', 'big-output',
]
for (const behaviour of oddAgents) {
  test(`an agent that behaves as "${behaviour}" finishes all the same`, async () => {
    const talk = await startTalk(server, behaviour)
    await talk.send('hello')
    await until(async () => !['idle', 'running'].includes(await talk.status()))
    assert.is(await talk.status(), 'finished', JSON.stringify(errorsOf(await talk.events())))
    assert.equal(unanswered(await talk.events()), [])
    await assertSound()
  })
}

test('a flooding agent is stopped by an interrupt', async () => {
  const talk = await startTalk(server, { agent: fakeAgent('ignores-cancel') })
  await talk.send('hello')
  await talk.reaches('running')
  assert.is((await talk.post('/interrupt')).status, 200)
  assert.is(await talk.status(), 'paused')
  await assertSound()
})

test('a workspace that has vanished is named in the error, and the run works when it is back', async () => {
  const path = join(server.folder, 'vanishing')
  const talk = await startTalk(server, { agent: fakeAgent('echo'), workspace: { working_dir: path } })
  rmSync(path, { recursive: true })
  await talk.send('hello')
  await talk.reaches('error')
  const [error] = errorsOf(await talk.events())
  assert.is(error?.['code'], 'ACPSpawnError')
  assert.match(textAt(error, 'detail'), 'does not exist')
  mkdirSync(path)
  await talk.runAgain()
  await talk.reaches('finished')
  assert.match(messagesOf(await talk.events(), 'agent').join(), 'hello')
  rmSync(path, { recursive: true })
  writeFileSync(path, 'now a file')
  await assertSound()
})

test('messages to a conversation that is being deleted are stored or refused, and nothing comes back', async () => {
  const talk = await startTalk(server, 'never')
  await talk.send('hello')
  const sends = Array.from({ length: 10 }, (_, index) => talk.send(`message ${index}`, index % 2 === 0))
  const [removed, ...answers] = await Promise.all([
    server.rest.delete(talk.path), ...sends, talk.post('/run'), talk.post('/interrupt'), talk.get(),
  ])
  assert.is(removed?.status, 200)
  for (const { status, text } of answers) assert.ok([200, 404, 409].includes(status), `${status} ${text}`)
  assert.is((await talk.get()).status, 404)
  assert.is((await talk.send('too late')).status, 404)
  await assertSound()
})

test('a request that nobody waits for any more is no failure', async () => {
  for (let count = 0; count < 10; count++) {
    const { socket } = open(Number(new URL(server.url).port))
    const body = JSON.stringify(userMessage('x'))
    socket.write(
      `POST ${keeper.path}/run HTTP/1.1\r\nHost: localhost\r\nX-Session-API-Key: ${server.key}\r\n` +
        `Content-Length: ${body.length}\r\n\r\n`,
    )
    socket.destroy()
  }
  await assertSound()
})

test('a conversation with the name of a member of every object is just not there', async () => {
  for (const name of ['__proto__', 'constructor', 'toString']) {
    assert.is((await server.rest.get(`${create}/${name}`)).status, 422)
    assert.is((await keeper.get(`/events/${name}`)).status, 404)
    assert.is((await server.rest.get(`/${name}`)).status, 404)
    assert.is(
      (await server.rest.put('/api/settings/secrets', { name, value: 'a value' })).status,
      name === '__proto__' ? 422 : 200,
    )
  }
  const talk = await startTalk(server, {
    agent: fakeAgent('echo'), secrets: { constructor: { kind: 'StaticSecret', value: 'x' } },
  })
  await talk.send('hello')
  await talk.reaches('finished')
  assert.is(await talkTo(server, talk.id).status(), 'finished')
  await assertSound()
})

function errorsOf(events: readonly JsonEvent[]): JsonEvent[] {
  return events.filter(({ kind }) => kind === 'ConversationErrorEvent')
}

/** Actions without an answer. */
function unanswered(events: readonly JsonEvent[]): unknown[] {
  const answered = events.filter(({ kind }) => kind !== 'ActionEvent').map((event) => event['tool_call_id'])
  return events.filter((event) => event['kind'] === 'ActionEvent' && !answered.includes(event['tool_call_id']))
}

test.run()
