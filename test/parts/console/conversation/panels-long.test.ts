/** Search, links, JSON, frames and exports of a hostile history in a real Chromium: each works, and runs nothing. */
import { createServer } from 'node:http'
import { once } from 'node:events'
import * as assert from 'uvu/assert'
import { until } from '../../../support/processes.ts'
import { textAt } from '../../../support/rest.ts'
import { suite } from '../../../support/suite.ts'
import { driveIn, openTab, type Tab } from '../chromium.ts'
import { withHistory } from './driving.ts'
import { everyForm } from './every-form.ts'
import { call, message } from './history-file.ts'
import { png } from './pictures.ts'

const test = suite('parts/console/conversation: panels', 120_000)
const drive = driveIn(test)
const attack = '<script>window.ran = 1</script><img src="http://evil.test/a.png" onerror="window.ran = 1">'

function* history(): Generator<ReturnType<typeof message>> {
  yield message(`the needle ${attack}`, 'user')
  yield* call('cat notes.txt', `${'a line\n'.repeat(300)}and the output of a call`)
  for (let at = 0; at < 150; at++) yield* call(`echo ${at}`, attack)
  yield* everyForm(png)
}

/** Keeps the last file that the page gives to the browser. */
const keepFiles = `URL.createObjectURL = (blob) => { window.given = blob; return 'blob:none' }
HTMLAnchorElement.prototype.click = function () { window.name = this.download }`

async function given(tab: Tab, button: string): Promise<string> {
  await tab.run('delete window.given')
  await tab.click(button)
  await tab.until("window.given !== undefined && document.querySelector('[role=status]') !== null")
  return String(await tab.run('window.given.text()'))
}

drive('search, link, JSON and frames', () => withHistory(history(), async (tab, id) => {
  await tab.run("document.querySelector('[data-panel=search]').click()")
  await tab.until("document.querySelector('.panel input') !== null")
  await tab.type('.panel input', 'needle')
  await tab.until("document.querySelectorAll('.found-event').length === 1")
  await tab.picture('panel-search')
  await tab.type('.panel input', 'the output of a CALL')
  await tab.until("document.querySelector('.found-event mark')?.textContent === 'the output of a call'")
  assert.is(await tab.run("document.querySelectorAll('.found-event').length"), 1)
  assert.ok(await tab.run("document.querySelector('.found-event').textContent.startsWith('Result of terminal')"))
  await tab.run("document.querySelector('.found-event').click()")
  await tab.until("document.querySelector('.is-target details.call')?.open === true")
  await tab.until("String(getSelection()) === 'the output of a call'")
  await tab.until("document.querySelector('.is-target .terminal').scrollTop > 0")
  await tab.picture('panel-search-output')
  await tab.type('.panel input', 'in no event')
  await tab.untilText('Nothing was found')
  await tab.type('.panel input', 'needle')
  await tab.until("document.querySelector('.found-event mark')?.textContent === 'needle'")
  await tab.run("document.querySelector('.found-event').click()")
  await tab.until("document.querySelector('.is-target')?.textContent.includes('the needle') === true")
  const event = String(await tab.run("document.querySelector('.is-target').id")).slice(2)
  await tab.run("document.querySelector('.is-target .more').click()")
  await tab.click('Show JSON')
  await tab.until(`document.querySelector('dialog .json')?.textContent.includes('"id": "${event}"') === true`)
  await tab.picture('panel-json')
  await tab.run("document.querySelector('dialog').close()")
  await tab.run(`location.hash = '#/settings'`)
  await tab.until("document.querySelector('.conversation') === null")
  await tab.run(`location.hash = '#/c/${id}?event=${event}'`)
  await tab.until(`document.querySelector('.is-target')?.id === 'e-${event}'`)
  await tab.click('Frames')
  await tab.untilText('full_state')
  await tab.picture('panel-frames')
  assert.is(await tab.run('window.ran'), undefined)
}))

/** Lets a held request go. */
type Release = () => Promise<unknown>

/** Holds each request of the search until the test lets it go. Returns a function that waits for the next request. */
async function holdSearches(tab: Tab): Promise<() => Promise<Release>> {
  const held: string[] = []
  tab.on('Fetch.requestPaused', (params) => void held.push(textAt(params, 'requestId')))
  await tab.call('Fetch.enable', { patterns: [{ urlPattern: '*/search?text=*' }] })
  return async () => {
    await until(() => held.length > 0)
    const requestId = held.shift() ?? ''
    return () => tab.call('Fetch.continueRequest', { requestId })
  }
}

function* longHistory(): Generator<ReturnType<typeof message>> {
  yield message('the oldest needle', 'user')
  for (let at = 0; at < 11_000; at++) yield message(`filler ${at}`)
}

drive('a search of a long history tells its progress, is stopped and goes on', () => withHistory(longHistory(),
  async (tab) => {
    const status = "document.querySelector('.search-status')"
    await tab.click('Search')
    await tab.until("document.querySelector('.panel input') !== null")
    const next = await holdSearches(tab)
    await tab.type('.panel input', 'needle')
    await (await next())()
    const second = await next()
    await tab.until(`${status}.innerText.startsWith('5,000 events searched')`)
    await tab.picture('panel-search-progress')
    await tab.run(`void ${status}.querySelector('button').click()`)
    await tab.until(`${status}.innerText.startsWith('Nothing was found')`)
    await second().catch(() => undefined)
    await tab.call('Fetch.disable')
    assert.is(await tab.run("document.querySelectorAll('.found-event').length"), 0)
    await tab.picture('panel-search-stopped')
    await tab.click('Search older events')
    await tab.until("document.querySelector('.found-event mark')?.textContent === 'needle'")
    await tab.until(`${status}.innerText === '1 event'`)
  }))

drive('both exports hold the whole history; the HTML file runs and loads nothing', () => {
  const events = [...history()]
  return withHistory(events, async (tab) => {
    await tab.run(keepFiles)
    await tab.click('Export')
    const lines = (await given(tab, 'JSON Lines')).trimEnd().split('\n')
    assert.equal(lines.map((line) => textAt(JSON.parse(line), 'id')), events.map(({ id }) => id))
    const html = await given(tab, 'One HTML file')
    assert.match(html, "default-src 'none'; style-src 'unsafe-inline'; img-src data:")
    assert.ok(html.includes('echo 149') && html.includes('the needle') && html.includes('palette 208'))
    assert.match(html, /"query": "weather"/, 'arguments that were folded inside a folded call')
    await openAlone(html)
  })
})

/** Opens an HTML file in a browser of its own and fails if the file runs a script or asks for anything. */
async function openAlone(html: string): Promise<void> {
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(request.url ?? '')
    response.setHeader('Content-Type', 'text/html').end(html)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/`
  const tab = await openTab(url)
  try {
    await tab.open(url)
    await tab.untilText('Here is the result')
    await tab.picture('export-html')
    assert.is(await tab.run('window.ran'), undefined)
    assert.equal(tab.requests.filter((one) => one !== url && !one.startsWith('data:')), [])
    assert.equal(asked.filter((path) => path !== '/' && path !== '/favicon.ico'), [])
    assert.is(await tab.run("document.querySelectorAll('script, iframe, object, form, button, input').length"), 0)
    assert.is(await tab.run("document.querySelectorAll('.picture').length"), 2)
  } finally {
    await tab.close()
    server.close()
  }
}

test.run()
