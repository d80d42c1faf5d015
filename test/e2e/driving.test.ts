/**
 * The operations that steer a conversation besides its runs: policy, analyzer, secrets, model, fork, head; and 404 for
 * a conversation that does not exist.
 */
import * as assert from 'uvu/assert'
import { randomUUID } from 'node:crypto'
import { access } from '../../src/access.ts'
import { check } from '../../src/schema/check.ts'
import { until } from '../support/processes.ts'
import { listAt, member, textAt } from '../support/rest.ts'
import { fakeAgent, startServer, type TestServer } from '../support/server.ts'
import { suite } from '../support/suite.ts'
import { messagesOf, outline, startTalk, talkTo, userMessage, type Talk } from './talk.ts'

const test = suite('driving')
let server: TestServer

test.before(async () => {
  server = await startServer()
})
test.after(() => server.close())

/** Sends a message and gives the agent's answer. */
async function answerTo(talk: Talk, text: string): Promise<string> {
  const before = messagesOf(await talk.events(), 'agent').length
  await talk.send(text)
  await until(async () => messagesOf(await talk.events(), 'agent').length > before)
  await talk.reaches('finished')
  return messagesOf(await talk.events(), 'agent').at(-1) ?? ''
}

/** A body that each route takes, so that only the conversation is wrong. */
const bodies: Readonly<Record<string, unknown>> = {
  'PATCH /api/conversations/{conversation_id}': { title: 'x' },
  'POST /api/conversations/{conversation_id}/confirmation_policy': { policy: { kind: 'NeverConfirm' } },
  'POST /api/conversations/{conversation_id}/security_analyzer': { security_analyzer: null },
  'POST /api/conversations/{conversation_id}/secrets': { secrets: {} },
  'POST /api/conversations/{conversation_id}/switch_llm': { llm: { model: 'x' } },
  'POST /api/conversations/{conversation_id}/switch_profile': { profile_name: 'x' },
  'POST /api/conversations/{conversation_id}/switch_acp_model': { model: 'x' },
  'POST /api/conversations/{conversation_id}/switch_acp_mode': { mode: 'x' },
  'POST /api/conversations/{conversation_id}/switch_acp_option': { option_id: 'x', value: 'y' },
  'POST /api/conversations/{conversation_id}/ask_agent': { question: 'x' },
  'POST /api/conversations/{conversation_id}/goal': { objective: 'x' },
  'POST /api/conversations/{conversation_id}/navigate': {},
  'POST /api/conversations/{conversation_id}/events': userMessage('x'),
  'GET /api/conversations/{conversation_id}/events': [],
  'POST /api/conversations/{conversation_id}/events/respond_to_confirmation': { accept: true },
}
const routes = Object.keys(access).filter((name) => name.includes('/api/conversations/{conversation_id}'))
test('every route of a conversation is 404 for an unknown one and 422 for an id that is no UUID', async () => {
  assert.ok(routes.length >= 18)
  for (const name of routes) {
    const [method = '', pattern = ''] = name.split(' ')
    const body = bodies[name]
    for (const [id, status] of [[randomUUID(), 404], ['nonsense', 422]] as const) {
      const path = pattern.replace('{conversation_id}', id).replace('{event_id}', randomUUID())
      const answer = await server.rest.send(method, path, body === undefined ? {} : { body })
      assert.is(answer.status, status, `${name}: ${answer.text}`)
      assert.ok(member(answer.json, 'detail') !== undefined, name)
    }
  }
  assert.is((await server.rest.get('/api/conversations/count')).json, 0)
})

test('a policy is stored, shown and published once, and decides the next question', async () => {
  const talk = await startTalk(server)
  const policy = { kind: 'ConfirmRisky', threshold: 'LOW', confirm_unknown: true }
  for (let times = 0; times < 2; times++) {
    assert.equal((await talk.post('/confirmation_policy', { policy })).json, { success: true })
  }
  assert.equal(member((await talk.get()).json, 'confirmation_policy'), policy)
  assert.equal(outline(await talk.events()), ['(confirmation_policy)'])
  await talk.send('run: echo hi')
  await talk.reaches('waiting_for_confirmation')
  await talk.post('/confirmation_policy', { policy: { kind: 'NeverConfirm' } })
  assert.is(await talk.status(), 'waiting_for_confirmation')
  await talk.post('/events/respond_to_confirmation', { accept: true })
  await talk.reaches('finished')
  await answerTo(talk, 'run: echo unasked')
})

test('a stricter policy holds for the turn under way', async () => {
  const talk = await startTalk(server)
  await talk.post('/events', userMessage('Show me what you can do.', true))
  await talk.post('/confirmation_policy', { policy: { kind: 'AlwaysConfirm' } })
  await talk.reaches('waiting_for_confirmation')
  await talk.post('/interrupt')
})

