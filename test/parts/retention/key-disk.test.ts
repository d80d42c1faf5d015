/** The limit of disk space of a named key on real servers: the requests that are refused and served, and for whom. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { claimDataFolder } from '../../../src/storage/data-folder-claim.ts'
import { inFolder, until } from '../../support/processes.ts'
import { listAt, member, rest, textAt, type Rest, type RestResponse } from '../../support/rest.ts'
import { fakeAgent, runToEnd, withPrograms, withServer } from '../../support/server.ts'
import { suite } from '../../support/suite.ts'
import { formOf, upload } from '../files/form.ts'
import { addKey, runKeys } from '../keys/named.ts'

const test = suite('parts/retention: the disk space of a key', 60_000)

const limit = 512 * 1024
const flags = { scopes: 'read,drive,admin', 'max-disk': String(limit) }

const message = { role: 'user', content: [{ type: 'text', text: 'work' }], run: false }
const largeMessage = { ...message, content: [{ type: 'text', text: 'x'.repeat(limit) }] }

function create(rest: Rest, body: object = {}): Promise<RestResponse> {
  return rest.post('/api/conversations', { agent: fakeAgent('never'), ...body })
}

async function made(rest: Rest, body: object = {}): Promise<string> {
  const { status, json, text } = await create(rest, body)
  assert.is(status, 201, text)
  return textAt(json, 'id')
}

const send = (rest: Rest, id: string, body: object = message): Promise<RestResponse> => {
  return rest.post(`/api/conversations/${id}/events`, body)
}

/** Makes a conversation larger than the limit, and waits until the key is refused. Returns its id. */
async function filled(rest: Rest): Promise<string> {
  const id = await made(rest)
  assert.is((await send(rest, id, largeMessage)).status, 200)
  await until(async () => (await send(rest, id)).status === 507)
  return id
}

function assertFull({ status, json, text }: RestResponse, what: string): void {
  assert.is(status, 507, `${what}: ${text}`)
  assert.equal([member(json, 'code'), member(json, 'limit')], ['storage_full', limit], what)
  const used = Number(member(json, 'used'))
  assert.ok(used >= limit, what)
  assert.match(textAt(json, 'exception'), `of the key "ci" may have ${limit} bytes, and have ${used}: delete some`)
  assert.match(textAt(json, 'exception'), 'ask the operator')
}

test('new work of a key beyond its limit is 507, reading and deleting work, and the next key is not touched', () => {
  return withServer(async (server) => {
    const ci = (await addKey(server, 'ci', flags)).rest
    const other = (await addKey(server, 'other', flags)).rest
    const [free, own] = [await made(other), await made(ci)]
    const full = await filled(ci)
    const file = join(server.workspaceDir, 'letter.txt')
    const send507: Record<string, () => Promise<RestResponse>> = {
      conversation: () => create(ci),
      'conversation with a message': () => create(ci, { initial_message: { ...message, run: true } }),
      fork: () => ci.post(`/api/conversations/${free}/fork`, {}),
      message: () => send(ci, own),
      'message that begins a run': () => send(ci, own, { ...message, run: true }),
      'message of the owner in a conversation of the key': () => send(server.rest, own),
      run: () => ci.post(`/api/conversations/${full}/run`, {}),
      upload: () => upload({ ...server, rest: ci }, file, formOf('mine')),
    }
    const count = (await server.rest.get('/api/conversations/count')).json
    for (const [what, request] of Object.entries(send507)) assertFull(await request(), what)
    assert.is((await server.rest.get('/api/conversations/count')).json, count)
    assert.not.ok(existsSync(file))
    assert.is(listAt((await ci.get(`/api/conversations/${own}/events/search`)).json, 'items').length, 0)

    assert.is((await ci.get(`/api/conversations/${full}`)).status, 200)
    assert.is((await ci.patch(`/api/conversations/${full}`, { tags: { keep: 'yes' } })).status, 200)
    assert.is((await upload({ ...server, rest: other }, file, formOf('mine'))).status, 200)
    assert.is((await send(other, free)).status, 200)
    assert.is((await send(ci, free)).status, 200, 'it counts for the key that made it')
    await made(other)
    await made(server.rest)
    const fork = await other.post(`/api/conversations/${full}/fork`, {})
    assert.is(fork.status, 201, 'a fork counts for the key that forks')

    assert.is((await ci.delete(`/api/conversations/${full}`)).status, 200)
    await until(async () => (await send(ci, own)).status === 200)
    await made(ci)
  })
})

test('a goal of a key beyond its limit is 507', () => withServer(async (server) => {
  const ci = (await addKey(server, 'ci', flags)).rest
  const id = await made(ci, { agent: { kind: 'Agent', llm: { model: 'demo/scripted' } } })
  await filled(ci)
  assertFull(await ci.post(`/api/conversations/${id}/goal`, { objective: 'finish' }), 'goal')
}))

test('a run that is under way goes on at the limit, and its conversation can be interrupted', () => {
  return withServer(async (server) => {
    const ci = (await addKey(server, 'ci', flags)).rest
    const id = await made(ci)
    const status = async (): Promise<unknown> => {
      return member((await ci.get(`/api/conversations/${id}`)).json, 'execution_status')
    }
    assert.is((await send(ci, id, { ...message, run: true })).status, 200)
    await filled(ci)
    assert.is(await status(), 'running')
    assert.is((await ci.post(`/api/conversations/${id}/interrupt`, {})).status, 200)
    await until(async () => await status() !== 'running')
  })
})

