/** Retention on real servers: the conversations that go and stay, how it is told, and when a pass begins. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { fenceFolder } from '../../../src/base/write-fence.ts'
import type { Judged } from '../../../src/offers.ts'
import { readTrail } from '../../../src/parts/audit/reading.ts'
import { Schedule } from '../../../src/parts/retention/schedule.ts'
import { startReceiver } from '../../fixtures/webhook-receiver.ts'
import { makeFolder } from '../../support/processes.ts'
import { listAt, member, textAt } from '../../support/rest.ts'
import { fakeAgent, withServer, type TestServer, type TestServerOptions } from '../../support/server.ts'
import { suite } from '../../support/suite.ts'

const test = suite('parts/retention')

const dayMs = 86_400_000
const later = (): number => Date.now() + 40 * dayMs

async function create({ rest }: TestServer, body: object = {}): Promise<string> {
  return textAt((await rest.post('/api/conversations', { agent: fakeAgent('answer'), ...body })).json, 'id')
}

async function prune({ server }: TestServer): Promise<readonly Judged[]> {
  return (await server.use('retention')).prune(new AbortController().signal)
}

/** A folder on which one server makes conversations, and a later one, with other options, prunes. */
async function onFolder<T>(
  prepare: (server: TestServer) => Promise<T>,
  options: TestServerOptions,
  body: (server: TestServer, prepared: T) => Promise<void>,
): Promise<void> {
  const { folder, remove } = makeFolder()
  try {
    const prepared = await withServer(prepare, { folder })
    await withServer((server) => body(server, prepared), { folder, ...options })
  } finally {
    remove()
  }
}

test('webhooks are told of each conversation that goes, also of those below another', async () => {
  const receiver = await startReceiver()
  const ends = (received: typeof receiver.received): string[] => received.map(({ json }) => json)
    .filter((json) => member(json, 'execution_status') === 'deleting').map((json) => textAt(json, 'id'))
  try {
    await onFolder(
      async (server) => {
        const parent = await create(server)
        const { json } = await server.rest.get(`/api/conversations/${parent}`)
        const workspace = { working_dir: textAt(json, 'workspace', 'working_dir') }
        const child = await create(server, { parent_conversation_id: parent, workspace })
        return { goes: [parent, child, await create(server)], kept: await create(server, { tags: { keep: 'yes' } }) }
      },
      { retainDays: 30, clock: later, webhooks: [{ base_url: receiver.url, flush_delay: 0.01 }] },
      async (server, { goes, kept }) => {
        await prune(server)
        await receiver.until((received) => ends(received).length >= goes.length)
        assert.equal(ends(receiver.received).sort(), [...goes].sort())
        assert.is((await server.rest.get(`/api/conversations/${kept}`)).status, 200)
      },
    )
  } finally {
    await receiver.close()
  }
})

test('what nobody uses and no limit keeps goes as by DELETE, and the rest stays with its reason', () => onFolder(
  async (server) => {
    const parent = await create(server)
    const kept = await create(server, { tags: { keep: 'yes' } })
    const waiting = await create(server)
    const message = { role: 'user', content: [{ type: 'text', text: 'later' }] }
    assert.is((await server.rest.post(`/api/conversations/${waiting}/events`, { ...message, run: false })).status, 200)
    const working = textAt((await server.rest.get(`/api/conversations/${parent}`)).json, 'workspace', 'working_dir')
    const child = await create(server, { parent_conversation_id: parent, workspace: { working_dir: working } })
    return { plain: await create(server), parent, child, kept, waiting, read: await create(server) }
  },
  { retainDays: 30, audit: 'on', clock: later },
  async (server, { plain, parent, child, kept, waiting, read }) => {
    await server.rest.get(`/api/conversations/${read}/events/search`)
    const fresh = await create(server)
    const judged = await prune(server)
    const stays = new Map(judged.map((one) => [one.id, one.stays]))
    assert.equal([plain, parent, child].map((id) => stays.get(id)), [null, null, null])
    assert.match(String(stays.get(kept)), 'the tag "keep"')
    assert.is(stays.get(waiting), 'a message waits for a run')
    assert.match(String(stays.get(read)), 'in memory')
    assert.is(stays.has(fresh), false)
    assert.ok(judged.every(({ bytes, why }) => bytes > 0 && why === 'no change for more than 30 days'))
    const { json } = await server.rest.get('/api/conversations/search')
    const listed = listAt(json, 'items').map((item) => textAt(item, 'id'))
    assert.equal(new Set(listed), new Set([kept, waiting, read, fresh]))
    assert.is((await server.rest.get(`/api/conversations/${plain}`)).status, 404)
    assert.is(existsSync(join(server.dataDir, 'conversations', plain)), false)
    const records: unknown[] = []
    for await (const { json: record } of readTrail(server.dataDir)) records.push(JSON.parse(record.toString()))
    const deed = records.find((record) => member(record, 'conversation') === plain)
    assert.is(member(deed, 'operation'), 'DELETE /api/conversations/{conversation_id}')
    assert.is(member(deed, 'key'), 'retention of the server')
    assert.match(server.log.join(''), 'A conversation was removed by retention')
    assert.equal((await prune(server)).filter((one) => one.stays === null), [])
  },
))

