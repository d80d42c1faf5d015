/** A socket that joins a failed conversation gets the reason once; other conversations have none. */
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { until } from '../support/processes.ts'
import { member } from '../support/rest.ts'
import { withServer } from '../support/server.ts'
import { suite } from '../support/suite.ts'
import { framesOf } from './talk.ts'

const test = suite('e2e/socket-failure', 30_000)

test('says why the last run failed, and nothing after a run that went well', () => withServer(async (server) => {
  const { rest, folder, socket } = server
  const agent = { kind: 'ACPAgent', acp_command: [join(folder, 'no-such-program')] }
  const { json } = await rest.post('/api/conversations', { agent })
  const id = String(member(json, 'id'))
  const errors = async (): Promise<unknown[]> => {
    const client = await socket(id)
    const content = [{ type: 'text', text: 'one more' }]
    await rest.post(`/api/conversations/${id}/events`, { role: 'user', content, run: false })
    await client.until(() => framesOf(client).some(({ kind }) => kind === 'MessageEvent'))
    const found = framesOf(client).filter(({ kind }) => kind === 'ServerErrorEvent')
    await client.close()
    return found.map(({ code, detail }) => [code, detail])
  }
  assert.equal(await errors(), [])
  await rest.post(`/api/conversations/${id}/run`)
  const status = async (): Promise<unknown> => member((await rest.get(`/api/conversations/${id}`)).json,
    'execution_status')
  await until(async () => (await status()) === 'error')
  const stored = await rest.get(`/api/conversations/${id}/events/search?kind=ConversationErrorEvent`)
  const [code, detail] = [member(stored.json, 'items', 0, 'code'), member(stored.json, 'items', 0, 'detail')]
  assert.type(detail, 'string')
  assert.equal(await errors(), [[code, detail]])
}))

test.run()
