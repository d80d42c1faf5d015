/** Addresses, tabs, and pages that do something by themselves, in a real Chromium. */
import * as assert from 'uvu/assert'
import { click, type } from '../../../src/parts/browser/input.ts'
import { closeTab, goBack, listTabs, navigate, switchTab } from '../../../src/parts/browser/navigation.ts'
import { until } from '../../support/processes.ts'
import { suite } from '../../support/suite.ts'
import { browserSuite, untilTitle, type Page, type TestBrowser } from './browsers.ts'

const test = suite('browser/navigation', 90_000)

function script(text: string): Page {
  return (_request, response) => response.writeHead(200, { 'content-type': 'text/javascript' }).end(text)
}

const { browse } = browserSuite(test, {
  '/one': '<title>One</title>',
  '/two': '<title>Two</title>',
  '/dialogs': `<title>Dialogs</title><button onclick="alert('hello\\nthere')">Alert</button>
    <button onclick="document.title = confirm('sure?')">Confirm</button><button onclick="document.title = prompt('who?', 'me')">Prompt</button>`,
  '/leaving': `<title>Leaving</title><button>Touch</button><script>addEventListener('beforeunload', (event) => ` +
    'event.preventDefault())</script>',
  '/alerting': `<title>Alerting</title><script>alert('at once')</script>`,
  '/redirected': (_request, response) => response.writeHead(302, { location: '/two' }).end(),
  '/forwarding': '<script>location.href = "/two"</script>',
  '/download': (_request, response) =>
    response.writeHead(200, { 'content-disposition': 'attachment; filename="a.bin"' }).end('data'),
  '/offering': '<title>Offering</title><a href="/download">Get it</a>',
  '/busy': '<title>Busy</title><button>Start</button><script>document.querySelector("button").onclick = () => ' +
    'setTimeout(() => { for (;;) {} })</script>',
  '/popups': '<title>Popups</title><button onclick="window.open(\'/one\')">Open</button>',
  '/closing': '<title>Closing</title><button onclick="window.close()">Close</button>',
  '/opening': '<title>Opening</title><button onclick="window.open(\'/closing\')">Open</button>',
  '/closing-at-once': '<title>Closing</title><button onmousedown="window.close()">Close</button><input ' +
    'onkeydown="window.close()">',
  '/opening-brief': '<title>Opening</title><button onclick="window.open(\'/closing-at-once\')">Open</button>',
  '/never': () => undefined,
  '/working': `<title>Working</title><script>
    const told = new Set()
    const tell = (who) => { told.add(who); if (told.size === 3) document.title = 'All workers ran' }
    new Worker('/worker').onmessage = () => tell('worker')
    new SharedWorker('/shared').port.onmessage = () => tell('shared')
    navigator.serviceWorker.register('/service').then(() => navigator.serviceWorker.ready).then(() => tell('service'))</script>`,
  '/worker': script('new Worker("/inner").onmessage = () => postMessage(1)'),
  '/inner': script('postMessage(1)'),
  '/shared': script('onconnect = ({ ports: [port] }) => port.postMessage(1)'),
  '/service': script('oninstall = () => skipWaiting()'),
}, { limits: { loadMs: 5000, commandMs: 8000, tabs: 4 } })

const go = ({ act, pages }: TestBrowser, path: string, newTab = false): Promise<string> =>
  act((browser, signal) => navigate(browser, { url: pages.url(path), newTab }, signal))
const clickFirst = async ({ act, state }: TestBrowser, index = 0): Promise<string> => {
  await state()
  return act((browser, signal) => click(browser, { index, newTab: false }, signal))
}
const tabs = async ({ act }: TestBrowser): Promise<string[]> =>
  (await act((browser) => listTabs(browser))).split('\n').slice(1).map((line) => line.slice(0, 4))
/** Only one tab is left, with an empty history. */
const startAnew = async (browser: TestBrowser): Promise<void> => {
  const [, ...others] = [...await tabs(browser), await go(browser, '/one')]
  for (const id of others.filter((one) => one.length === 4)) {
    await browser.act((open, signal) => closeTab(open, id, signal))
  }
  assert.is((await tabs(browser)).length, 1)
}

browse('an address is opened, also by way of a redirect or a script', async (browser) => {
  assert.match(await go(browser, '/one'), /^The address was opened in tab [0-9A-F]{4}\.\nURL: .*\/one\nTitle: One$/)
  assert.match(await go(browser, '/redirected'), /URL: .*\/two\nTitle: Two$/)
  assert.match(await go(browser, '/forwarding'), /URL: .*\/two\nTitle: Two$/)
  assert.match(await go(browser, '/missing'), /URL: .*\/missing/)
})

browse('going back ends at the first page', async (browser) => {
  await startAnew(browser)
  await go(browser, '/one', true)
  await go(browser, '/two')
  const back = (): Promise<string> => browser.act(goBack)
  assert.match(await back(), /^Went back by one page\.\nURL: .*\/one\nTitle: One$/)
  // The empty page that a tab begins with may be one to go back to.
  const answers = [await back(), await back()]
  assert.ok(answers.includes('Cannot go back: there is no page before this one'), answers.join('\n'))
})

