/** Limits of conversations, runs and the data folder on real servers: of the server, and of named keys. */
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { claimDataFolder } from '../../../src/storage/data-folder-claim.ts'
import { makeFolder, until } from '../../support/processes.ts'
import { listAt, member, rest, textAt, type Rest, type RestResponse } from '../../support/rest.ts'
import { fakeAgent, runToEnd, withServer, type TestServer } from '../../support/server.ts'
import { suite } from '../../support/suite.ts'
import { addKey, runKeys } from '../keys/named.ts'

const test = suite('parts/retention: limits')

const message = { role: 'user', content: [{ type: 'text', text: 'work' }], run: true }

function create(rest: Rest, body: object = {}): Promise<RestResponse> {
  return rest.post('/api/conversations', { agent: fakeAgent('never'), ...body })
}

async function made(rest: Rest, body: object = {}): Promise<string> {
  const { status, json, text } = await create(rest, body)
  assert.is(status, 201, text)
  return textAt(json, 'id')
}

const run = (rest: Rest, id: string): Promise<RestResponse> => rest.post(`/api/conversations/${id}/events`, message)

async function settled({ rest }: TestServer, id: string): Promise<void> {
  await rest.post(`/api/conversations/${id}/interrupt`, {})
  await until(async () => member((await rest.get(`/api/conversations/${id}`)).json, 'execution_status') !== 'running')
}

function assertRefused(
  { status, json }: RestResponse, wanted: number, code: string, limit: number, used: number,
): void {
  assert.is(status, wanted, JSON.stringify(json))
  assert.equal([member(json, 'code'), member(json, 'limit'), member(json, 'used')], [code, limit, used])
}

test('one conversation more than the limit is 409, also of many at once, and none is left half-made', () => {
  return withServer(async ({ rest }) => {
    const first = await made(rest, { conversation_id: '0a000000-0000-4000-8000-000000000001' })
    const answers = await Promise.all(Array.from({ length: 12 }, () => create(rest)))
    assert.is(answers.filter(({ status }) => status === 201).length, 2)
    for (const answer of answers.filter(({ status }) => status !== 201)) {
      assert.is(answer.status, 409)
      assert.match(answer.text, '--max-conversations')
      assert.match(answer.text, 'delete a conversation first')
    }
    assert.is((await rest.get('/api/conversations/count')).json, 3)
    assertRefused(await create(rest), 409, 'too_many_conversations', 3, 3)
    assertRefused(await rest.post(`/api/conversations/${first}/fork`, {}), 409, 'too_many_conversations', 3, 3)
    // The conversation with this id exists, so nothing is made.
    assert.is((await create(rest, { conversation_id: first })).status, 200)
    assert.equal(member((await rest.get('/server_info')).json, 'limits'), { conversations: 3 })
    await rest.delete(`/api/conversations/${first}`)
    await made(rest)
  }, { maxConversations: 3 })
})

test('a repeated creation with its key is answered at the limit', () => withServer(async ({ rest }) => {
  const body = { body: { agent: fakeAgent('never') }, headers: { 'Idempotency-Key': 'once' } }
  const first = await rest.send('POST', '/api/conversations', body)
  assert.is(first.status, 201)
  assert.is((await rest.send('POST', '/api/conversations', body)).text, first.text)
}, { maxConversations: 1 }))

test('one run more than the limit is 429 with Retry-After, and changes nothing', () => withServer(async (server) => {
  const { rest } = server
  const [first, second, third] = [await made(rest), await made(rest), await made(rest)]
  assert.is((await run(rest, first)).status, 200)
  assert.is((await run(rest, first)).status, 200, 'the run under way takes the message')
  const answers = await Promise.all([run(rest, second), run(rest, third)])
  assert.equal(answers.map(({ status }) => status).sort(), [200, 429])
  const refused = answers.findIndex(({ status }) => status === 429) === 0 ? second : third
  const answer = await run(rest, refused)
  assertRefused(answer, 429, 'too_many_runs', 2, 2)
  assert.is(answer.headers['retry-after'], '5')
  assert.match(answer.text, '--max-runs')
  assert.is(listAt((await rest.get(`/api/conversations/${refused}/events/search`)).json, 'items').length, 0)
  assert.is((await rest.post(`/api/conversations/${refused}/run`, {})).status, 429)
  assert.is((await create(rest, { initial_message: message })).status, 429)
  assert.is((await rest.get('/api/conversations/count')).json, 3)
  assert.is((await rest.post(`/api/conversations/${refused}/events`, { ...message, run: false })).status, 200)
  await settled(server, first)
  assert.is((await run(rest, refused)).status, 200)
}, { maxRuns: 2 }))

