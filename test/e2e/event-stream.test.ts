/**
 * The stream of server-sent events: the same frames as a socket, and going on behind the last one that a client has.
 */
import * as assert from 'uvu/assert'
import { randomUUID } from 'node:crypto'
import { request, type IncomingMessage } from 'node:http'
import { until } from '../support/processes.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { suite } from '../support/suite.ts'
import { startTalk, type JsonEvent } from './talk.ts'

const test = suite('e2e/event-stream')
let server: TestServer

test.before(async () => {
  server = await startServer({ readerStallMs: 500 })
})
test.after(() => server.close())

interface Frame {
  readonly id: string | undefined
  readonly event: JsonEvent
}

interface Follower {
  readonly response: IncomingMessage
  readonly frames: readonly Frame[]
  /** Everything that came, as it came. */
  text(): string
  close(): void
}

function open(
  path: string, headers: Readonly<Record<string, string>> = {}, url = server.url,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const call = request(
      url + path, { headers: { 'X-Session-API-Key': server.key, ...headers }, agent: false }, resolve,
    )
    call.on('error', reject)
    call.end()
  })
}

async function follow(
  path: string, headers: Readonly<Record<string, string>> = {}, url = server.url,
): Promise<Follower> {
  const response = await open(path, headers, url)
  assert.is(response.statusCode, 200)
  const frames: Frame[] = []
  let text = ''
  let rest = ''
  response.setEncoding('utf8')
  response.on('error', () => undefined)
  response.on('data', (piece: string) => {
    text += piece
    const blocks = (rest + piece).split('\n\n')
    rest = blocks.pop() ?? ''
    for (const block of blocks) {
      const data = /^data: (.*)$/m.exec(block)?.[1]
      if (data !== undefined) frames.push({ id: /^id: (.*)$/m.exec(block)?.[1], event: JSON.parse(data) })
    }
  })
  return { response, frames, text: () => text, close: () => void response.destroy() }
}

const stored = (frames: readonly Frame[]): Frame[] => frames.filter(({ id }) => id !== undefined)

test('a stream gives the state, then every event under its own id, then what happens', async () => {
  const talk = await startTalk(server, 'echo')
  await talk.send('first')
  await talk.reaches('finished')
  const follower = await follow(`${talk.path}/events/stream?resend_mode=all`)
  assert.is(follower.response.headers['content-type'], 'text/event-stream')
  await talk.send('second')
  await talk.reaches('finished')
  const events = await talk.events()
  await until(() => stored(follower.frames).length === events.length)
  assert.equal(stored(follower.frames).map(({ event }) => event), events)
  assert.equal(stored(follower.frames).map(({ id }) => id), events.map(({ id }) => id))
  const [state] = follower.frames
  assert.is(state?.event['key'], 'full_state')
  assert.is(state?.id, undefined)
  assert.match(follower.text(), /^retry: 1000\n\n/)
  follower.close()
})

test('Last-Event-ID goes on behind that event, and wins over the address', async () => {
  const talk = await startTalk(server, 'echo')
  await talk.send('first')
  await talk.reaches('finished')
  const events = await talk.events()
  const third = String(events[2]?.['id'])
  const follower = await follow(`${talk.path}/events/stream?resend_mode=all`, { 'Last-Event-ID': third })
  await until(() => stored(follower.frames).length === events.length - 3)
  assert.equal(stored(follower.frames).map(({ event }) => event), events.slice(3))
  follower.close()
  const first = String(events[0]?.['id'])
  const again = await follow(`${talk.path}/events/stream?after=${first}`, { 'Last-Event-ID': third })
  await until(() => stored(again.frames).some(({ id }) => id === events.at(-1)?.['id']))
  assert.equal(stored(again.frames).map(({ event }) => event), events.slice(3))
  again.close()
})

test('without anything asked for, a stream begins with the state of this moment', async () => {
  const talk = await startTalk(server, 'echo')
  const follower = await follow(`${talk.path}/events/stream`)
  await until(() => follower.frames.length === 1)
  await talk.send('hello')
  await talk.reaches('finished')
  await until(async () => stored(follower.frames).length === (await talk.events()).length)
  follower.close()
})

test('what cannot be followed is refused before a stream begins', async () => {
  const talk = await startTalk(server, 'echo')
  const statusOf = async (path: string, headers = {}): Promise<number | undefined> => {
    const response = await open(path, headers)
    response.resume()
    return response.statusCode
  }
  assert.is(await statusOf(`${talk.path}/events/stream`, { 'Last-Event-ID': randomUUID() }), 404)
  assert.is(await statusOf(`${talk.path}/events/stream?after=nonsense`), 404)
  assert.is(await statusOf(`/api/conversations/${randomUUID()}/events/stream`), 404)
  assert.is(await statusOf(`${talk.path}/events/stream?resend_mode=never`), 422)
  assert.is(await statusOf(`${talk.path}/events/stream`, { 'X-Session-API-Key': 'wrong' }), 401)
})

test('a stream ends when its conversation is deleted', async () => {
  const talk = await startTalk(server, 'echo')
  const follower = await follow(`${talk.path}/events/stream`)
  const ended = new Promise<void>((resolve) => follower.response.once('end', resolve))
  await server.rest.send('DELETE', talk.path)
  await ended
})

test('HEAD gives the head alone', async () => {
  const talk = await startTalk(server, 'echo')
  const response = await server.rest.send('HEAD', `${talk.path}/events/stream`)
  assert.is(response.status, 200)
  assert.is(response.text, '')
})

test('a client too many is told so on its stream', async () => {
  const small = await startServer({ subscriberLimit: 1 })
  try {
    const talk = await startTalk(small, 'echo')
    const path = `${talk.path}/events/stream`
    const first = await follow(path, { 'X-Session-API-Key': small.key }, small.url)
    await until(() => first.frames.length === 1)
    const second = await follow(path, { 'X-Session-API-Key': small.key }, small.url)
    await new Promise<void>((resolve) => second.response.once('end', resolve))
    assert.is(second.frames.at(-1)?.event['kind'], 'ServerErrorEvent')
    first.close()
  } finally {
    await small.close()
  }
})

test('a client that takes nothing is cut off, and its place is free', async () => {
  const small = await startServer({ subscriberLimit: 1, readerStallMs: 500 })
  const headers = { 'X-Session-API-Key': small.key }
  try {
    const talk = await startTalk(small, 'echo')
    for (let count = 0; count < 8; count++) await talk.send('x'.repeat(900_000), false)
    const stalled = await open(`${talk.path}/events/stream?resend_mode=all`, headers, small.url)
    stalled.on('error', () => undefined)
    const tries: Frame[][] = []
    await until(async () => {
      const follower = await follow(`${talk.path}/events/stream`, headers, small.url)
      await until(() => follower.frames.length > 0)
      tries.push([...follower.frames])
      follower.close()
      return follower.frames[0]?.event['key'] === 'full_state' && follower.frames.length === 1
    })
    assert.ok(tries.length > 1)
    stalled.destroy()
  } finally {
    await small.close()
  }
})

test.run()
