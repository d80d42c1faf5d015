/** Every view of the console in a real Chromium: its width, the direction of its texts, its motion and its colours. */
import * as assert from 'uvu/assert'
import { textAt } from '../../support/rest.ts'
import type { TestServer } from '../../support/server.ts'
import { suite } from '../../support/suite.ts'
import { driveOne, signIn, type Tab } from './chromium.ts'
import { prepare, views, type Prepared } from './views.ts'

const test = suite('parts/console: every view in Chromium', 120_000)
let server: TestServer
let tab: Tab
let prepared: Prepared

const drive = driveOne(test, async (opened) => {
  ({ server, tab } = opened)
  await signIn(tab, server)
  prepared = await prepare(server)
})

const wide = `[document.documentElement, ...document.querySelectorAll('.main, .side, .conversation-foot, .tabs')]
  .filter((one) => one.scrollWidth > one.clientWidth).map((one) => one.className || one.tagName)`

drive('no view is wider than its window, from a phone to a wide screen', async () => {
  for (const { name, open } of views) {
    await open(tab, prepared)
    for (const width of [375, 768, 1280, 1600]) {
      await tab.size(width, 800)
      assert.equal(await tab.run(wide), [], `${name} at ${width} px`)
    }
    await tab.size(1280, 900)
  }
})

drive('text that is written from right to left keeps its direction, and code in it is written from left to right', async () => {
  await tab.run("document.querySelector('dialog')?.close()")
  await tab.run(`void (location.hash = '#/c/${prepared.ids.mixed}')`)
  const directions = (selector: string): string => {
    return `[...document.querySelectorAll('${selector}')].map((one) => getComputedStyle(one).direction)`
  }
  await tab.until("document.querySelector('.from-user p code') !== null")
  await tab.until("document.querySelectorAll('.from-user').length === 3")
  assert.equal(await tab.run(directions('.from-user p')), ['rtl', 'rtl', 'ltr'])
  assert.equal(await tab.run(directions('.from-user p code')), ['ltr', 'ltr'])
  assert.equal(await tab.run(directions('.from-user li')), ['rtl', 'ltr', 'rtl'])
  const room = "({ x, right }, list) => [x - list.x, list.right - right].map((width) => width > 20)"
  assert.equal(await tab.run(`[...document.querySelectorAll('.from-user li')].map((item) => {
    return (${room})(item.getBoundingClientRect(), item.parentElement.getBoundingClientRect())
  })`), [[false, true], [true, false], [false, true]], 'the room of the list mark')
  assert.is(await tab.run("document.querySelector('.from-user p code').textContent"), 'npm run build -- --watch')
  await tab.untilText('ملاحظات')
  assert.equal(await tab.run(directions('.conversation-title')), ['rtl'])
  await tab.until(`String(${directions('.row.open .row-title')}) === 'rtl'`)
  await tab.picture('right-to-left')
})

drive('a wide table is scrolled in its message, and no word of it is broken', async () => {
  for (const width of [375, 1280]) {
    await tab.size(width, 900)
    const table = "document.querySelector('.from-user .table')"
    assert.ok(await tab.run(`${table}.scrollWidth > ${table}.clientWidth`), `${width} px`)
    assert.is(await tab.run(`${table}.querySelector('th').offsetHeight < 40`), true, `${width} px`)
    await tab.run("document.querySelector('.from-user .table').scrollIntoView()")
    await tab.picture(`wide-table-${width}`)
  }
})

drive('the times of messages and calls end at one line', async () => {
  await tab.run(`void (location.hash = '#/c/${prepared.ids.answered}')`)
  await tab.until(`['user', 'agent'].every((one) => document.querySelector('.from-' + one) !== null)
    && document.querySelector('.event-item.calls') !== null`)
  for (const width of [375, 1280]) {
    await tab.size(width, 900)
    const ends = await tab.run(`[...new Set([...document.querySelectorAll('.event-item .tail')]
      .map((one) => one.getBoundingClientRect().right).filter((end) => end > 0).map(Math.round))].length`)
    assert.is(ends, 1, `${width} px`)
  }
})

drive('the menus of the status line are named, in sight and for screen readers', async () => {
  await tab.until("document.querySelectorAll('.menus select').length > 1")
  const names = await tab.run("[...document.querySelectorAll('.menus label')].map((one) => one.firstChild.textContent)")
  assert.equal(names, ['Mode', 'Confirmation'])
  const heard = await tab.run("[...document.querySelectorAll('.menus select')].map((one) => one.ariaLabel)")
  assert.equal(heard, ['Mode of the agent', 'Confirmation: when the agent asks'])
})

drive('without motion nothing moves, and with forced colours the status stays visible', async () => {
  const initial_message = { role: 'user', content: [{ type: 'text', text: 'run: sleep 100' }], run: true }
  const id = textAt((await server.rest.post('/api/conversations', { initial_message })).json, 'id')
  await tab.run(`void (location.hash = '#/c/${id}')`)
  await tab.until('document.getAnimations().length > 0')
  await tab.media({ 'prefers-reduced-motion': 'reduce' })
  await tab.until('document.getAnimations().length === 0')
  await tab.media({ 'forced-colors': 'active' })
  const shown = "getComputedStyle(document.querySelector('.row.open .dot')).backgroundColor"
  const behind = "getComputedStyle(document.querySelector('.row.open a')).backgroundColor"
  await tab.until("matchMedia('(forced-colors: active)').matches")
  await tab.until(`${shown} !== ${behind}`)
  await tab.picture('forced-colors')
  await tab.size(1280, 900)
})

// The check of an agent that is unknown to the server.
drive('nothing failed', () => {
  assert.equal(tab.faults.filter((fault) => !fault.includes('status of 404')), [])
})

test.run()
