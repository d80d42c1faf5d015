/**
 * Many things at once on one conversation: each has one outcome, everything acknowledged is served once, nothing hangs.
 */
import * as assert from 'uvu/assert'
import { until } from '../support/processes.ts'
import { member, textAt } from '../support/rest.ts'
import { fakeAgent, startServer, type TestServer } from '../support/server.ts'
import { suite } from '../support/suite.ts'
import { messagesOf, outline, startTalk, statusesOf, type JsonEvent, type Talk } from './talk.ts'

const test = suite('races')
let server: TestServer

test.before(async () => {
  server = await startServer()
})
test.after(() => server.close())

const times = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index))
const tally = (answers: readonly { readonly status: number }[]): Record<number, number> => {
  const counts: Record<number, number> = {}
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1
  return counts
}

/** Waits until nothing runs and nothing is left to serve. */
async function atRest(talk: Talk): Promise<void> {
  await until(async () => !['idle', 'running', 'waiting_for_confirmation'].includes(await talk.status()))
  // 409 while a run that was asked for meanwhile is under way.
  await until(async () => (await talk.post('/run')).status === 200)
  await until(async () => !['idle', 'running', 'waiting_for_confirmation'].includes(await talk.status()))
}

/** Checks that each status can follow the status before it. */
function assertStatuses(events: readonly JsonEvent[]): void {
  const next: Readonly<Record<string, readonly string[]>> = {
    idle: ['running', 'paused'], running: ['finished', 'paused', 'error', 'waiting_for_confirmation'],
    paused: ['running'],
    finished: ['idle'], error: ['running'], waiting_for_confirmation: ['running', 'paused', 'error', 'finished'],
  }
  let before = 'idle'
  for (const status of statusesOf(events).map(String)) {
    assert.ok(next[before]?.includes(status), `${before} -> ${status} in ${statusesOf(events).join()}`)
    before = status
  }
}

test('twenty messages with run at once are all stored and all served', async () => {
  const talk = await startTalk(server, 'echo')
  assert.equal(tally(await Promise.all(times(20, (index) => talk.send(`word${index}.`)))), { 200: 20 })
  await atRest(talk)
  const events = await talk.events()
  assertStatuses(events)
  assert.is(await talk.status(), 'finished')
  assert.equal(messagesOf(events, 'user').sort(), times(20, (index) => `word${index}.`).sort())
  const answers = messagesOf(events, 'agent').join()
  for (const word of messagesOf(events, 'user')) assert.ok(answers.includes(word), word)
})

test('of ten runs at once one starts, the others are 409', async () => {
  const talk = await startTalk(server, 'never')
  await talk.send('hello', false)
  assert.equal(tally(await Promise.all(times(10, () => talk.post('/run')))), { 200: 1, 409: 9 })
  await talk.post('/interrupt')
  assert.equal(statusesOf(await talk.events()), ['running', 'paused'])
})

test('ten interrupts at once stop once', async () => {
  const talk = await startTalk(server)
  await talk.send('run: sleep 100')
  await until(async () => outline(await talk.events()).includes('TerminalAction'))
  assert.equal(
    tally(await Promise.all(times(10, (index) => talk.post(index % 2 === 0 ? '/interrupt' : '/pause')))), { 200: 10 },
  )
  const events = await talk.events()
  assert.equal(outline(events).slice(-3), ['AgentErrorEvent', 'paused', 'PauseEvent'])
  assert.is(outline(events).filter((word) => word === 'PauseEvent').length, 1)
})

test('a message that is sent while the run is being stopped is not lost', async () => {
  for (let round = 0; round < 5; round++) {
    const talk = await startTalk(server, 'echo')
    const answers = await Promise.all([
      talk.send('first'), talk.post('/interrupt'), talk.send('second'), talk.post('/interrupt'), talk.send('third'),
    ])
    assert.equal(tally(answers), { 200: 5 })
    await atRest(talk)
    const events = await talk.events()
    assertStatuses(events)
    const heard = messagesOf(events, 'agent').join()
    for (const word of ['first', 'second', 'third']) {
      const wasStopped = outline(events).includes('PauseEvent')
      assert.ok(heard.includes(word) || wasStopped, `${word} in round ${round}: ${outline(events).join()}`)
    }
  }
})

