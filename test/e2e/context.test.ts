/**
 * The texts around the messages of a conversation of the built-in agent, behind a real server: titles, suffixes,
 * secrets.
 */
import * as assert from 'uvu/assert'
import { startAnthropicModel } from '../fixtures/anthropic-model.ts'
import type { ModelServer } from '../fixtures/model-server.ts'
import type { ModelStep } from '../fixtures/model-step.ts'
import { until } from '../support/processes.ts'
import { listAt, member, textAt } from '../support/rest.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { suite } from '../support/suite.ts'
import { outline, startTalk, type JsonEvent, type Talk } from './talk.ts'

const test = suite('e2e/context')
let server: TestServer
const models: ModelServer[] = []

test.before(async () => {
  server = await startServer()
})
test.after(async () => {
  await server.close()
  for (const model of models) await model.close()
})

async function scripted(steps: readonly ModelStep[]): Promise<ModelServer> {
  const model = await startAnthropicModel({ script: () => steps })
  models.push(model)
  return model
}

function agentFor(model: ModelServer, changes: object = {}): object {
  const llm = { model: 'anthropic/claude-test', base_url: model.url, api_key: 'key-of-the-model', num_retries: 0 }
  return { kind: 'Agent', llm, tools: [{ name: 'terminal' }], ...changes }
}

async function titleOf(talk: Talk): Promise<unknown> {
  await until(async () => member((await talk.get()).json, 'title') !== null)
  return member((await talk.get()).json, 'title')
}

async function finished(talk: Talk, text: string): Promise<JsonEvent[]> {
  await talk.send(text)
  await talk.reaches('finished')
  return talk.events()
}

test('the model makes the title in the background, and what that cost is counted apart', async () => {
  const model = await scripted([{ text: 'Hello.' }])
  const talk = await startTalk(server, { agent: agentFor(model) })
  await finished(talk, 'Say hello')
  assert.is(await titleOf(talk), 'A short text.')
  await until(async () => {
    return Object.keys(Object(member((await talk.get()).json, 'stats', 'usage_to_metrics'))).includes('title')
  })
  assert.not.ok(outline(await talk.events()).some((word) => word.startsWith('error')))
})

test(
  'a model that cannot be reached for the title leaves the message, shortened, and a word in the history',
  async () => {
    const model = await scripted([{ text: 'Hello.' }])
    const talk = await startTalk(server, { agent: agentFor(model) })
    await model.close()
    await talk.send('Say hello', false)
    assert.is(await titleOf(talk), 'Say hello')
    await until(async () => outline(await talk.events()).some((word) => word.startsWith('error LLM')))
    assert.is(await talk.status(), 'idle')
  },
)

test('the demonstration and external agents have the message as title', async () => {
  for (const agent of [
    { kind: 'Agent', llm: { model: 'demo/scripted' } }, { kind: 'ACPAgent', acp_command: ['agent-server-demo-agent'] },
  ]) {
    const talk = await startTalk(server, { agent })
    await talk.send('hello', false)
    assert.is(member((await talk.get()).json, 'title'), 'hello')
  }
})

test('the suffixes of the settings go to the model, and stand in the history', async () => {
  const model = await scripted([{ text: 'Hello.' }])
  const agent_context = { system_message_suffix: 'You are in a test.', user_message_suffix: '<note>Be brief.</note>' }
  const talk = await startTalk(server, {
    agent: agentFor(model, { agent_context, security_policy_filename: null }), autotitle: false,
  })
  const [prompt, message] = (await finished(talk, 'Say hello')).filter(({ kind }) => {
    return kind === 'SystemPromptEvent' || kind === 'MessageEvent'
  })
  assert.match(textAt(prompt, 'system_prompt', 'text'), /You are in a test\.$/)
  assert.not.match(textAt(prompt, 'system_prompt', 'text'), '# Security')
  assert.equal(listAt(message, 'extended_content').map((part) => textAt(part, 'text')), ['<note>Be brief.</note>'])
  const told = JSON.stringify(member(model.requests[0]?.body, 'messages'))
  assert.ok(told.indexOf('Say hello') < told.indexOf('<note>Be brief.</note>'), told)
  assert.is(member((await talk.get()).json, 'agent', 'security_policy_filename'), '')
})

test(
  'secrets of the context are sealed, told, lent and hidden, and those of the request come before them',
  async () => {
    const model = await scripted([
      { toolCall: { name: 'terminal', input: { command: 'echo $FROM_BOTH; echo $FROM_CONTEXT | rev' } } },
    ])
    const agent_context = { secrets: {
      FROM_BOTH: 'value-of-the-context-1',
      FROM_CONTEXT: { kind: 'StaticSecret', value: 'value-of-the-context-2', description: 'of the context' },
    } }
    const secrets = {
      FROM_BOTH: { kind: 'StaticSecret', value: 'value-of-the-request-1', description: 'of the request' },
    }
    const talk = await startTalk(server, { agent: agentFor(model, { agent_context }), secrets, autotitle: false })
    const events = await finished(talk, 'Go')
    const context = textAt(events[0], 'dynamic_context', 'text')
    assert.match(context, '- FROM_BOTH: of the request\n- FROM_CONTEXT: of the context')
    const shown = JSON.stringify([events, (await talk.get()).json])
    assert.not(/value-of-the/.test(shown))
    // The command got the values: one is hidden, the other is no secret once it is turned round.
    assert.match(shown, '<secret-hidden>')
    assert.match(shown, '2-txetnoc-eht-fo-eulav')
  },
)

test('a context with a secret that no program may have is refused', async () => {
  const model = await scripted([])
  const agent = agentFor(model, { agent_context: { secrets: { LD_PRELOAD: 'x.so' } } })
  assert.is((await server.rest.post('/api/conversations', { agent })).status, 422)
})

test.run()
