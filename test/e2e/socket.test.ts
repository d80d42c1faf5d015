/**
 * `/sockets/events/{id}`: the frames and their order, the frames that a client may send, and how it ends (contract:
 * websocket.md 2, decisions 35).
 */
import * as assert from 'uvu/assert'
import { randomUUID } from 'node:crypto'
import { connect as connectTcp } from 'node:net'
import { until } from '../support/processes.ts'
import { member, textAt } from '../support/rest.ts'
import { startServer, withServer, type TestServer } from '../support/server.ts'
import { suite } from '../support/suite.ts'
import { frame, type Client } from '../support/ws-client.ts'
import { framesOf, isPushed, outline, startTalk, storedOf, userMessage, type JsonEvent, type Talk } from './talk.ts'

const test = suite('socket')
let server: TestServer
let talk: Talk
let events: JsonEvent[]

test.before(async () => {
  server = await startServer()
  talk = await startTalk(server)
  await talk.send('run: echo hi')
  await talk.reaches('finished')
  events = await talk.events()
})
test.after(() => server.close())

const authFrame = (key: string, more = {}): string => JSON.stringify({ type: 'auth', session_api_key: key, ...more })

test('the full state has the fields of the contract, no null and no title', async () => {
  const client = await server.socket(talk.id)
  await client.next()
  const value = framesOf(client)[0]?.['value']
  assert.equal(Object.keys(Object(value)).filter((name) => member(value, name) === null || name === 'title'), [])
  for (const name of [
    'id', 'agent', 'workspace', 'max_iterations', 'execution_status', 'confirmation_policy', 'leaf_event_id', 'stats',
    'secret_registry', 'tags', 'agent_state', 'last_user_message_id',
  ]) {
    assert.ok(member(value, name) !== undefined, name)
  }
  await client.close()
})

test('a client that breaks a rule of WebSocket is told which, and the log tells of it without its words', async () => {
  const client = await server.socket(talk.id)
  await client.next()
  client.write(frame(1, Buffer.from('unmasked words'), { masked: false }))
  assert.is((await client.closed).code, 1002)
  const lines = (): string[] => server.log.filter((line) => line.includes('broke a rule of WebSocket'))
  await until(async () => lines().length > 0)
  assert.equal(lines().map((line) => member(JSON.parse(line), 'code')), [1002])
  assert.not.ok(server.log.some((line) => line.includes('unmasked words')))
})

test('what is sent again is what was asked for, oldest first, after the full state', async () => {
  const time = textAt(events[3], 'timestamp')
  const between = `${time.slice(0, 19)}.000000Z`
  const cases: readonly (readonly [string, JsonEvent[]])[] = [
    ['', []],
    ['?resend_mode=all', events],
    ['?resend_all=true', events],
    ['?resend_all=false', []],
    ['?resend_mode=since', []],
    ['?resend_mode=since&resend_all=true', []],
    [`?resend_mode=since&after_timestamp=${time}`, events.slice(3)],
    [`?resend_mode=since&after_timestamp=${time.slice(0, -1)}`, events.slice(3)],
    [`?resend_mode=since&after_timestamp=${time.slice(0, -1)}%2B00:00`, events.slice(3)],
    [`?resend_mode=since&after_timestamp=${between}`, events.filter((event) => textAt(event, 'timestamp') >= between)],
    ['?resend_mode=since&after_timestamp=2999-01-01T00:00:00', []],
    [`?after=${textAt(events[0], 'id')}`, events.slice(1)],
    [`?after=${textAt(events[4], 'id').replaceAll('-', '')}`, events.slice(5)],
    [`?after=${textAt(events.at(-1), 'id')}`, []],
    [`?after=${textAt(events[4], 'id')}&resend_mode=all`, events.slice(5)],
  ]
  for (const [query, expected] of cases) {
    const client = await server.socket(talk.id, query)
    client.send('not json')
    await client.until(() => framesOf(client).some(({ kind }) => kind === 'ServerErrorEvent'))
    assert.is(framesOf(client)[0]?.['key'], 'full_state', query)
    assert.equal(storedOf(client), expected, query)
    await client.close()
  }
})

test('an event to continue after that is not there gets the full state, an error and 4010', async () => {
  for (const id of [randomUUID(), 'nonsense', '']) {
    const client = await server.socket(talk.id, `?after=${id}`)
    assert.is((await client.closed).code, 4010)
    const [first, second] = framesOf(client)
    assert.is(first?.['key'], 'full_state')
    assert.equal([second?.['kind'], second?.['code'], client.messages.length], [
      'ServerErrorEvent', 'UnknownEventId', 2,
    ])
  }
})

