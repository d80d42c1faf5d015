/** Clicking, typing and scrolling in a real Chromium, with input events that pages take for a person's. */
import * as assert from 'uvu/assert'
import { click, scroll, type } from '../../../src/parts/browser/input.ts'
import { suite } from '../../support/suite.ts'
import { browserSuite, type TestBrowser } from './browsers.ts'

const test = suite('browser/input')

const fields = `<title>Fields</title>
<input aria-label="Text" value="old"><input aria-label="Read only" readonly><input aria-label="Off" disabled>
<textarea aria-label="Area">old</textarea><div contenteditable aria-label="Editable" role="textbox">old</div>
<select aria-label="List" onchange="document.title = 'chose ' + this.value"><option value="1">One<option value="2">Two<option disabled>Three</select>
<input type="date" aria-label="Date"><input type="file" aria-label="File"><input type="checkbox" aria-label="Box">
<input type="password" aria-label="Secret"><button>Button</button>
<form action="/sent"><input name="q" aria-label="Query"></form>`

const clicks = `<title>Clicks</title><script>
  addEventListener('click', (event) => { document.title = event.target.textContent + (event.isTrusted ? ' trusted' : ' made up') }, true)
</script>
<div style="height:3000px"></div><button>Far down</button><button style="animation: move 0.2s 1; position: relative">Moving</button>
<style>@keyframes move { from { left: 400px } to { left: 0 } }</style>
<div style="position:relative"><button>Under</button><div style="position:absolute;inset:0;background:white">Cover</div></div>
<a href="/sent">Link</a><a href="/sent" target="_blank">Blank</a>
<button onclick="this.remove()">Gone</button><label><input type="checkbox"> Labelled</label>
<iframe src="/frame"></iframe><iframe id="other" style="margin-left:100px"></iframe>
<script>other.src = 'http://localhost:' + location.port + '/frame'</script>`

const { browse } = browserSuite(test, {
  '/fields': fields,
  '/clicks': clicks,
  '/frame': '<div style="height:400px"></div><button onclick="this.textContent = \'Clicked\'">Framed</button><input ' +
    'aria-label="Typed">',
  '/sent': '<title>Sent</title><script>document.title += location.search</script>',
  '/tall': '<title>Tall</title><div style="height:2000px"></div>',
  '/box': '<div style="height:700px;overflow:auto"><div style="height:1500px"></div></div>',
  '/covered': '<iframe src="/tall" style="width:100%;height:780px;border:0"></iframe>',
})

const clickOn = async ({ act, find }: TestBrowser, text: string, newTab = false): Promise<string> => {
  const index = await find(text)
  return act((browser, signal) => click(browser, { index, newTab }, signal))
}
const typeInto = async ({ act, find }: TestBrowser, field: string, text: string): Promise<string> => {
  const index = await find(field)
  return act((browser, signal) => type(browser, { index, text }, signal))
}
const turn = ({ act }: TestBrowser, direction: 'up' | 'down'): Promise<string> =>
  act((browser, signal) => scroll(browser, direction, signal))

browse('a click scrolls to its element and is one of a person', async (browser) => {
  await browser.open('/clicks')
  for (let count = 0; count < 4; count++) await turn(browser, 'down')
  assert.match(await clickOn(browser, '"Far down"'), /Title: Far down trusted$/)
  assert.match(await clickOn(browser, '"Moving"'), /Title: Moving trusted$/)
  assert.match(await clickOn(browser, '"Labelled"'), /was clicked/)
  assert.match(await browser.state(), /input checkbox "Labelled" \(checked\)/)
})

browse('an element that another one covers is not clicked, and the other is named', async (browser) => {
  await browser.open('/clicks')
  for (let count = 0; count < 4; count++) await turn(browser, 'down')
  assert.match(
    await clickOn(browser, '"Under"'),
    /^Cannot click element \d+ for the reason that follows\.\nit is covered by a div element with the text "Cover"$/,
  )
  assert.match(await browser.state(), /Title: Clicks$/m)
})

browse('a click reaches frames of this site and of another', async (browser) => {
  await browser.open('/clicks')
  for (let count = 0; count < 4; count++) await turn(browser, 'down')
  await clickOn(browser, '"Framed"')
  await clickOn(browser, '"Framed"')
  assert.is((await browser.state()).match(/button "Clicked"/g)?.length, 2)
  assert.match(await typeInto(browser, '"Typed"', 'first'), /The element held: "first"/)
  assert.match(await typeInto(browser, '"Typed" value=""', 'second'), /The element held: "second"/)
})

