/**
 * The built program on a disk that is really full (decisions 13): of bytes in the middle of a turn, of files, and
 * before it is started.
 */
import * as assert from 'uvu/assert'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startAnthropicModel } from '../fixtures/anthropic-model.ts'
import { until } from '../support/processes.ts'
import { member, textAt, type RestResponse } from '../support/rest.ts'
import { runToEnd, type Program, type StartProgram } from '../support/server.ts'
import { mountRefusal, withSmallDisk, type SmallDisk } from '../support/small-disk.ts'
import { suite } from '../support/suite.ts'
import { outline, startTalk, storedOf, talkTo, userMessage, type Talk } from './talk.ts'

const test = suite('full disk')
const refusal = mountRefusal()

function testOnDisk(
  name: string, options: string, body: (start: StartProgram, disk: SmallDisk) => Promise<void>,
): void {
  if (refusal === undefined) test(name, withSmallDisk(options, body))
  else test.skip(name, `no file system can be mounted here: ${refusal}`)
}

const large = 'x'.repeat(20_000)
/** Waits until it is told to, then prints more than is left on the disk. */
const command = `touch started; until [ -e go ]; do sleep 0.05; done; echo ${large}`

/** Starts a turn that is inside the command, and has it on record. */
async function inCommand(program: Program, request: object): Promise<Talk> {
  const talk = await startTalk(program, request)
  await talk.send(`run: ${command}`)
  const { json } = await talk.get()
  await until(() => existsSync(join(textAt(json, 'workspace', 'working_dir'), 'started')))
  await until(async () => outline(await talk.events()).some((word) => word.includes('Action')))
  return talk
}

/** Sends the requests that a full disk refuses, each in the same words. */
function writes({ rest }: Program, talk: Talk): readonly Promise<RestResponse>[] {
  return [
    rest.post('/api/conversations', {}),
    talk.send(large, false),
    talk.post('/fork', {}),
    rest.patch(talk.path, { title: 'Another' }),
    rest.patch('/api/settings', { conversation_settings_diff: { max_iterations: 7 } }),
    rest.put('/api/settings/secrets', { name: 'A_SECRET', value: 'a value of it' }),
  ]
}

async function assertRefused(program: Program, talk: Talk, words: RegExp): Promise<void> {
  for (const answer of await Promise.all(writes(program, talk))) {
    assert.is(answer.status, 507, answer.text)
    assert.is(member(answer.json, 'detail'), 'Insufficient Storage')
    assert.match(textAt(answer.json, 'exception'), words)
  }
}

async function assertReadable(program: Program, talk: Talk): Promise<void> {
  for (const path of [
    '/alive', '/api/conversations/search', talk.path, `${talk.path}/events/search`, '/api/settings',
    '/api/settings/secrets',
  ]) {
    assert.is((await program.rest.get(path)).status, 200, path)
  }
  const events = await talk.events()
  const client = await program.socket(talk.id, `?after=${textAt(events[0], 'id')}`)
  await client.until(() => storedOf(client).length === events.length - 1)
  client.close()
}