test('a message on the socket is stored, run, and comes back to everyone who listens', async () => {
  const own = await startTalk(server)
  const [client, other] = [await server.socket(own.id), await server.socket(own.id)]
  client.send(JSON.stringify(userMessage('run: echo over the socket', false)))
  const isOver = (socket: Client) => () => framesOf(socket).filter(({ key }) => key === 'full_state').length === 2
  await client.until(isOver(client))
  await other.until(isOver(other))
  const stored = await own.events()
  assert.equal(outline(stored).slice(0, 3), ['user message', '(last_user_message_id)', 'running'])
  for (const socket of [client, other]) assert.equal(storedOf(socket), stored)
  const last = framesOf(client).at(-1)
  assert.equal([last?.['key'], member(last, 'value', 'execution_status')], ['full_state', 'finished'])
  assert.ok(framesOf(client).some(({ kind }) => kind === 'StreamingDeltaEvent'))
  for (const push of framesOf(client).filter((frame) => isPushed(frame, own.id))) {
    assert.is((await own.get(`/events/${textAt(push, 'id')}`)).status, 404)
  }
  await Promise.all([client.close(), other.close()])
})

const badFrames: readonly (readonly [string, string])[] = [
  ['hello', 'JSONDecodeError'],
  ['', 'JSONDecodeError'],
  ['[]', 'ValidationError'],
  ['7', 'ValidationError'],
  [JSON.stringify({ role: 'assistant', content: [] }), 'ValidationError'],
  [JSON.stringify({ content: [{ type: 'video' }] }), 'ValidationError'],
  [authFrame('x', { more: 1, role: 'tool' }), 'ValidationError'],
  ['{"__proto__":{"role":"user"},"content":7}', 'ValidationError'],
  ['['.repeat(100_000), 'JSONDecodeError'],
]
test('a frame that is not a message gets one ServerErrorEvent, alone, and the socket stays open', async () => {
  const own = await startTalk(server, 'echo')
  const [client, other] = [await server.socket(own.id), await server.socket(own.id)]
  for (const [text, code] of badFrames) {
    const before = client.messages.length
    client.send(text)
    await client.until(() => client.messages.length > before)
    const answer = framesOf(client).at(-1)
    assert.equal(
      [answer?.['kind'], answer?.['source'], answer?.['code']],
      ['ServerErrorEvent', 'environment', code],
      text.slice(0, 50),
    )
    assert.ok(textAt(answer, 'detail').length > 0)
  }
  client.write(frame(0x2, Buffer.from('{}')))
  await client.until(() => {
    return framesOf(client).filter(({ kind }) => kind === 'ServerErrorEvent').length === badFrames.length + 1
  })
  assert.equal(await own.events(), [])
  client.send(JSON.stringify({ ...userMessage('still works'), unknown: 1 }))
  await own.reaches('finished')
  assert.equal(framesOf(other).filter(({ kind }) => kind === 'ServerErrorEvent'), [])
  await Promise.all([client.close(), other.close()])
})

test('the content of a message may be a text, or null', async () => {
  const own = await startTalk(server, 'echo')
  const client = await server.socket(own.id)
  client.send(JSON.stringify({ role: 'user', content: 'as a text' }))
  client.send(JSON.stringify({ role: 'user', content: null }))
  await client.until(() => {
    return framesOf(client).filter(({ kind, source }) => kind === 'MessageEvent' && source === 'user').length === 2
  })
  await own.reaches('finished')
  const contents = (await own.events()).filter(({ source, kind }) => source === 'user' && kind === 'MessageEvent').map(
    (event) => member(event, 'llm_message', 'content'),
  )
  assert.equal(contents, [[{ cache_prompt: false, type: 'text', text: 'as a text' }], []])
  await client.close()
})

test('an authentication that is not needed is ignored without a word', async () => {
  const own = await startTalk(server, 'echo')
  const client = await server.socket(own.id)
  client.send(authFrame(server.key))
  client.send(authFrame('wrong'))
  client.send(JSON.stringify({ type: 'auth' }))
  client.send('x')
  await client.until(() => client.messages.length >= 2)
  assert.equal(framesOf(client).map(({ kind }) => kind), ['ConversationStateUpdateEvent', 'ServerErrorEvent'])
  assert.equal(await own.events(), [])
  await client.close()
})