test('at the limit of runs a repeated creation with a message gets its first response', () => {
  return withServer(async ({ rest }) => {
    const asked = { agent: fakeAgent('never'), initial_message: message }
    const body = { body: asked, headers: { 'Idempotency-Key': 'once' } }
    const answers = await Promise.all([1, 2].map(() => rest.send('POST', '/api/conversations', body)))
    answers.push(await rest.send('POST', '/api/conversations', body))
    const [first] = answers
    assert.equal(answers.map(({ status, text }) => [status, text]), answers.map(() => [201, first?.text]))
    assert.is((await create(rest, { initial_message: message })).status, 429)
  }, { maxRuns: 1 })
})

test('at the limit of runs a chat completion is 429 before its stream begins, and makes no conversation', () => {
  return withServer(async (server) => {
    const { rest } = server
    const [first, second] = [await made(rest), await made(rest)]
    assert.is((await run(rest, first)).status, 200)
    for (const headers of [{}, { 'X-OpenHands-ServerConversation-ID': second }]) {
      const body = { model: 'openhands', stream: true, messages: [{ role: 'user', content: 'work' }] }
      const answer = await rest.send('POST', '/v1/chat/completions', { body, headers })
      assert.equal([answer.status, member(answer.json, 'error', 'code')], [429, 'too_many_runs'])
      assert.is(answer.headers['retry-after'], '5')
    }
    assert.is((await rest.get('/api/conversations/count')).json, 2)
    await settled(server, first)
    assert.is((await run(rest, second)).status, 200, 'a refused run does not count')
  }, { maxRuns: 1 })
})

test('a named key has limits, which count the conversations that it made', () => withServer(async (server) => {
  const flags = { scopes: 'read,drive', 'max-conversations': '2', 'max-runs': '1' }
  const ci = (await addKey(server, 'ci', flags)).rest
  const other = (await addKey(server, 'other', { scopes: 'read,drive' })).rest
  const [first, second] = [await made(ci), await made(ci)]
  assertRefused(await create(ci), 409, 'too_many_conversations', 2, 2)
  assertRefused(await ci.post(`/api/conversations/${first}/fork`, {}), 409, 'too_many_conversations', 2, 2)
  await made(other)
  await made(server.rest)
  assert.is((await run(ci, first)).status, 200)
  const answer = await run(ci, second)
  assertRefused(answer, 429, 'too_many_runs', 1, 1)
  assert.match(answer.text, 'ci')
  assert.is((await run(other, second)).status, 429, 'it counts for the key that made it')
  await ci.delete(`/api/conversations/${first}`)
  await made(ci)
  const { json } = await server.rest.get('/api/keys')
  const shown = listAt(json, 'items').map((item) => [member(item, 'max_conversations'), member(item, 'max_runs')])
  assert.equal(shown, [[2, 1], [null, null]])
}))

test('the limits of a key hold from its first request on, of many at once', () => withServer(async (server) => {
  for (const name of ['first', 'second']) {
    const { printed } = await runKeys(server.dataDir, ['add', name], { scopes: 'read,drive', 'max-conversations': '1' })
    const ci = rest(server.url, printed.trim())
    const statuses: number[] = []
    await until(async () => {
      const answers = await Promise.all(Array.from({ length: 4 }, () => create(ci)))
      statuses.push(...answers.map(({ status }) => status).filter((status) => status !== 401))
      return statuses.length >= 4
    })
    assert.equal([statuses.filter((status) => status === 201).length, new Set(statuses).size], [1, 2], String(statuses))
  }
}))

test('without the part that keeps limits a key with limits is refused, and the log says why', async () => {
  await withServer(async (server) => {
    const { printed } = await runKeys(server.dataDir, ['add', 'ci'], { scopes: 'read,drive', 'max-conversations': '1' })
    // A key without limits that is added later is known, so the server has read the first key too.
    const { rest: other } = await addKey(server, 'other', { scopes: 'read,drive' })
    assert.is((await create(rest(server.url, printed.trim()))).status, 401)
    assert.is((await create(other)).status, 201)
    const lines = server.log.filter((line) => line.includes('The limits of a named key cannot be kept'))
    assert.match(lines[0] ?? '', /"ci".*retention|retention.*"ci"/)
  }, { parts: ['keys'] })
})