for (const kind of ['demonstration', 'built-in'] as const) {
  testOnDisk(
    `a disk that fills up in a turn of the ${kind} agent ends that turn, refuses writes and nothing else, and is ` +
      'used again',
    'size=8m',
    async (start, disk) => {
      const model = await startAnthropicModel({
        script: () => [{ toolCall: { name: 'terminal', input: { command } } }, { text: large }],
      })
      const builtIn = {
        kind: 'Agent',
        llm: { model: 'anthropic/claude', base_url: model.url, api_key: 'key-of-the-model' },
        tools: [{ name: 'terminal' }],
      }
      try {
        const program = await start()
        const ballast = await startTalk(program)
        for (let part = 0; part < 3; part++) await ballast.send('y'.repeat(1_000_000), false)
        const talk = await inCommand(program, kind === 'built-in' ? { agent: builtIn } : {})
        const client = await program.socket(talk.id)
        disk.fill()
        writeFileSync(join(textAt((await talk.get()).json, 'workspace', 'working_dir'), 'go'), '')
        await client.until(() => outline(storedOf(client)).includes('error'))
        const words = outline(await talk.events())
        assert.equal(words.slice(-2), ['error StorageFull', 'error'])
        assert.ok(words.includes('AgentErrorEvent'), words.join())
        // The space that the turn has freed: the text of its command, and the reserve.
        disk.fill()
        await assertRefused(program, talk, /disk is full/)
        await assertReadable(program, talk)
        const ready = await program.rest.get('/ready')
        assert.is(ready.status, 503)
        assert.match(textAt(ready.json, 'message'), /disk is full/)
        assert.is((await program.rest.delete(ballast.path)).status, 200)
        await until(async () => (await program.rest.get('/ready')).status === 200)
        assert.is((await talk.post('/run')).status, 200)
        await talk.reaches('finished')
        assert.is((await startTalk(program)).id.length, 36)
        assert.is(await program.stop('SIGTERM'), 0)
        assert.is((await runToEnd(['verify', '--data-dir', program.dataDir], program.folder)).code, 0)
      } finally {
        await model.close()
      }
    },
  )
}

testOnDisk(
  'without a file left to be made, conversations go on and new ones are refused',
  'size=8m,nr_inodes=60',
  async (start, disk) => {
    const program = await start()
    const talk = await startTalk(program)
    disk.useUpFiles()
    const created = await program.rest.post('/api/conversations', {})
    assert.is(created.status, 507, created.text)
    assert.is(
      (await program.rest.patch('/api/settings', { conversation_settings_diff: { max_iterations: 7 } })).status, 507,
    )
    assert.equal((await program.rest.get('/ready')).json, {
      status: 'initializing', message: 'The disk is full: no more files can be made',
    })
    assert.is((await talk.send('kept', false)).status, 200)
    await assertReadable(program, talk)
    await talk.post('/run')
    await until(async () => ['error', 'finished'].includes(await talk.status()))
    disk.clear()
    assert.is((await program.rest.get('/ready')).status, 200)
    assert.is((await startTalk(program)).id.length, 36)
    assert.is((await talk.send('hello')).status, 200)
    await talk.reaches('finished')
    assert.is(await program.stop('SIGTERM'), 0)
  },
)

testOnDisk('a server starts on a full disk, serves what is there, and writes once there is space', 'size=8m', async (
  start, disk,
) => {
  const first = await start()
  const running = await inCommand(first, {})
  await first.stop('SIGKILL')
  disk.fill()
  const program = await start()
  const talk = talkTo(program, running.id)
  await assertReadable(program, talk)
  assert.is((await program.rest.get('/ready')).status, 503)
  assert.is((await program.rest.post(`${talk.path}/events`, userMessage(large))).status, 507)
  disk.clear()
  await until(async () => (await program.rest.get('/ready')).status === 200)
  // The turn that was killed is served again, before the new message.
  writeFileSync(join(textAt((await talk.get()).json, 'workspace', 'working_dir'), 'go'), '')
  assert.is((await talk.send('hello')).status, 200)
  await talk.reaches('finished')
  assert.is(await program.stop('SIGTERM'), 0)
})

testOnDisk(
  'a data folder on a file system that is read-only is refused in one line, and used once it is not',
  'size=8m',
  async (start, disk) => {
    const first = await start()
    const { id } = await startTalk(first)
    assert.is(await first.stop('SIGTERM'), 0)
    disk.remount('ro')
    const { code, stdout, stderr } = await runToEnd(
      ['--port', '0', '--data-dir', first.dataDir, '--workspace-dir', first.workspaceDir], disk.folder,
    )
    disk.remount('rw')
    assert.equal([code, stdout], [5, ''])
    assert.match(stderr, /^agent-server: .*EROFS\n$/)
    const again = await start()
    assert.is(await talkTo(again, id).status(), 'idle')
    assert.is(await again.stop('SIGTERM'), 0)
  },
)

test.run()
