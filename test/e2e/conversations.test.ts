/** Conversations as things: shown, listed, counted, changed, removed (contract: conversations.md 4). */
import * as assert from 'uvu/assert'
import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { check } from '../../src/schema/check.ts'
import { until } from '../support/processes.ts'
import { listAt, member, textAt } from '../support/rest.ts'
import { startServer, withServer, type TestServer } from '../support/server.ts'
import { suite } from '../support/suite.ts'
import { outline, startTalk, type Talk } from './talk.ts'

const test = suite('conversations')
let server: TestServer
const talks: Talk[] = []

test.before(async () => {
  server = await startServer()
  for (let count = 0; count < 5; count++) talks.push(await startTalk(server, 'echo'))
  await talks[1]?.send('run to the end')
  await talks[1]?.reaches('finished')
})
test.after(() => server.close())

const base = '/api/conversations'
const idsOf = (json: unknown): unknown[] => listAt(json, 'items').map((item) => member(item, 'id'))
const created = (): string[] => talks.map(({ id }) => id)

test('the list is sorted by creation, newest first, unless asked otherwise', async () => {
  const list = async (query: string): Promise<unknown[]> =>
    idsOf((await server.rest.get(`${base}/search${query}`)).json)
  assert.equal(await list(''), created().reverse())
  assert.equal(await list('?sort_order=CREATED_AT'), created())
  assert.equal(await list('?sort_order=CREATED_AT_DESC'), created().reverse())
  assert.is((await list('?sort_order=UPDATED_AT_DESC'))[0], talks[1]?.id)
  assert.is((await list('?sort_order=UPDATED_AT')).at(-1), talks[1]?.id)
})

test('pages follow each other without a gap or a double, and every item fits the schema', async () => {
  const seen: unknown[] = []
  let page = ''
  for (let expected = 2; expected >= 0; expected--) {
    const { json } = await server.rest.get(`${base}/search?limit=2&sort_order=CREATED_AT${page}`)
    assert.equal(check('ConversationPage', json), [])
    seen.push(...idsOf(json))
    const next = member(json, 'next_page_id')
    if (expected === 0) assert.is(next, null)
    else assert.match(String(next), /^[0-9a-f]{32}$/)
    page = `&page_id=${String(next)}`
  }
  assert.equal(seen, created())
})

test('a page that is exactly full has no next one, an unknown page begins from the start', async () => {
  const { json } = await server.rest.get(`${base}/search?limit=5`)
  assert.is(member(json, 'next_page_id'), null)
  const unknown = await server.rest.get(`${base}/search?page_id=${randomUUID()}`)
  assert.is(idsOf(unknown.json).length, 5)
})

test('lists and counts can be limited to a status', async () => {
  const { json } = await server.rest.get(`${base}/search?status=finished`)
  assert.equal(idsOf(json), [talks[1]?.id])
  assert.is((await server.rest.get(`${base}/count?status=finished`)).json, 1)
  assert.is((await server.rest.get(`${base}/count?status=stuck`)).json, 0)
  assert.is((await server.rest.get(`${base}/count`)).text, '5')
})

const badQueries: readonly (readonly [string, string, string])[] = [
  ['/search?limit=0', 'limit', 'greater_than_equal'],
  ['/search?limit=101', 'limit', 'less_than_equal'],
  ['/search?limit=x', 'limit', 'int_parsing'],
  ['/search?limit=', 'limit', 'int_parsing'],
  ['/search?status=asleep', 'status', 'enum'],
  ['/search?sort_order=UP', 'sort_order', 'enum'],
  ['/search?include_skills=perhaps', 'include_skills', 'bool_parsing'],
  ['/count?status=asleep', 'status', 'enum'],
  ['', 'ids', 'missing'],
  ['?ids=', 'ids', 'uuid_parsing'],
  ['?ids=x', 'ids', 'uuid_parsing'],
  [`?${Array.from({ length: 100 }, () => `ids=${randomUUID()}`).join('&')}`, 'ids', 'too_long'],
]
for (const [query, name, type] of badQueries) {
  test(`refuses ${base}${query.slice(0, 30)} with 422 at "${name}"`, async () => {
    const { status, json, text } = await server.rest.get(base + query)
    assert.is(status, 422, text)
    const [issue] = listAt(json, 'detail')
    assert.equal(listAt(issue, 'loc').slice(0, 2), ['query', name])
    assert.is(member(issue, 'type'), type)
  })
}

test('a batch keeps the order, gives null for what is not there, and takes 99 ids', async () => {
  const [first, second] = talks
  const query = `?ids=${second?.id}&ids=${randomUUID()}&ids=${first?.id.replaceAll('-', '')}`
  const { json } = await server.rest.get(base + query)
  assert.equal(listAt({ json }, 'json').map((item) => member(item, 'id')), [second?.id, undefined, first?.id])
  assert.is(member(json, 1), null)
  const many = Array.from({ length: 99 }, () => `ids=${randomUUID()}`).join('&')
  assert.is((await server.rest.get(`${base}?${many}`)).status, 200)
})

