/** The page in a real Chromium without a network, or without its server: it keeps its texts, says so, and goes on. */
import * as assert from 'uvu/assert'
import { listAt, textAt } from '../../support/rest.ts'
import { withPrograms, type Program } from '../../support/server.ts'
import { suite } from '../../support/suite.ts'
import { driveIn, openTab, type Tab } from './chromium.ts'
import { send, show, untilStatus } from './conversation/driving.ts'

const test = suite('parts/console: without the network and without the server', 120_000)
const drive = driveIn(test)

const away = "document.querySelector('.away').textContent.startsWith('The server does not answer.')"
const isBack = "document.querySelector('.away').textContent === ''"
/** The parts of the page that say that the page is cut off, or will try again. */
const saying = `['away', 'side', 'trouble', 'run-status'].filter((name) => {
  const text = document.querySelector('.' + name)?.innerText ?? ''
  return /not answer|not connected|trying|try now/i.test(text)
})`
const itemIds = "[...document.querySelectorAll('.event-item')].map(({ id }) => id).filter((id) => id !== '')"
const noNetwork = { offline: true, latency: 0, downloadThroughput: 0, uploadThroughput: 0 }
const network = { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: -1 }

/** Waits until the page shows each message and action of the history once, in the order of the history. */
async function untilWhole(server: Program, tab: Tab, id: string): Promise<void> {
  const { json } = await server.rest.get(`/api/conversations/${id}/events/search?limit=100`)
  const messages = listAt(json, 'items').filter((event) => textAt(event, 'kind') === 'MessageEvent')
  const wanted = JSON.stringify(messages.map((event) => `e-${textAt(event, 'id')}`))
  await tab.until(`(() => {
    const ids = ${itemIds}
    return new Set(ids).size === ids.length && ${wanted}.join() === ids.filter((id) => ${wanted}.includes(id)).join()
  })()`)
}

async function openPage(tab: Tab, server: Program): Promise<void> {
  await tab.size(1280, 860)
  await tab.open(`${server.url}/console/`)
  await tab.until("document.querySelector('#key') !== null")
  await tab.type('#key', server.key)
  await tab.click('Sign in')
  await tab.until("document.querySelector('.shell') !== null")
  // All views are loaded behind the first one, so that each opens while the server is away.
  for (const part of ['conversation', 'list', 'onboarding', 'settings']) {
    await tab.until(`performance.getEntriesByType('resource')
      .some(({ name, responseEnd }) => name.endsWith('console.${part}.js') && responseEnd > 0)`)
  }
}

/** Opens each view while the server is away; the settings stay open. */
async function visitAll(tab: Tab, id: string): Promise<void> {
  const views = [
    ['/', '.task-box'], [`/c/${id}`, '.connection .warn'], ['/welcome/agent', '.steps'],
    ['/settings', '.section .load-fault'],
  ]
  for (const [path, wanted] of views) {
    await tab.run(`void (location.hash = '#${path}')`)
    await tab.until(`document.querySelector('${wanted}') !== null && ${away}`)
    await tab.picture(`offline-view${path?.replace(id, '').replaceAll('/', '-')}`)
  }
}

drive('the server stops under the page, and comes back', withPrograms(async (start) => {
  const first = await start()
  const { port, origin } = new URL(first.url)
  const tab = await openTab(first.url)
  try {
    await openPage(tab, first)
    const id = textAt((await first.rest.post('/api/conversations', {})).json, 'id')
    await show(tab, id)
    await send(tab, 'run: echo read-before')
    await untilStatus(tab, 'Finished')
    const before = await tab.run(itemIds)
    await first.stop('SIGTERM')
    await tab.until(away)
    await tab.untilText('Not current')
    assert.equal(await tab.run(itemIds), before)
    assert.is(await tab.run(`(${saying}).join()`), 'away')
    await tab.picture('offline-one-place')
    await tab.type('.composer-text', 'run: echo written-meanwhile')
    await tab.click('Send')
    await tab.until("document.querySelector('.trouble').textContent.includes('The server does not answer')")
    assert.is(await tab.run("document.querySelector('.composer-text').value"), 'run: echo written-meanwhile')
    await tab.picture('offline-conversation')
    await tab.run("void (location.hash = '#/')")
    await tab.until("document.querySelector('.task-box') !== null")
    await tab.type('.task-box', 'a task that cannot begin yet')
    await tab.click('Start')
    await tab.until("document.querySelector('.outcome').textContent === 'The server does not answer'")
    await visitAll(tab, id)
    const second = await start(['--port', port])
    await tab.until(isBack)
    await tab.until("document.querySelector('.section form .field') !== null")
    await tab.run(`void (location.hash = '#/c/${id}')`)
    await tab.until("document.querySelector('.composer-text')?.value === 'run: echo written-meanwhile'")
    await tab.until("document.querySelectorAll('.event-item').length > 0")
    await tab.click('Send')
    await tab.until("document.querySelectorAll('.call.is-done').length === 2")
    await untilStatus(tab, 'Finished')
    await untilWhole(second, tab, id)
    await tab.run("void (location.hash = '#/')")
    await tab.until("document.querySelector('.task-box')?.value === 'a task that cannot begin yet'")
    const elsewhere = tab.requests.filter((url) => !url.startsWith(origin) && !/^(?:about|blob|data):/.test(url))
    assert.equal(elsewhere, [])
  } finally {
    await tab.close()
  }
}))

