/**
 * A night in the log: the lines about requests, refusals, runs, agents, failures and changes, and the texts that must
 * not stand there: a prompt, a value, a key, a query.
 */
import * as assert from 'uvu/assert'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { joinedFile } from '../support/program-file.ts'
import { withPrograms, withServer, type TestServer } from '../support/server.ts'
import { until } from '../support/processes.ts'
import { suite } from '../support/suite.ts'
import { connect } from '../support/ws-client.ts'
import { startTalk } from './talk.ts'

const test = suite('e2e/log')

type Line = Record<string, unknown>

function linesOf({ log }: TestServer, message: string): Line[] {
  return log.map((line): Line => JSON.parse(line)).filter((line) => line['message'] === message)
}

/** Some fields of lines. */
function picked(lines: readonly Line[], ...names: string[]): unknown[][] {
  return lines.map((line) => names.map((name) => line[name]))
}

test('tells each request at debug, by its route and never by its target', () => withServer(async (server) => {
  const talk = await startTalk(server, 'echo')
  for (const headers of [{ 'x-session-api-key': 'a-wrong-key-of-the-night' }, {}]) {
    assert.is((await fetch(`${server.url}/api/settings?q=a-query-of-the-night`, { headers })).status, 401)
  }
  assert.is((await server.rest.get('/api/nothing?q=a-query-of-the-night')).status, 404)
  await server.rest.get(`${talk.path}/events/search?limit=1`)
  const requests = linesOf(server, 'Request')
  assert.equal(picked(requests, 'method', 'route', 'path', 'status'), [
    ['POST', '/api/conversations', undefined, 201],
    ['GET', '/api/settings', undefined, 401],
    ['GET', '/api/settings', undefined, 401],
    ['GET', undefined, '/api/nothing', 404],
    ['GET', '/api/conversations/{conversation_id}/events/search', undefined, 200],
  ])
  for (const { request_id, bytes, ms, level } of requests) {
    assert.equal([typeof request_id, typeof bytes, typeof ms, level], ['string', 'number', 'number', 'debug'])
  }
  const socket = await server.socket(talk.id)
  socket.close()
  assert.equal(picked(linesOf(server, 'Upgrade'), 'route', 'conversation_id', 'status'), [
    ['/sockets/events/{conversation_id}', talk.id, 101],
  ])
  assert.not.match(server.log.join(''), /a-query-of-the-night|a-wrong-key-of-the-night/)
}))

test(
  'tells of refused keys at warn, by address, at the first, second, fourth and eighth',
  () => withServer(async (server) => {
    const talk = await startTalk(server)
    const wrong = { 'x-session-api-key': 'a-wrong-key-of-the-night' }
    for (let count = 0; count < 6; count++) {
      assert.is((await fetch(`${server.url}/api/settings`, { headers: wrong })).status, 401)
    }
    await fetch(`${server.url}/api/settings`)
    const sockets = `${server.url.replace('http', 'ws')}/sockets/events/${talk.id}`
    await assertFails(connect(sockets, { 'X-Session-API-Key': 'a-wrong-key-of-the-night' }))
    const late = await connect(sockets, {})
    late.send(JSON.stringify({ type: 'auth', session_api_key: 'a-wrong-key-of-the-night' }))
    await late.closed
    const refused = linesOf(server, 'A session key was refused')
    assert.equal(
      picked(refused, 'level', 'address', 'count'), [1, 2, 4, 8].map((count) => ['warn', '127.0.0.1', count]),
    )
    assert.not.match(server.log.join(''), 'a-wrong-key-of-the-night')
  }),
)

async function assertFails(work: Promise<unknown>): Promise<void> {
  assert.ok(await work.then(() => false, () => true))
}

