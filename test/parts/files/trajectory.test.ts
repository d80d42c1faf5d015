/** A conversation as an archive: its events byte for byte, no secret, and nothing for an unknown conversation. */
import { inflateRawSync } from 'node:zlib'
import * as assert from 'uvu/assert'
import { member, textAt, listAt } from '../../support/rest.ts'
import { withServer, type TestServer } from '../../support/server.ts'
import { suite } from '../../support/suite.ts'

const test = suite('parts/files trajectory')
const secret = 'a-secret-that-nobody-sees'

async function zipOf(server: TestServer, id: string): Promise<Buffer> {
  const response = await fetch(`${server.url}/api/file/download-trajectory/${id}`, {
    headers: { 'X-Session-API-Key': server.key },
  })
  assert.equal([response.status, response.headers.get('content-type')], [200, 'application/zip'])
  return Buffer.from(await response.arrayBuffer())
}

/** The entries, by their local headers. */
function entriesOf(zip: Buffer): Map<string, string> {
  const found = new Map<string, string>()
  for (let at = 0; zip.toString('latin1', at, at + 4) === 'PK\x03\x04';) {
    const [packed, length] = [zip.readUInt32LE(at + 18), zip.readUInt16LE(at + 26)]
    const start = at + 30 + length
    found.set(zip.toString('utf8', at + 30, start), inflateRawSync(zip.subarray(start, start + packed)).toString())
    at = start + packed
  }
  return found
}

test('has the conversation and each event, and no secret', () => withServer(async (server) => {
  const { rest } = server
  const agent = { kind: 'Agent', llm: { model: 'dummy/model', api_key: secret } }
  const id = textAt(
    (await rest.post('/api/conversations', {
      agent, secrets: { TOKEN: { kind: 'StaticSecret', value: secret } },
    })).json,
    'id',
  )
  await rest.post(`/api/conversations/${id}/events`, {
    role: 'user', content: [{ type: 'text', text: 'one' }], run: false,
  })
  await rest.post(`/api/conversations/${id}/events`, {
    role: 'user', content: [{ type: 'text', text: 'two' }], run: false,
  })
  const entries = entriesOf(await zipOf(server, id))
  const events = listAt((await rest.get(`/api/conversations/${id}/events/search`)).json, 'items')
  assert.is(member(JSON.parse(entries.get('conversation.json') ?? ''), 'id'), id)
  assert.ok(events.length >= 2)
  const names = events.map((event, index) => {
    return `events/event-${String(index).padStart(5, '0')}-${textAt(event, 'id')}.json`
  })
  assert.equal([...entries.keys()], ['conversation.json', ...names])
  for (const [index, name] of names.entries()) assert.equal(JSON.parse(entries.get(name) ?? ''), events[index])
  assert.is([...entries.values()].join().includes(secret), false)
}))

test('is 404 for an unknown conversation, 422 for a wrong id', () => withServer(async ({ rest }) => {
  assert.is((await rest.get('/api/file/download-trajectory/00000000-0000-4000-8000-000000000001')).status, 404)
  assert.is((await rest.get('/api/file/download-trajectory/x')).status, 422)
}))

test.run()