test('one conversation, its item in the list and its item in a batch are the same', async () => {
  const [first] = talks
  const one = await server.rest.get(`${base}/${first?.id}`)
  const batch = await server.rest.get(`${base}?ids=${first?.id}`)
  const list = await server.rest.get(`${base}/search?sort_order=CREATED_AT&limit=1`)
  assert.equal(member(batch.json, 0), one.json)
  assert.equal(member(list.json, 'items', 0), one.json)
})

test('skills of the agent are left out unless asked for', async () => {
  const skill = { name: 'a-skill', content: 'words' }
  const agent = {
    kind: 'Agent', llm: { model: 'x/y' }, agent_context: { skills: [skill], system_message_suffix: 'kept' },
  }
  const { id } = await startTalk(server, { agent })
  for (const path of [`${base}/${id}?`, `${base}?ids=${id}&`]) {
    const without = await server.rest.get(path)
    const withSkills = await server.rest.get(`${path}include_skills=true`)
    assert.not.match(without.text, 'a-skill', path)
    assert.match(without.text, 'kept')
    assert.match(withSkills.text, 'a-skill', path)
  }
  await server.rest.delete(`${base}/${id}`)
})

test('a patch that would move a conversation is refused whole; the workspace it has is no move', async () => {
  const talk = await startTalk(server)
  const workspace = member((await talk.get()).json, 'workspace')
  const moved = await server.rest.patch(talk.path, {
    title: 'New', workspace: { working_dir: join(server.folder, 'other') },
  })
  assert.is(moved.status, 422)
  assert.match(
    JSON.stringify(moved.json), 'A conversation keeps its workspace: start a new conversation in the other folder',
  )
  assert.not.ok(existsSync(join(server.folder, 'other')))
  const after = (await talk.get()).json
  assert.equal([member(after, 'workspace'), member(after, 'title')], [workspace, null])
  assert.is((await server.rest.patch(talk.path, { title: 'New', workspace })).status, 200)
  assert.is(member((await talk.get()).json, 'title'), 'New')
  await server.rest.delete(talk.path)
})

test('a patch changes the title and replaces the tags; it counts as a change of the conversation', async () => {
  const talk = await startTalk(server, { tags: { a: '1' } })
  const before = (await talk.get()).json
  const answer = await server.rest.patch(talk.path, { title: '  A title ', tags: { b: '2' } })
  assert.equal(answer.json, { success: true })
  const after = (await talk.get()).json
  assert.is(member(after, 'title'), 'A title')
  assert.equal(member(after, 'tags'), { b: '2' })
  assert.ok(textAt(after, 'updated_at') > textAt(before, 'updated_at'))
  assert.equal(outline(await talk.events()), ['(tags)'])
  assert.is((await server.rest.patch(talk.path, {})).status, 200)
  assert.equal(member((await talk.get()).json, 'tags'), { b: '2' })
  await server.rest.delete(talk.path)
})

test('refuses titles and tags that are not valid', async () => {
  const talk = await startTalk(server)
  for (const body of [
    { title: '' }, { title: '   ' }, { title: 'x'.repeat(201) }, { title: 7 }, { tags: { 'a b': '' } },
    { tags: { a: 'x'.repeat(257) } }, [],
  ]) {
    const { status, json } = await server.rest.patch(talk.path, body)
    assert.is(status, 422, JSON.stringify(body))
    assert.is(member(json, 'detail', 0, 'loc', 0), 'body')
  }
  assert.is((await server.rest.patch(talk.path)).status, 422)
  assert.is(member((await talk.get()).json, 'title'), null)
  await server.rest.delete(talk.path)
})

test('delete takes a conversation away, keeps its workspace, and is 404 the second time', async () => {
  const talk = await startTalk(server, 'echo')
  await talk.send('hello')
  await talk.reaches('finished')
  const { json } = await talk.get()
  assert.equal((await server.rest.delete(talk.path)).json, { success: true })
  assert.is((await talk.get()).status, 404)
  assert.is((await talk.get('/events/search')).status, 404)
  assert.is((await server.rest.delete(talk.path)).status, 404)
  assert.ok(existsSync(textAt(json, 'workspace', 'working_dir')))
  await until(() => !existsSync(textAt(json, 'persistence_dir')))
  const again = await server.rest.post(base, { conversation_id: talk.id })
  assert.is(again.status, 201)
  assert.is(member(again.json, 'last_user_message_id'), null)
  await server.rest.delete(talk.path)
})

test('a conversation that is deleted by many at once goes once', async () => {
  const talk = await startTalk(server)
  const answers = await Promise.all(Array.from({ length: 8 }, () => server.rest.delete(talk.path)))
  assert.equal(answers.map(({ status }) => status).sort(), [200, ...Array.from({ length: 7 }, () => 404)])
})

test('the list survives a restart, in order, with everything that was changed', () =>
  withServer(async (own) => {
    const first = await startTalk(own, 'echo')
    await first.send('hello')
    await first.reaches('finished')
    const second = await startTalk(own, { tags: { a: '1' } })
    await own.rest.patch(second.path, { title: 'Kept' })
    const before = (await own.rest.get(`${base}/search`)).json
    await own.server.close()
    const again = await startServer({ folder: own.folder })
    const after = (await again.rest.get(`${base}/search`)).json
    await again.close()
    assert.equal(after, before)
  }))

test.run()
