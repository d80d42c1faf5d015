/** Work that a real agent process begins by itself after its prompt was answered, seen over REST. */
import * as assert from 'uvu/assert'
import { until } from '../support/processes.ts'
import { member } from '../support/rest.ts'
import { fakeAgent, startServer, type TestServer } from '../support/server.ts'
import { suite } from '../support/suite.ts'
import { isAlive } from '../agents/acp/with-agent.ts'
import { outline, startTalk, statusesOf } from './talk.ts'

const test = suite('own work')
let server: TestServer

test.before(async () => {
  server = await startServer()
})
test.after(() => server.close())

test('is a run of its own, whose first event says who began it', async () => {
  const talk = await startTalk(server, 'own-work')
  await talk.send('go')
  await until(async () => statusesOf(await talk.events()).filter((status) => status === 'finished').length === 2)
  const events = await talk.events()
  assert.equal(statusesOf(events), ['running', 'finished', 'idle', 'running', 'finished'])
  const own = events.slice(events.findLastIndex(({ value }) => value === 'running') + 1)
  assert.match(JSON.stringify(own[0]), /"source":"environment".*has begun to work by itself/)
  const outlined = outline(own).filter((line) => !line.startsWith('('))
  assert.equal(outlined.slice(1), [
    'TerminalAction', 'TerminalObservation', 'TerminalAction', 'TerminalObservation', 'agent message', 'finished',
  ])
})

test('asks its questions under the policy', async () => {
  const talk = await startTalk(server, {
    agent: { ...fakeAgent('own-work'), acp_unasked_calls: 'allow' }, confirmation_policy: { kind: 'AlwaysConfirm' },
  })
  await talk.send('go')
  await talk.reaches('waiting_for_confirmation')
  const question = member((await talk.get('/confirmations')).json, 'items', 0)
  assert.is(member(question, 'command'), 'touch made')
  await talk.post('/events/respond_to_confirmation', { accept: true })
  await talk.reaches('finished')
})

test('is stopped by an interrupt with all that it has started, and the next message is served', async () => {
  const talk = await startTalk(server, 'own-work-endless')
  await talk.send('go')
  await until(async () => /pid=\d+/.test(JSON.stringify(await talk.events())))
  assert.is(await talk.status(), 'running')
  await talk.post('/interrupt')
  assert.is(await talk.status(), 'paused')
  const events = await talk.events()
  assert.is(isAlive(JSON.stringify(events)), false)
  assert.equal(outline(events).slice(-3), ['AgentErrorEvent', 'paused', 'PauseEvent'])
})

test.run()
