/** Cookies and storage, read and restored in a real Chromium. */
import * as assert from 'uvu/assert'
import { parseJson, isObject } from '../../../src/base/json.ts'
import type { Browser } from '../../../src/parts/browser/browser.ts'
import { navigate } from '../../../src/parts/browser/navigation.ts'
import type { Outcome } from '../../../src/parts/browser/outcome.ts'
import { getStorage, setStorage } from '../../../src/parts/browser/storage.ts'
import { suite } from '../../support/suite.ts'
import { browserSuite, servePages, type TestBrowser } from './browsers.ts'

const test = suite('browser/storage')

const { browse } = browserSuite(test, {
  '/keeping': `<script>document.cookie = 'a=b; max-age=1000'; document.cookie = 'c=d'; localStorage.kept = 'local'; sessionStorage.kept = 'session'</script>
    <iframe id="other"></iframe><iframe sandbox="" src="/plain"></iframe><script>other.src = 'http://localhost:' + location.port + '/inner'</script>`,
  '/inner': '<script>localStorage.inner = "framed"</script>',
  '/plain': '<title>Plain</title>',
  '/much': '<script>localStorage.small = "x"; localStorage.z = "y".repeat(200000)</script>',
}, { limits: { loadMs: 5000 }, allowed: ['127.0.0.1', 'localhost'] })

async function stateOf({ act }: TestBrowser): Promise<{ said: string, state: Record<string, unknown> }> {
  const text = await act(getStorage)
  const [said = '', ...rest] = text.split('\n')
  const state = parseJson(rest.join('\n'))
  if (!isObject(state)) throw new Error(text)
  return { said, state }
}

const restore = ({ act }: TestBrowser, state: Record<string, unknown>): Promise<string> =>
  act((browser, signal) => setStorage(browser, state, signal))

async function clearCookies({ root }: Browser, signal: AbortSignal): Promise<Outcome> {
  await root.call('Storage.clearCookies', {}, { signal })
  return { said: '' }
}

browse('cookies and the storage of the open origins are read', async (browser) => {
  await browser.open('/keeping')
  const { said, state } = await stateOf(browser)
  assert.is(said, 'There are 2 cookies, and the storage of 2 open origins.')
  assert.equal(state['origins'], [
    {
      origin: browser.pages.url(''),
      localStorage: [{ name: 'kept', value: 'local' }],
      sessionStorage: [{ name: 'kept', value: 'session' }],
    },
    { origin: browser.pages.elsewhere(''), localStorage: [{ name: 'inner', value: 'framed' }], sessionStorage: [] },
  ])
  const cookies = Array.isArray(state['cookies']) ? state['cookies'].filter(isObject) : []
  assert.equal(
    cookies.map(({ name, value, domain, path, httpOnly, secure }) => ({ name, value, domain, path, httpOnly, secure })),
    [
      { name: 'c', value: 'd', domain: '127.0.0.1', path: '/', httpOnly: false, secure: false },
      { name: 'a', value: 'b', domain: '127.0.0.1', path: '/', httpOnly: false, secure: false },
    ].sort((one, other) => {
      return cookies.findIndex(({ name }) => name === one.name) - cookies.findIndex(({ name }) => name === other.name)
    }),
  )
})

browse('what was read is restored', async (browser) => {
  await browser.open('/keeping')
  const { state } = await stateOf(browser)
  await browser.act(clearCookies)
  await browser.open('/plain')
  assert.match(await restore(browser, state), /^2 cookies and the storage of 2 origins were restored\./)
  const { said } = await stateOf(browser)
  assert.match(said, /^There are 2 cookies/)
})

browse('the local storage of an origin that is not open is restored without asking its server', async (browser) => {
  await browser.open('/plain')
  const count = browser.pages.requests.length
  const entry = { name: 'from', value: 'afar' }
  assert.match(
    await restore(browser, {
      origins: [
        { origin: browser.pages.elsewhere(''), localStorage: [entry] },
        { origin: 'https://example.org', localStorage: [entry] },
      ],
    }),
    /^0 cookies and the storage of 2 origins were restored\.[^\n]*$/,
  )
  assert.is(browser.pages.requests.length, count)
  await browser.act((open, signal) => navigate(open, { url: browser.pages.elsewhere('/plain'), newTab: false }, signal))
  const { state } = await stateOf(browser)
  assert.match(JSON.stringify(state['origins']), JSON.stringify(entry))
})

