/**
 * Answers of the built-in agent's model that do not end: the text that arrived is recorded, marked as cut off, and the
 * next request to the model has it.
 */
import * as assert from 'uvu/assert'
import { startHeldModel, type HeldAnswer, type HeldModel } from '../fixtures/held-model.ts'
import { listAt, member, textAt } from '../support/rest.ts'
import { startServer, withPrograms, type Reachable, type TestServer } from '../support/server.ts'
import { suite } from '../support/suite.ts'
import { framesOf, messagesOf, outline, startTalk, talkTo, type JsonEvent, type Talk } from './talk.ts'

const test = suite('e2e/cut-answers')
let server: TestServer
let model: HeldModel

test.before(async () => {
  server = await startServer()
  model = await startHeldModel()
})
test.after(async () => {
  await model.close()
  await server.close()
})

const mark = '\n\n[The answer was cut off here.]'

function newTalk(llm: object = {}, on: Reachable = server, critic: object | null = null): Promise<Talk> {
  const settings = { model: 'openai/held', base_url: `${model.url}/v1`, api_key: 'key-of-the-model', num_retries: 0 }
  const tools = [{ name: 'terminal' }]
  const agent = { kind: 'Agent', llm: { ...settings, stream: true, ...llm }, tools, critic }
  return startTalk(on, { autotitle: false, agent })
}

/**
 * Sends a message, has the model write these texts, and waits until a reader has them. They end with a full stop, since
 * a letter may begin a secret and is held back.
 */
async function writeHalf(
  talk: Talk, write: (answer: HeldAnswer) => void, shown: string, on: Reachable = server,
): Promise<HeldAnswer> {
  const client = await on.socket(talk.id)
  await talk.send('Write')
  const answer = await model.next()
  write(answer)
  await client.until(() => {
    const deltas = framesOf(client).filter(({ kind }) => kind === 'StreamingDeltaEvent')
    return deltas.map((frame) => String(frame['content'] ?? frame['reasoning_content'])).join('') === shown
  })
  await client.close()
  return answer
}

/** The messages of a request to the model after its system prompt, each as `role: text`. */
function told({ request }: HeldAnswer): string[] {
  return listAt(request, 'messages').slice(1).map((one) => `${textAt(one, 'role')}: ${String(member(one, 'content'))}`)
}

function withoutUpdates(events: readonly JsonEvent[]): string[] {
  return outline(events).filter((word) => !word.startsWith('('))
}

for (const stop of ['/pause', '/interrupt']) {
  test(`${stop}: the text is in the history before the end, and the next request has it`, async () => {
    const talk = await newTalk()
    await writeHalf(talk, (answer) => answer.say('The first half.'), 'The first half.')
    await talk.post(stop)
    await talk.reaches('paused')
    const events = await talk.events()
    assert.equal(messagesOf(events, 'agent'), [`The first half.${mark}`])
    assert.equal(withoutUpdates(events).slice(-3), ['agent message', 'paused', 'PauseEvent'])
    await talk.runAgain()
    const again = await model.next()
    const before = ['user: Write', 'assistant: The first half.']
    assert.equal(told(again), [...before, `user: ${mark.trim()}`])
    await talk.post(stop)
    await talk.reaches('paused')
    await talk.send('Go on')
    const last = await model.next()
    assert.equal(told(last), [...before, `user: ${mark.trim()}\n\nGo on`])
    last.say('The second half')
    last.end()
    await talk.reaches('finished')
    assert.equal(messagesOf(await talk.events(), 'agent'), [`The first half.${mark}`, 'The second half'])
  })
}

test('messages keep their places around a cut answer, also after a restart', withPrograms(async (start) => {
  const first = await start()
  const begun = await newTalk({}, first)
  await writeHalf(begun, (answer) => answer.say('Half.'), 'Half.', first)
  await begun.send('Stop that', false)
  await begun.post('/interrupt')
  await first.stop('SIGTERM')
  const talk = talkTo(await start(), begun.id)
  await talk.send('Say yes')
  const answer = await model.next()
  assert.equal(told(answer), [
    'user: Write', 'assistant: Half.', `user: ${mark.trim()}\n\nStop that\n\nSay yes`,
  ])
  await talk.post('/interrupt')
}))

test('stats have the context window of a known model, and the settings come first', async () => {
  for (const [llm, tokens] of [[{ model: 'openai/gpt-4.1' }, 1_047_576], [{ max_input_tokens: 1000 }, 1000], [{}, 0]]) {
    const talk = await newTalk(Object(llm))
    await talk.send('Write')
    const answer = await model.next()
    answer.say('Yes.')
    answer.end(7)
    await talk.reaches('finished')
    const figures = member((await talk.get()).json, 'stats', 'usage_to_metrics', 'default', 'accumulated_token_usage')
    assert.is(member(figures, 'context_window'), tokens)
  }
})

