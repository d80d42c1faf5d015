/** The choices in a conversation and the questions beside it: modes, models, MCP servers, budget, `ask_agent`. */
import * as assert from 'uvu/assert'
import { check } from '../../src/schema/check.ts'
import { until } from '../support/processes.ts'
import { member, textAt } from '../support/rest.ts'
import { fakeAgent, startServer, withServer, type TestServer } from '../support/server.ts'
import { suite } from '../support/suite.ts'
import { messagesOf, outline, startTalk, talkTo, type Talk } from './talk.ts'

const test = suite('choices')
let server: TestServer

test.before(async () => {
  server = await startServer()
})
test.after(() => server.close())

async function answerTo(talk: Talk, text: string): Promise<string> {
  const before = messagesOf(await talk.events(), 'agent').length
  await talk.send(text)
  await until(async () => messagesOf(await talk.events(), 'agent').length > before)
  await talk.reaches('finished')
  return messagesOf(await talk.events(), 'agent').at(-1) ?? ''
}

async function stateOf(talk: Talk, name: string): Promise<unknown> {
  return member((await talk.get()).json, 'agent_state', name)
}

test('the modes of a session are shown, and one is switched between turns', async () => {
  const talk = await startTalk(server, 'modes')
  assert.match(await answerTo(talk, 'one'), 'mode ask')
  assert.is(await stateOf(talk, 'acp_current_mode_id'), 'ask')
  assert.equal(await stateOf(talk, 'acp_available_modes'), [
    { mode_id: 'ask', name: null, description: null },
    { mode_id: 'open', name: null, description: null },
  ])
  assert.equal((await talk.post('/switch_acp_mode', { mode: 'open' })).json, { success: true })
  assert.is(await stateOf(talk, 'acp_current_mode_id'), 'open')
  assert.match(await answerTo(talk, 'two'), 'mode open')
  const policy = { policy: { kind: 'AlwaysConfirm' } }
  assert.is((await talk.post('/confirmation_policy', policy)).status, 200)
  assert.match(await answerTo(talk, 'three'), 'mode ask')
})

test('a mode that is not offered is 400, one more open than the policy 422, and neither changes anything', async () => {
  const talk = await startTalk(server, { agent: fakeAgent('modes'), confirmation_policy: { kind: 'AlwaysConfirm' } })
  await answerTo(talk, 'one')
  const strange = await talk.post('/switch_acp_mode', { mode: 'strange' })
  assert.is(strange.status, 400)
  assert.match(textAt(strange.json, 'detail'), 'expected one of ask, open')
  assert.is((await talk.post('/switch_acp_mode', { mode: 'open' })).status, 422)
  assert.is(await stateOf(talk, 'acp_current_mode_id'), 'ask')
  const builtIn = await startTalk(server, { agent: { kind: 'Agent', llm: { model: 'x/y' } } })
  assert.is((await builtIn.post('/switch_acp_mode', { mode: 'ask' })).status, 400)
})

test('a mode and a model that were chosen survive the agent and the server', () => withServer(async (first) => {
  const talk = await startTalk(first, 'modes')
  await answerTo(talk, 'one')
  await talk.post('/switch_acp_mode', { mode: 'ask' })
  await talk.post('/switch_acp_model', { model: 'big' })
  await first.server.close()
  const second = await startServer({ folder: first.folder })
  const again = talkTo(second, talk.id)
  assert.is(await stateOf(again, 'acp_current_mode_id'), 'ask')
  assert.match(await answerTo(again, 'two'), 'mode ask model big')
  await second.close()
}))

test(
  'an agent that has lost its session is given a record of the conversation, which is nobody\'s message',
  () => withServer(async (first) => {
    const talk = await startTalk(first, 'echo')
    await answerTo(talk, 'the secret word is plum')
    await first.server.close()
    const second = await startServer({ folder: first.folder })
    const again = talkTo(second, talk.id)
    const answer = await answerTo(again, 'what was it?')
    assert.match(answer, '> User: the secret word is plum')
    assert.equal(messagesOf(await again.events(), 'user'), ['the secret word is plum', 'what was it?'])
    assert.match(messagesOf(await again.events(), 'environment').join(), 'does not remember this conversation')
    assert.not.match(await answerTo(again, 'thank you'), '> User')
    await second.close()
  }),
)

