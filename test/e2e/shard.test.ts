/** Ids with a shard: every new conversation has it, and an id of another shard is refused. */
import { randomUUID } from 'node:crypto'
import * as assert from 'uvu/assert'
import { uuid } from '../../src/http/query.ts'
import { textAt } from '../support/rest.ts'
import { withServer } from '../support/server.ts'
import { suite } from '../support/suite.ts'
import { startTalk } from './talk.ts'

const test = suite('e2e/shard')
const versionFour = /^3f[0-9a-f]{6}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

test('new conversations, forks and chosen ids have the shard', () => withServer(async ({ rest, server }) => {
  const talk = await startTalk({ rest }, 'echo')
  assert.match(talk.id, versionFour)
  assert.ok(uuid().read([talk.id]).ok)
  assert.match(textAt((await rest.post(`${talk.path}/fork`)).json, 'id'), versionFour)
  assert.match((await server.createConversation()).id, versionFour)
  const chosen = `3f${randomUUID().slice(2)}`
  for (const given of [chosen, chosen.toUpperCase(), chosen.replaceAll('-', '')]) {
    const { status, json } = await rest.post('/api/conversations', { conversation_id: given })
    assert.ok(status === 201 || status === 200)
    assert.is(textAt(json, 'id'), chosen)
  }
}, { shard: '3f' }))

test('an id of another shard is refused with the shard of this server', () => withServer(async ({ rest }) => {
  const talk = await startTalk({ rest }, 'echo')
  const other = `40${randomUUID().slice(2)}`
  for (const [path, body, member] of [
    ['/api/conversations', { conversation_id: other }, 'conversation_id'],
    ['/api/conversations', { conversation_id: other.toUpperCase() }, 'conversation_id'],
    [`${talk.path}/fork`, { id: other }, 'id'],
  ] as const) {
    const { status, json } = await rest.post(path, body)
    assert.is(status, 422)
    assert.equal(json, { detail: [{
      type: 'other_shard', loc: ['body', member], input: other,
      msg: 'Expected an id that begins with "3f", the shard of this server, or no id',
    }] })
  }
  assert.is((await rest.get(`/api/conversations/${other}`)).status, 404)
}, { shard: '3f' }))

test('without a shard any id is accepted', () => withServer(async ({ rest }) => {
  const chosen = randomUUID()
  assert.is(textAt((await rest.post('/api/conversations', { conversation_id: chosen })).json, 'id'), chosen)
}))

test.run()
