/** SIGTERM lets runs finish, refuses new work and tells readers where to resume. */
import { writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { until } from '../support/processes.ts'
import { textAt } from '../support/rest.ts'
import { withPrograms, type Program } from '../support/server.ts'
import { suite } from '../support/suite.ts'
import { restartUnderLoad } from './rolling.ts'
import { framesOf, startTalk, statusesOf, storedOf, talkTo, userMessage } from './talk.ts'

const test = suite('e2e/drain', 90_000)
const long = ['--drain-seconds', '3600']

/** Waits until the server has heard the signal. */
async function drains({ rest }: Program): Promise<void> {
  await until(async () => (await rest.get('/ready')).status === 503)
}

/** Returns all bytes of an event stream, once the server has ended it. */
function streamed({ url, key }: Program, path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const call = request(url + path, { headers: { 'X-Session-API-Key': key }, agent: false }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (piece: string) => (text += piece)).on('end', () => resolve(text))
    })
    call.on('error', reject).end()
  })
}

test('SIGTERM lets a run finish, and meanwhile only new work is refused', withPrograms(async (start, folder) => {
  const program = await start(long)
  const { rest } = program
  const go = join(folder, 'go')
  const talk = await startTalk(program)
  const client = await program.socket(talk.id)
  const stream = streamed(program, `${talk.path}/events/stream`)
  await talk.send(`run: until [ -e ${go} ]; do sleep 0.05; done`)
  await client.until(() => storedOf(client).some(({ kind }) => kind === 'ActionEvent'))
  const ended = program.stop('SIGTERM')
  await drains(program)

  assert.is((await rest.get('/alive')).status, 200)
  for (const [path, body] of [
    ['/api/conversations', {}], [`${talk.path}/run`, {}], [`${talk.path}/fork`, {}],
    [`${talk.path}/events`, userMessage('more', true)], ['/api/bash/start_bash_command', { command: 'true' }],
    ['/v1/chat/completions', { model: 'x', messages: [{ role: 'user', content: 'x' }] }],
  ] as const) {
    const refused = await rest.post(path, body)
    assert.equal([path, refused.status, refused.headers['retry-after']], [path, 503, '5'])
  }
  for (const [path, body, status] of [
    ['/api/skills', {}, 200], ['/api/hooks', {}, 200], ['/api/sub-agents', {}, 200], ['/api/plugins', {}, 200],
    ['/api/bash/bash_commands/none/stop', undefined, 404],
  ] as const) assert.equal([path, (await rest.post(path, body)).status], [path, status])
  assert.is((await rest.send('POST', '/api/conversations', { headers: { 'X-Session-API-Key': 'wrong' } })).status, 401)
  assert.is(await talk.status(), 'running')
  const late = await program.socket(talk.id)
  late.send(JSON.stringify(userMessage('more')))
  await late.until(() => framesOf(late).some(({ kind, code }) => kind === 'ServerErrorEvent' && code === 'unavailable'))

  writeFileSync(go, '')
  assert.is(await ended, 0, program.stderr())
  const again = await start()
  const events = await talkTo(again, talk.id).events()
  assert.is(statusesOf(events).at(-1), 'finished')
  const last = textAt(events.at(-1), 'id')
  assert.equal(await client.closed, { code: 1012, reason: `The server ends: connect again with after=${last}` })
  const text = await stream
  assert.match(text, /^retry: 1000\n\ndata: /)
  assert.ok(text.endsWith(`\n\nid: ${last}\n\n: The server ends\nretry: 1000\n\n`), text.slice(-300))
  const resumed = await again.socket(talk.id, `?after=${last}`)
  await talkTo(again, talk.id).send('run: true')
  await resumed.until(() => statusesOf(storedOf(resumed)).includes('finished'))
  assert.equal(storedOf(resumed), (await talkTo(again, talk.id).events()).slice(events.length))
}))

test('a stream without stored events names the event before it', withPrograms(async (start) => {
  const program = await start()
  const talk = await startTalk(program, 'echo')
  await talk.send('hello')
  await talk.reaches('finished')
  const last = textAt((await talk.events()).at(-1), 'id')
  const stream = streamed(program, `${talk.path}/events/stream`)
  const reader = await program.socket(talk.id)
  await reader.until(() => reader.messages.length > 0)
  assert.is(await program.stop('SIGTERM'), 0)
  assert.match(await stream, new RegExp(`^retry: 1000\n\nid: ${last}\n\ndata: `))
  assert.is((await reader.closed).reason, `The server ends: connect again with after=${last}`)
}))

test('a run that does not finish in time is paused', withPrograms(async (start) => {
  const program = await start(['--drain-seconds', '1'])
  const talk = await startTalk(program, 'never')
  await talk.send('hello')
  await talk.reaches('running')
  assert.is(await program.stop('SIGTERM'), 0)
  assert.match(program.stderr(), /The time of the drain is over/)
  assert.is(await talkTo(await start(), talk.id).status(), 'paused')
}))

test('a run can be paused during the drain, which then ends', withPrograms(async (start) => {
  const program = await start(long)
  const talk = await startTalk(program, 'never')
  await talk.send('hello')
  await talk.reaches('running')
  const ended = program.stop('SIGTERM')
  await drains(program)
  assert.is((await talk.post('/pause')).status, 200)
  assert.is(await ended, 0)
}))

test('a second SIGTERM ends the server at once', withPrograms(async (start) => {
  const program = await start(long)
  const talk = await startTalk(program, 'never')
  await talk.send('hello')
  await talk.reaches('running')
  const ended = program.stop('SIGTERM')
  await drains(program)
  program.child.kill('SIGTERM')
  assert.is(await ended, 'SIGTERM')
}))

test('SIGINT pauses at once', withPrograms(async (start) => {
  const program = await start(long)
  const talk = await startTalk(program, 'never')
  await talk.send('hello')
  await talk.reaches('running')
  assert.is(await program.stop('SIGINT'), 0)
}))

test(
  'two rolling restarts under 10 clients lose no event and no accepted message',
  withPrograms((start) => restartUnderLoad(start, { clients: 10, messages: 6, restarts: 2 })),
)

test.run()