test('the agent of a copied conversation is told what was said in it', async () => {
  const talk = await startTalk(server, 'echo')
  await answerTo(talk, 'the word is pear')
  const fork = talkTo(server, textAt((await talk.post('/fork')).json, 'id'))
  assert.match(await answerTo(fork, 'what was it?'), '> User: the word is pear')
})

test('what became of each MCP server is shown', async () => {
  const agent = {
    ...fakeAgent('mcp-fails'),
    mcp_config: { 'my server': { command: 'x' }, far: { transport: 'sse', url: 'https://example.invalid' } },
  }
  const talk = await startTalk(server, { agent })
  await answerTo(talk, 'one')
  const shown = JSON.stringify(await stateOf(talk, 'acp_mcp_servers'))
  assert.match(shown, '{"name":"my server","type":"stdio","status":"failed","detail":"No such program')
  assert.match(shown, '{"name":"far","type":"sse","status":"unsupported"')
  assert.not.ok((await talk.events()).some(({ kind }) => kind === 'ActionEvent'))
})

test('the agent answers a question beside its work; the history and the status stay as they are', async () => {
  const talk = await startTalk(server, 'fork')
  await answerTo(talk, 'one')
  const before = await talk.events()
  const answer = await talk.post('/ask_agent', { question: 'How far are you?' })
  assert.is(answer.status, 200, answer.text)
  assert.equal(check('AgentResponse', answer.json), [])
  assert.match(textAt(answer.json, 'response'), 'How far are you?')
  const added = (await talk.events()).slice(before.length)
  assert.equal(outline(added), ['(stats)'])
  assert.is(await talk.status(), 'finished')
  assert.is(member((await talk.get()).json, 'stats', 'usage_to_metrics', 'acp-managed', 'accumulated_cost'), 0.125)
  assert.match(await answerTo(talk, 'two'), 'two')
})

test('an agent that cannot copy its session is 400, one that fails 502', async () => {
  const plain = await startTalk(server, 'echo')
  const refused = await plain.post('/ask_agent', { question: 'Well?' })
  assert.is(refused.status, 400)
  assert.match(textAt(refused.json, 'detail'), 'cannot copy its session')
  const failing = await startTalk(server, 'fork-refuses')
  await answerTo(await startTalk(server, 'echo'), 'one')
  assert.is((await failing.post('/ask_agent', { question: 'Well?' })).status, 502)
})

test('a budget stops a conversation before the next prompt, and a larger one lets it go on', async () => {
  const talk = await startTalk(server, { agent: fakeAgent('usage'), max_budget_per_task: 0.4 })
  await talk.send('one')
  await talk.reaches('finished')
  assert.match((await talk.get()).text, '"accumulated_cost":0.5,"max_budget_per_task":0.4')
  await talk.send('two')
  await talk.reaches('error')
  assert.equal(outline(await talk.events()).slice(-3), ['running', 'error MaxBudgetReached', 'error'])
  assert.is(member((await talk.get()).json, 'metrics', 'max_budget_per_task'), 0.4)
  assert.is(member((await talk.get()).json, 'metrics', 'accumulated_cost'), 0.5)
  assert.is((await server.rest.patch(talk.path, { max_budget_per_task: 0 })).status, 422)
  assert.is((await server.rest.patch(talk.path, { max_budget_per_task: 5 })).status, 200)
  await talk.runAgain()
  await talk.reaches('finished')
  assert.match((await talk.get()).text, '"accumulated_cost":1,"max_budget_per_task":5')
})

test('the figures of a turn say where they come from', async () => {
  const talk = await startTalk(server, 'usage')
  await talk.send('one')
  await talk.reaches('finished')
  const last = member(await stateOf(talk, 'usage'), 'last')
  assert.equal(member(last, 'cost'), { value: 0.5, source: 'derived' })
  assert.equal(member(last, 'prompt_tokens'), { value: 7, source: 'reported' })
  assert.equal(member(last, 'cache_read_tokens'), { value: null, source: 'unknown' })
  const silent = await startTalk(server, 'echo')
  await answerTo(silent, 'one')
  assert.is(await stateOf(silent, 'usage'), undefined)
  assert.equal(member((await silent.get()).json, 'stats'), { usage_to_metrics: {} })
})

test.run()
