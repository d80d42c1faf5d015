/**
 * The memory of the built-in agent behind a real server: condensed by size and on request, forked, led back, sealed.
 */
import * as assert from 'uvu/assert'
import { systemCodeOf } from '../../src/base/errors.ts'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { startAnthropicModel } from '../fixtures/anthropic-model.ts'
import type { ModelServer } from '../fixtures/model-server.ts'
import type { ModelStep } from '../fixtures/model-step.ts'
import { objectOf } from '../../src/base/fields.ts'
import { listAt, member, textAt } from '../support/rest.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { suite } from '../support/suite.ts'
import { outline, startTalk, talkTo, type JsonEvent, type Talk } from './talk.ts'

const test = suite('e2e/condense')
let server: TestServer
let model: ModelServer

const thoughts = Array.from({ length: 12 }, (_, place): ModelStep => ({
  toolCall: { name: 'think', input: { thought: `thought ${place}` } },
}))

/** Thinks until it reads a summary. A request without tools, as that for a summary, is answered with `A short text.` */
function script(prompt: string): readonly ModelStep[] {
  return prompt === 'Think' ? thoughts : [{ text: 'Well.' }]
}

test.before(async () => {
  server = await startServer()
  model = await startAnthropicModel({ script })
})
test.after(async () => {
  await server.close()
  await model.close()
})

function agentWith(condenser: unknown, more: object = {}): object {
  const llm = {
    model: 'anthropic/claude-test', base_url: model.url, api_key: 'key-of-the-model', num_retries: 0, stream: true,
  }
  return { kind: 'Agent', llm, tools: [], condenser, ...more }
}

const withoutUpdates = (words: readonly string[]): string[] => words.filter((word) => !word.startsWith('('))

/** Returns the messages of the last request to the model, without the system prompt, each as its first text. */
function lastTold(): string[] {
  return listAt(model.requests.at(-1)?.body, 'messages').map((message) => {
    const content = member(message, 'content')
    return typeof content === 'string' ? content : textOfBlocks(content)
  })
}

function textOfBlocks(blocks: unknown): string {
  return Array.isArray(blocks)
    ? blocks.map((block: unknown) => String(member(block, 'text') ?? member(block, 'type'))).join('|')
    : ''
}

async function condensationOf(talk: Talk): Promise<JsonEvent | undefined> {
  return (await talk.events()).findLast(({ kind }) => kind === 'Condensation')
}

const summary = '[Summary of the earlier part of this conversation, which was taken out to save room.]\n\nA short text.'

test('a run that gets long is condensed, is billed for it, and goes on with the summary', async () => {
  const talk = await startTalk(server, { agent: agentWith({ kind: 'LLMSummarizingCondenser', max_size: 12 }) })
  await talk.send('Think')
  await talk.reaches('finished')
  const words = withoutUpdates(outline(await talk.events()))
  assert.equal(words.filter((word) => word.startsWith('Condensation')), ['Condensation'])
  assert.equal(words.slice(-3), ['Condensation', 'agent message', 'finished'])
  assert.equal(lastTold(), [`Think|${summary}`, 'tool_use', 'tool_result'])
  const event = await condensationOf(talk)
  assert.equal((await talk.get(`/events/${textAt(event, 'id')}`)).json, event)
  assert.is(event?.['summary_offset'], 2)
  const metrics = member((await talk.get()).json, 'stats', 'usage_to_metrics')
  assert.ok(Number(member(metrics, 'condenser', 'accumulated_token_usage', 'prompt_tokens')) > 0)
})

test('a client has the history condensed, forks it with its summary, and leads it back to before', async () => {
  const talk = await startTalk(server, { agent: agentWith(undefined) })
  for (const text of ['One', 'Two', 'Three']) {
    await talk.send(text)
    await talk.reaches('finished')
  }
  const before = textAt((await talk.events()).at(-1), 'id')
  const answer = await talk.post('/condense')
  assert.equal([answer.status, answer.json], [200, { success: true }])
  assert.equal(withoutUpdates(outline(await talk.events())).slice(-2), ['CondensationRequest', 'Condensation'])
  assert.is(await talk.status(), 'finished')
  const fork = talkTo(server, textAt((await talk.post('/fork', {})).json, 'id'))
  await fork.send('Four')
  await fork.reaches('finished')
  assert.equal(lastTold(), [`One|${summary}\n\nThe last message of the user:\n\nThree`, 'Well.', 'Four'])
  assert.is((await talk.post('/navigate', { event_id: before })).status, 200)
  await talk.send('Five')
  await talk.reaches('finished')
  assert.equal(lastTold(), ['One', 'Well.', 'Two', 'Well.', 'Three', 'Well.', 'Five'])
})

