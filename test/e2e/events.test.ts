/**
 * The history over REST: one event, pages, filters, counts, batches (spec: Endpoints; contract: conversations.md 4 and
 * 5).
 */
import * as assert from 'uvu/assert'
import { randomUUID } from 'node:crypto'
import { check } from '../../src/schema/check.ts'
import { listAt, member, textAt } from '../support/rest.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { suite } from '../support/suite.ts'
import { framesOf, isPushed, startTalk, type JsonEvent, type Talk } from './talk.ts'

const test = suite('events')
let server: TestServer
let talk: Talk
let events: JsonEvent[]
const frames: string[] = []

test.before(async () => {
  server = await startServer()
  talk = await startTalk(server, {})
  const socket = await server.socket(talk.id)
  await talk.send('Show me what you can do. ÄÖÜ 🎈')
  await talk.reaches('finished')
  events = await talk.events()
  await socket.until(() => socket.messages.filter(isFullState).length === 2)
  frames.push(...socket.messages.filter((_, index) => !isPushed(framesOf(socket)[index] ?? {}, talk.id)))
  await socket.close()
})
test.after(() => server.close())

const isFullState = (frame: string): boolean => frame.includes('"key":"full_state"')
const idOf = (event: unknown): string => textAt(event, 'id')
const search = async (query: string): Promise<string[]> =>
  listAt((await talk.get(`/events/search?${query}`)).json, 'items').map(idOf)
const idsWhere = (passes: (event: JsonEvent) => boolean): string[] => events.filter(passes).map(idOf)
const at = (index: number): string => textAt(events[index], 'timestamp')

test('an event is the same bytes on the socket, by its id, in a page and in a batch', async () => {
  assert.is(frames.length, events.length)
  const page = await talk.get('/events/search')
  const batch = await server.rest.send('GET', `${talk.path}/events`, { body: events.map(idOf) })
  assert.is(page.text, `{"items":[${frames.join(',')}],"next_page_id":null}`)
  assert.is(batch.text, `[${frames.join(',')}]`)
  for (const [index, frame] of frames.entries()) {
    const one = await talk.get(`/events/${idOf(events[index])}`)
    assert.is(one.status, 200)
    assert.match(String(one.headers['content-type']), /^application\/json/)
    assert.is(one.text, frame)
  }
})

