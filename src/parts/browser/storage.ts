/**
 * Reads and restores cookies, local storage and session storage of the browser.
 *
 * Session storage is read and restored in the current tab only. Local storage of an origin that the current tab does
 * not show is restored in a new tab. This server answers the requests of the new tab: nothing is sent to the network.
 */
import { AppError } from '../../base/errors.ts'
import { isObject, type JsonObject } from '../../base/json.ts'
import type { Browser } from './browser.ts'
import { objectsOf, type Fields } from '../../base/fields.ts'
import { textOrEmpty } from './fields.ts'
import { callIn, listFrames, type PageFrame } from './frames.ts'
import type { Outcome } from './outcome.ts'
import { readStorage, writeStorage } from './page/storage.ts'
import type { Tab } from './tab.ts'

type Which = 'localStorage' | 'sessionStorage'
type Entry = { name: string, value: string }

interface OriginState {
  readonly origin: string
  readonly localStorage: Entry[]
  readonly sessionStorage: Entry[]
}

const cookieLimit = 500
const originLimit = 20
/** The limit on the characters that are read from the storage of one frame. */
const originChars = 100_000
/** Timeout of a command that reads from a tab. A tab that does not answer is left out. */
const tabLimitMs = 3000

/**
 * Returns cookies and the storage of open pages as JSON text (`page`). `said` tells what the limits leave out.
 * @throws the errors of `CdpConnection.call`
 */
export async function getStorage(browser: Browser, signal: AbortSignal): Promise<Outcome> {
  const answer = await browser.root.call('Storage.getCookies', {}, { signal })
  const kept = objectsOf(answer['cookies'])
  const cookies = kept.slice(0, cookieLimit).map(cookieOf)
  const origins = new Map<string, OriginState>()
  const further = new Set<string>()
  let isComplete = true
  for (const tab of [browser.current, ...browser.tabs.filter((one) => one !== browser.current)]) {
    for (const found of await readTab(tab, signal)) {
      const origin = textOrEmpty(found['origin'])
      isComplete &&= found['isComplete'] === true
      if (origin === '' || origins.has(origin)) continue
      if (origins.size >= originLimit) further.add(origin)
      if (further.has(origin)) continue
      const sessionStorage = tab === browser.current ? entriesOf(found['sessionStorage']) : []
      origins.set(origin, { origin, localStorage: entriesOf(found['localStorage']), sessionStorage })
    }
  }
  const left = [
    ...(isComplete ? [] : ['an origin keeps too much']),
    ...(kept.length > cookieLimit ? [`${kept.length - cookieLimit} cookies are left out`] : []),
    ...(further.size > 0 ? [`${further.size} origins are left out`] : []),
  ]
  const cut = left.length === 0 ? '' : ` Not everything is shown: ${left.join('; ')}.`
  return {
    said: `There are ${cookies.length} cookies, and the storage of ${origins.size} open origins.${cut}`,
    page: JSON.stringify({ cookies, origins: [...origins.values()] }, undefined, 1),
  }
}

/**
 * Restores the cookies and the storage in `state`.
 * @throws AppError `invalid_input` for an unusable `state`; the errors of `Browser.createTab`
 */
export async function setStorage(
  browser: Browser, state: Readonly<Record<string, unknown>>, signal: AbortSignal,
): Promise<Outcome> {
  const cookies = listOf(state, 'cookies').map(cookieParam)
  const origins = listOf(state, 'origins').map(originState)
  if (cookies.length > 0) await browser.root.call('Storage.setCookies', { cookies }, { signal })
  const unusableCount = objectsOf(state['origins']).reduce((sum, origin) => sum + malformedIn(origin), 0)
  const problems = unusableCount === 0
    ? []
    : [`${unusableCount} storage entries were left out: expected objects with the strings name and value.`]
  for (const { origin, localStorage, sessionStorage } of origins) {
    if (localStorage.length > 0) problems.push(...await writeLocal(browser, origin, localStorage, signal))
    if (sessionStorage.length > 0) problems.push(...await writeSession(browser, origin, sessionStorage, signal))
  }
  const done = `${cookies.length} cookies and the storage of ${origins.length} origins were restored. Pages that ` +
    'are open see it when they are loaded again.'
  return { said: [done, ...problems].join('\n') }
}

async function readTab(tab: Tab, signal: AbortSignal): Promise<Fields[]> {
  if (tab.hasCrashed) return []
  const options = { signal, timeoutMs: tabLimitMs }
  try {
    const frames = await listFrames(tab.sessions, options)
    return await Promise.all(frames.map((frame) => callIn(frame, readStorage, [originChars], options)))
  } catch (thrown) {
    if (thrown instanceof AppError) return []
    throw thrown
  }
}