browse('tabs are listed, switched and closed by their four characters', async (browser) => {
  await startAnew(browser)
  const [first = ''] = await tabs(browser)
  assert.match(await go(browser, '/two', true), /Title: Two$/)
  const second = (await tabs(browser)).find((id) => id !== first) ?? ''
  assert.match(await browser.act((open) => listTabs(open)), new RegExp(
    `^There are 2 tabs; the current one is ${second}\\.\\n${first}: URL: .*/one, Title: One\\n` +
      `${second} \\(current\\): URL: .*/two, Title: Two$`))
  assert.match(
    await browser.act((open, signal) => switchTab(open, first.toLowerCase(), signal)),
    new RegExp(`^Tab ${first} is the current one now\\.\\nURL: .*/one`),
  )
  assert.is(
    await browser.act((open, signal) => switchTab(open, 'none', signal)),
    `There is no tab "none", expected one of ${first}, ${second}`,
  )
  assert.match(
    await browser.act((open, signal) => closeTab(open, first, signal)),
    new RegExp(`^Tab ${first} was closed\\. The current tab is ${second}\\.`),
  )
  const last = await browser.act((open, signal) => closeTab(open, second, signal))
  assert.match(last, /The current tab is [0-9A-F]{4}\.\nURL: about:blank/)
  assert.is((await tabs(browser)).length, 1)
})

browse('dialogs are answered by themselves, and told', async (browser) => {
  await go(browser, '/dialogs')
  assert.match(
    await clickFirst(browser, 0), /The page showed a dialog \(alert\)\. It was accepted\.\nDialog: "hello there"\n/,
  )
  assert.match(await clickFirst(browser, 1), /\(confirm\)\. It was accepted\.\nDialog: "sure\?"\n.*\nTitle: true$/)
  assert.match(await clickFirst(browser, 2), /\(prompt\)\. It was dismissed\.\nDialog: "who\?"\n.*\nTitle: null$/)
  assert.match(await go(browser, '/alerting'), /\(alert\)\. It was accepted\.\nDialog: "at once"\n/)
  await go(browser, '/leaving')
  await clickFirst(browser)
  assert.match(
    await go(browser, '/one'), /The page showed a warning before leaving\. It was accepted\.\n.*\nTitle: One$/,
  )
})

browse('workers of all kinds run', async (browser) => {
  await go(browser, '/working')
  await untilTitle(browser, 'All workers ran')
})

browse('a download is refused and told', async (browser) => {
  assert.match(await go(browser, '/download'), /^Cannot open ".*": it is a download, and downloads are refused/)
  await go(browser, '/offering')
  assert.match(await clickFirst(browser), /Downloads are refused; .*\nDownload: "a\.bin" from .*\/download\n/)
})

browse('a server that does not answer is given up, and the tab goes on', async (browser) => {
  const url = browser.pages.url('/never')
  const given = await browser.act(async (open, signal) => {
    await open.current.navigate(url, { signal, timeoutMs: 500 })
    return { said: 'not expected' }
  })
  assert.is(given, `Cannot open "${url}": no answer came in time`)
  assert.match(await go(browser, '/one'), /Title: One$/)
})

browse('a page that computes without end is replaced by the next one', async (browser) => {
  await startAnew(browser)
  await go(browser, '/busy')
  await clickFirst(browser)
  assert.match(await go(browser, '/two'), /The page in tab [0-9A-F]{4} did not answer any more; the tab was closed, and tab [0-9A-F]{4} opened\.\nURL: .*\/two\nTitle: Two$/)
  assert.is((await tabs(browser)).length, 1)
})

browse('windows that a page opens become tabs up to a limit, and never the current one', async (browser) => {
  await startAnew(browser)
  await go(browser, '/popups')
  for (let count = 2; count <= 4; count++) {
    assert.match(await clickFirst(browser), /A new tab was opened: .*\n.*\nTitle: Popups$/)
  }
  assert.match(
    await clickFirst(browser),
    /The page wanted to open another tab; it was closed, since there are 4 already\.\n.*\nTitle: Popups$/,
  )
  assert.is((await tabs(browser)).length, 4)
  assert.match(await go(browser, '/one', true), /^Cannot open another tab: there are 4 already, close some/)
})

browse('a tab that its page closes is left for another one', async (browser) => {
  await startAnew(browser)
  await go(browser, '/opening')
  const [, id = ''] = /A new tab was opened: (\S{4})/.exec(await clickFirst(browser)) ?? []
  await browser.act((open, signal) => switchTab(open, id, signal))
  assert.match(
    await clickFirst(browser), new RegExp(`Tab ${id} was closed by its page; this is tab [0-9A-F]{4}\\.\\n.*/opening`),
  )
})

for (const [what, act] of [
  ['a mouse button goes down', (browser: TestBrowser) => clickFirst(browser)],
  ['a key goes down', async (browser: TestBrowser) => {
    await browser.state()
    return browser.act((open, signal) => type(open, { index: 1, text: 'text\n' }, signal))
  }],
] as const) {
  browse(`a tab that its page closes while ${what} is left for another one`, async (browser) => {
    await startAnew(browser)
    await go(browser, '/opening-brief')
    const [, id = ''] = /A new tab was opened: (\S{4})/.exec(await clickFirst(browser)) ?? []
    await browser.act((open, signal) => switchTab(open, id, signal))
    const said = await act(browser)
    assert.match(said, /^(Element 0 was clicked|The text was typed into element 1)/)
    assert.match(said, new RegExp(`Tab ${id} was closed by its page; this is tab [0-9A-F]{4}\\.\\n[^]*/opening`))
  })
}

browse('a page that has crashed is said to have, and the next one can be opened', async (browser) => {
  await go(browser, '/one')
  await browser.act(async (open) => {
    const tab = open.current
    tab.session.tell('Page.crash')
    await until(() => tab.hasCrashed)
    return { said: '' }
  })
  assert.match(await browser.state(), /^The page in tab \S{4} has crashed; open an address to go on/)
  assert.match(await go(browser, '/two'), /Title: Two$/)
  assert.match(await browser.state(), /Title: Two/)
})

test.run()
