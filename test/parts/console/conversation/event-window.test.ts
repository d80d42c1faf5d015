/** The window over a real history: pages of a real server, live events in between. */
import * as assert from 'uvu/assert'
import { EventWindow } from '../../../../src/parts/console/page/conversation/event-window.ts'
import { readEvent, type StoredEvent } from '../../../../src/parts/console/page/conversation/timeline.ts'
import { until } from '../../../support/processes.ts'
import { listAt, member, textAt } from '../../../support/rest.ts'
import { startServer, type TestServer } from '../../../support/server.ts'
import { suite } from '../../../support/suite.ts'

const test = suite('parts/console/conversation: the window of events')
const limits = { events: 250, size: 10_000_000 }
let server: TestServer
let path: string
let all: readonly StoredEvent[] = []

test.before(async () => {
  server = await startServer()
  const made = await server.rest.post('/api/conversations', { workspace: { working_dir: `${server.workspaceDir}/w` } })
  path = `/api/conversations/${textAt(made.json, 'id')}/events`
  for (let at = 0; at < 300; at++) await send(at)
  all = await everything()
})
test.after(() => server.close())

async function send(at: number): Promise<void> {
  const content = [{ type: 'text', text: `message ${at}` }]
  await server.rest.post(path, { role: 'user', content, run: false })
}

async function everything(): Promise<readonly StoredEvent[]> {
  const events: StoredEvent[] = []
  let page = ''
  do {
    const { json } = await server.rest.get(`${path}/search?limit=100${page}`)
    events.push(...listAt(json, 'items').map(readEvent).filter((event) => event !== undefined))
    const next = member(json, 'next_page_id')
    page = typeof next === 'string' ? `&page_id=${next}` : ''
  } while (page !== '')
  return events
}

function open(): EventWindow {
  return new EventWindow(async (query) => (await server.rest.get(`${path}/search?${query}`)).json, limits)
}

/** Asserts that the window is a run of the history without a gap and without a double. */
function assertRun(window: EventWindow, from: readonly StoredEvent[] = all): void {
  const ids = window.events.map(({ id }) => id)
  const start = from.findIndex(({ id }) => id === ids[0])
  assert.equal(ids, from.slice(start, start + ids.length).map(({ id }) => id))
  assert.is(window.isAtStart, start === 0)
}

test('it opens at the end, and goes back to the beginning with bounded memory', async () => {
  const window = open()
  await window.openAtEnd()
  assert.is(window.events.length, 100)
  assert.is(window.newest, all.at(-1)?.id)
  while (!window.isAtStart) {
    assert.ok(await window.older())
    assertRun(window)
    assert.ok(window.events.length <= limits.events)
  }
  assert.not(window.isAtEnd)
  while (!window.isAtEnd) {
    assert.ok(await window.newer())
    assertRun(window)
    assert.ok(window.events.length <= limits.events)
  }
  assert.is(window.events.at(-1)?.id, all.at(-1)?.id)
})

test('it grows by few events at a time, and reads a page once for several growths', async () => {
  let reads = 0
  const window = new EventWindow(async (query) => {
    reads++
    return (await server.rest.get(`${path}/search?${query}`)).json
  }, limits)
  await window.openAtEnd()
  for (let times = 0; times < 6; times++) {
    const before = window.events.length
    await window.older()
    assert.ok(window.events.length - before <= 15)
    assertRun(window)
  }
  assert.is(window.events.length, 190)
  assert.is(reads, 2)
})

test('it opens around an event, and says when there is none', async () => {
  const window = open()
  const [middle] = all.slice(Math.floor(all.length / 2))
  assert.ok(await window.openAt(middle?.id ?? ''))
  assertRun(window)
  assert.is(window.events.length, 199)
  assert.not(await window.openAt('00000000-0000-4000-8000-000000000000'))
})