async function writeLocal(browser: Browser, origin: string, entries: Entry[], signal: AbortSignal): Promise<string[]> {
  const open = await frameOf(browser.current, origin, signal)
  if (open !== undefined) return write(open, 'localStorage', entries, signal)
  const tab = await browser.createTab(signal)
  try {
    const html = { name: 'content-type', value: 'text/html' }
    tab.onRequest = ({ requestId }) => {
      tab.session.tell('Fetch.fulfillRequest', {
        requestId: textOrEmpty(requestId),
        responseCode: 200,
        responseHeaders: [html],
        body: '',
      })
    }
    await tab.session.call('Fetch.enable', { patterns: [{ urlPattern: '*' }] }, { signal })
    await tab.session.call('Page.navigate', { url: `${origin}/` }, { signal })
    const frame = await frameOf(tab, origin, signal)
    return frame === undefined
      ? [`The local storage of ${origin} could not be restored.`]
      : await write(frame, 'localStorage', entries, signal)
  } finally {
    await browser.closeTab(tab, signal)
  }
}

async function writeSession(
  browser: Browser, origin: string, entries: Entry[], signal: AbortSignal,
): Promise<string[]> {
  const frame = await frameOf(browser.current, origin, signal)
  if (frame !== undefined) return write(frame, 'sessionStorage', entries, signal)
  return [
    `The session storage of ${origin} was not restored: it belongs to a tab, and the current one is elsewhere. Open ` +
    'the page and try again.',
  ]
}

async function write(frame: PageFrame, which: Which, entries: Entry[], signal: AbortSignal): Promise<string[]> {
  const { isDone } = await callIn(frame, writeStorage, [which, entries], { signal })
  const { origin } = new URL(frame.url)
  return isDone === true ? [] : [`The ${which} of ${origin} was not restored: the browser did not take all entries.`]
}

async function frameOf(tab: Tab, origin: string, signal: AbortSignal): Promise<PageFrame | undefined> {
  const frames = await listFrames(tab.sessions, { signal })
  return frames.find(({ url }) => URL.canParse(url) && new URL(url).origin === origin)
}

const cookieTexts = ['name', 'value', 'domain', 'path', 'sameSite'] as const
const cookieFlags = ['httpOnly', 'secure'] as const

function cookieOf(cookie: Fields): JsonObject {
  const result: JsonObject = {}
  for (const name of cookieTexts) if (typeof cookie[name] === 'string') result[name] = cookie[name]
  for (const name of cookieFlags) if (typeof cookie[name] === 'boolean') result[name] = cookie[name]
  if (typeof cookie['expires'] === 'number') result['expires'] = cookie['expires']
  return result
}

function cookieParam(cookie: Fields, index: number): JsonObject {
  const param = cookieOf(cookie)
  for (const name of ['name', 'value', 'domain'] as const) {
    if (typeof param[name] !== 'string') throw unusable(`cookies.${index}.${name}`, 'a string')
  }
  // A session cookie has a negative `expires` in a storage state, and no `expires` in `Storage.setCookies`.
  if (typeof param['expires'] === 'number' && param['expires'] < 0) delete param['expires']
  return param
}

function originState(item: Fields, index: number): OriginState {
  const origin = textOrEmpty(item['origin'])
  const isOrigin = /^https?:/.test(origin) && URL.canParse(origin) && new URL(origin).origin === origin
  if (!isOrigin) throw unusable(`origins.${index}.origin`, 'an origin such as https://example.org')
  return { origin, localStorage: entriesOf(item['localStorage']), sessionStorage: entriesOf(item['sessionStorage']) }
}

function entriesOf(value: unknown): Entry[] {
  return objectsOf(value).flatMap(({ name, value: content }) => {
    return typeof name === 'string' && typeof content === 'string' ? [{ name, value: content }] : []
  })
}

/** Counts the unusable entries of an origin, which `entriesOf` drops. A storage that is no list counts as one entry. */
function malformedIn({ localStorage, sessionStorage }: Fields): number {
  return [localStorage ?? [], sessionStorage ?? []].reduce((sum: number, value) => {
    return sum + (Array.isArray(value) ? value.length : 1) - entriesOf(value).length
  }, 0)
}

function listOf(state: Readonly<Record<string, unknown>>, name: 'cookies' | 'origins'): readonly Fields[] {
  const value = state[name] ?? []
  if (!Array.isArray(value) || !value.every(isObject)) throw unusable(name, 'a list of objects')
  return value
}

function unusable(where: string, expected: string): AppError {
  return new AppError('invalid_input', `Cannot restore the storage: expected ${expected} at ${where}`)
}
