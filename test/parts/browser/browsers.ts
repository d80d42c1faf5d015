/**
 * Browsers for tests: a real Chromium where there is one, on pages that a test brings itself, over a loopback port that
 * is open to it. As root it runs without its sandbox, as an operator would have to allow.
 */
import { randomBytes, randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { join } from 'node:path'
import { AgentBrowser, type AgentBrowserOptions } from '../../../src/parts/browser/agent-browser.ts'
import type { Browser } from '../../../src/parts/browser/browser.ts'
import { BrowserPlaces } from '../../../src/parts/browser/places.ts'
import { findBrowser } from '../../../src/parts/browser/program.ts'
import { navigate } from '../../../src/parts/browser/navigation.ts'
import type { Outcome } from '../../../src/parts/browser/outcome.ts'
import { readState } from '../../../src/parts/browser/state.ts'
import { messageOf } from '../../../src/base/errors.ts'
import { makeFolder, until } from '../../support/processes.ts'
import type { Suite } from '../../support/suite.ts'

export const instance = `test${randomBytes(6).toString('hex')}`
const path = process.env['PATH'] ?? ''
export const isBrowserThere = await findBrowser(undefined, path).then(() => true, () => false)
export const withoutSandbox = process.getuid?.() === 0

/** A page, or the function that answers instead. */
export type Page = string | ((request: IncomingMessage, response: ServerResponse) => void)

export interface PageServer {
  /** `127.0.0.1:port` */
  readonly host: string
  readonly url: (path: string) => string
  /** The same page from another site. */
  readonly elsewhere: (path: string) => string
  readonly requests: string[]
  close(): Promise<void>
}

/** Serves pages by their path, `<!doctype html>` before each. */
export async function servePages(pages: Readonly<Record<string, Page>>): Promise<PageServer> {
  const requests: string[] = []
  const server: Server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://x')
    // A browser asks for it whenever it likes.
    if (pathname !== '/favicon.ico') requests.push(pathname)
    const page = pages[pathname]
    if (typeof page === 'function') return page(request, response)
    response.writeHead(page === undefined ? 404 : 200, { 'content-type': 'text/html; charset=utf-8' })
    response.end(`<!doctype html>${page ?? 'There is no such page'}`)
  })
  server.on('upgrade', (request, socket) => {
    requests.push(`upgrade ${request.url}`)
    socket.destroy()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (typeof address !== 'object' || address === null) throw new Error('The server has no port')
  const { port } = address
  return {
    host: `127.0.0.1:${port}`,
    url: (pathname) => `http://127.0.0.1:${port}${pathname}`,
    elsewhere: (pathname) => `http://localhost:${port}${pathname}`,
    requests,
    close: () => new Promise((resolve) => {
      server.close(() => resolve())
      server.closeAllConnections()
    }),
  }
}

export interface TestBrowser {
  readonly pages: PageServer
  readonly agent: AgentBrowser
  readonly folder: string
  /** Returns the result of an action and the text of the page, as one text; an error is its message. */
  act(action: (browser: Browser, signal: AbortSignal) => Promise<Outcome> | Outcome): Promise<string>
  open(path: string): Promise<string>
  state(): Promise<string>
  /** The number of the element whose line has this text in it. */
  find(text: string): Promise<number>
}

/**
 * Makes one browser for a file of tests, with its pages. `browse` adds a test that gets the browser. On a machine
 * without Chromium that test is skipped.
 */
export function browserSuite(
  test: Suite, pages: Readonly<Record<string, Page>>, options: Partial<AgentBrowserOptions> = {},
): { browse: (name: string, body: (browser: TestBrowser) => Promise<void>) => void } {
  let opened: TestBrowser | undefined
  let remove = (): void => undefined
  test.before(async () => {
    if (!isBrowserThere) return
    const made = makeFolder()
    remove = made.remove
    opened = openBrowser(await servePages(pages), made.folder, options)
  })
  test.after(async () => {
    await opened?.agent.close()
    await opened?.pages.close()
    remove()
  })
  const browse = (name: string, body: (browser: TestBrowser) => Promise<void>): void => {
    if (!isBrowserThere) return test.skip(name, 'no Chromium is installed here')
    test(name, () => {
      if (opened === undefined) throw new Error('The browser was not made')
      return body(opened)
    })
  }
  return { browse }
}

function openBrowser(pages: PageServer, folder: string, options: Partial<AgentBrowserOptions>): TestBrowser {
  const agent = new AgentBrowser({
    ...browserOptions(folder), allowed: [pages.host, pages.host.replace('127.0.0.1', 'localhost')], ...options,
  })
  const act: TestBrowser['act'] = (action) => agent.act(AbortSignal.timeout(60_000), action).then(textOf, messageOf)
  const state = (): Promise<string> => act((browser, signal) => readState(browser, { withScreenshot: false }, signal))
  const find = async (text: string): Promise<number> => {
    const described = await state()
    const line = described.split('\n').find((one) => /^\[\d+\]/.test(one) && one.includes(text))
    if (line === undefined) throw new Error(`There is no element "${text}" in: ${described}`)
    return Number.parseInt(line.slice(1), 10)
  }
  const open = (pathname: string): Promise<string> =>
    act((browser, signal) => {
      return navigate(
        browser, { url: pathname.startsWith('/') ? pages.url(pathname) : pathname, newTab: false }, signal,
      )
    })
  return { pages, agent, folder, act, open, state, find }
}

export function browserOptions(folder: string): AgentBrowserOptions {
  return {
    program: undefined,
    withoutSandbox,
    allowed: [],
    places: new BrowserPlaces(1),
    env: { PATH: path, LANG: 'C.UTF-8', SECRET_OF_THE_SERVER: 'never-passed-on' },
    runtimeDir: join(folder, 'run'),
    observationsDir: join(folder, 'observations'),
    instance,
    createId: randomUUID,
  }
}

/** Resolves when the page in the current tab has this title. */
export function untilTitle({ act }: TestBrowser, title: string): Promise<void> {
  return until(async () => (await act(async (browser, signal) => {
    await browser.refresh({ signal })
    return { said: browser.current.title }
  })) === title)
}

export function textOf({ said, page, folder }: Outcome): string {
  return [said, page, folder].filter((part) => part !== undefined).join('\n')
}
