/**
 * Limits as a client meets them: slow readers, large events, few agents, idle ones, unanswered questions, damaged
 * folders.
 */
import * as assert from 'uvu/assert'
import { randomUUID } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isAlive, until } from '../support/processes.ts'
import { listAt, member, textAt } from '../support/rest.ts'
import { fakeAgent, startServer, withServer } from '../support/server.ts'
import { suite } from '../support/suite.ts'
import { messagesOf, outline, startTalk, storedOf, type Talk, talkTo } from './talk.ts'

const test = suite('limits')

/** Returns the pid that the fake agent names at the end of its answer, behind the user's text. */
async function pidOf(talk: Talk): Promise<number> {
  return Number(/pid=(\d+)$/.exec(messagesOf(await talk.events(), 'agent').at(-1) ?? '')?.[1])
}

test('a reader that takes nothing for a while gets everything later, in order and once, and holds up nobody', () =>
  withServer(async (server) => {
    const talk = await startTalk(server, 'echo')
    const [slow, quick] = [await server.socket(talk.id), await server.socket(talk.id)]
    await Promise.all([slow.next(), quick.next()])
    slow.socket.pause()
    const words = 'x'.repeat(400_000)
    for (let count = 0; count < 40; count++) assert.is((await talk.send(`${count} ${words}`, false)).status, 200)
    await quick.until(() => storedOf(quick).length === 80)
    assert.ok(slow.messages.length < 70)
    slow.socket.resume()
    await slow.until(() => storedOf(slow).length === 80)
    const events = await talk.events()
    assert.equal(storedOf(slow).map(({ id }) => id), events.map(({ id }) => id))
    assert.equal(storedOf(quick), storedOf(slow))
    await Promise.all([slow.close(), quick.close()])
  }))

test('a reader that takes no byte for the time allowed is disconnected and its place is free; the others stay', () =>
  withServer(async (server) => {
    const talk = await startTalk(server, 'echo')
    const [stuck, quick] = [await server.socket(talk.id), await server.socket(talk.id)]
    await Promise.all([stuck.next(), quick.next()])
    stuck.socket.pause()
    for (let count = 0; count < 40; count++) await talk.send(`${count} ${'x'.repeat(400_000)}`, false)
    for (let isFull = true; isFull;) {
      const another = await server.socket(talk.id)
      isFull = await Promise.race([another.next().then(() => false), another.closed.then(({ code }) => code === 1013)])
        .catch(() => true)
      await another.close()
    }
    await quick.until(() => storedOf(quick).length === 80)
    stuck.destroy()
    await quick.close()
  }, { readerStallMs: 300, subscriberLimit: 2 }))

test('a message that would be an event beyond the limit is refused over REST and the socket, and changes nothing', () =>
  withServer(async (server) => {
    const talk = await startTalk(server, 'echo')
    await talk.send('short')
    await talk.reaches('finished')
    const before = await talk.events()
    const { status, text } = await talk.send('x'.repeat(20_000))
    assert.is(status, 413, text)
    const socket = await server.socket(talk.id)
    socket.send(JSON.stringify({ role: 'user', content: Array.from({ length: 500 }, () => ({ text: '' })) }))
    await socket.until(() => socket.messages.some((frame) => frame.includes('"code":"body_too_large"')))
    await socket.close()
    assert.equal(await talk.events(), before)
    assert.is(await talk.status(), 'finished')
  }, { eventLimitBytes: 16 * 1024 }))

test('a page of very long events is shorter than asked for, and the next one goes on', () =>
  withServer(async (server) => {
    const talk = await startTalk(server, 'echo')
    for (let count = 0; count < 3; count++) await talk.send('x'.repeat(14_000_000), false)
    const first = await talk.get('/events/search?kind=MessageEvent')
    assert.is(listAt(first.json, 'items').length, 2)
    const next = await talk.get(`/events/search?kind=MessageEvent&page_id=${textAt(first.json, 'next_page_id')}`)
    assert.is(listAt(next.json, 'items').length, 1)
    assert.is(member(next.json, 'next_page_id'), null)
  }))

test('an event of the agent beyond the limit ends the run with an error, and no action stays open', () =>
  withServer(async (server) => {
    const talk = await startTalk(server, 'big-output')
    await talk.send('hello')
    await talk.reaches('error')
    const words = outline(await talk.events())
    assert.equal(words.slice(-4), ['TerminalAction', 'AgentErrorEvent', 'error EventRefused', 'error'])
    assert.is((await talk.get()).status, 200)
  }, { eventLimitBytes: 16 * 1024 }))

test('more agents than allowed wait, visibly, and are served when one is done', () =>
  withServer(async (server) => {
    const first = await startTalk(server, 'never')
    await first.send('hello')
    await until(async () => outline(await first.events()).includes('SystemPromptEvent'))
    const second = await startTalk(server, 'echo')
    await second.send('hello')
    await until(async () => member((await second.get()).json, 'agent_state', 'acp_waiting_for_slot') === true)
    assert.is(await second.status(), 'running')
    await first.post('/interrupt')
    await second.reaches('finished')
    assert.is(member((await second.get()).json, 'agent_state', 'acp_waiting_for_slot'), false)
  }, { agentLimit: 1 }))