test('every event fits its closed schema, with ids and times that only grow', () => {
  for (const event of events) {
    assert.equal(check('Event', event), [], JSON.stringify(event))
    assert.equal(Object.keys(event).slice(0, 4), ['kind', 'id', 'timestamp', 'source'])
  }
  const times = events.map((_, index) => at(index))
  assert.equal(times, [...new Set(times)].sort())
  for (const time of times) assert.match(time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/)
  for (const event of events) {
    assert.match(idOf(event), /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  }
  const ids = events.map(idOf)
  assert.equal(ids, [...new Set(ids)].sort())
})

test('every action has one answer that names it', () => {
  const actions = events.filter(({ kind }) => kind === 'ActionEvent')
  assert.ok(actions.length >= 5)
  for (const action of actions) {
    const answers = events.filter((event) => event['action_id'] === action['id'])
    assert.equal(answers.map((answer) => [answer['tool_call_id'], answer['tool_name']]), [
      [action['tool_call_id'], action['tool_name']],
    ])
  }
})

test('an unknown event and an unknown conversation are 404', async () => {
  const known = idOf(events[0])
  for (const path of [
    `${talk.path}/events/${randomUUID()}`,
    `${talk.path}/events/x`,
    `${talk.path}/events/${known.slice(0, -1)}0x`,
    `/api/conversations/${randomUUID()}/events/${known}`,
  ]) {
    const { status, json } = await server.rest.get(path)
    assert.is(status, 404, path)
    assert.type(member(json, 'detail'), 'string')
  }
})

test('an event of another conversation is not found', async () => {
  const other = await startTalk(server)
  assert.is((await other.get(`/events/${idOf(events[0])}`)).status, 404)
})

test('a conversation id that is no UUID is 422 with detail entries', async () => {
  for (const id of ['x', '123', '..%2F..', 'g'.repeat(32), `${talk.id}0`, `{${talk.id}}`]) {
    const { status, json } = await server.rest.get(`/api/conversations/${id}/events/${idOf(events[0])}`)
    assert.is(status, 422, id)
    assert.equal(check('HTTPValidationError', json), [])
    assert.equal(member(json, 'detail', 0, 'loc'), ['path', 'conversation_id'])
    assert.is(member(json, 'detail', 0, 'type'), 'uuid_parsing')
  }
})

test('ids are taken with and without dashes', async () => {
  const path =
    `/api/conversations/${talk.id.replaceAll('-', '').toUpperCase()}/events/${idOf(events[3]).replaceAll('-', '')}`
  assert.is((await server.rest.get(path)).text, frames[3])
})

test('filters find what they name, alone and together', async () => {
  const kind = (name: string) => idsWhere((event) => event['kind'] === name)
  const cases: readonly (readonly [string, string[]])[] = [
    ['kind=ActionEvent', kind('ActionEvent')],
    ['kind=openhands.sdk.event.llm_convertible.message.MessageEvent', kind('MessageEvent')],
    ['kind=NoSuchEvent', []],
    ['kind=Event', []],
    ['source=user', idsWhere((event) => event['source'] === 'user')],
    ['source=environment', idsWhere((event) => event['source'] === 'environment')],
    ['body=SHOW%20ME', idsWhere((event) => event['source'] === 'user' && event['kind'] === 'MessageEvent')],
    ['body=%C3%A4%C3%B6%C3%BC+%F0%9F%8E%88',
      idsWhere((event) => event['source'] === 'user' && event['kind'] === 'MessageEvent')],
    ['body=ls+-la', idsWhere((event) => event['kind'] === 'MessageEvent' && JSON.stringify(event).includes('ls -la'))],
    ['body=a+script+has+no+thoughts',
      idsWhere((event) => event['kind'] === 'MessageEvent' && JSON.stringify(event).includes('no thoughts'))],
    ['body=no-such-words', []],
    ['kind=MessageEvent&source=agent',
      idsWhere((event) => event['kind'] === 'MessageEvent' && event['source'] === 'agent')],
    ['kind=ActionEvent&source=user', []],
    ['source=hook', []],
    ['source=', []],
    [`timestamp__gte=${at(5)}&timestamp__lt=${at(9)}`, events.slice(5, 9).map(idOf)],
    [`timestamp__gte=${at(5)}&kind=ActionEvent`,
      events.slice(5).filter((event) => event['kind'] === 'ActionEvent').map(idOf)],
    [`timestamp__gte=${at(9)}&timestamp__lt=${at(5)}`, []],
  ]
  for (const [query, expected] of cases) {
    assert.equal(await search(query), expected, query)
    assert.equal(await search(`${query}&sort_order=TIMESTAMP_DESC`), [...expected].reverse(), query)
    assert.is((await talk.get(`/events/count?${query}`)).json, expected.length, query)
  }
})

test('a time is taken with any offset, and without one as UTC', async () => {
  const instant = at(6)
  const naive = instant.slice(0, -1)
  const shifted = (hours: number): string =>
    new Date(Date.parse(instant) + hours * 3_600_000).toISOString().slice(0, 19) + instant.slice(19, 26)
  const forms = [
    instant, naive, naive.replace('T', ' '), `${naive}%2B00:00`, `${shifted(2)}%2B02:00`, `${shifted(-5)}-05:00`,
  ]
  for (const form of forms) {
    const query = `timestamp__gte=${form.replace(' ', '%20')}`
    assert.equal(await search(query), events.slice(6).map(idOf), form)
  }
})

test('pages in both directions follow each other without a gap or a double, also with filters', async () => {
  const all = events.map(idOf)
  const stats = idsWhere((event) => event['kind'] === 'ObservationEvent')
  const cases: readonly (readonly [string, string[]])[] = [
    ['limit=7', all],
    ['limit=7&sort_order=TIMESTAMP_DESC', [...all].reverse()],
    ['limit=2&kind=ObservationEvent', stats],
    ['limit=2&kind=ObservationEvent&sort_order=TIMESTAMP_DESC', [...stats].reverse()],
    [`limit=3&sort_order=TIMESTAMP_DESC&timestamp__lt=${at(8)}`, all.slice(0, 8).reverse()],
  ]
  for (const [query, expected] of cases) {
    const seen: string[] = []
    for (let page = ''; ; ) {
      const { json } = await talk.get(`/events/search?${query}${page}`)
      seen.push(...listAt(json, 'items').map(idOf))
      const next = member(json, 'next_page_id')
      if (next === null) break
      assert.is(next, expected[seen.length], query)
      page = `&page_id=${String(next)}`
    }
    assert.equal(seen, expected, query)
  }
})

test('a page that is exactly full is the last, and an unknown page begins from the start', async () => {
  const { json } = await talk.get(`/events/search?limit=${events.length}`)
  assert.is(member(json, 'next_page_id'), null)
  assert.equal(await search(`page_id=${randomUUID()}&limit=2`), events.slice(0, 2).map(idOf))
  assert.equal(await search('page_id=nonsense&limit=2'), events.slice(0, 2).map(idOf))
})

const badQueries: readonly (readonly [string, string, string])[] = [
  ['search?limit=0', 'limit', 'greater_than_equal'],
  ['search?limit=101', 'limit', 'less_than_equal'],
  ['search?limit=1.5', 'limit', 'int_parsing'],
  ['search?sort_order=DESC', 'sort_order', 'enum'],
  ['search?timestamp__gte=yesterday', 'timestamp__gte', 'datetime_parsing'],
  ['count?timestamp__lt=2026-13-01T00:00:00', 'timestamp__lt', 'datetime_parsing'],
]
for (const [query, name, type] of badQueries) {
  test(`refuses /events/${query} with 422 at "${name}"`, async () => {
    const { status, json, text } = await talk.get(`/events/${query}`)
    assert.is(status, 422, text)
    assert.equal(member(json, 'detail', 0, 'loc'), ['query', name])
    assert.is(member(json, 'detail', 0, 'type'), type)
  })
}

test('a batch keeps order and doubles, and gives null for an unknown id', async () => {
  const ids = [idOf(events[4]), randomUUID(), idOf(events[1]), 'x', idOf(events[4])]
  const { status, text } = await server.rest.send('GET', `${talk.path}/events`, { body: ids })
  assert.is(status, 200)
  assert.is(text, `[${frames[4]},null,${frames[1]},null,${frames[4]}]`)
  assert.is((await server.rest.send('GET', `${talk.path}/events`, { body: [] })).text, '[]')
})

test('a batch without a list of texts is 422', async () => {
  const cases: readonly (readonly [object, (string | number)[]])[] = [
    [{}, ['body']],
    [{ body: {} }, ['body']],
    [{ body: 'x' }, ['body']],
    [{ body: [idOf(events[0]), 7] }, ['body', 1]],
    [{ body: Array.from({ length: 1001 }, () => 'x') }, ['body']],
  ]
  for (const [call, loc] of cases) {
    const { status, json } = await server.rest.send('GET', `${talk.path}/events`, call)
    assert.is(status, 422)
    assert.equal(member(json, 'detail', 0, 'loc'), loc)
  }
})

test('a new message is in the history when its sending is answered', async () => {
  const own = await startTalk(server, 'echo')
  const content = [{ type: 'text', text: 'a picture' }, { type: 'image', image_urls: ['data:image/png;base64,AAAA'] }]
  const answer = await own.post('/events', { role: 'user', content, sender: 'ignored', nonsense: 1 })
  assert.equal(answer.json, { success: true })
  const [message, update] = await own.events()
  assert.is(member(message, 'source'), 'user')
  assert.is(member(message, 'sender'), undefined)
  assert.equal(listAt(message, 'llm_message', 'content').map((item) => member(item, 'type')), ['text', 'image'])
  assert.equal([member(update, 'key'), member(update, 'value')], ['last_user_message_id', idOf(message)])
  assert.is(await own.status(), 'idle')
})

const badMessages: readonly (readonly [unknown, (string | number)[]])[] = [
  [undefined, ['body']],
  [{ role: 'assistant', content: [] }, ['body', 'role']],
  [{ role: 'tool' }, ['body', 'role']],
  [{ content: 5 }, ['body', 'content']],
  [{ content: [{ type: 'text' }] }, ['body', 'content', 0, 'text']],
  [{ content: [{ type: 'video', url: 'x' }] }, ['body', 'content', 0]],
  [{ content: [{ type: 'text', text: 'x', surprise: 1 }] }, ['body', 'content', 0, 'surprise']],
  [{ content: [], run: 'yes' }, ['body', 'run']],
]
test('a message that is not valid is 422 and not stored', async () => {
  const own = await startTalk(server)
  for (const [body, loc] of badMessages) {
    const { status, json, text } = await own.post('/events', body)
    assert.is(status, 422, JSON.stringify(body))
    assert.ok(
      listAt(json, 'detail').some((issue) => JSON.stringify(member(issue, 'loc')) === JSON.stringify(loc)), text,
    )
  }
  assert.equal(await own.events(), [])
})

test.run()
