/** The search of the console in a real history: every kind of text, in parts, from the newest event back. */
import * as assert from 'uvu/assert'
import { listAt, member, textAt } from '../../support/rest.ts'
import { startServer, type TestServer } from '../../support/server.ts'
import { suite } from '../../support/suite.ts'
import { create } from './conversation/driving.ts'
import { appendHistory, call, failure, message } from './conversation/history-file.ts'

const test = suite('parts/console: the search in a history')
/** The server that made the conversation. Its folder is that of `server`. */
let before: TestServer
let server: TestServer
let path: string

function* history(): Generator<ReturnType<typeof message>> {
  yield message('the first message, with Ünïcode')
  yield* call('make needle-in-a-command', 'x'.repeat(30_000) + 'needle-in-an-output')
  yield failure('Code', 'needle-in-an-error')
  for (let at = 0; at < 60; at++) yield message(`often ${at}`)
  for (let at = 0; at < 6000; at++) yield message(`filler ${at}`)
}

test.before(async () => {
  before = await startServer()
  const id = await create(before)
  path = `/api/console/conversations/${id}/search`
  await before.server.close()
  await appendHistory(before.dataDir, id, history())
  server = await startServer({ folder: before.folder })
})
test.after(async () => {
  await server.close()
  await before.close()
})

interface Found {
  readonly excerpts: readonly string[]
  readonly kinds: readonly string[]
  readonly requests: number
}

/** Searches the whole history. Returns the excerpts, and the number of requests. */
async function find(text: string): Promise<Found> {
  const items: unknown[] = []
  let [next, requests]: [unknown, number] = [undefined, 0]
  do {
    const place = next === undefined ? '' : `&before=${String(next)}`
    const { status, json } = await server.rest.get(`${path}?text=${encodeURIComponent(text)}${place}`)
    assert.is(status, 200)
    items.push(...listAt(json, 'items'))
    next = member(json, 'next')
    requests++
  } while (next !== null)
  const all = (name: string): readonly string[] => items.map((item) => textAt(item, name))
  return { excerpts: all('excerpt'), kinds: all('kind'), requests }
}

test('messages, commands, outputs and errors are found, with the text around', async () => {
  const { excerpts, kinds } = await find('NEEDLE-in')
  assert.equal(kinds, ['ConversationErrorEvent', 'ObservationEvent', 'ActionEvent'])
  assert.is(excerpts[0], 'needle-in-an-error')
  assert.is(excerpts[1], `… ${'x'.repeat(40)}needle-in-an-output`)
  assert.ok(excerpts[2]?.includes('make needle-in-a-command'))
  assert.equal((await find('ÜNÏ')).excerpts, ['the first message, with Ünïcode'])
})

test('a request examines a part of the history; together they find every event once', async () => {
  const often = await find('often')
  assert.is(often.excerpts.length, 60)
  assert.is(often.excerpts[0], 'often 59')
  assert.is(new Set(often.excerpts).size, 60)
  assert.ok(often.requests >= 3)
  assert.is((await find('in no event')).requests, 2)
})

test('ids, times and kinds are not searched', async () => {
  const { excerpts } = await find('MessageEvent')
  assert.equal(excerpts, [])
})

test('a request without a text, with a wrong position or of an unknown conversation is refused', async () => {
  assert.is((await server.rest.get(path)).status, 422)
  assert.is((await server.rest.get(`${path}?text=%20`)).status, 422)
  assert.is((await server.rest.get(`${path}?text=a&before=-1`)).status, 422)
  const unknown = '/api/console/conversations/00000000-0000-4000-8000-000000000000/search?text=a'
  assert.is((await server.rest.get(unknown)).status, 404)
  const beyond = await server.rest.get(`${path}?text=first&before=999999999`)
  assert.is(beyond.status, 200)
})

test.run()