test('the maker of a conversation is known after a restart, and after a crash', async () => {
  const { folder, remove } = makeFolder()
  const flags = { scopes: 'read,drive', 'max-conversations': '2' }
  try {
    const key = await withServer(async (server) => {
      const added = await addKey(server, 'ci', flags)
      const id = await made(added.rest)
      const fork = await server.rest.post(`/api/conversations/${id}/fork`, {})
      assert.is(fork.status, 201, 'the fork belongs to the session key')
      await made(added.rest)
      return added.key
    }, { folder })
    const refused = (): Promise<void> => withServer(async ({ rest }) => {
      const answer = await rest.send('POST', '/api/conversations', {
        body: { agent: fakeAgent('never') }, headers: { 'X-Session-API-Key': key },
      })
      assertRefused(answer, 409, 'too_many_conversations', 2, 2)
    }, { folder })
    await refused()
    rmSync(join(folder, 'data', 'list.json'))
    await refused()
  } finally {
    remove()
  }
})

test('a full data folder refuses new work with 507, serves the rest, and takes work again', async () => {
  const { folder, remove } = makeFolder()
  const ballast = join(folder, 'data', 'ballast')
  try {
    const id = await withServer(({ rest }) => made(rest), { folder })
    writeFileSync(ballast, Buffer.alloc(8 * 1024 * 1024, 1))
    await withServer(async ({ rest, log }) => {
      await until(async () => (await create(rest)).status === 507)
      const refusal: unknown = JSON.parse(log.findLast((line) => line.includes('A limit refused a request')) ?? '')
      assert.equal([member(refusal, 'level'), member(refusal, 'code')], ['info', 'storage_full'])
      assert.match(String(member(refusal, 'reason')), '--max-disk')
      assert.not.match(log.join(''), 'A request failed')
      const answer = await run(rest, id)
      assert.is(answer.status, 507)
      assert.equal([member(answer.json, 'code'), member(answer.json, 'limit')], ['storage_full', 8 * 1024 * 1024])
      assert.match(answer.text, '--max-disk')
      assert.is((await rest.post(`/api/conversations/${id}/events`, { ...message, run: false })).status, 507)
      assert.is((await rest.post(`/api/conversations/${id}/run`, {})).status, 507)
      assert.is((await rest.get('/ready')).status, 200)
      assert.is((await rest.patch(`/api/conversations/${id}`, { tags: { keep: 'yes' } })).status, 200)
      rmSync(ballast)
      await until(async () => (await create(rest)).status === 201)
    }, { folder, maxDisk: 8 * 1024 * 1024 })
  } finally {
    remove()
  }
})

test('the limits are in the metrics, and a server without limits has none', async () => {
  await withServer(async ({ rest }) => {
    await run(rest, await made(rest))
    const { text } = await rest.get('/metrics')
    const lines = ['max_conversations 7', 'max_runs 3', 'runs 1', 'max_disk_bytes 1000000000']
    for (const line of lines) assert.match(text, `agent_server_${line}\n`)
    assert.match(text, /agent_server_disk_used_bytes \d+\n/)
  }, { metrics: true, maxConversations: 7, maxRuns: 3, maxDisk: 1_000_000_000 })
  await withServer(async ({ rest }) => {
    assert.not.match((await rest.get('/metrics')).text, 'agent_server_max_')
    assert.equal(member((await rest.get('/server_info')).json, 'limits'), {})
  }, { metrics: true })
})

test('bad limits of a key are refused', async () => {
  const { folder, remove } = makeFolder()
  try {
    await claimDataFolder(join(folder, 'data'))
    const words = ['keys', 'add', 'ci', '--scopes', 'read', '--data-dir', join(folder, 'data')]
    for (const value of ['0', '-1', 'many', '1.5', '99999999', '']) {
      for (const flag of ['max-runs', 'max-conversations']) {
        const end = await runToEnd([...words, `--${flag}=${value}`], folder)
        assert.is(end.code, 2, end.stderr)
        assert.match(end.stderr, `--${flag}`)
      }
    }
    assert.is((await runToEnd([...words, '--max-runs', '3'], folder)).code, 0)
    const listed = await runToEnd(['keys', 'list', '--data-dir', join(folder, 'data')], folder)
    assert.match(listed.stdout, '3 runs')
  } finally {
    remove()
  }
})

test.run()
