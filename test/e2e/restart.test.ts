/** The built program: stopped with grace, killed in mid-turn, started again on its folder (decisions 6, 14, 26, 38). */
import * as assert from 'uvu/assert'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { until } from '../support/processes.ts'
import { member, textAt } from '../support/rest.ts'
import { fakeAgent, withPrograms, type Program, type StartProgram } from '../support/server.ts'
import { suite } from '../support/suite.ts'
import type { Client } from '../support/ws-client.ts'
import { messagesOf, outline, startTalk, statusesOf, storedOf, type Talk, talkTo } from './talk.ts'

const test = suite('restart')
const isLinux = process.platform === 'linux'

/** A test with programs, after which no process of theirs may be left. */
function inFolder(body: (start: StartProgram) => Promise<void>): () => Promise<void> {
  return withPrograms(async (start, folder) => {
    try {
      await body(start)
      assert.equal(childrenOf(folder), [])
    } finally {
      for (const pid of childrenOf(folder)) process.kill(pid, 'SIGKILL')
    }
  })
}

/** Processes that carry the marker of a server on this folder. */
function childrenOf(folder: string): number[] {
  if (!isLinux) return []
  const { instance } = JSON.parse(readFileSync(join(folder, 'data', 'format.json'), 'utf8'))
  return readdirSync('/proc').filter((name) => /^\d+$/.test(name)).map(Number).filter((pid) => {
    return environmentOf(pid).includes(`AGENT_SERVER_CHILD=${instance}`)
  })
}

function environmentOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1')
  } catch {
    return ''
  }
}

/** A running turn inside a command, with someone who watches. */
async function inCommand(program: Program, command = 'sleep 300 & sleep 301'): Promise<{ talk: Talk, client: Client }> {
  const talk = await startTalk(program)
  const client = await program.socket(talk.id)
  await talk.send(`run: ${command}`)
  await client.until(() => outline(storedOf(client)).includes('TerminalAction'))
  return { talk, client }
}

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  test(`${signal} pauses what runs, closes sockets with 1012, ends all agents and exits with 0`, inFolder(async (
    start,
  ) => {
    const program = await start()
    const { talk, client } = await inCommand(program)
    const idle = await startTalk(program, 'echo')
    await idle.send('hello')
    await idle.reaches('finished')
    if (isLinux) assert.ok(childrenOf(program.folder).length >= 3)
    assert.is(await program.stop(signal), 0, program.stderr())
    assert.is((await client.closed).code, 1012)
    assert.equal(childrenOf(program.folder), [])
    const again = await start()
    const events = await talkTo(again, talk.id).events()
    assert.equal(statusesOf(events), ['running', 'paused'])
    assert.equal(outline(events).slice(-3), ['TerminalAction', 'AgentErrorEvent', 'paused'])
    assert.is(await talkTo(again, idle.id).status(), 'finished')
    await talkTo(again, talk.id).send('run: echo on')
    await talkTo(again, talk.id).reaches('finished')
    assert.is(await again.stop('SIGTERM'), 0)
  }))
}

test('a server whose output nobody reads any more goes on, and ends as it should', inFolder(async (start) => {
  const program = await start()
  program.child.stdout?.destroy()
  program.child.stderr?.destroy()
  const talk = await startTalk(program, 'exit-start')
  await talk.send('hello')
  await talk.reaches('error')
  const { talk: running } = await inCommand(program)
  assert.is(await program.stop('SIGTERM'), 0)
  const again = await start()
  assert.is(await talkTo(again, running.id).status(), 'paused')
  await again.stop('SIGTERM')
}))

test('a question that is open at the end is gone, and the conversation is paused', inFolder(async (start) => {
  const program = await start()
  const talk = await startTalk(program, { confirmation_policy: { kind: 'AlwaysConfirm' } })
  await talk.send('write: x.txt x')
  await talk.reaches('waiting_for_confirmation')
  assert.is(await program.stop('SIGTERM'), 0)
  const again = await start()
  const after = talkTo(again, talk.id)
  assert.is(await after.status(), 'paused')
  assert.equal(member((await after.get('/confirmations')).json, 'items'), [])
  await again.stop('SIGTERM')
}))

