/**
 * The client of the runs with real agents, tried on a server with the demonstration agent, which asks and acts alike.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { checkAnswers } from '../../../scripts/real/checks.ts'
import { lastText, ofKind } from '../../../scripts/real/history.ts'
import { memberAt } from '../../../scripts/real/member.ts'
import { markedProcesses, untilMarked } from '../../../scripts/real/processes.ts'
import { callServer } from '../../../scripts/real/rest.ts'
import { Talk } from '../../../scripts/real/talk.ts'
import { until } from '../../support/processes.ts'
import { withServer, type TestServer } from '../../support/server.ts'
import { suite } from '../../support/suite.ts'

const test = suite('real/talk')

test('answers every question until the run has ended', () => withTalk(async (talk) => {
  await talk.send('write: made.txt hello')
  assert.equal(await talk.settle(true), { status: 'finished', questions: 1 })
  const events = await talk.events()
  assert.equal(checkAnswers(events).filter(({ ok }) => !ok), [])
  assert.match(lastText(events), 'done')
  const folder = memberAt(await talk.call('GET', ''), 'workspace', 'working_dir')
  assert.is(readFileSync(join(String(folder), 'made.txt'), 'utf8'), 'hello\n')
}))

test('refuses, and the refusal is in the history', () => withTalk(async (talk) => {
  await talk.send('write: made.txt hello')
  assert.equal(await talk.settle(false), { status: 'finished', questions: 1 })
  const [refusal] = ofKind(await talk.events(), 'UserRejectObservation')
  assert.is(memberAt(refusal, 'rejection_reason'), 'Not now')
}))

const seesProcesses = 'sees what the server has started, and that it is gone'
if (process.platform !== 'linux') test.skip(seesProcesses, 'needs /proc')
else test(seesProcesses, () => withTalk(async (talk, server) => {
  const instance = String(memberAt(JSON.parse(readFileSync(join(server.dataDir, 'format.json'), 'utf8')), 'instance'))
  await talk.send('run: sleep 4321')
  await talk.untilQuestion()
  await talk.answer(true)
  const { pid, parent } = await untilMarked(instance, /^sleep 4321/)
  assert.ok(pid > 0 && parent > 0)
  await talk.call('POST', '/interrupt')
  assert.is(await talk.untilEnd(), 'paused')
  assert.is(await talk.status(), 'paused')
  await talk.call('DELETE', '')
  await until(async () => (await markedProcesses(instance)).length === 0)
}))

test('reads a history of many pages', () => withTalk(async (talk) => {
  const texts = Array.from({ length: 60 }, (_, index) => `message ${index}`)
  for (const text of texts) {
    await talk.call('POST', '/events', { role: 'user', content: [{ type: 'text', text }], run: false })
  }
  const messages = ofKind(await talk.events(), 'MessageEvent')
  assert.equal(messages.map((event) => memberAt(event, 'llm_message', 'content', 0, 'text')), texts)
}))

test('says what did not come when the socket ends, and what ended before a question', () => withTalk(async (talk) => {
  await talk.send('run: true')
  await talk.untilQuestion()
  await talk.answer(true)
  assert.match(await talk.untilQuestion().then(() => '', String), 'The run ended as "finished" before a question')
  const waiting = talk.until('a word', () => false).then(() => '', String)
  await talk.close()
  assert.match(await waiting, 'The socket was closed before: a word')
}))

test('says what the server refused', () => withServer(async (server) => {
  const refused = callServer(server, 'GET', '/api/nowhere').then(() => '', String)
  assert.match(await refused, 'GET /api/nowhere gave 404')
}))

function withTalk(body: (talk: Talk, server: TestServer) => Promise<void>): Promise<void> {
  return withServer(async (server) => {
    const created = await callServer(server, 'POST', '/api/conversations', {
      confirmation_policy: { kind: 'AlwaysConfirm' }, autotitle: false,
    })
    const talk = new Talk(server, String(memberAt(created, 'id')))
    try {
      await talk.until('the first frame', () => true)
      await body(talk, server)
    } finally {
      await talk.close()
    }
  })
}

test.run()