test('a message of a gigabyte is refused with 1009 as soon as it is announced', async () => {
  const client = await server.socket(talk.id)
  client.write(Buffer.from([0x81, 0xff, 0, 0, 0, 0, 0x40, 0, 0, 0, 1, 2, 3, 4]))
  assert.is((await client.closed).code, 1009)
})

test('a client that breaks the protocol is closed with 1002, and the server goes on', async () => {
  const client = await server.socket(talk.id)
  client.write(frame(0x1, Buffer.from('{}'), { masked: false }))
  assert.is((await client.closed).code, 1002)
  await new Promise<void>((resolve) => {
    const { port, hostname } = new URL(server.url)
    const socket = connectTcp(Number(port), hostname, () => {
      return socket.write('GET /sockets/events/x HTTP/1.1\r\nUpgrade: websocket\r\n\r\n')
    })
    socket.on('data', () => socket.destroy()).on('error', () => undefined).on('close', () => resolve())
  })
  assert.is((await server.rest.get('/alive')).status, 200)
})

test('deleting the conversation closes its sockets with 4004, also in the middle of a turn', async () => {
  const own = await startTalk(server)
  const client = await server.socket(own.id)
  await own.send('run: sleep 100')
  await client.until(() => outline(framesOf(client)).includes('TerminalAction'))
  assert.is((await server.rest.delete(own.path)).status, 200)
  assert.equal(await client.closed, { code: 4004, reason: 'Conversation not found' })
})

test('the end of the server closes the sockets with 1012', () =>
  withServer(async (own) => {
    const { id } = await startTalk(own, 'echo')
    const client = await own.socket(id)
    await client.next()
    const closed = client.closed
    await own.server.close()
    assert.is((await closed).code, 1012)
  }))

test('more readers than allowed are closed with 1013, until one leaves', () =>
  withServer(async (own) => {
    const { id } = await startTalk(own, 'echo')
    const [first, second] = [await own.socket(id), await own.socket(id)]
    await Promise.all([first.next(), second.next()])
    const third = await own.socket(id)
    assert.is((await third.closed).code, 1013)
    await first.close()
    const fourth = await own.socket(id)
    await fourth.next()
    await Promise.all([second.close(), fourth.close()])
  }, { subscriberLimit: 2 }))

test('a client that comes back again and again with after= misses nothing and gets nothing twice', async () => {
  const own = await startTalk(server)
  const seen: JsonEvent[] = []
  await own.send('Show me what you can do.')
  for (let round = 0; ; round++) {
    const last = seen.at(-1)
    const client = await server.socket(own.id, last === undefined ? '?resend_mode=all' : `?after=${textAt(last, 'id')}`)
    await client.next()
    const isOver = member(framesOf(client)[0], 'value', 'execution_status') === 'finished'
    const wanted = isOver ? 0 : 1 + (round % 3)
    await client.until(() => storedOf(client).length >= wanted || outline(storedOf(client)).includes('finished'))
    if (isOver) client.send('x')
    if (isOver) await client.until(() => framesOf(client).some(({ kind }) => kind === 'ServerErrorEvent'))
    seen.push(...storedOf(client))
    client.destroy()
    if (isOver) break
  }
  assert.equal(seen, await own.events())
  assert.ok(seen.length > 20)
})

test('a client may continue after a frame that was only pushed, and misses nothing', async () => {
  const own = await startTalk(server)
  const client = await server.socket(own.id, '?resend_mode=all')
  await own.send('Show me what you can do.')
  await client.until(() => framesOf(client).filter(({ key }) => key === 'full_state').length === 2)
  await client.close()
  const [stored, frames] = [await own.events(), framesOf(client)]
  const pushed = frames.filter((frame) => isPushed(frame, own.id))
  assert.ok(['full_state', 'stats'].every((key) => pushed.some((frame) => frame['key'] === key)))
  assert.ok(pushed.some(({ kind }) => kind === 'StreamingDeltaEvent'))
  for (const frame of pushed.filter((_, place) => place < 2 || place % 9 === 0 || place > pushed.length - 3)) {
    const before = frames.slice(0, frames.indexOf(frame)).filter((one) => !isPushed(one, own.id)).length
    const again = await server.socket(own.id, `?after=${textAt(frame, 'id')}`)
    await again.until(() => storedOf(again).length >= stored.length - before)
    assert.equal(storedOf(again), stored.slice(before), textAt(frame, 'id'))
    await again.close()
  }
})

test.run()