test('one who waits for an agent can be stopped, and takes no place', () =>
  withServer(async (server) => {
    const first = await startTalk(server, 'never')
    await first.send('hello')
    await until(async () => outline(await first.events()).includes('SystemPromptEvent'))
    const second = await startTalk(server, 'echo')
    await second.send('hello')
    await until(async () => member((await second.get()).json, 'agent_state', 'acp_waiting_for_slot') === true)
    assert.is((await second.post('/interrupt')).status, 200)
    assert.is(await second.status(), 'paused')
    await first.post('/interrupt')
    await second.runAgain()
    await second.reaches('finished')
    assert.match(messagesOf(await second.events(), 'agent').join(), 'hello')
  }, { agentLimit: 1 }))

test('an idle agent ends, its conversation stays, and the next message starts it again', () =>
  withServer(async (server) => {
    const talk = await startTalk(server, 'echo')
    const socket = await server.socket(talk.id)
    await talk.send('first')
    await talk.reaches('finished')
    const pid = await pidOf(talk)
    await until(() => !isAlive(pid))
    await talk.send('second')
    await until(async () => messagesOf(await talk.events(), 'agent').join().includes('second'))
    assert.is.not(await pidOf(talk), pid)
    await until(() => {
      return storedOf(socket).some((event) => JSON.stringify(event).includes('second') && event['source'] === 'agent')
    })
    await socket.close()
  }, { agentIdleMs: 200 }))

test('an idle agent that is killed from outside is replaced by the next message', () =>
  withServer(async (server) => {
    const talk = await startTalk(server, 'echo')
    await talk.send('first')
    await talk.reaches('finished')
    const pid = await pidOf(talk)
    process.kill(pid, 'SIGKILL')
    await talk.send('second')
    await until(async () => messagesOf(await talk.events(), 'agent').join().includes('second'))
    await talk.reaches('finished')
    assert.is.not(await pidOf(talk), pid)
    const added = outline(await talk.events()).slice(outline(await talk.events()).lastIndexOf('running'))
    assert.equal(added, ['running', 'environment message', 'agent message', 'finished'])
  }))

test('a question that nobody answers is denied at its deadline, and the turn goes on', () =>
  withServer(async (server) => {
    const talk = await startTalk(server, { confirmation_policy: { kind: 'AlwaysConfirm' } })
    await talk.send('run: echo asked')
    await talk.reaches('finished')
    const rejection = (await talk.events()).find(({ kind }) => kind === 'UserRejectObservation')
    assert.is(rejection?.['rejection_reason'], 'Nobody answered in time')
  }, { confirmationDeadlineMs: 300 }))

test('secrets that are too many to be masked are refused as a whole, and stand in the way of nothing later', () =>
  withServer(async (server) => {
    const talk = await startTalk(server, 'environment')
    const many = Object.fromEntries(
      Array.from({ length: 1000 }, (_, index) => [`S${index}`, `${index} ${'x'.repeat(300)}`]),
    )
    assert.is((await talk.post('/secrets', { secrets: many })).status, 422)
    const large = Object.fromEntries(
      Array.from({ length: 2 }, (_, index) => [`LARGE${index}`, `${index}${'y'.repeat(60_000)}`]),
    )
    assert.is((await talk.post('/secrets', { secrets: large })).status, 200)
    for (let round = 0; round < 2; round++) {
      assert.is((await talk.send('show')).status, 200)
      await talk.reaches('finished')
      const answer = messagesOf(await talk.events(), 'agent').at(-1) ?? ''
      assert.match(answer, '"LARGE1":"<secret-hidden>"')
      assert.not.match(answer, '"S1"')
    }
  }))

test('damaged folders hide nothing but themselves, and one damaged event costs one event', () =>
  withServer(async (server) => {
    const [good, hurt] = [await startTalk(server, 'echo'), await startTalk(server, 'echo')]
    for (const talk of [good, hurt]) {
      await talk.send('some words')
      await talk.reaches('finished')
      await talk.send('later', false)
    }
    const before = await hurt.events()
    await server.server.close()
    const conversations = join(server.dataDir, 'conversations')
    const log = join(conversations, hurt.id, 'events.jsonl')
    writeFileSync(log, readFileSync(log, 'utf8').replace('some words', 'sOme words'))
    for (const [name, content] of [
      [randomUUID(), ''], [randomUUID(), 'garbage\n'], [randomUUID(), undefined], ['no-uuid', 'x'],
    ] as const) {
      mkdirSync(join(conversations, name))
      if (content !== undefined) writeFileSync(join(conversations, name, 'events.jsonl'), content)
    }
    const again = await startServer({ folder: server.folder })
    const { json } = await again.rest.get('/api/conversations/search?sort_order=CREATED_AT')
    assert.equal(listAt(json, 'items').map((item) => textAt(item, 'id')), [good.id, hurt.id])
    const after = await talkTo(again, hurt.id).events()
    assert.ok(after.length >= before.length - 1, `${after.length} of ${before.length}`)
    assert.is((await talkTo(again, hurt.id).send('goes on', false)).status, 200)
    assert.equal(messagesOf(await talkTo(again, good.id).events(), 'user'), ['some words', 'later'])
    await again.close()
  }))

test(
  'nothing is served without its folder: a state cache alone, or one of another conversation, is no conversation',
  () =>
    withServer(async (server) => {
      const talk = await startTalk(server, { agent: fakeAgent('echo') })
      await talk.send('words', false)
      const events = await talk.events()
      await server.server.close()
      writeFileSync(join(server.dataDir, 'conversations', talk.id, 'state.json'), '{"not":"a state"}')
      const again = await startServer({ folder: server.folder })
      assert.equal(await talkTo(again, talk.id).events(), events)
      assert.is(await talkTo(again, talk.id).status(), 'idle')
      await again.close()
    }),
)

test.run()
