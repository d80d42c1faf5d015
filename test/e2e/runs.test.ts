/**
 * Runs over REST with real agent processes: the recorded events, their order, and the status at the end (events.md 5).
 */
import * as assert from 'uvu/assert'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { until } from '../support/processes.ts'
import { member, textAt } from '../support/rest.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { suite } from '../support/suite.ts'
import { messagesOf, outline, startTalk, statusesOf, type Talk } from './talk.ts'

const test = suite('runs')
let server: TestServer

test.before(async () => {
  server = await startServer()
})
test.after(() => server.close())

const asking = { confirmation_policy: { kind: 'AlwaysConfirm' } }
const message = ['user message', '(last_user_message_id)', 'running']
const firstStart = ['(agent_state)', 'SystemPromptEvent']
const workingDir = async (talk: Talk): Promise<string> => textAt((await talk.get()).json, 'workspace', 'working_dir')

/** A conversation whose turn is inside a command that takes long. */
async function inCommand(command = 'sleep 100'): Promise<Talk> {
  const talk = await startTalk(server)
  await talk.send(`run: ${command}`)
  await until(async () => outline(await talk.events()).includes('TerminalAction'))
  return talk
}

/** A conversation that waits for an answer. */
async function waiting(text = 'write: made.txt hello'): Promise<Talk> {
  const talk = await startTalk(server, asking)
  await talk.send(text)
  await talk.reaches('waiting_for_confirmation')
  return talk
}

test('a turn of the demonstration agent is recorded in this order', async () => {
  const talk = await startTalk(server)
  await talk.send('run: echo hi')
  await talk.reaches('finished')
  const turn = ['agent message', 'TerminalAction', 'TerminalObservation', 'agent message', 'finished']
  assert.equal(outline(await talk.events()), [...message, ...firstStart, ...turn])
  await talk.send('run: echo again')
  await until(async () => statusesOf(await talk.events()).filter((status) => status === 'finished').length === 2)
  assert.equal(outline(await talk.events()), [...message, ...firstStart, ...turn, 'idle', ...message, ...turn])
})

test('a message without run is only queued; a run serves all that is queued, in order', async () => {
  const talk = await startTalk(server, 'echo')
  await talk.send('first', false)
  await talk.send('second', false)
  assert.is(await talk.status(), 'idle')
  assert.equal((await talk.post('/run')).json, { success: true })
  await talk.reaches('finished')
  const [answer] = messagesOf(await talk.events(), 'agent')
  assert.match(String(answer), /first.*second/)
  assert.equal((await talk.get('/agent_final_response')).json, { response: answer })
})

test('a run of a conversation that has finished does nothing, and is 200', async () => {
  const talk = await startTalk(server, 'echo')
  await talk.send('hello')
  await talk.reaches('finished')
  const before = outline(await talk.events())
  await talk.runAgain()
  assert.equal(outline(await talk.events()), before)
})

test('a run while one is under way is 409', async () => {
  const talk = await inCommand()
  const { status, json } = await talk.post('/run')
  assert.is(status, 409)
  assert.match(textAt(json, 'detail'), /running already/)
  await talk.post('/interrupt')
})

test('an allowed action runs, a denied one does not, and the turn goes on', async () => {
  for (const accept of [true, false]) {
    const talk = await waiting()
    const body = accept ? { accept } : { accept, reason: 'not today' }
    assert.equal((await talk.post('/events/respond_to_confirmation', body)).json, { success: true })
    await talk.reaches('finished')
    const events = await talk.events()
    const answer = accept ? 'FileEditorObservation' : 'UserRejectObservation'
    const question = ['(pending_confirmations)', 'waiting_for_confirmation', '(pending_confirmations)', 'running']
    const turn = ['agent message', 'FileEditorAction', ...question, answer, 'agent message', 'finished']
    assert.equal(outline(events), [...message, ...firstStart, ...turn])
    assert.is(existsSync(join(await workingDir(talk), 'made.txt')), accept)
    const rejection = events.find(({ kind }) => kind === 'UserRejectObservation')
    const action = events.find(({ kind }) => kind === 'ActionEvent')
    if (!accept) {
      const { rejection_reason, rejection_source, action_id, source } = rejection ?? {}
      assert.equal({ rejection_reason, rejection_source, action_id, source }, {
        rejection_reason: 'not today', rejection_source: 'user', action_id: action?.['id'], source: 'environment',
      })
    }
  }
})

