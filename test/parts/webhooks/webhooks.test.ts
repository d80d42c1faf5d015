/** Webhooks of a real server with real receivers: batches, states, attempts, dead letters, and receivers that hang. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { startAll } from './servers.ts'
import { eventIds, states } from '../../fixtures/webhook-receiver.ts'
import { listAt, member, textAt } from '../../support/rest.ts'
import { until } from '../../support/processes.ts'
import { suite } from '../../support/suite.ts'

const test = suite('parts/webhooks')
const never = 86_400

test('posts each event once, in order, as it is stored, and each state', startAll(async (world) => {
  const { server, receiver } = world
  const id = await world.finish()
  const stored = await world.storedIds(id)
  await receiver.until((received) => eventIds(received, id).length >= stored.length)
  assert.equal(eventIds(receiver.received, id), stored)
  const [first] = receiver.received
  assert.equal([first?.path, member(first?.json, 'id')], ['/base/conversations?tenant=1', id])
  assert.equal([first?.headers['x-session-api-key'], first?.headers['x-more']], [server.key, 'yes'])
  const batch = receiver.received.find(({ path }) => path.includes('/events/'))
  assert.is(batch?.path, `/base/events/${id.replaceAll('-', '')}?tenant=1`)
  const [event] = listAt(batch?.json)
  const one = await server.rest.get(`/api/conversations/${id}/events/${textAt(event, 'id')}`)
  assert.ok(batch?.body.includes(one.text))
  assert.equal(states(receiver.received, id).at(-1), 'finished')
}, { headers: { 'X-More': 'yes' } }))

test('waits for a full buffer, and sends everything that waits then', startAll(async (world) => {
  const { receiver } = world
  const id = await world.finish()
  const stored = await world.storedIds(id)
  await receiver.until((received) => eventIds(received, id).length >= 4)
  const batches = receiver.received.filter(({ path }) => path.includes('/events/'))
  assert.ok(batches.every(({ json }) => listAt(json).length >= 4))
  assert.equal(eventIds(receiver.received, id), stored.slice(0, eventIds(receiver.received, id).length))
}, { event_buffer_size: 4, flush_delay: never }))

test('tells of a new title, a pause and a deletion', startAll(async (world) => {
  const { server: { rest }, receiver } = world
  const id = await world.create()
  await receiver.until((received) => states(received, id).length === 1)
  await rest.patch(`/api/conversations/${id}`, { title: 'A new title' })
  await receiver.until((received) => received.some(({ json }) => member(json, 'title') === 'A new title'))
  await rest.post(`/api/conversations/${id}/pause`)
  await receiver.until((received) => states(received, id).includes('paused'))
  await rest.delete(`/api/conversations/${id}`)
  await receiver.until((received) => states(received, id).at(-1) === 'deleting')
}))

test('sends what was left of a deleted conversation, and then keeps nothing of it', startAll(async (world) => {
  const { server: { rest, dataDir }, receiver } = world
  const id = await world.finish()
  const stored = await world.storedIds(id)
  assert.equal(eventIds(receiver.received, id), [])
  await rest.delete(`/api/conversations/${id}`)
  await receiver.until((received) => states(received, id).at(-1) === 'deleting')
  assert.equal(eventIds(receiver.received, id).slice(0, stored.length), stored)
  await until(() => readdirSync(join(dataDir, 'webhooks')).every((name) => !name.includes('deleted')))
}, { event_buffer_size: 10_000, flush_delay: never }))

test('repeats a request with the same id until the receiver takes it', startAll(async (world) => {
  const { receiver } = world
  const id = await world.finish()
  const stored = await world.storedIds(id)
  await receiver.until((received) => new Set(eventIds(received, id)).size >= stored.length)
  const ids = receiver.received.map(({ headers }) => headers['webhook-id'])
  // Each request but the third of three was answered with an error.
  for (let at = 0; at + 2 < ids.length; at += 3) assert.is(new Set(ids.slice(at, at + 3)).size, 1)
  assert.equal(await world.letters(), [])
}, { num_retries: 2 }, (response, number) => {
  if (number % 3 === 1) response.socket?.destroy()
  else response.writeHead(number % 3 === 2 ? 503 : 200, { 'retry-after': '0' }).end('a body that is not read')
}))

test('shows what was given up as dead letters, and delivers them again or removes them', async () => {
  let isBroken = true
  await startAll(async (world) => {
    const { server: { rest }, receiver } = world
    const id = await world.finish()
    const stored = await world.storedIds(id)
    await until(async () => {
      const found = await world.letters()
      return found.some((letter) => member(letter, 'end_event') === stored.length)
    })
    const [first, ...others] = await world.letters()
    assert.equal(
      [member(first, 'conversation_id'), member(first, 'first_event'), member(first, 'status')], [id, null, 500],
    )
    assert.is(member(first, 'attempts'), 2)
    assert.match(textAt(first, 'reason'), /^http:\/\/127\.0\.0\.1:\d+ answered with status 500$/)
    const path = `/api/webhooks/dead_letters/${textAt(others[0], 'id')}`
    assert.is((await rest.post(`${path}/redeliver`)).status, 502)
    isBroken = false
    const before = receiver.received.length
    for (const letter of others) {
      const answer = await rest.post(`/api/webhooks/dead_letters/${textAt(letter, 'id')}/redeliver`)
      assert.is(answer.status, 200, answer.text)
    }
    assert.equal([...new Set(eventIds(receiver.received.slice(before), id))].sort(), stored.sort())
    assert.equal(await world.letters(), [first])
    assert.is((await rest.delete(`/api/webhooks/dead_letters/${textAt(first, 'id')}`)).status, 200)
    assert.equal(await world.letters(), [])
    assert.is((await rest.delete(`/api/webhooks/dead_letters/${textAt(first, 'id')}`)).status, 404)
    assert.is((await rest.post(`${path}/redeliver`)).status, 404)
  }, { num_retries: 1 }, (response) => void response.writeHead(isBroken ? 500 : 200).end())()
})

test('drops the oldest events of a queue that is too long, and shows that', startAll(async (world) => {
  const { receiver } = world
  const id = await world.finish()
  const stored = await world.storedIds(id)
  world.release()
  await receiver.until((received) => eventIds(received, id).includes(stored.at(-1) ?? ''))
  await until(async () => (await world.letters()).length > 0)
  const [letter] = await world.letters()
  assert.equal([member(letter, 'reason'), member(letter, 'attempts')], ['The queue was full', 0])
  const dropped = stored.slice(Number(member(letter, 'first_event')), Number(member(letter, 'end_event')))
  assert.ok(dropped.length > 0)
  assert.equal(eventIds(receiver.received, id).filter((event) => dropped.includes(event)), [])
}, { max_queue_size: 2 }, 'held'))

test('a receiver that hangs holds up no run, no other webhook and no shutdown', startAll(async (world) => {
  const { server, receiver, second } = world
  const id = await world.finish()
  const stored = await world.storedIds(id)
  await second.until((received) => eventIds(received, id).length >= stored.length)
  assert.is(receiver.received.length, 1)
  assert.is(receiver.mostAtOnce(), 1)
  const [hanging, working] = listAt((await server.rest.get('/api/webhooks')).json, 'webhooks')
  assert.equal([member(hanging, 'waiting_conversations'), member(hanging, 'delivered_requests')], [1, 0])
  assert.ok(Number(member(working, 'delivered_requests')) > 0)
}, {}, 'held'))

test('delivers the rest when the server closes', async () => {
  await startAll(async (world) => {
    const { server, receiver } = world
    const id = await world.finish()
    const stored = await world.storedIds(id)
    assert.equal(eventIds(receiver.received, id), [])
    await server.server.close()
    assert.equal(eventIds(receiver.received, id).slice(0, stored.length), stored)
  }, { event_buffer_size: 10_000, flush_delay: never })()
})

test('says no key, no secret, no header and no more than the origin of an address', startAll(async (world) => {
  const { server } = world
  await world.finish()
  await until(async () => (await world.letters()).length > 0)
  const answers = [(await server.rest.get('/api/webhooks')).text, JSON.stringify(await world.letters())]
  for (const text of [...answers, ...server.log]) assert.not.match(text, /canary|\/base/)
  assert.ok(server.log.some((line) => line.includes('A webhook could not be delivered')))
}, {
  num_retries: 0, secret: 'canary-of-the-secret', headers: { Authorization: 'Bearer canary-of-the-header' },
}, (response) => void response.writeHead(302, { location: '/canary' }).end()))

test('a secret in a header of JSON is masked in what an agent prints', startAll(async ({ server }) => {
  const workspace = { working_dir: `${server.workspaceDir}/json-header` }
  const words = { role: 'user', content: [{ type: 'text', text: 'run: echo printed $((1 + 1)) sesame-9f31c7e0' }] }
  const { json } = await server.rest.post('/api/conversations', { workspace, initial_message: words })
  const path = `/api/conversations/${textAt(json, 'id')}/events/search?limit=100`
  const printed = async (): Promise<unknown> => listAt((await server.rest.get(path)).json, 'items')
    .find((event) => textAt(event, 'kind') === 'ObservationEvent')
  await until(async () => (await printed()) !== undefined)
  const text = JSON.stringify(await printed())
  assert.match(text, /printed 2 <secret-hidden>/)
  assert.not.match(text, /sesame/)
}, { headers: { 'X-Context': '{"token":"sesame-9f31c7e0"}' } }))

test('the routes answer without a webhook, and refuse a page that is none', startAll(async ({ plain }) => {
  assert.equal((await plain.rest.get('/api/webhooks')).json, { webhooks: [] })
  assert.equal((await plain.rest.get('/api/webhooks/dead_letters')).json, { items: [], next_page_id: null })
  assert.is((await plain.rest.get('/api/webhooks/dead_letters?limit=0')).status, 422)
}))

test.run()