test('the newest stay by number and by size', () => onFolder(
  async (server) => [await create(server), await create(server), await create(server)],
  { retainCount: 2 },
  async (server, [oldest = '', ...others]) => {
    assert.equal((await prune(server)).map(({ id, stays }) => [id, stays]), [[oldest, null]])
    assert.is((await server.rest.get('/api/conversations/count')).json, others.length)
  },
))

test('a limit of bytes removes until the rest fits', () => onFolder(
  async (server) => [await create(server), await create(server)],
  { retainBytes: 1 },
  async (server, ids) => {
    assert.equal((await prune(server)).map(({ id }) => id), ids)
    assert.is((await server.rest.get('/api/conversations/count')).json, 0)
  },
))

test('without a limit nothing is removed', () => withServer(async (server) => {
  await create(server)
  assert.match(String(await prune(server).catch((error: unknown) => error)), 'expected --retain-days')
  assert.is((await server.rest.get('/api/conversations/count')).json, 1)
}))

test('a conversation that is used between the judgement and the removal stays', () => onFolder(
  async (server) => create(server),
  { retainDays: 30, clock: later },
  async (server, id) => {
    const { server: { use } } = server
    const conversations = (await use('retention'))
    const pass = conversations.prune(new AbortController().signal)
    const title = server.rest.patch(`/api/conversations/${id}`, { title: 'still wanted' })
    const [judged] = await pass
    const status = (await title).status
    // Whichever came first: a removed conversation is missing for the request, and a changed one stays.
    assert.equal(judged?.stays === null ? 404 : 200, status)
  },
))

test('a conversation that cannot be removed keeps the ones above it, and not the ones beside it', () => onFolder(
  async (server) => {
    const parent = await create(server)
    const { json } = await server.rest.get(`/api/conversations/${parent}`)
    const workspace = { working_dir: textAt(json, 'workspace', 'working_dir') }
    const below = { parent_conversation_id: parent, workspace }
    return { parent, older: await create(server, below), newer: await create(server, below) }
  },
  { retainDays: 30, clock: later },
  async (server, { parent, older, newer }) => {
    const free = fenceFolder(join(server.dataDir, 'conversations', newer), () => false)
    const judged = await prune(server)
    free()
    const stays = new Map(judged.map((one) => [one.id, one.stays]))
    assert.match(String(stays.get(newer)), 'another server may own')
    assert.equal([stays.get(older), stays.get(parent)], [null, 'a conversation below it stays'])
  },
))

test('a signal ends the pass between two conversations', () => onFolder(
  async (server) => [await create(server), await create(server)],
  { retainDays: 30, clock: later },
  async (server) => {
    const thrown: unknown = await (await server.server.use('retention')).prune(AbortSignal.abort(new Error('enough')))
      .catch((error: unknown) => error)
    assert.match(String(thrown), 'enough')
    assert.is((await server.rest.get('/api/conversations/count')).json, 2)
  },
))

test('a pass begins when it is due and no run is under way, at the latest after the wait', async () => {
  let [now, isQuiet, passes] = [0, false, 0]
  let end = (): void => undefined
  const schedule = new Schedule({
    clock: () => now,
    isQuiet: () => isQuiet,
    pass: () => {
      passes++
      return new Promise((resolve) => (end = resolve))
    },
    times: { lookMs: 1_000_000, firstMs: 10, everyMs: 100, waitMs: 50 },
  })
  const lookAt = (at: number): number => {
    now = at
    schedule.look()
    return passes
  }
  assert.equal([lookAt(9), lookAt(10), lookAt(59)], [0, 0, 0])
  assert.is(lookAt(60), 1)
  assert.is(lookAt(1000), 1)
  end()
  await new Promise((resolve) => setImmediate(resolve))
  isQuiet = true
  assert.equal([lookAt(1099), lookAt(1100)], [1, 2])
  const closed = schedule.close()
  end()
  await closed
  assert.is(lookAt(5000), 2)
})

test.run()
