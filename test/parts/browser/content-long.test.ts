/** Pages as Markdown, read in a real Chromium. */
import * as assert from 'uvu/assert'
import { readContent } from '../../../src/parts/browser/content.ts'
import { suite } from '../../support/suite.ts'
import { browserSuite, type TestBrowser } from './browsers.ts'

const test = suite('browser/content')

const article = `<title>An article</title><h1>Head <em>line</em></h1>
<p>First   <b>bold</b> and <i>slanted</i> and <code>code</code>.<br>A line. <a href="/two">A link</a> <a href="javascript:x()">none</a></p>
<ul><li>one<ul><li>inner</li></ul></li><li>two</li></ul><ol start="3"><li>three<li>four</ol>
<blockquote><p>quoted</p><p>twice</p></blockquote><hr>
<table><tr><th>A<th>B|C</tr><tr><td>1<td><b>2</b></tr><tr><td><td></tr></table>
<pre>  kept


as it is</pre><img alt="A picture" src="data:,"><img src="data:,">
<input value="typed"><input type="password" value="hidden away"><textarea>area</textarea>
<script>var unseen</script><style>unseen</style><template>unseen</template><select><option>unseen</select>
<p hidden>unseen</p><p style="display:none">unseen</p><p style="visibility:hidden">unseen</p><p style="opacity:0">unseen</p>
<div style="display:contents"><p>contained</p></div><h2> </h2>`

const asMarkdown = `# Head *line*

First **bold** and *slanted* and \`code\`.
A line. A link none

- one
  - inner
- two

3. three
4. four

> quoted
> twice

---

| A | B\\|C |
| --- | --- |
| 1 | **2** |

\`\`\`
  kept


as it is
\`\`\`

![A picture] [typed][area]

contained`

const { browse } = browserSuite(test, {
  '/article': article,
  '/shadow': `<div id="a"><span>slotted</span></div><script>
    a.attachShadow({ mode: 'open' }).innerHTML = '<p>before</p><slot></slot><p>after</p><slot name="x">instead</slot>'</script>`,
  '/frames': '<p>Outer</p><iframe src="/inner"></iframe><iframe id="other"></iframe><script>other.src = ' +
    '"http://localhost:" + location.port + "/inner"</script>',
  '/inner': '<p>Inner</p>',
  '/long': `<pre>${'0123456789'.repeat(4000)}</pre>`,
  '/huge': `<pre>${'0123456789'.repeat(250_000)}</pre>`,
  '/deep': `${'<div>'.repeat(100)}<script>
    let at = document.querySelector('div')
    for (let depth = 0; depth < 1000; depth++) at = at.appendChild(document.createElement('div'))
    at.textContent = 'at the bottom'</script>`,
  '/empty': '',
})

const read = ({ act }: TestBrowser, withLinks = false, startFromChar = 0): Promise<string> =>
  act((browser, signal) => readContent(browser, { withLinks, startFromChar }, signal))

/** Removes the lines about the page. */
function bodyOf(text: string): string {
  return text.slice(text.indexOf('\n\n') + 2)
}

browse('a page is read as Markdown, without what nobody sees', async (browser) => {
  await browser.open('/article')
  const text = await read(browser)
  assert.is(bodyOf(text), asMarkdown)
  assert.match(text, /^Characters 0 to \d+ of \d+\.\nURL: .*\/article\nTitle: An article\n\n/)
})

browse('the addresses of links are given when they are asked for', async (browser) => {
  await browser.open('/article')
  assert.ok((await read(browser, true)).includes(`A line. [A link](${browser.pages.url('/two')}) none`))
})

browse('shadow roots are read in their place, with what is put into their slots', async (browser) => {
  await browser.open('/shadow')
  assert.is(bodyOf(await read(browser)), 'before\n\nslotted\n\nafter\n\ninstead')
})

browse('frames follow the page, those of another site too', async (browser) => {
  await browser.open('/frames')
  assert.is(bodyOf(await read(browser)), [
    'Outer', `In the frame ${browser.pages.url('/inner')}:`, 'Inner',
    `In the frame ${browser.pages.elsewhere('/inner')}:`, 'Inner',
  ].join('\n\n'))
})

browse('a long page is read in pieces', async (browser) => {
  await browser.open('/long')
  const first = await read(browser)
  const [, total = ''] = /^Characters 0 to 30000 of (\d+); read on with start_from_char 30000\.\n/.exec(first) ?? []
  const second = await read(browser, false, 30_000)
  assert.match(second, new RegExp(`^Characters 30000 to ${total} of ${total}\\.\\n`))
  const pieces = [first, second].map((text) => text.slice(text.indexOf('\n') + 1))
  assert.ok(pieces.join('').includes('0123456789'.repeat(4000)))
  assert.is(await read(browser, false, 1_000_000), `Cannot read from character 1000000: the content has ${total}`)
})

browse('what is too much to be read is said to be', async (browser) => {
  await browser.open('/huge')
  assert.match(
    await read(browser),
    /^Characters 0 to 30000 of 20000\d\d; read on with start_from_char 30000\. The page has more than can be read\.\n/,
  )
})

browse('elements in elements without end do no harm', async (browser) => {
  await browser.open('/deep')
  assert.match(await read(browser), /at the bottom$/)
})

browse('an empty page has an address', async (browser) => {
  await browser.open('/empty')
  assert.match(await read(browser), /URL: .*\/empty\nTitle: \n\n$/)
})

test.run()
