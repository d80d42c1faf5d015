/**
 * The description of a page for a model, in a real Chromium: elements of all kinds, frames, shadow roots, pages of any
 * size.
 */
import * as assert from 'uvu/assert'
import { readState } from '../../../src/parts/browser/state.ts'
import { suite } from '../../support/suite.ts'
import { browserSuite } from './browsers.ts'

const test = suite('browser/state')

const form = `<title>A form</title>
<a href="/two#x">To two</a> <a href="https://example.org/">Away</a> <a>no link</a>
<label>Name <input name="name" value="Eva" required></label>
<input type="password" value="correct horse" placeholder="Password"><input type="hidden" value="unseen">
<textarea aria-label="Notes" readonly>several
lines</textarea>
<select title="Size"><option>Small<option selected>Large</select>
<input type="checkbox" id="c" checked><label for="c">Agree</label><input type="radio" aria-label="Radio">
<button disabled>Send</button><input type="submit" value="Go"><button><img alt="Search" src="data:,"></button>
<div role="switch" tabindex="0" aria-checked="false" aria-labelledby="l">x</div><span id="l">Light</span>
<div style="cursor: pointer">Pointed at <b>inner</b></div><div contenteditable>Written</div>
<details><summary>More</summary></details><button name="only-a-name"></button>
<button style="display:none">Not displayed</button><button style="visibility:hidden">Invisible</button><button style="opacity:0">Transparent</button>
<select aria-label="Many">${'<option>o'.repeat(25)}</select>`

const nested = `<title>Nested</title><div id="host"></div><button>Outer</button>
<iframe src="/inner"></iframe><iframe id="other"></iframe>
<script>
  const root = host.attachShadow({ mode: 'open' })
  root.innerHTML = '<button>In shadow</button><div></div>'
  root.querySelector('div').attachShadow({ mode: 'open' }).innerHTML = '<button>Deeper</button>'
  other.src = 'http://localhost:' + location.port + '/inner'
</script>`

const { browse } = browserSuite(test, {
  '/form': form,
  '/nested': nested,
  '/inner': '<button>Inner</button>',
  '/big': `<title>Big</title>${Array.from({ length: 50_000 }, (_, index) => `<button>b${index}</button>`).join('')}`,
  '/long': `<title>Long</title>${Array.from({ length: 400 }, () => `<a href="/${'x'.repeat(180)}">${'y'.repeat(90)}</a>`).join('')}`,
  '/tall': '<button>First</button><div style="height:9000px"></div><button>Last</button>',
  '/slow': '<title>Slow</title><button>Here</button><img src="/never">',
  '/never': () => undefined,
  '/colour': '<body style="margin:0;background:rgb(1,2,3)">',
}, { limits: { loadMs: 2000 } })

browse('elements are listed with what they are, what they are called and what they hold', async ({ open, state }) => {
  await open('/form')
  const lines = (await state()).split('\n').filter((line) => /^\[\d+\]/.test(line))
  assert.equal(lines.map((line) => line.replace(/^\[\d+\] /, '')), [
    'link "To two" -> /two#x',
    'link "Away" -> https://example.org/',
    'input text "Name" value="Eva" (required)',
    'input password "Password" value="(hidden)"',
    'textarea "Notes" value="several lines" (read-only)',
    'select "Size" value="Large" options: "Small", "Large"',
    'input checkbox "Agree" (checked)',
    'input radio "Radio" (not checked)',
    'button "Send" (disabled)',
    'input submit "Go" value="Go"',
    'button "Search"',
    'switch "Light" (not checked)',
    'div "Pointed at inner"',
    'div "Written"',
    'summary "More"',
    'button "only-a-name"',
    `select "Many" value="o" options: ${Array.from({ length: 20 }, () => '"o"').join(', ')} (5 more options)`,
  ])
  assert.equal(lines.map((line) => Number.parseInt(line.slice(1), 10)), lines.map((_, index) => index))
})

browse('the value of a password field stays in the page', async ({ open, state }) => {
  await open('/form')
  assert.not.match(await state(), /correct horse/)
})

browse('elements in shadow roots and in frames of this site and another are numbered on', async (
  { open, state, pages },
) => {
  await open('/nested')
  const text = await state()
  const lines = text.split('\n')
  assert.equal(lines.slice(lines.findIndex((line) => line.startsWith('[0]'))), [
    '[0] button "In shadow"', '[1] button "Deeper"', '[2] button "Outer"',
    `In the frame ${pages.url('/inner')}:`, '[3] button "Inner"',
    `In the frame ${pages.elsewhere('/inner')}:`, '[4] button "Inner"',
  ])
})

browse('a page of 50,000 elements is described near the screen and counted beyond', async ({ open, state }) => {
  await open('/big')
  const text = await state()
  assert.match(text, /300 elements near the screen \(about \d+ more below, not all are shown\)/)
  assert.match(text, /^\[299\] button "b299"$/m)
  assert.not.match(text, /\[300\]/)
  assert.ok(text.length < 32_000)
})

browse('the text is limited however long its parts are', async ({ open, state }) => {
  await open('/long')
  const text = await state()
  assert.match(text, /not all are shown/)
  assert.ok(text.length < 32_000)
})

browse('what is further away than a screen is counted', async ({ open, state }) => {
  await open('/tall')
  assert.match(await state(), /1 element near the screen \(about 1 more below\)/)
})

browse('a page that does not finish loading is described as it is, and said to be loading', async ({ open, state }) => {
  assert.match(await open('/slow'), /opened in tab .*\nThe page is still loading/)
  const text = await state()
  assert.match(text, /\[0\] button "Here"/)
  assert.match(text, /It is still loading\./)
})

browse('a screenshot is a PNG of the whole view', async ({ open, agent }) => {
  await open('/colour')
  const { screenshot = '' } = await agent.act(AbortSignal.timeout(30_000), (browser, signal) => {
    return readState(browser, { withScreenshot: true }, signal)
  })
  const png = Buffer.from(screenshot, 'base64')
  assert.is(png.subarray(1, 4).toString(), 'PNG')
  assert.equal([png.readUInt32BE(16), png.readUInt32BE(20)], [1280, 800])
})

test.run()