test('one answer of ten to one question counts', async () => {
  const talk = await startTalk(server, { confirmation_policy: { kind: 'AlwaysConfirm' } })
  await talk.send('run: echo asked')
  await talk.reaches('waiting_for_confirmation')
  const id = member((await talk.get('/confirmations')).json, 'items', 0, 'id')
  const answers = await Promise.all(
    times(10, (index) => talk.post('/events/respond_to_confirmation', { accept: index % 2 === 0, id })),
  )
  assert.equal(tally(answers), { 200: 1, 404: 9 })
  await talk.reaches('finished')
  const accepted = answers.findIndex(({ status }) => status === 200) % 2 === 0
  const events = outline(await talk.events())
  assert.is(events.includes('TerminalObservation'), accepted)
  assert.is(events.includes('UserRejectObservation'), !accepted)
})

test('a question and the interrupt that ends it at once leave nothing open', async () => {
  for (let round = 0; round < 5; round++) {
    const talk = await startTalk(server, { confirmation_policy: { kind: 'AlwaysConfirm' } })
    await talk.send('run: echo asked')
    await talk.reaches('waiting_for_confirmation')
    await Promise.all([talk.post('/events/respond_to_confirmation', { accept: true }), talk.post('/interrupt')])
    await until(async () => ['paused', 'finished'].includes(await talk.status()))
    const events = await talk.events()
    assertStatuses(events)
    const action = events.find(({ kind }) => kind === 'ActionEvent')
    assert.is(
      events.filter((event) => event !== action && event['tool_call_id'] === action?.['tool_call_id']).length,
      1,
      outline(events).join(),
    )
    assert.equal(member((await talk.get('/confirmations')).json, 'items'), [])
    assert.equal(events.filter(({ key }) => key === 'pending_confirmations').at(-1)?.['value'], [])
  }
})

test('readers, writers, forks and patches at once each get a whole answer', async () => {
  const talk = await startTalk(server, 'echo')
  const work = times(10, (index) => [
    talk.send(`message ${index}`, index % 3 === 0),
    talk.get('/events/search'),
    talk.get(),
    talk.post('/fork'),
    server.rest.patch(talk.path, { tags: { round: String(index) } }),
    talk.post('/confirmation_policy', { policy: { kind: index % 2 === 0 ? 'AlwaysConfirm' : 'NeverConfirm' } }),
    server.rest.get('/api/conversations/search'),
  ]).flat()
  const answers = await Promise.all(work)
  assert.equal(tally(answers), { 200: 60, 201: 10 })
  await atRest(talk)
  const all = await talk.events()
  assertStatuses(all)
  for (const { json } of answers.filter(({ status }) => status === 201)) {
    const fork = await server.rest.get(`/api/conversations/${textAt(json, 'id')}/events/search`)
    const events = Object(member(fork.json, 'items'))
    assert.equal(events, all.slice(0, events.length))
    assert.is(member(json, 'execution_status'), 'idle')
  }
})

test('a message to a conversation that finishes at this moment is served by a run', async () => {
  const talk = await startTalk(server, 'echo')
  for (let round = 0; round < 15; round++) {
    assert.is((await talk.send(`word${round}.`)).status, 200)
    await until(async () => messagesOf(await talk.events(), 'agent').join().includes(`word${round}.`))
  }
  await talk.reaches('finished')
  assertStatuses(await talk.events())
})

test('thirty conversations at once each do their own', async () => {
  const talks = await Promise.all(
    times(30, (index) => startTalk(server, { agent: fakeAgent('echo'), tags: { number: String(index) } })),
  )
  assert.equal(tally(await Promise.all(talks.map((talk, index) => talk.send(`only for ${index}.`)))), { 200: 30 })
  for (const [index, talk] of talks.entries()) {
    await talk.reaches('finished')
    const heard = messagesOf(await talk.events(), 'agent')
    assert.is(heard.length, 1)
    assert.match(String(heard[0]), `only for ${index}.`)
  }
}, 110_000)

test.run()
