/**
 * A command that nobody was asked about while the policy asks, seen over REST: the run, its error, the state, the log.
 */
import * as assert from 'uvu/assert'
import { member } from '../support/rest.ts'
import { fakeAgent, startServer, type TestServer } from '../support/server.ts'
import { suite } from '../support/suite.ts'
import { isAlive } from '../agents/acp/with-agent.ts'
import { outline, startTalk } from './talk.ts'

const test = suite('unasked')
let server: TestServer

test.before(async () => {
  server = await startServer()
})
test.after(() => server.close())

const confirmation_policy = { kind: 'AlwaysConfirm' }

test('ends the run with an error that says what ran, and the next message is served', async () => {
  const talk = await startTalk(server, { agent: fakeAgent('unasked'), confirmation_policy })
  await talk.send('touch')
  await talk.reaches('error')
  const events = await talk.events()
  assert.is(isAlive(JSON.stringify(events)), false)
  const failure = events.find(({ kind }) => kind === 'ConversationErrorEvent')
  assert.is(failure?.['code'], 'UnaskedAction')
  assert.match(
    String(failure?.['detail']), /nobody had allowed it: touch .*"acp_unasked_calls" of the agent to "allow"/,
  )
  assert.ok(outline(events).includes('TerminalObservation'))
  const { json } = await talk.get('')
  assert.is(member(json, 'agent_state', 'acp_unasked', 'calls'), 1)
  assert.is(member(json, 'agent_state', 'acp_unasked', 'last', 'verdict'), 'unasked')
  await talk.send('nothing')
  await talk.reaches('finished')
})

test('is allowed by the agent of the conversation', async () => {
  const agent = { ...fakeAgent('unasked'), acp_unasked_calls: 'allow' }
  const talk = await startTalk(server, { agent, confirmation_policy })
  await talk.send('touch on')
  await talk.reaches('finished')
  assert.is(member((await talk.get('')).json, 'agent_state', 'acp_unasked', 'calls'), 1)
  assert.is(member((await talk.get('')).json, 'agent', 'acp_unasked_calls'), 'allow')
})

test('is no setting with another value', async () => {
  const diff = { agent_kind: 'acp', acp_unasked_calls: 'perhaps' }
  assert.is((await server.rest.patch('/api/settings', { agent_settings_diff: diff })).status, 422)
})

test.run()