browse('a link opens in this tab, or in a new one that becomes the current one', async (browser) => {
  await browser.open('/clicks')
  for (let count = 0; count < 4; count++) await turn(browser, 'down')
  assert.match(
    await clickOn(browser, '"Blank"'),
    /was clicked\.\nA new tab was opened: [0-9A-F]{4}\. Switch to it to see it\.\nURL: .*\/clicks/,
  )
  assert.match(
    await clickOn(browser, '"Link"', true),
    /has opened tab [0-9A-F]{4}, which is the current one now\.\nURL: .*\/sent\nTitle: Sent$/,
  )
  await browser.open('/clicks')
  for (let count = 0; count < 4; count++) await turn(browser, 'down')
  assert.match(await clickOn(browser, '"Link"'), /was clicked\.\nURL: .*\/sent\nTitle: Sent$/)
  await browser.open('/clicks')
  for (let count = 0; count < 4; count++) await turn(browser, 'down')
  assert.match(await clickOn(browser, '"Gone"', true), /but no new tab was opened by it/)
})

browse('a number that no longer stands for anything is refused', async (browser) => {
  await browser.open('/clicks')
  const without = await browser.act((open, signal) => click(open, { index: 0, newTab: false }, signal))
  assert.is(without, 'There is no element 0: read the state of the page first')
  for (let count = 0; count < 4; count++) await turn(browser, 'down')
  const index = await browser.find('"Gone"')
  const again = (): Promise<string> => browser.act((open, signal) => click(open, { index, newTab: false }, signal))
  assert.match(await again(), /was clicked/)
  assert.is(await again(), `Element ${index} is not on the page any more: read the state of the page again`)
  const beyond = await browser.act((open, signal) => click(open, { index: 999, newTab: false }, signal))
  assert.match(beyond, /^There is no element 999: expected 0 to \d+, as in the last state of the page$/)
})

browse('text takes the place of what a field holds', async (browser) => {
  await browser.open('/fields')
  assert.match(await typeInto(browser, '"Text"', 'new'), /The element held: "new"/)
  assert.match(await typeInto(browser, '"Area"', 'a\nb'), /The element held: "a b"/)
  assert.match(await typeInto(browser, '"Editable"', 'new'), /The element held: "new"/)
  assert.match(await typeInto(browser, '"Text"', ''), /The element held: ""/)
  assert.match(await typeInto(browser, '"Date"', '2030-12-31'), /The element held: "2030-12-31"/)
  assert.match(await typeInto(browser, '"Secret"', 'geheim'), /The element held: "\(hidden, 6 characters\)"/)
})

browse('a line end behind the text presses Enter in a field of one line', async (browser) => {
  await browser.open('/fields')
  assert.match(
    await typeInto(browser, '"Query"', 'what\n'),
    /, and Enter was pressed\.\nThe element held: "what"\nURL: .*\/sent\?q=what\nTitle: Sent\?q=what$/,
  )
})

browse('an option is chosen by its text or value, and the page is told', async (browser) => {
  await browser.open('/fields')
  assert.match(await typeInto(browser, '"List"', 'Two'), /The element held: "Two"\nURL: .*\nTitle: chose 2$/)
  assert.match(await typeInto(browser, '"List"', '1'), /The element held: "One"/)
  assert.match(
    await typeInto(browser, '"List"', 'Four'),
    /^Cannot type into element \d+ for the reason that follows\.\nit has no such option, expected one of "One", "Two", "Three"$/,
  )
  assert.match(await typeInto(browser, '"List"', 'Three'), /that option is disabled$/)
})

const refusals: [field: string, text: string, reason: RegExp][] = [
  ['"Read only"', 'x', /it is read-only$/],
  ['"Off"', 'x', /it is disabled$/],
  ['"File"', 'x', /it takes a file, and the browser can give none$/],
  ['"Box"', 'x', /it is a checkbox; click it instead$/],
  ['"Button"', 'x', /it takes no text$/],
  ['"Date"', 'tomorrow', /a field of the type date does not take this value$/],
]
for (const [field, text, reason] of refusals) {
  browse(`typing ${text} into ${field} is refused with the reason`, async (browser) => {
    await browser.open('/fields')
    assert.match(await typeInto(browser, field, text), reason)
  })
}

browse('a drop-down list is not clicked, and a file cannot be chosen', async (browser) => {
  await browser.open('/fields')
  assert.match(await clickOn(browser, '"List"'), /it is a drop-down list; choose by typing the text of an option$/)
  assert.match(await clickOn(browser, '"File"'), /The page wanted a file to be chosen; the browser can give none\./)
})

browse('scrolling moves the page, a box in it, or a frame', async (browser) => {
  await browser.open('/tall')
  assert.match(await turn(browser, 'down'), /^The page was scrolled down by 680 px: 680 px are above/)
  assert.match(await turn(browser, 'up'), /^The page was scrolled up by 680 px: 0 px are above/)
  assert.match(await turn(browser, 'up'), /^The page itself cannot be scrolled up any further/)
  await browser.open('/box')
  assert.match(await turn(browser, 'down'), /^The element in the middle of the page was scrolled down by 595 px/)
  await browser.open('/covered')
  assert.match(await turn(browser, 'down'), /The wheel was turned over its middle\.$/)
})

test.run()
