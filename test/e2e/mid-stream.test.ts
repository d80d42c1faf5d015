/**
 * Readers that join while the agent writes: each gets the text so far, then only newer pieces, on every way of reading.
 */
import * as assert from 'uvu/assert'
import { request } from 'node:http'
import { startHeldModel, type HeldModel } from '../fixtures/held-model.ts'
import { until } from '../support/processes.ts'
import { isObject } from '../../src/base/json.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { suite } from '../support/suite.ts'
import { framesOf, messagesOf, startTalk, type JsonEvent, type Talk } from './talk.ts'

const test = suite('e2e/mid-stream')
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

function newTalk(): Promise<Talk> {
  const llm = { model: 'openai/held', base_url: `${model.url}/v1`, api_key: 'key-of-the-model', stream: true }
  return startTalk(server, { autotitle: false, agent: { kind: 'Agent', llm: { ...llm, num_retries: 0 }, tools: [] } })
}

/** A way of reading: the frames so far, and its end. */
interface Way {
  readonly name: string
  frames(): readonly JsonEvent[]
  close(): unknown
}

async function bySocket(talk: Talk, name: string, query = ''): Promise<Way> {
  const client = await server.socket(talk.id, query)
  return { name, frames: () => framesOf(client), close: () => client.close() }
}

async function byStream({ path }: Talk): Promise<Way> {
  const frames: JsonEvent[] = []
  let rest = ''
  const call = request(`${server.url}${path}/events/stream`, { headers: { 'X-Session-API-Key': server.key } })
  call.on('response', (response) => response.setEncoding('utf8').on('data', (piece: string) => {
    const blocks = (rest + piece).split('\n\n')
    rest = blocks.pop() ?? ''
    for (const block of blocks) {
      const data = /^data: (.*)$/m.exec(block)?.[1]
      if (data !== undefined) frames.push(JSON.parse(data))
    }
  }).on('error', () => undefined))
  call.on('error', () => undefined)
  call.end()
  return { name: 'server-sent events', frames: () => frames, close: () => call.destroy() }
}

async function byLibrary({ id }: Talk): Promise<Way> {
  const stop = new AbortController()
  const frames: JsonEvent[] = []
  const watched = (await server.server.conversation(id)).watch({ from: 'now', signal: stop.signal })
  const reading = (async () => {
    for await (const event of watched) if (isObject(event)) frames.push(event)
  })()
  return { name: 'watch of the library', frames: () => frames, close: () => (stop.abort(), reading) }
}

function grown(frames: readonly JsonEvent[], field = 'content'): string {
  return frames.map((frame) => (frame['kind'] === 'StreamingDeltaEvent' ? String(frame[field] ?? '') : '')).join('')
}

test('readers that join in mid-stream get the text so far, and no reader gets a piece twice', async () => {
  const talk = await newTalk()
  const ways: Way[] = [await bySocket(talk, 'socket from the beginning')]
  await talk.send('Write')
  const answer = await model.next()
  // No secret begins with a full stop. A random one may begin with a letter, and the masking would hold that letter.
  answer.think('Hm. ')
  answer.say('one. ')
  answer.say('two. ')
  await until(() => grown(ways[0]?.frames() ?? []) === 'one. two. ')
  const first = String((await talk.events())[0]?.['id'])
  ways.push(
    await bySocket(talk, 'socket that joins'), await bySocket(talk, 'socket that resumes', `?after=${first}`),
    await byStream(talk), await byLibrary(talk),
  )
  // The model is silent: the text so far does not wait for its next piece.
  for (const { frames } of ways) await until(() => grown(frames()) === 'one. two. ')
  answer.say('three.')
  for (const { frames } of ways) await until(() => grown(frames()) === 'one. two. three.')
  answer.end()
  await talk.reaches('finished')
  for (const { name, frames, close } of ways) {
    await until(() => frames().some((frame) => frame['kind'] === 'MessageEvent' && frame['source'] === 'agent'))
    assert.equal([grown(frames()), grown(frames(), 'reasoning_content')], ['one. two. three.', 'Hm. '], name)
    const pieces = frames().filter(({ kind }) => kind === 'StreamingDeltaEvent')
    assert.is(new Set(pieces.map(({ id }) => id)).size, pieces.length, name)
    assertTimesGoOn(frames(), name)
    await close()
  }
  assert.equal(messagesOf(await talk.events(), 'agent'), ['one. two. three.'])
  const late = await bySocket(talk, 'after the end', '?resend_mode=all')
  await until(() => late.frames().length > 5)
  assert.is(grown(late.frames()), '')
  await late.close()
})

for (const run of [true, false]) {
  test(`an external agent's text so far is recorded before a message that ${run ? 'is served' : 'waits'}`, async () => {
    const talk = await startTalk(server, 'never')
    const way = await bySocket(talk, 'socket')
    await talk.send('one')
    await until(() => grown(way.frames()) === 'working.')
    await talk.send('two', run)
    if (run) await until(() => grown(way.frames()) === 'working.working.')
    const joining = await bySocket(talk, 'joining')
    await talk.post('/interrupt')
    await talk.send('three', false)
    for (const { frames } of [way, joining]) {
      await until(() => messagesOf(frames(), 'user').includes('three'))
    }
    // The text of the first turn is recorded, so it is no text so far any more.
    assert.not.match(grown(joining.frames()), /working.working/)
    if (!run) assert.is(grown(joining.frames()), '')
    await way.close()
    await joining.close()
    const said = (await talk.events()).filter(({ kind }) => kind === 'MessageEvent').map((event) => {
      return `${String(event['source'])}: ${messagesOf([event], String(event['source'])).join('')}`
    })
    const first = ['user: one', 'agent: working.', 'user: two']
    assert.equal(said, [...first, ...(run ? ['agent: working.'] : []), 'user: three'])
  })
}

/** No delta is older than a delta or a stored event before it. The full state is neither. */
/** No frame is older than a frame before it; only stored events are older than the state at the beginning. */
function assertTimesGoOn(frames: readonly JsonEvent[], name: string): void {
  const isPushed = ({ kind, key }: JsonEvent): boolean => kind === 'StreamingDeltaEvent' || key === 'full_state'
  for (const chosen of [frames.filter(({ key }) => key !== 'full_state'), frames.filter(isPushed)]) {
    const times = chosen.map(({ timestamp }) => String(timestamp))
    assert.equal(times, [...times].sort(), name)
  }
}

test.run()
