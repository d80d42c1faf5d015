/** Who may open `/sockets/events/{id}`, and who may not (contract: websocket.md 1 and 2, decisions 32, 33). */
import * as assert from 'uvu/assert'
import { randomUUID } from 'node:crypto'
import { check } from '../../src/schema/check.ts'
import { member } from '../support/rest.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { suite } from '../support/suite.ts'
import { connect, Refused } from '../support/ws-client.ts'
import { framesOf, startTalk, userMessage, type Talk } from './talk.ts'

const test = suite('socket opening')
let server: TestServer
let talk: Talk

test.before(async () => {
  server = await startServer({ authTimeoutMs: 2000 })
  talk = await startTalk(server, 'echo')
})
test.after(() => server.close())

const address = (id: string, query = ''): string => `${server.url}/sockets/events/${id}${query}`
const authFrame = (key: string, more = {}): string => JSON.stringify({ type: 'auth', session_api_key: key, ...more })

/** The answer to an upgrade that is refused. */
async function refusal(url: string, headers = {}): Promise<Refused> {
  const outcome = await connect(url, headers).then((client) => client.destroy(), (error: unknown) => error)
  if (outcome instanceof Refused) return outcome
  throw new Error(`Expected a refusal, got ${String(outcome)}`)
}

test(
  'the key in the header, in the query or in the first frame opens the stream, which begins with the full state',
  async () => {
    const clients = [
      await connect(address(talk.id), { 'X-Session-API-Key': server.key }),
      await connect(address(talk.id, `?session_api_key=${server.key}`)),
      await connect(address(talk.id)),
      await connect(address(talk.id)),
    ]
    clients[2]?.send(authFrame(server.key))
    clients[3]?.send(authFrame(server.key, { client: 'tolerated here' }))
    for (const client of clients) {
      await client.next()
      const [first] = framesOf(client)
      assert.equal(check('ConversationStateUpdateEvent', first), [])
      assert.is(first?.['key'], 'full_state')
      assert.is(member(first, 'value', 'id'), talk.id)
      assert.is(member(first, 'value', 'execution_status'), 'idle')
      assert.is(client.messages.length, 1)
      await client.close()
    }
  },
)

test('a wrong key, and parameters that are not valid, are refused with 403 before the upgrade', async () => {
  const withKey = { 'X-Session-API-Key': server.key }
  const cases: readonly (readonly [string, object])[] = [
    [address(talk.id, '?session_api_key=wrong'), {}],
    [address(talk.id, '?session_api_key='), withKey],
    [address(talk.id, '?session_api_key=wrong'), withKey],
    [address(talk.id), { 'X-Session-API-Key': 'wrong' }],
    [address(talk.id), { 'X-Session-API-Key': server.key.toUpperCase() }],
    [address('nonsense'), withKey],
    [address(talk.id, '?resend_mode=some'), withKey],
    [address(talk.id, '?resend_mode=since&after_timestamp=yesterday'), withKey],
    [address(talk.id), { ...withKey, Origin: 'https://evil.example' }],
    [address(talk.id), { ...withKey, Origin: 'null' }],
    [address(talk.id), { ...withKey, Host: 'evil.example' }],
  ]
  for (const [url, headers] of cases) {
    const { status, body } = await refusal(url, headers)
    assert.is(status, 403, `${url} ${JSON.stringify(headers)}`)
    assert.type(member(JSON.parse(body), 'detail'), 'string')
    assert.not.match(body, server.key)
  }
  assert.is((await refusal(`${server.url}/sockets/other/${talk.id}`, withKey)).status, 404)
  assert.is((await refusal(`${server.url}/api/conversations`, withKey)).status, 404)
})

test('pages of this machine and of the server itself may open a socket', async () => {
  for (const origin of ['http://localhost:3999', 'http://127.0.0.1:1', server.url]) {
    const client = await connect(address(talk.id), { 'X-Session-API-Key': server.key, Origin: origin })
    await client.next()
    await client.close()
  }
})

const badFirstFrames: readonly (readonly [string, string | undefined])[] = [
  ['nothing in time', undefined],
  ['no JSON', 'hello'],
  ['no object', '[]'],
  ['another type', JSON.stringify({ type: 'login', session_api_key: 'the-key-of-the-tests' })],
  ['no key', JSON.stringify({ type: 'auth' })],
  ['a wrong key', authFrame('wrong')],
  ['a message', JSON.stringify(userMessage('not run'))],
]
for (const [what, text] of badFirstFrames) {
  test(`without a key, a first frame that is ${what} closes with 4001 and tells nothing`, async () => {
    const client = await connect(address(talk.id))
    if (text !== undefined) client.send(text)
    assert.equal(await client.closed, { code: 4001, reason: 'Authentication failed' })
    assert.equal(client.messages, [])
  })
}

test('a socket that sent its key in time stays open when the time is over', async () => {
  const client = await connect(address(talk.id))
  client.send(authFrame(server.key))
  await client.next()
  const silent = await connect(address(talk.id))
  assert.is((await silent.closed).code, 4001)
  client.send('no JSON')
  const [, answer] = [await client.next(), framesOf(client).at(-1)]
  assert.is(answer?.['kind'], 'ServerErrorEvent')
  assert.is((await client.close(1000)).code, 1000)
})

test('before it is authenticated a socket may send little', async () => {
  const client = await connect(address(talk.id))
  client.send(JSON.stringify({ type: 'auth', session_api_key: 'x'.repeat(20_000) }))
  const { code } = await client.closed
  assert.ok(code === 1009 || code === 4001, String(code))
})

test('an unknown conversation is accepted and closed with 4004, but only for who has a key', async () => {
  const client = await server.socket(randomUUID())
  assert.equal(await client.closed, { code: 4004, reason: 'Conversation not found' })
  const stranger = await connect(address(randomUUID()))
  stranger.send(authFrame('wrong'))
  assert.is((await stranger.closed).code, 4001)
})

test.run()