const invalid: readonly (readonly [string, unknown, (string | number)[]])[] = [
  ['/confirmation_policy', {}, ['body', 'policy']],
  ['/confirmation_policy', { policy: { kind: 'Perhaps' } }, ['body', 'policy']],
  ['/confirmation_policy', { policy: { kind: 'ConfirmRisky', threshold: 'UNKNOWN' } }, ['body', 'policy', 'threshold']],
  ['/security_analyzer', {}, ['body', 'security_analyzer']],
  ['/security_analyzer', { security_analyzer: 'x' }, ['body', 'security_analyzer']],
  ['/secrets', {}, ['body', 'secrets']],
  ['/secrets', { secrets: [] }, ['body', 'secrets']],
  ['/switch_llm', {}, ['body', 'llm']],
  ['/switch_llm', { llm: { model: 7 } }, ['body', 'llm', 'model']],
  ['/switch_acp_model', {}, ['body', 'model']],
  ['/switch_acp_mode', {}, ['body', 'mode']],
  ['/switch_acp_option', { option_id: 'x' }, ['body', 'value']],
  ['/ask_agent', {}, ['body', 'question']],
  ['/goal', {}, ['body', 'objective']],
  ['/goal', { objective: 'x', max_iterations: 0 }, ['body', 'max_iterations']],
  ['/ask_agent', { question: '' }, ['body', 'question']],
  ['/fork', { id: 'x' }, ['body', 'id']],
  ['/fork', { title: 'x'.repeat(201) }, ['body', 'title']],
  ['/navigate', undefined, ['body']],
  ['/navigate', { event_id: 7 }, ['body', 'event_id']],
  ['/events/respond_to_confirmation', { accept: 'yes' }, ['body', 'accept']],
]
test('what is not valid is 422 with its place, and changes nothing', async () => {
  const talk = await startTalk(server)
  for (const [path, body, loc] of invalid) {
    const { status, json, text } = await talk.post(path, body)
    assert.is(status, 422, `${path} ${text}`)
    assert.ok(
      listAt(json, 'detail').some((issue) => JSON.stringify(member(issue, 'loc')) === JSON.stringify(loc)),
      `${path} ${text}`,
    )
  }
  assert.equal(await talk.events(), [])
})

test('an analyzer is set, and taken away with null', async () => {
  const talk = await startTalk(server)
  await talk.post('/security_analyzer', { security_analyzer: { kind: 'LLMSecurityAnalyzer' } })
  assert.equal(member((await talk.get()).json, 'security_analyzer'), { kind: 'LLMSecurityAnalyzer' })
  await talk.post('/security_analyzer', { security_analyzer: null })
  assert.is(member((await talk.get()).json, 'security_analyzer'), null)
  assert.equal(outline(await talk.events()), ['(security_analyzer)', '(security_analyzer)'])
})

test(
  'secrets in their three forms reach the agent under their names, the conversation\'s own before the global ones',
  async () => {
    await server.rest.put('/api/settings/secrets', { name: 'SHARED', value: 'of-the-server' })
    await server.rest.put('/api/settings/secrets', { name: 'GLOBAL', value: 'of-the-server-too' })
    const talk = await startTalk(server, 'environment')
    const far = {
      kind: 'LookupSecret', url: '/api/settings/secrets/GLOBAL', headers: { 'X-Session-API-Key': server.key },
    }
    const answer = await talk.post('/secrets', { secrets: { ONE: 'plain', SHARED: { value: 'own' }, FAR: far } })
    assert.equal(answer.json, { success: true })
    const environment: unknown = JSON.parse(await answerTo(talk, 'show'))
    assert.is(member(environment, 'ONE'), 'plain')
    assert.is(member(environment, 'SHARED'), 'own')
    for (const name of ['GLOBAL', 'FAR']) assert.match(textAt(environment, name), /^<.*>$|\*+/)
    for (const name of ['SHARED', 'GLOBAL']) await server.rest.delete(`/api/settings/secrets/${name}`)
  },
)

test('a model is switched before the first run and between turns; what the agent refuses is 400', async () => {
  const talk = await startTalk(server, 'echo')
  assert.is((await talk.post('/switch_acp_model', { model: 'big' })).status, 200)
  assert.is(member((await talk.get()).json, 'current_model_id'), 'big')
  assert.match(await answerTo(talk, 'hello'), 'model big')
  const info = (await talk.get()).json
  assert.equal(check('ConversationInfo', info), [])
  assert.equal(listAt(info, 'available_models').map((model) => member(model, 'model_id')), ['small', 'big'])
  assert.is(member(info, 'supports_runtime_model_switch'), true)
  assert.is((await talk.post('/switch_acp_model', { model: 'small' })).status, 200)
  const refused = await talk.post('/switch_acp_model', { model: 'bad' })
  assert.is(refused.status, 400)
  assert.match(textAt(refused.json, 'detail'), 'No such model')
  assert.is(member((await talk.get()).json, 'current_model_id'), 'small')
  assert.match(await answerTo(talk, 'again'), 'model small')
  const builtIn = await startTalk(server, { agent: { kind: 'Agent', llm: { model: 'x/y' } } })
  assert.is((await builtIn.post('/switch_acp_model', { model: 'x' })).status, 400)
})