browse('session storage is restored in the tab of its origin only', async (browser) => {
  await browser.open('/plain')
  const entry = { name: 's', value: '1' }
  assert.match(
    await restore(browser, { origins: [{ origin: browser.pages.url(''), sessionStorage: [entry] }] }),
    /were restored\.[^\n]*$/,
  )
  assert.match(JSON.stringify((await stateOf(browser)).state['origins']), JSON.stringify(entry))
  assert.match(await restore(browser, { origins: [{ origin: 'https://example.org', sessionStorage: [entry] }] }),
    /\nThe session storage of https:\/\/example\.org was not restored: it belongs to a tab, and the current one is elsewhere\./)
})

browse('storage entries of another form are counted', async (browser) => {
  await browser.open('/plain')
  const entry = { name: 'usable', value: '1' }
  const localStorage = [entry, { name: 'number', value: 1 }, { value: 'nameless' }, 'text', null]
  assert.match(
    await restore(browser, { origins: [{ origin: browser.pages.url(''), localStorage, sessionStorage: { a: 'b' } }] }),
    /were restored\.[^\n]*\n5 storage entries were left out: expected objects with the strings name and value\.$/,
  )
  assert.match(JSON.stringify((await stateOf(browser)).state['origins']), JSON.stringify(entry))
})

browse('what does not fit into the storage of a page is said', async (browser) => {
  await browser.open('/plain')
  const entry = { name: 'n', value: 'x'.repeat(6_000_000) }
  assert.match(
    await restore(browser, { origins: [{ origin: browser.pages.url(''), localStorage: [entry] }] }),
    /\nThe localStorage of http:\S+ was not restored: the browser did not take all entries\.$/,
  )
})

browse('cookies and origins above their limits are left out, and that is said', async (browser) => {
  const framed = await Promise.all(Array.from({ length: 22 }, () => servePages({ '/': 'framed' })))
  const frames = framed.map(({ url }) => `<iframe src="${url('/')}"></iframe>`)
  const framing = await servePages({ '/': frames.join('') })
  const cookies = Array.from({ length: 503 }, (_, index) => ({ name: 'n', value: 'v', domain: `site${index}.test` }))
  try {
    await browser.open(framing.url('/'))
    await browser.act(clearCookies)
    await restore(browser, { cookies })
    const { said } = await stateOf(browser)
    assert.is(said, 'There are 500 cookies, and the storage of 20 open origins. Not everything is shown: 3 cookies are left out; 3 origins are left out.')
  } finally {
    await browser.act(clearCookies)
    await Promise.all([framing, ...framed].map((server) => server.close()))
  }
})

browse('an origin that keeps too much is cut, and that is said', async (browser) => {
  await browser.open('/much')
  const { said, state } = await stateOf(browser)
  assert.match(said, /Not everything is shown: an origin keeps too much\.$/)
  assert.ok(JSON.stringify(state).length < 120_000)
})

const wrong: [what: string, state: Record<string, unknown>, message: RegExp][] = [
  ['cookies that are no list', { cookies: {} }, /expected a list of objects at cookies$/],
  ['a cookie without a value', { cookies: [{ name: 'a', domain: 'b' }] }, /expected a string at cookies\.0\.value$/],
  ['a cookie that the browser does not take', { cookies: [{ name: '', value: '', domain: 'example.org' }] },
    /^The browser refused: /],
  ['origins with a path', { origins: [{ origin: 'https://example.org/a' }] },
    /expected an origin such as https:\/\/example\.org at origins\.0\.origin$/],
  ['origins that are files', { origins: [{ origin: 'file://' }] }, /at origins\.0\.origin$/],
]
for (const [what, state, message] of wrong) {
  browse(`refuses ${what}`, async (browser) => assert.match(await restore(browser, state), message))
}

test.run()