test('a slice that was requested while the window was opened elsewhere is dropped', async () => {
  const held: (() => void)[] = []
  let isHeld = false
  const window = new EventWindow(async (query) => {
    const { json } = await server.rest.get(`${path}/search?${query}`)
    if (isHeld) await new Promise<void>((release) => held.push(release))
    return json
  }, limits)
  for (const [open, grow] of [['openAtEnd', 'newer'], ['openAtStart', 'older']] as const) {
    await window.openAt(all[150]?.id ?? '')
    isHeld = true
    const opened = window[open]()
    const grown = window[grow]()
    await until(() => held.length === 2)
    isHeld = false
    held.shift()?.()
    await opened
    held.shift()?.()
    assert.not(await grown)
    assertRun(window)
  }
})

test('live events are added at the end, counted elsewhere, and never come twice', async () => {
  const window = open()
  await window.openAtEnd()
  await send(1000)
  const later = await everything()
  const fresh = later.slice(all.length)
  for (const event of fresh) assert.is(window.live(event), 'added')
  for (const event of later.slice(-50)) assert.is(window.live(event), 'known')
  assertRun(window, later)
  await window.openAtStart()
  await send(1001)
  const last = await everything()
  for (const event of last.slice(later.length)) assert.is(window.live(event), 'behind')
  assert.is(window.missed, last.length - later.length)
  assert.is(window.newest, last.at(-1)?.id)
  while (!window.isAtEnd) await window.newer()
  assertRun(window, last)
  assert.is(window.missed, 0)
  all = last
})

test('an event that comes while the last page is on its way is in the window or behind it, not lost', async () => {
  let between: (() => Promise<void>) | undefined
  const window = new EventWindow(async (query) => {
    const { json } = await server.rest.get(`${path}/search?${query}`)
    await between?.()
    return json
  }, limits)
  await window.openAtEnd()
  await window.openAtStart()
  while (window.events.at(-1)?.id !== all.at(-1)?.id) await window.newer()
  assert.ok(window.isAtEnd)
  await window.openAt(all.at(-50)?.id ?? '')
  await window.openAt(all.at(-150)?.id ?? '')
  between = async () => {
    between = undefined
    await send(2000)
    for (const event of (await everything()).slice(all.length)) assert.is(window.live(event), 'behind')
  }
  await window.newer()
  assert.not(window.isAtEnd)
  while (!window.isAtEnd) await window.newer()
  all = await everything()
  assertRun(window)
  assert.is(window.events.at(-1)?.id, all.at(-1)?.id)
})

test('an event that comes while the window is opened at the end is in the window', async () => {
  let between: (() => Promise<void>) | undefined
  const window = new EventWindow(async (query) => {
    const { json } = await server.rest.get(`${path}/search?${query}`)
    await between?.()
    return json
  }, limits)
  await window.openAtEnd()
  await window.openAtStart()
  between = async () => {
    between = undefined
    await send(2001)
    for (const event of (await everything()).slice(all.length)) window.live(event)
  }
  await window.openAtEnd()
  all = await everything()
  assertRun(window)
  assert.ok(window.isAtEnd)
  assert.is(window.events.at(-1)?.id, all.at(-1)?.id)
})

test('an answer for a window that was opened elsewhere meanwhile is dropped', async () => {
  const window = open()
  await window.openAtEnd()
  const older = window.older()
  await window.openAtStart()
  assert.not(await older)
  assertRun(window)
  assert.ok(window.isAtStart)
})

test('large events leave before many small ones would', () => {
  const nothing = { items: [], next_page_id: null }
  const window = new EventWindow(() => Promise.resolve(nothing), { events: 1000, size: 1_000_000 })
  return window.openAtEnd().then(() => {
    for (let at = 0; at < 400; at++) {
      const text = 'x'.repeat(9000)
      const event = readEvent({ kind: 'MessageEvent', id: `big${at}`, timestamp: '', source: 'agent', text })
      if (event !== undefined) window.live(event)
      window.trim()
    }
    assert.ok(window.events.length >= 100 && window.events.length <= 130, `${window.events.length}`)
    assert.is(window.events.at(-1)?.id, 'big399')
  })
})

test.run()
