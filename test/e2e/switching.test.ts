/**
 * Another model in mid-conversation behind a real server: over three wire formats, with sealed keys, over a restart.
 */
import * as assert from 'uvu/assert'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { startAnthropicModel } from '../fixtures/anthropic-model.ts'
import { startGeminiModel } from '../fixtures/gemini-model.ts'
import type { ModelServer } from '../fixtures/model-server.ts'
import { startOpenAiModel } from '../fixtures/openai-model.ts'
import { member, textAt } from '../support/rest.ts'
import { startServer, withPrograms, type TestServer } from '../support/server.ts'
import { suite } from '../support/suite.ts'
import { messagesOf, outline, startTalk, talkTo, type Talk } from './talk.ts'

const test = suite('e2e/switching')
let server: TestServer
const models: ModelServer[] = []

test.before(async () => {
  server = await startServer()
})
test.after(async () => {
  await server.close()
  for (const model of models) await model.close()
})

interface Choice {
  readonly server: ModelServer
  readonly llm: { readonly model: string; readonly base_url: string; readonly api_key: string }
}

const wires = {
  anthropic: { start: startAnthropicModel, model: 'anthropic/claude-sonnet-4-6', path: '' },
  openai: { start: startOpenAiModel, model: 'openai/gpt-5.5', path: '/v1' },
  gemini: { start: startGeminiModel, model: 'gemini/gemini-3-pro', path: '/v1beta' },
} as const

/** A model that thinks, runs a command and says its name. */
async function choice(wire: keyof typeof wires): Promise<Choice> {
  const { start, model, path } = wires[wire]
  const stand = await start({ script: () => [
    { thought: `Thoughts of ${wire}.`, toolCall: { name: 'terminal', input: { command: 'echo hi' } } },
    { text: `I am ${wire}.` },
  ] })
  models.push(stand)
  return { server: stand, llm: { model, base_url: `${stand.url}${path}`, api_key: `key-of-${wire}-1234` } }
}

function agentWith({ llm }: Choice): object {
  return { kind: 'Agent', llm: settingsOf(llm), tools: [{ name: 'terminal' }] }
}

function settingsOf(llm: Choice['llm']): object {
  return { ...llm, num_retries: 0, api_mode: llm.model.startsWith('openai/') ? 'responses' : 'auto' }
}

async function turn(talk: Talk, text: string): Promise<string> {
  await talk.send(text)
  await talk.reaches('finished')
  return messagesOf(await talk.events(), 'agent').at(-1) ?? ''
}

test(
  'a conversation goes from Anthropic to OpenAI, to Gemini and back, and each is told all that was said',
  async () => {
    const [anthropic, openai, gemini] = [await choice('anthropic'), await choice('openai'), await choice('gemini')]
    const talk = await startTalk(server, { agent: agentWith(anthropic), autotitle: false })
    assert.is(await turn(talk, 'One'), 'I am anthropic.')
    for (const [next, name] of [[openai, 'openai'], [gemini, 'gemini'], [anthropic, 'anthropic']] as const) {
      assert.equal((await talk.post('/switch_llm', { llm: settingsOf(next.llm) })).json, { success: true })
      assert.is(textAt((await talk.get()).json, 'agent', 'llm', 'model'), next.llm.model)
      assert.is(await turn(talk, `Go on, ${name}`), `I am ${name}.`)
    }
    const told = JSON.stringify(anthropic.server.requests.at(-1)?.body)
    for (const said of ['One', 'Go on, openai', 'Go on, gemini', 'Go on, anthropic', 'I am openai.', 'I am gemini.']) {
      assert.ok(told.includes(said), said)
    }
    for (const { server: { requests } } of [openai, gemini]) {
      assert.not(/"signature"|"redacted_thinking"/.test(JSON.stringify(requests)))
    }
    assert.equal(openai.server.requests.map(({ apiKey }) => apiKey), ['key-of-openai-1234', 'key-of-openai-1234'])
    const shown = JSON.stringify([await talk.events(), (await talk.get()).json])
    assert.not(/key-of-\w+-1234/.test(shown))
    assert.equal(outline(await talk.events()).filter((word) => word === '(agent)').length, 3)
  },
)