test('a call that is half written is dropped, its text is kept', async () => {
  const talk = await newTalk()
  await writeHalf(talk, (answer) => {
    answer.call('terminal', '{"command":"touch never')
    answer.say('I look.')
  }, 'I look.')
  await talk.post('/interrupt')
  await talk.reaches('paused')
  const events = await talk.events()
  assert.equal(messagesOf(events, 'agent'), [`I look.${mark}`])
  assert.is(events.filter(({ kind }) => kind === 'ActionEvent').length, 0)
})

test('thoughts alone are recorded, and the model is not shown an empty message', async () => {
  const talk = await newTalk()
  await writeHalf(talk, (answer) => answer.think('Hm, so.'), 'Hm, so.')
  await talk.post('/interrupt')
  await talk.reaches('paused')
  const last = (await talk.events()).find(({ kind, source }) => kind === 'MessageEvent' && source === 'agent')
  assert.is(textAt(last, 'llm_message', 'reasoning_content'), 'Hm, so.')
  await talk.runAgain()
  assert.equal(told(await model.next()), ['user: Write'])
  await talk.post('/interrupt')
})

test('an answer is kept when the turn is stopped while a critic rates it', async () => {
  const talk = await newTalk({}, server, { kind: 'APIBasedCritic' })
  const answer = await writeHalf(talk, (held) => held.say('All of it.'), 'All of it.')
  answer.end()
  await model.next()
  await talk.post('/interrupt')
  await talk.reaches('paused')
  assert.equal(messagesOf(await talk.events(), 'agent'), [`All of it.${mark}`])
})

test('a secret in the text is masked', async () => {
  const talk = await newTalk()
  await talk.post('/secrets', { secrets: { TOKEN: 'hush-hush-4711' } })
  await writeHalf(talk, (answer) => {
    answer.say('It is hush-hu')
    answer.say('sh-4711, so.')
  }, 'It is <secret-hidden>, so.')
  await talk.post('/interrupt')
  await talk.reaches('paused')
  assert.equal(messagesOf(await talk.events(), 'agent'), [`It is <secret-hidden>, so.${mark}`])
})

test('a connection that breaks: the text comes before the error', async () => {
  const talk = await newTalk()
  const answer = await writeHalf(talk, (held) => held.say('Half of it.'), 'Half of it.')
  answer.breakOff()
  await talk.reaches('error')
  const events = await talk.events()
  assert.equal(messagesOf(events, 'agent'), [`Half of it.${mark}`])
  assert.equal(withoutUpdates(events).slice(-3), ['agent message', 'error LLMBrokenStreamError', 'error'])
})

test('a connection that breaks in each attempt: only the text of the last attempt is recorded', async () => {
  const talk = await newTalk({ stream: false, num_retries: 2, retry_min_wait: 0, retry_max_wait: 0 })
  await talk.send('Write')
  for (const text of ['one', 'two', 'three']) {
    const answer = await model.next()
    answer.say(text)
    answer.breakOff()
  }
  await talk.reaches('error')
  assert.equal(messagesOf(await talk.events(), 'agent'), [`three${mark}`])
})

test('a connection that breaks and is retried leaves nothing of the first attempt', async () => {
  const talk = await newTalk({ stream: false, num_retries: 1, retry_min_wait: 0, retry_max_wait: 0 })
  await talk.send('Write')
  const first = await model.next()
  first.say('one')
  first.breakOff()
  const second = await model.next()
  second.say('two')
  second.end()
  await talk.reaches('finished')
  assert.equal(messagesOf(await talk.events(), 'agent'), ['two'])
})

test('killed in mid-stream: nothing is recorded, and nothing comes twice', withPrograms(async (start) => {
  const first = await start()
  const begun = await newTalk({}, first)
  await writeHalf(begun, (answer) => answer.say('Half.'), 'Half.', first)
  await first.stop('SIGKILL')
  const second = await start()
  const talk = talkTo(second, begun.id)
  assert.is(await talk.status(), 'error')
  assert.equal(messagesOf(await talk.events(), 'agent'), [])
  await talk.runAgain()
  const answer = await model.next()
  assert.equal(told(answer), ['user: Write'])
  answer.say('Whole')
  answer.end()
  await talk.reaches('finished')
  assert.equal(messagesOf(await talk.events(), 'agent'), ['Whole'])
}))

test.run()
