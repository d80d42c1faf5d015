/**
 * Tools that a client brings along: offered to the model, called under their own names, refused where they cannot be.
 */
import * as assert from 'uvu/assert'
import { startAnthropicModel } from '../fixtures/anthropic-model.ts'
import type { ModelServer } from '../fixtures/model-server.ts'
import { makeFolder } from '../support/processes.ts'
import { member, textAt, listAt } from '../support/rest.ts'
import { fakeAgent, startServer, type TestServer } from '../support/server.ts'
import { suite } from '../support/suite.ts'
import { startTalk, talkTo } from './talk.ts'

const test = suite('e2e/client-tools')
let server: TestServer
let model: ModelServer

test.before(async () => {
  server = await startServer()
  model = await startAnthropicModel({
    script: () => [{ toolCall: { name: 'canvas_open', input: { tab: 'terminal' } } }, { text: 'Opened.' }],
  })
})
test.after(async () => {
  await server.close()
  await model.close()
})

const clientTools = ['canvas_open', 'canvas_close'].map((name) => {
  return {
    name,
    description: 'A tab of the canvas',
    parameters: { type: 'object', properties: { tab: { type: 'string' } }, required: ['tab'] },
  }
})

function request(changes: object = {}): object {
  const llm = { model: 'anthropic/claude-test', base_url: model.url, api_key: 'key-of-the-model', num_retries: 0 }
  return { agent: { kind: 'Agent', llm, tools: [{ name: 'task_tracker' }] }, client_tools: clientTools, ...changes }
}

test('a call of a client tool is an action of its own name that every client sees, and the turn goes on', async () => {
  const talk = await startTalk(server, request())
  await talk.send('Open the terminal')
  await talk.reaches('finished')
  const events = await talk.events()
  assert.equal(listAt(events[0], 'tools').map((tool) => [textAt(tool, 'kind'), textAt(tool, 'title')]).slice(-2), [
    ['MCPToolDefinition', 'canvas_open'], ['MCPToolDefinition', 'canvas_close'],
  ])
  const action = events.find(({ kind }) => kind === 'ActionEvent')
  assert.equal([action?.['tool_name'], member(action, 'action')], [
    'canvas_open', { kind: 'MCPToolAction', data: { tab: 'terminal' } },
  ])
  const observation = events.find(({ kind }) => kind === 'ObservationEvent')
  assert.equal([observation?.['tool_name'], observation?.['action_id']], ['canvas_open', action?.['id']])
})

test('client tools are there again after a restart, and in a fork, without being sent again', async () => {
  const { folder, remove } = makeFolder()
  const before = await startServer({ folder })
  const { id } = await startTalk(before, request())
  await before.close()
  const after = await startServer({ folder })
  try {
    const fork = textAt((await after.rest.post(`/api/conversations/${id}/fork`)).json, 'id')
    for (const talk of [talkTo(after, id), talkTo(after, fork)]) {
      assert.equal(listAt((await talk.get()).json, 'client_tools').map((tool) => textAt(tool, 'name')), [
        'canvas_open', 'canvas_close',
      ])
      await talk.send('Open the terminal')
      await talk.reaches('finished')
      assert.is(
        (await talk.events()).filter(({ kind, tool_name }) => {
          return kind === 'ObservationEvent' && tool_name === 'canvas_open'
        }).length,
        1,
      )
    }
  } finally {
    await after.close()
    remove()
  }
})

const [first] = clientTools
const refused: readonly (readonly [why: string, tools: readonly object[]])[] = [
  ['two of one name', [{ ...first }, { ...first }]],
  ['a name that no provider takes', [{ ...first, name: 'open tab' }]],
]
for (const [why, tools] of refused) {
  test(`client tools are refused with 422: ${why}`, async () => {
    const { status } = await server.rest.post('/api/conversations', request({ client_tools: tools }))
    assert.is(status, 422)
  })
}

test('an external agent is started without the tools of the client, and the history says so', async () => {
  const talk = await startTalk(server, request({ agent: fakeAgent('echo') }))
  assert.is(listAt((await talk.get()).json, 'client_tools').length, 2)
  await talk.send('Open the terminal')
  await talk.reaches('finished')
  const prompt = (await talk.events()).find(({ kind }) => kind === 'SystemPromptEvent')
  assert.match(
    textAt(prompt, 'system_prompt', 'text'), 'It is not given the tools of the client: canvas_open, canvas_close.',
  )
})

test('a client tool with the name of a tool of the agent is refused with the first message', async () => {
  const talk = await startTalk(server, request({ client_tools: [{ ...first, name: 'task_tracker' }] }))
  const { status, text } = await talk.send('Go')
  assert.is(status, 422)
  assert.match(text, 'the agent has a tool of this name')
})

test.run()