test('a rejection without a reason has the usual one', async () => {
  const talk = await waiting()
  await talk.post('/events/respond_to_confirmation', { accept: false })
  await talk.reaches('finished')
  const rejection = (await talk.events()).find(({ kind }) => kind === 'UserRejectObservation')
  assert.is(rejection?.['rejection_reason'], 'User rejected the action.')
})

test('an open question is listed, and answered by its id', async () => {
  const talk = await waiting()
  const { json } = await talk.get('/confirmations')
  const question = member(json, 'items', 0)
  assert.equal(Object.keys(Object(question)), [
    'id', 'tool_call_id', 'action_id', 'title', 'command', 'diff', 'locations', 'options', 'deadline',
  ])
  assert.is(member(question, 'title'), 'Write made.txt')
  const action = (await talk.events()).find(({ kind }) => kind === 'ActionEvent')
  assert.is(member(question, 'tool_call_id'), action?.['tool_call_id'])
  assert.is(member(question, 'action_id'), action?.['id'])
  const { path, file_text } = Object(action?.['action'])
  assert.equal(member(question, 'diff'), { path, old_text: null, new_text: file_text, more: 0 })
  assert.equal(member(question, 'locations'), [{ path, line: null }])
  const told = (await talk.events()).findLast(({ key }) => key === 'pending_confirmations')
  assert.equal(told?.['value'], [question])
  assert.ok(Date.parse(textAt(question, 'deadline')) > Date.now() + 800_000)
  const wrong = await talk.post('/events/respond_to_confirmation', { accept: true, id: 'another' })
  assert.is(wrong.status, 404)
  assert.is(await talk.status(), 'waiting_for_confirmation')
  assert.is(
    (await talk.post('/events/respond_to_confirmation', { accept: true, id: member(question, 'id') })).status, 200,
  )
  await talk.reaches('finished')
  assert.equal((await talk.get('/confirmations')).json, { items: [] })
})

test('an answer when nothing is asked changes nothing, and is 200', async () => {
  const talk = await startTalk(server)
  for (const accept of [true, false]) {
    assert.equal((await talk.post('/events/respond_to_confirmation', { accept })).json, { success: true })
  }
  assert.is((await talk.post('/events/respond_to_confirmation', {})).status, 422)
  assert.equal(await talk.events(), [])
})

test('while it waits: a message is queued, a run is 409, a pause changes nothing, none of them approves', async () => {
  const talk = await waiting()
  const before = outline(await talk.events())
  assert.is((await talk.send('queued', false)).status, 200)
  assert.is((await talk.send('run: echo queued too', true)).status, 200)
  assert.is((await talk.post('/run')).status, 409)
  assert.is((await talk.post('/pause')).status, 200)
  assert.is(await talk.status(), 'waiting_for_confirmation')
  const queued = ['user message', '(last_user_message_id)']
  assert.equal(outline(await talk.events()), [...before, ...queued, ...queued])
  assert.not.ok(existsSync(join(await workingDir(talk), 'made.txt')))
  await talk.post('/interrupt')
})

test(
  'an interrupt while it waits ends the turn: the question is gone, the action answered, nothing is done',
  async () => {
    const talk = await waiting()
    const before = outline(await talk.events())
    assert.equal((await talk.post('/interrupt')).json, { success: true })
    const end = ['(pending_confirmations)', 'AgentErrorEvent', 'paused', 'PauseEvent']
    assert.equal(outline(await talk.events()).slice(before.length), end)
    assert.equal((await talk.get('/confirmations')).json, { items: [] })
    assert.not.ok(existsSync(join(await workingDir(talk), 'made.txt')))
    assert.is((await talk.post('/run')).status, 200)
    await talk.reaches('waiting_for_confirmation')
    await talk.post('/interrupt')
  },
)