test(
  'after a kill in mid-turn everything acknowledged is there, the run has ended with an error, and it can go on',
  inFolder(async (start) => {
    const program = await start()
    const { talk, client } = await inCommand(program)
    const other = await startTalk(program, 'echo')
    const sent: string[] = []
    const sending = Array.from({ length: 30 }, (_, index) => `message ${index}`).map(async (text) => {
      const answer = await other.send(text, false).catch(() => undefined)
      if (answer?.status === 200) sent.push(text)
    })
    await Promise.all(sending.slice(0, 15))
    await Promise.all([program.stop('SIGKILL'), ...sending])
    await client.closed
    const again = await start()
    assert.equal(childrenOf(again.folder), [])
    const events = await talkTo(again, talk.id).events()
    const seen = storedOf(client)
    assert.equal(events.slice(0, seen.length), seen)
    assert.equal(outline(events).slice(seen.length), ['AgentErrorEvent', 'error ServerRestarted', 'error'])
    const action = events.find(({ kind }) => kind === 'ActionEvent')
    const [answer] = events.filter(({ kind }) => kind === 'AgentErrorEvent')
    assert.is(answer?.['tool_call_id'], action?.['tool_call_id'])
    assert.match(textAt(answer, 'error'), /restart occurred.*fatal memory error/)
    assert.ok(sent.length >= 15)
    const kept = messagesOf(await talkTo(again, other.id).events(), 'user')
    assert.equal(sent.filter((text) => !kept.includes(text)), [])
    const resumed = talkTo(again, talk.id)
    // The turn did not end, so its message is served again.
    assert.is((await resumed.post('/run')).status, 200)
    await until(async () => outline(await resumed.events()).filter((word) => word === 'TerminalAction').length === 2)
    await resumed.post('/interrupt')
    assert.is(await again.stop('SIGTERM'), 0)
  }),
)

test(
  'after a kill while a question is open it is answered, gone, and the conversation can be run',
  inFolder(async (start) => {
    const program = await start()
    const talk = await startTalk(program, { confirmation_policy: { kind: 'AlwaysConfirm' } })
    await talk.send('write: x.txt x')
    await talk.reaches('waiting_for_confirmation')
    await program.stop('SIGKILL')
    const again = await start()
    const after = talkTo(again, talk.id)
    const events = await after.events()
    assert.equal(outline(events).slice(-4), [
      'AgentErrorEvent', '(pending_confirmations)', 'error ServerRestarted', 'error',
    ])
    assert.equal((await after.get('/confirmations')).json, { items: [] })
    assert.is((await after.post('/run')).status, 200)
    await after.reaches('waiting_for_confirmation')
    await again.stop('SIGTERM')
  }),
)

test('a second restart adds nothing, and ids and times go on growing', inFolder(async (start) => {
  const first = await start()
  const { talk } = await inCommand(first)
  await first.stop('SIGKILL')
  const second = await start()
  const events = await talkTo(second, talk.id).events()
  await second.stop('SIGKILL')
  const third = await start()
  assert.equal(await talkTo(third, talk.id).events(), events)
  await talkTo(third, talk.id).send('later', false)
  const all = await talkTo(third, talk.id).events()
  for (const name of ['id', 'timestamp']) {
    const values = all.map((event) => textAt(event, name))
    assert.equal(values, [...new Set(values)].sort())
  }
  await third.stop('SIGTERM')
}))

test('what was changed over REST survives a kill: policy, tags, title, secrets, model', inFolder(async (start) => {
  const first = await start()
  const talk = await startTalk(first, { agent: fakeAgent('environment') })
  const policy = { kind: 'AlwaysConfirm' }
  await talk.post('/confirmation_policy', { policy })
  await talk.post('/secrets', { secrets: { KEPT: 'short' } })
  await talk.post('/switch_acp_model', { model: 'big' })
  await first.rest.patch(talk.path, { title: 'Kept', tags: { a: '1' } })
  const before = (await talk.get()).json
  await first.stop('SIGKILL')
  const second = await start()
  const again = talkTo(second, talk.id)
  assert.equal((await again.get()).json, before)
  assert.equal(
    [
      member(before, 'title'),
      member(before, 'tags'),
      member(before, 'confirmation_policy'),
      member(before, 'current_model_id'),
    ],
    ['Kept', { a: '1' }, policy, 'big'],
  )
  await again.send('hello')
  await again.reaches('finished')
  assert.match(messagesOf(await again.events(), 'agent').join(), '"KEPT":"short"')
  await second.stop('SIGTERM')
}))

test(
  'a second signal ends a stop that takes long at once, and nothing acknowledged is lost',
  inFolder(async (start) => {
    const program = await start()
    const talk = await startTalk(program, { agent: fakeAgent('ignores-cancel') })
    await talk.send('hello')
    await until(async () => {
      return messagesOf(await talk.events(), 'agent').length > 0 ||
        outline(await talk.events()).includes('SystemPromptEvent')
    })
    const ended = program.stop('SIGTERM')
    await until(async () => (await program.rest.get('/ready').catch(() => undefined))?.status !== 200)
    program.child.kill('SIGTERM')
    assert.ok([0, 'SIGTERM'].includes(await ended))
    const again = await start()
    assert.equal(messagesOf(await talkTo(again, talk.id).events(), 'user'), ['hello'])
    assert.ok(['paused', 'error'].includes(await talkTo(again, talk.id).status()))
    await again.stop('SIGTERM')
  }),
)

test.run()