drive('“Try now” ends the pause of the page, and the keyboard goes on in the view', withPrograms(async (start) => {
  const first = await start()
  const { port } = new URL(first.url)
  const tab = await openTab(first.url)
  try {
    // No pause after a failed attempt ends by its time.
    await tab.call('Page.addScriptToEvaluateOnNewDocument', { source: `{
      const real = setTimeout
      window.setTimeout = (run, ms, ...more) => ms > 450 && ms < 13000 ? 0 : real(run, ms, ...more)
    }` })
    await openPage(tab, first)
    const id = textAt((await first.rest.post('/api/conversations', {})).json, 'id')
    await show(tab, id)
    // The countdown of the first pause ends after 1.5 s, so the page notes it.
    await tab.run(`new MutationObserver(() => {
      if (/^Trying again in \\d+ s$/.test(document.querySelector('.countdown')?.textContent)) window.hasCounted = true
    }).observe(document.querySelector('.away'), { subtree: true, childList: true })`)
    await first.stop('SIGTERM')
    await tab.until(away)
    await tab.until('window.hasCounted === true')
    await start(['--port', port])
    await tab.run("document.querySelector('.away button').focus()")
    await tab.press('Enter')
    await tab.until(isBack)
    await tab.until("document.activeElement.id === 'main'")
    await tab.until("document.querySelector('.connection').textContent.startsWith('Connected again')")
  } finally {
    await tab.close()
  }
}))

drive('the silence of a frozen server is noticed; a form written meanwhile stays', withPrograms(async (start) => {
  const server = await start()
  const tab = await openTab(server.url)
  try {
    // The timer of the silence ends when the test says so.
    await tab.call('Page.addScriptToEvaluateOnNewDocument', { source: `{
      const real = setTimeout
      window.setTimeout = (run, ms, ...more) => {
        if (ms !== 40000) return real(run, ms, ...more)
        window.silence = run
        return 0
      }
    }` })
    await openPage(tab, server)
    server.child.kill('SIGSTOP')
    await tab.run('window.silence()')
    await tab.until(away)
    await tab.run("void (location.hash = '#/')")
    await tab.run("void (location.hash = '#/?again')")
    await tab.until("document.querySelector('[list=folders]') !== null")
    await tab.type('[list=folders]', '/a/folder/that/was/typed')
    server.child.kill('SIGCONT')
    await tab.until(isBack)
    assert.is(await tab.run("document.querySelector('[list=folders]')?.value"), '/a/folder/that/was/typed')
  } finally {
    server.child.kill('SIGCONT')
    await tab.close()
  }
}))

drive('the browser loses its network while the agent works, and gets it back', withPrograms(async (start) => {
  const server = await start()
  const tab = await openTab(server.url)
  try {
    await openPage(tab, server)
    const id = textAt((await server.rest.post('/api/conversations', {})).json, 'id')
    await show(tab, id)
    await send(tab, 'run: echo before; sleep 100')
    await tab.until("document.querySelector('.call.is-open') !== null")
    // Chromium keeps open sockets open, so the server's end of the run closes nothing: the requests fail, and the
    // page goes through its views and asks for a new socket.
    await tab.call('Network.emulateNetworkConditions', noNetwork)
    await tab.run("void (location.hash = '#/')")
    await tab.until("document.querySelector('.task-box') !== null")
    await tab.run(`void (location.hash = '#/c/${id}')`)
    await tab.untilText('This conversation is not connected.')
    assert.is(await tab.run(`(${saying}).join()`), 'away')
    await tab.picture('offline-no-network')
    await server.rest.post(`/api/conversations/${id}/interrupt`)
    await server.rest.post(`/api/conversations/${id}/events`, {
      role: 'user', content: [{ type: 'text', text: 'run: echo while-away' }], run: true,
    })
    await tab.call('Network.emulateNetworkConditions', network)
    await tab.untilText('run: echo while-away')
    await untilStatus(tab, 'Finished')
    await untilWhole(server, tab, id)
  } finally {
    await tab.close()
  }
}))

test.run()
