/** Every view of the console in a real Chromium: its width, the direction of its texts, its motion and its colours. */
import * as assert from 'uvu/assert'
import { textAt } from '../../support/rest.ts'
import { startServer, type TestServer } from '../../support/server.ts'
import { suite } from '../../support/suite.ts'
import { driveIn, isBrowserThere, openTab, signIn, type Tab } from './chromium.ts'
import { prepare, views, type Prepared } from './views.ts'

const test = suite('parts/console: every view in Chromium', 120_000)
let server: TestServer
let tab: Tab
let prepared: Prepared

test.before(async () => {
  if (!isBrowserThere) return
  server = await startServer()
  tab = await openTab(server.url)
  await tab.size(1280, 900)
  await signIn(tab, server)
  prepared = await prepare(server)
})
test.after(async () => {
  if (!isBrowserThere) return
  await tab.close()
  await server.close()
})

const drive = driveIn(test)

const wide = `[document.documentElement, ...document.querySelectorAll('.main, .side, .conversation-foot')]
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
  await tab.run(`void (location.hash = '#/c/${prepared.ids.mixed}')`)
  const directions = (selector: string): string => {
    return `[...document.querySelectorAll('${selector}')].map((one) => getComputedStyle(one).direction)`
  }
  await tab.until("document.querySelector('.from-user p code') !== null")
  assert.equal(await tab.run(directions('.from-user p')), ['rtl'])
  assert.equal(await tab.run(directions('.from-user p code')), ['ltr'])
  assert.is(await tab.run("document.querySelector('.from-user p code').textContent"), 'npm run build -- --watch')
  await tab.untilText('ملاحظات')
  assert.equal(await tab.run(directions('.conversation-title')), ['rtl'])
  assert.equal(await tab.run(directions('.row.open .row-title')), ['rtl'])
  await tab.picture('right-to-left')
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
  assert.ok(await tab.run(`${shown} !== ${behind}`))
  await tab.picture('forced-colors')
  await tab.size(1280, 900)
})

// The check of an agent that is unknown to the server.
drive('nothing failed', () => {
  assert.equal(tab.faults.filter((fault) => !fault.includes('status of 404')), [])
})

test.run()