for (const stop of ['/interrupt', '/pause']) {
  test(`${stop} inside a command ends the command, and nothing of the turn follows`, async () => {
    const talk = await inCommand('sleep 1; echo late > late.txt')
    assert.is((await talk.post(stop)).status, 200)
    const events = outline(await talk.events())
    assert.equal(events.slice(-4), ['TerminalAction', 'AgentErrorEvent', 'paused', 'PauseEvent'])
    await new Promise((resolve) => setTimeout(resolve, 1200))
    assert.equal(outline(await talk.events()), events)
    assert.not.ok(existsSync(join(await workingDir(talk), 'late.txt')))
    await talk.send('run: echo resumed')
    await talk.reaches('finished')
  })
}

test('stop in each state that has no turn', async () => {
  const cases: readonly (readonly [string, string, string[]])[] = [
    ['idle', 'paused', ['paused', 'PauseEvent']],
    ['paused', 'paused', []],
    ['finished', 'finished', []],
    ['error', 'error', []],
  ]
  for (const path of ['/pause', '/interrupt']) {
    for (const [from, to, added] of cases) {
      const talk = await inState(from)
      const before = outline(await talk.events())
      assert.equal((await talk.post(path)).json, { success: true }, `${path} when ${from}`)
      assert.equal(outline(await talk.events()).slice(before.length), added, `${path} when ${from}`)
      assert.is(await talk.status(), to, `${path} when ${from}`)
    }
  }
})

test('a message or a run in each state leads where the table says', async () => {
  const cases: readonly (readonly [string, 'message' | 'run', string[]])[] = [
    ['idle', 'message', []],
    ['paused', 'message', []],
    ['finished', 'message', ['idle']],
    ['error', 'message', []],
    ['idle', 'run', ['running', 'finished']],
    ['paused', 'run', ['running', 'finished']],
    ['finished', 'run', []],
    ['error', 'run', ['running', 'error']],
  ]
  for (const [from, what, expected] of cases) {
    const talk = await inState(from)
    const before = statusesOf(await talk.events()).length
    if (what === 'message') await talk.send('hello', false)
    else await talk.runAgain()
    if (expected.length > 0) await talk.reaches(expected.at(-1) ?? '')
    await until(async () => statusesOf(await talk.events()).length >= before + expected.length)
    assert.equal(statusesOf(await talk.events()).slice(before), expected, `${what} when ${from}`)
  }
})

test('a second message with run cancels the turn and is served by the same run; without run it waits', async () => {
  const talk = await inCommand()
  await talk.send('only queued', false)
  assert.is(await talk.status(), 'running')
  assert.is((await talk.send('run: echo second')).status, 200)
  await talk.reaches('finished')
  const events = await talk.events()
  assert.equal(statusesOf(events), ['running', 'finished'])
  const queued = ['user message', '(last_user_message_id)']
  const after = outline(events).slice(outline(events).indexOf('TerminalAction') + 1)
  assert.equal(after.slice(0, 5), [...queued, ...queued, 'AgentErrorEvent'])
  // Both were served: there is nothing left to run.
  await talk.runAgain()
  assert.is((await talk.events()).length, events.length)
})

test('two conversations run at the same time and know nothing of each other', async () => {
  const [first, second] = await Promise.all([inCommand(), inCommand()])
  assert.equal([await first.status(), await second.status()], ['running', 'running'])
  await first.post('/interrupt')
  assert.is(await second.status(), 'running')
  await second.post('/interrupt')
  assert.is(outline(await first.events()).filter((word) => word === 'user message').length, 1)
})

test('a first run in a real folder leaves the file that the agent says it wrote', async () => {
  const talk = await startTalk(server)
  await talk.send('write: notes/../note.txt some words')
  await talk.reaches('finished')
  assert.is(readFileSync(join(await workingDir(talk), 'note.txt'), 'utf8'), 'some words\n')
})

/** A conversation that is in this state and has no turn. */
async function inState(status: string): Promise<Talk> {
  const talk = await startTalk(server, status === 'error' ? 'refusal' : 'echo')
  if (status === 'paused') await talk.post('/pause')
  if (status === 'finished' || status === 'error') await talk.send('hello')
  await talk.reaches(status)
  return talk
}

test.run()