test('a socket of a key beyond its limit gets the same refusal', () => withServer(async (server) => {
  const ci = (await addKey(server, 'ci', flags)).rest
  const id = await filled(ci)
  const socket = await server.socket(id)
  socket.send(JSON.stringify({ role: 'user', content: message.content }))
  let frame = await socket.next()
  while (!frame.includes('ServerErrorEvent')) frame = await socket.next()
  assert.match(frame, `of the key \\"ci\\" may have ${limit} bytes`)
}))

test('a repeated request with its key gets its first response at the limit', () => withServer(async (server) => {
  const ci = (await addKey(server, 'ci', flags)).rest
  const id = await made(ci)
  const once = { body: message, headers: { 'Idempotency-Key': 'once' } }
  const path = `/api/conversations/${id}/events`
  assert.is((await ci.send('POST', path, once)).status, 200)
  await filled(ci)
  assertFull(await send(ci, id), 'another message')
  assert.is((await ci.send('POST', path, once)).status, 200)
}))

test('a repeated creation with a message gets its first response at the limit', () => withServer(async (server) => {
  const ci = (await addKey(server, 'ci', flags)).rest
  const body = { agent: fakeAgent('never'), initial_message: message }
  const created = (key: string): Promise<RestResponse> => {
    return ci.send('POST', '/api/conversations', { body, headers: { 'Idempotency-Key': key } })
  }
  const first = await created('once')
  assert.is(first.status, 201, first.text)
  await filled(ci)
  assertFull(await created('other'), 'another creation')
  const again = await created('once')
  assert.equal([again.status, again.text], [201, first.text])
}))

test('a new model counts, and is refused at the limit', () => withServer(async (server) => {
  const ci = (await addKey(server, 'ci', flags)).rest
  const id = await made(ci, { agent: { kind: 'Agent', llm: { model: 'demo/scripted' } } })
  let count = 0
  const change = (): Promise<RestResponse> => {
    const llm = { model: 'demo/scripted', litellm_extra_body: { text: 'x'.repeat(limit / 8), count: count++ } }
    return ci.post(`/api/conversations/${id}/switch_llm`, { llm })
  }
  await until(async () => (await change()).status === 507)
  assertFull(await change(), 'new model')
  assertFull(await create(ci), 'conversation')
}))

test('at the limit a chat completion is refused before its stream begins', () => withServer(async (server) => {
  const ci = (await addKey(server, 'ci', flags)).rest
  const id = await filled(ci)
  for (const stream of [true, false]) {
    const body = { model: 'openhands', stream, messages: [{ role: 'user', content: 'work' }] }
    const headers = { 'X-OpenHands-ServerConversation-ID': id }
    const { status, json } = await ci.send('POST', '/v1/chat/completions', { body, headers })
    assert.equal([status, member(json, 'error', 'code')], [507, 'storage_full'])
    assert.match(textAt(json, 'error', 'message'), `of the key "ci" may have ${limit} bytes`)
  }
}))

test('the limit holds after a restart and a kill, a revocation ends it, and the name brings the use back',
  withPrograms(async (start, folder) => {
    const dataDir = join(folder, 'data')
    const keys = (...words: string[]) => runToEnd(['keys', ...words, '--data-dir', dataDir], folder)
    const first = await start()
    const { printed } = await runKeys(dataDir, ['add', 'ci'], flags)
    const key = printed.trim()
    const isKnown = async ({ url }: { url: string }, text = key): Promise<boolean> => {
      return (await rest(url, text).get('/api/settings')).status === 200
    }
    await until(() => isKnown(first))
    const id = await filled(rest(first.url, key))
    await first.stop('SIGTERM')

    const second = await start()
    await until(async () => (await send(rest(second.url, key), id)).status === 507)
    await second.stop('SIGKILL')

    const third = await start()
    await until(async () => (await send(third.rest, id)).status === 507)
    assert.match((await keys('list')).stdout, `${limit} bytes`)
    const { json } = await third.rest.get('/api/keys')
    assert.equal(listAt(json, 'items').map((item) => member(item, 'max_disk_bytes')), [limit])
    assert.is((await keys('revoke', 'ci')).code, 0)
    await until(async () => !await isKnown(third))
    assert.is((await send(third.rest, id)).status, 200, 'a revoked key has no limit')

    const next = await runKeys(dataDir, ['add', 'ci'], flags)
    await until(() => isKnown(third, next.printed.trim()))
    await until(async () => (await create(rest(third.url, next.printed.trim()))).status === 507)
  }))

test('without the part that keeps limits a key with a limit of disk space is refused', () => {
  return withServer(async (server) => {
    const { printed } = await runKeys(server.dataDir, ['add', 'ci'], flags)
    await addKey(server, 'other', { scopes: 'read' })
    assert.is((await create(rest(server.url, printed.trim()))).status, 401)
  }, { parts: ['keys'] })
})

test('a bad limit of disk space is refused, and the largest is that of the server', () => inFolder(async (folder) => {
  const dataDir = join(folder, 'data')
  const add = (name: string, size: string) => runKeys(dataDir, ['add', name], { scopes: 'read', 'max-disk': size })
  for (const size of ['0', '-1', '5GB', 'many', '1.5', '1G', '', String(2 ** 50 + 1), '9'.repeat(400)]) {
    const thrown: unknown = await add('bad', size).catch((error: unknown) => error)
    assert.match(String(thrown), /--max-disk .*expected a number of bytes from 1/, size)
  }
  await claimDataFolder(dataDir)
  await add('large', String(2 ** 50))
  assert.match((await runKeys(dataDir, ['list'])).printed, '1125899906842624 bytes')
}))

test.run()