test('the switch outlives a kill of the server, and its key is sealed in the log', withPrograms(async (
  start, folder,
) => {
  const [before, after] = [await choice('anthropic'), await choice('openai')]
  const first = await start()
  const talk = await startTalk(first, { agent: agentWith(before), autotitle: false })
  await talk.post('/switch_llm', { llm: settingsOf(after.llm) })
  await first.stop('SIGKILL')
  const again = talkTo(await start(), talk.id)
  assert.is(textAt((await again.get()).json, 'agent', 'llm', 'model'), after.llm.model)
  assert.is(textAt((await again.get()).json, 'agent', 'llm', 'api_key'), '**********')
  assert.is(await turn(again, 'Go'), 'I am openai.')
  const log = readFileSync(join(textAt((await again.get()).json, 'persistence_dir'), 'events.jsonl'), 'utf8')
  assert.not(/key-of-\w+-1234/.test(log))
  assert.ok(folder !== '')
}))

test('a key may come as a token of this server, and what is no token of it is refused', async () => {
  const [before, after] = [await choice('anthropic'), await choice('openai')]
  await server.rest.patch('/api/settings', {
    agent_settings_diff: { agent_kind: 'openhands', llm: settingsOf(after.llm) },
  })
  const settings = await server.rest.send('GET', '/api/settings', { headers: { 'x-expose-secrets': 'encrypted' } })
  const llm = member(settings.json, 'agent_settings', 'llm')
  assert.match(textAt(llm, 'api_key'), /^as1:/)
  const talk = await startTalk(server, { agent: agentWith(before), autotitle: false })
  assert.is((await talk.post('/switch_llm', { llm })).status, 200)
  assert.is(await turn(talk, 'Go'), 'I am openai.')
  assert.equal(after.server.requests[0]?.apiKey, 'key-of-openai-1234')
  const made = await startTalk(server, {
    agent: { ...agentWith(before), llm }, autotitle: false, secrets_encrypted: true,
  })
  assert.is(await turn(made, 'Go'), 'I am openai.')
  assert.equal(after.server.requests.at(-1)?.apiKey, 'key-of-openai-1234')
  // The page of a published client copies the settings into a new agent, with the same model for the condenser.
  const copied = { ...agentWith(before), llm, condenser: { llm, max_size: 80 } }
  const copy = await startTalk(server, { agent: copied, autotitle: false, secrets_encrypted: true })
  assert.is(textAt((await copy.get()).json, 'agent', 'condenser', 'llm', 'model'), after.llm.model)
  const other = { url: 'https://other.example/', headers: { Authorization: member(llm, 'api_key') } }
  const foreign = { ...agentWith(before), mcp_config: { other } }
  assert.is((await server.rest.post('/api/conversations', { agent: foreign })).status, 422)
  const refused = await talk.post('/switch_llm', { llm: { model: 'gpt-5.5', api_key: 'as1:00000000:AAAA' } })
  assert.is(refused.status, 422)
  assert.match(refused.text, 'llm.api_key')
  for (const llm of [{ temperature: 0.2 }, { model: null }, { model: '' }]) {
    assert.is((await talk.post('/switch_llm', { llm })).status, 422)
  }
  assert.is(textAt((await talk.get()).json, 'agent', 'llm', 'model'), after.llm.model)
})

test(
  'the same model again is no event, and a model that does not exist is an error of the next run alone',
  async () => {
    const only = await choice('anthropic')
    const talk = await startTalk(server, { agent: agentWith(only), autotitle: false })
    assert.is((await talk.post('/switch_llm', { llm: settingsOf(only.llm) })).status, 200)
    assert.equal(await talk.events(), [])
    assert.is((await talk.post('/switch_llm', { llm: { model: 'nobody-knows-it' } })).status, 200)
    await talk.send('Go')
    await talk.reaches('error')
    assert.ok(outline(await talk.events()).includes('error LLMBadRequestError'))
    await talk.post('/switch_llm', { llm: settingsOf(only.llm) })
    await talk.runAgain()
    await talk.reaches('finished')
  },
)

test('an external agent has no such model, and a fork goes on with the model of its source', async () => {
  const external = await startTalk(server, { agent: { kind: 'ACPAgent', acp_command: ['agent-server-demo-agent'] } })
  const refused = await external.post('/switch_llm', { llm: { model: 'a' } })
  assert.is(refused.status, 400)
  const [before, after] = [await choice('anthropic'), await choice('gemini')]
  const talk = await startTalk(server, { agent: agentWith(before), autotitle: false })
  await turn(talk, 'Go')
  const [last] = (await talk.events()).slice(-1)
  await talk.post('/switch_llm', { llm: settingsOf(after.llm) })
  const fork = await talk.post('/fork', { from_event_id: textAt(last, 'id') })
  assert.is(textAt(fork.json, 'agent', 'llm', 'model'), after.llm.model)
  const copy = talkTo(server, textAt(fork.json, 'id'))
  assert.is(await turn(copy, 'Go on'), 'I am gemini.')
})

test.run()
