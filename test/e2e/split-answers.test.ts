/**
 * A message of the user while the built-in agent's model writes: the text so far is recorded before the message, the
 * rest after it, and every word once.
 */
import * as assert from 'uvu/assert'
import { startHeldModel, type HeldAnswer, type HeldModel } from '../fixtures/held-model.ts'
import { listAt, member, textAt } from '../support/rest.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { suite } from '../support/suite.ts'
import type { Client } from '../support/ws-client.ts'
import { framesOf, messagesOf, outline, startTalk, type Talk } from './talk.ts'

const test = suite('e2e/split-answers')
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

function newTalk(secrets: object = {}): Promise<Talk> {
  const llm = { model: 'openai/held', base_url: `${model.url}/v1`, api_key: 'key-of-the-model', num_retries: 0 }
  return startTalk(server, {
    autotitle: false, secrets, agent: { kind: 'Agent', llm: { ...llm, stream: true }, tools: [{ name: 'terminal' }] },
  })
}

function deltasOf(client: Client): string {
  const deltas = framesOf(client).filter(({ kind }) => kind === 'StreamingDeltaEvent')
  return deltas.map((frame) => String(frame['content'] ?? frame['reasoning_content'])).join('')
}

/** Has the model write, waits until a reader has `shown`, and sends a message. */
async function interject(
  talk: Talk, write: (answer: HeldAnswer) => void, shown: string,
): Promise<[HeldAnswer, Client]> {
  const client = await server.socket(talk.id)
  await talk.send('Write')
  const answer = await model.next()
  write(answer)
  await client.until(() => deltasOf(client) === shown)
  await talk.send('And the dog?')
  return [answer, client]
}

/** The messages of a request to the model after its system prompt, each as `role: text`. */
function told({ request }: HeldAnswer): string[] {
  return listAt(request, 'messages').slice(1).map((one) => `${textAt(one, 'role')}: ${String(member(one, 'content'))}`)
}

async function saidIn(talk: Talk): Promise<string[]> {
  const messages = (await talk.events()).filter(({ kind }) => kind === 'MessageEvent')
  return messages.map((event) => {
    const { content, reasoning_content: thoughts } = Object(event['llm_message'])
    const words = listAt(content).map((part) => textAt(part, 'text')).join('')
    return `${String(event['source'])}: ${thoughts === undefined ? '' : `(${String(thoughts)}) `}${words}`
  })
}

test('each word is recorded once, and the model is told the answer before the message', async () => {
  const talk = await newTalk()
  const write = (answer: HeldAnswer): void => {
    answer.think('I think.')
    answer.say('The first half.')
  }
  const [answer, client] = await interject(talk, write, 'I think.The first half.')
  answer.say(' The second half.')
  answer.end()
  const next = await model.next()
  assert.equal(told(next).filter((words) => !words.startsWith('assistant')), ['user: Write', 'user: And the dog?'])
  assert.is(told(next).at(-1), 'user: And the dog?')
  assert.match(told(next).join(), /The first half\.[^]* The second half\./)
  next.say('It barked.')
  next.end()
  await talk.reaches('finished')
  assert.equal(await saidIn(talk), [
    'user: Write', 'agent: (I think.) The first half.', 'user: And the dog?', 'agent:  The second half.',
    'agent: It barked.',
  ])
  assert.is(deltasOf(client), 'I think.The first half. The second half.It barked.')
  await client.close()
})

test('calls and thoughts of the rest stay together', async () => {
  const talk = await newTalk()
  const [answer, client] = await interject(talk, (one) => one.say('I look.'), 'I look.')
  answer.say(' Now.')
  answer.call('terminal', '{"command":"echo looked","security_risk":"LOW","summary":"Look"}')
  answer.end()
  const next = await model.next()
  next.say('Done.')
  next.end()
  await talk.reaches('finished')
  const events = await talk.events()
  const action = events.find(({ kind }) => kind === 'ActionEvent')
  assert.equal(listAt(action, 'thought').map((part) => textAt(part, 'text')), [' Now.'])
  assert.equal(messagesOf(events, 'agent'), ['I look.', 'Done.'])
  assert.equal(outline(events).filter((word) => word === 'TerminalAction').length, 1)
  await client.close()
})

test('a secret at the place of the split is in no event and no frame', async () => {
  const talk = await newTalk({ TOKEN: { kind: 'StaticSecret', value: 'canary-of-the-split' } })
  const [answer, client] = await interject(talk, (one) => one.say('The key: canary-of-'), 'The key: ')
  answer.say('the-split. Yes.')
  answer.end()
  const next = await model.next()
  next.say('Done.')
  next.end()
  await talk.reaches('finished')
  assert.equal(messagesOf(await talk.events(), 'agent'), ['The key: ', '<secret-hidden>. Yes.', 'Done.'])
  assert.is(deltasOf(client), 'The key: <secret-hidden>. Yes.Done.')
  await client.close()
})

test('an answer that is stopped after the message has its rest and the mark', async () => {
  const talk = await newTalk()
  const [answer, client] = await interject(talk, (one) => one.say('One.'), 'One.')
  answer.say(' Two.')
  await client.until(() => deltasOf(client) === 'One. Two.')
  await talk.post('/interrupt')
  await talk.reaches('paused')
  assert.equal(messagesOf(await talk.events(), 'agent'), ['One.', ` Two.${mark}`])
  await client.close()
})

test.run()
