/** Sockets get the reason of a failed or stuck run, once; other conversations have none. */
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { startOpenAiModel } from '../fixtures/openai-model.ts'
import { until } from '../support/processes.ts'
import { member } from '../support/rest.ts'
import { withServer } from '../support/server.ts'
import { suite } from '../support/suite.ts'
import { framesOf, startTalk, type JsonEvent } from './talk.ts'

const test = suite('e2e/socket-failure')

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

test('says that a run is stuck, while it happens and to those who join afterwards', () => withServer(async (server) => {
  const toolCall = { name: 'terminal', input: { command: 'true' } }
  const model = await startOpenAiModel({ script: () => Array.from({ length: 9 }, () => ({ toolCall })) })
  try {
    const llm = { model: 'openai/stand-in', base_url: `${model.url}/v1`, api_key: 'key-of-the-model' }
    const agent = { kind: 'Agent', llm, tools: [{ name: 'terminal' }] }
    const talk = await startTalk(server, { autotitle: false, agent })
    const witness = await server.socket(talk.id)
    await talk.send('Go on')
    await witness.until(() => framesOf(witness).some(isTold))
    assert.is(await talk.status(), 'stuck')
    assert.is(framesOf(witness).filter(isTold).length, 1)
    const late = await server.socket(talk.id)
    await late.until(() => framesOf(late).some(isTold))
    for (const client of [witness, late]) await client.close()
  } finally {
    await model.close()
  }
}))

test.run()

function isTold({ kind, code }: JsonEvent): boolean {
  return kind === 'ServerErrorEvent' && code === 'Stuck'
}