test('tells runs with their end, and agents with pid and end', () => withServer(async (server) => {
  const talk = await startTalk(server, 'echo')
  await talk.send('a prompt of the night')
  await talk.reaches('finished')
  const failing = await startTalk(server, 'exit-in-tool')
  await failing.send('a prompt of the night')
  await failing.reaches('error')
  const waiting = await startTalk(server, 'never')
  await waiting.send('a prompt of the night')
  await waiting.reaches('running')
  await waiting.post('/interrupt')
  await until(() => linesOf(server, 'A run has ended').length === 3)
  const runs = linesOf(server, 'A run has ended')
  assert.equal(picked(runs, 'conversation_id', 'outcome', 'level'), [
    [talk.id, 'finished', 'info'], [failing.id, 'error', 'info'], [waiting.id, 'paused', 'info'],
  ])
  assert.equal(picked(runs, 'code').flat().map(Boolean), [false, true, false])
  for (const { ms } of runs) assert.type(ms, 'number')
  const started = linesOf(server, 'An agent has started')
  // The third may have been stopped before its agent was ready.
  assert.equal(picked(started.slice(0, 2), 'conversation_id'), [[talk.id], [failing.id]])
  const [end] = linesOf(server, 'An agent has ended').filter(({ conversation_id }) => conversation_id === failing.id)
  assert.is(end?.['pid'], started[1]?.['pid'])
  assert.match(String(end?.['end']), /^The agent exited with code \d+$/)
  assert.not.match(server.log.join(''), 'a prompt of the night')
}))

test('tells an agent that cannot be started, with the stack', () => withServer(async (server) => {
  const talk = await startTalk(server, { agent: { kind: 'ACPAgent', acp_command: ['/nowhere/agent'] } })
  await talk.send('hello')
  await talk.reaches('error')
  const [line] = linesOf(server, 'An agent could not be started')
  assert.equal([line?.['level'], line?.['conversation_id']], ['warn', talk.id])
  assert.match(String(line?.['error_stack']), /Cannot start "\/nowhere\/agent"[^]*Caused by: [^]*process\/child/)
  assert.is(picked(linesOf(server, 'A run has ended'), 'outcome', 'code').flat().join(), 'error,ACPSpawnError')
}))

test('tells changes of settings, secrets, profiles and conversations by name', () => withServer(async (server) => {
  const { rest } = server
  const value = 'a-value-of-the-night-0123456789'
  await rest.patch('/api/settings', { agent_settings_diff: { llm: { model: 'openai/x', api_key: value } } })
  await rest.put('/api/settings/secrets', { name: 'NIGHT', value })
  await rest.delete('/api/settings/secrets/NIGHT')
  await rest.post('/api/profiles/owl', { llm: { model: 'openai/x', api_key: value } })
  const talk = await startTalk(server)
  await talk.post('/secrets', { secrets: { MOON: value } })
  const [settings] = linesOf(server, 'Settings were changed')
  assert.match(String(settings?.['names']), /\bagent_settings\.llm\.api_key\b/)
  assert.equal(picked(linesOf(server, 'Secrets were changed'), 'names'), [['NIGHT'], ['NIGHT']])
  assert.equal(picked(linesOf(server, 'LLM profiles were changed'), 'names'), [['owl']])
  assert.equal(picked(linesOf(server, 'Secrets of a conversation were set'), 'names', 'conversation_id'), [
    ['MOON', talk.id],
  ])
  assert.not.match(server.log.join(''), value)
}))

test('tells a request that takes long at info', () => withServer(async (server) => {
  const talk = await startTalk(server, 'echo')
  await talk.send('hello')
  await talk.reaches('finished')
  const slow = linesOf(server, 'A request was slow')
  assert.ok(slow.length > 0)
  for (const { level, ms, route, status } of slow) {
    assert.is(level, 'info')
    assert.ok(Number(ms) >= 1)
    assert.type(route, 'string')
    assert.type(status, 'number')
  }
}, { slowRequestMs: 1, logLevel: 'info' }))

test('a stack of the joined program names lines of the modules', withPrograms(async (start) => {
  const program = await start([], { withKey: true, program: joinedFile })
  const talk = await startTalk(program, { agent: { kind: 'ACPAgent', acp_command: ['/nowhere/agent'] } })
  await talk.send('hello')
  await talk.reaches('error')
  assert.is(await program.stop('SIGTERM'), 0)
  assert.not.match(program.stderr(), /agent-server\.js:\d/)
  const places = [...program.stderr().matchAll(/(\w+) \((file:\S*\/dist\/src\/\S+\.js):(\d+):\d+\)/g)]
  const [, , file = '', line = ''] = places.find(([, name, path = '']) => {
    return name === 'startChild' && path.endsWith('/src/process/child.js')
  }) ??
    []
  assert.match(
    readFileSync(fileURLToPath(file), 'utf8').split('\n')[Number(line) - 1] ?? '', /throw new AppError\('agent_failed'/,
  )
}))

test.run()