test('who has no condenser, or keeps the history himself, is told so', async () => {
  for (const agent of [agentWith(null), agentWith({ kind: 'NoOpCondenser' })]) {
    const talk = await startTalk(server, { agent })
    assert.is((await talk.post('/condense')).status, 400)
  }
  const external = await (await startTalk(server)).post('/condense')
  assert.is(external.status, 400)
  assert.match(textAt(external.json, 'detail'), 'driven by an external agent')
  const empty = await (await startTalk(server, { agent: agentWith(undefined) })).post('/condense')
  assert.equal([empty.status, textAt(empty.json, 'detail')], [409, 'Cannot condense the history: it is too short'])
})

test('the settings decide about the condenser of new conversations', async () => {
  const llm = { model: 'anthropic/claude-test', base_url: model.url, api_key: 'key-of-the-model' }
  const shown = async (condenser: object): Promise<unknown> => {
    const talk = await startTalk(server, { agent_settings: { agent_kind: 'openhands', llm, condenser } })
    return member((await talk.get()).json, 'agent', 'condenser')
  }
  assert.is(await shown({ enabled: false }), null)
  assert.is(await shown({ condenser_kind: 'no_op' }), null)
  const { llm: used, ...rest } = objectOf(await shown({ max_size: 50, max_tokens: 1000 }))
  const { model: name, api_key, usage_id } = objectOf(used)
  assert.equal([name, api_key, usage_id], [llm.model, '**********', 'condenser'])
  assert.equal(rest, {
    kind: 'LLMSummarizingCondenser', max_size: 50, max_tokens: 1000, keep_first: 2, minimum_progress: 0.1,
    hard_context_reset_max_retries: 5, hard_context_reset_context_scaling: 0.8,
  })
})

test('a condenser that keeps more than it leaves is refused', async () => {
  for (const [condenser, status] of [
    [{ max_size: 20, keep_first: 9 }, 422], [{ max_size: 21, keep_first: 8 }, 201], [{ kind: 'Other' }, 422],
  ] as const) {
    assert.is((await server.rest.post('/api/conversations', { agent: agentWith(condenser) })).status, status)
  }
})

test('the key of the condenser\'s own model is used, and neither shown nor stored in plain', async () => {
  const llm = {
    model: 'anthropic/claude-small', base_url: model.url, api_key: 'key-of-the-condenser', usage_id: 'small',
  }
  const talk = await startTalk(server, { agent: agentWith({ llm, max_size: 12 }) })
  await talk.send('Think')
  await talk.reaches('finished')
  const request = model.requests.find(({ apiKey }) => apiKey === 'key-of-the-condenser')
  assert.is(member(request?.body, 'model'), 'claude-small')
  const { json, text } = await talk.get()
  assert.is(member(json, 'agent', 'condenser', 'llm', 'api_key'), '**********')
  assert.not.match(text, 'key-of-the-condenser')
  assert.is(
    Number(member(json, 'stats', 'usage_to_metrics', 'small', 'accumulated_token_usage', 'prompt_tokens')) > 0, true,
  )
  for (const content of contentsOf(server.dataDir)) assert.not.match(content, 'key-of-the-condenser')
})

/** Reads all files. Begins again when a file was replaced meanwhile. */
function contentsOf(folder: string): string[] {
  for (;;) {
    try {
      return filesIn(folder).map((file) => readFileSync(file, 'latin1'))
    } catch (thrown) {
      if (systemCodeOf(thrown) !== 'ENOENT') throw thrown
    }
  }
}

function filesIn(folder: string): string[] {
  return readdirSync(folder).map((name) => join(folder, name)).flatMap((path) => {
    const stats = statSync(path)
    return stats.isDirectory() ? filesIn(path) : stats.isFile() ? [path] : []
  })
}

test.run()