test('the final response is empty before there is one, and then the newest', async () => {
  const talk = await startTalk(server, 'echo')
  assert.equal((await talk.get('/agent_final_response')).json, { response: '' })
  const first = await answerTo(talk, 'first')
  assert.equal((await talk.get('/agent_final_response')).json, { response: first })
  const second = await answerTo(talk, 'second')
  assert.match(second, 'second')
  assert.equal((await talk.get('/agent_final_response')).json, { response: second })
})

test('a fork has the same events, a life of its own, and leaves its source alone', async () => {
  const talk = await startTalk(server, { agent: fakeAgent('usage'), tags: { a: '1' } })
  await talk.send('hello')
  await talk.reaches('finished')
  const before = await talk.get('/events/search')
  const forked = await talk.post('/fork', { title: 'A copy', tags: { b: '2' } })
  assert.is(forked.status, 201, forked.text)
  assert.equal(check('ConversationInfo', forked.json), [])
  const fork = talkTo(server, textAt(forked.json, 'id'))
  assert.is((await fork.get('/events/search')).text, before.text)
  assert.is(await fork.status(), 'idle')
  const source = (await talk.get()).json
  for (const [name, value] of Object.entries({
    title: 'A copy', forked_from_conversation_id: talk.id, forked_from_event_id: null, last_user_message_id: null,
    stats: { usage_to_metrics: {} },
  })) {
    assert.equal(member(forked.json, name), value, name)
  }
  assert.equal(member(forked.json, 'tags'), { b: '2', title: 'A copy' })
  assert.equal(member(forked.json, 'workspace'), member(source, 'workspace'))
  assert.is(member(forked.json, 'leaf_event_id'), member(source, 'leaf_event_id'))
  const kept = await talk.post('/fork', { reset_metrics: false })
  assert.is(member(kept.json, 'stats', 'usage_to_metrics', 'acp-managed', 'accumulated_cost'), 0.5)
  await fork.send('on my own')
  await fork.reaches('finished')
  assert.is((await talk.get('/events/search')).text, before.text)
  assert.equal((await talk.get()).json, source)
})

test('a fork up to an event ends there; unknown events and taken ids are refused without a trace', async () => {
  const talk = await startTalk(server, 'echo')
  await talk.send('hello')
  await talk.reaches('finished')
  const events = await talk.events()
  const third = textAt(events[2], 'id')
  const { json } = await talk.post('/fork', { from_event_id: third })
  const fork = talkTo(server, textAt(json, 'id'))
  assert.equal(await fork.events(), events.slice(0, 3))
  assert.is(member(json, 'forked_from_event_id'), third)
  assert.is(member(json, 'leaf_event_id'), third)
  assert.is(member(json, 'execution_status'), 'idle')
  const count = (await server.rest.get('/api/conversations/count')).json
  assert.is((await talk.post('/fork', { from_event_id: randomUUID() })).status, 404)
  assert.is((await talk.post('/fork', { id: fork.id })).status, 409)
  assert.is((await talk.post('/fork', { id: talk.id })).status, 409)
  assert.is((await server.rest.get('/api/conversations/count')).json, count)
  const empty = await (await startTalk(server)).post('/fork')
  assert.is(empty.status, 201)
})

test('the head moves to an event and in front of all, nothing is deleted, and the next event moves it on', async () => {
  const talk = await startTalk(server, 'echo')
  await talk.send('hello', false)
  const events = await talk.events()
  const leaf = async (): Promise<unknown> => member((await talk.get()).json, 'leaf_event_id')
  assert.is(await leaf(), events[1]?.['id'])
  const first = textAt(events[0], 'id')
  assert.is(member((await talk.post('/navigate', { event_id: first })).json, 'leaf_event_id'), first)
  assert.is(member((await talk.post('/navigate', {})).json, 'leaf_event_id'), null)
  assert.is(await leaf(), null)
  assert.is((await talk.post('/navigate', { event_id: randomUUID() })).status, 404)
  assert.equal(await talk.events(), events)
  await talk.send('sibling', false)
  assert.is(await leaf(), (await talk.events()).at(-1)?.['id'])
})

test.run()
