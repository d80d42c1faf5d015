/**
 * Chromium for tests of the console: one browser for a test file. Each tab is in a browser context of its own, which
 * shares no cookie, storage or cache with another tab, and can reach the servers of the tab and nothing else.
 */
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { openGate, type Gate } from '../../../src/parts/browser/gate.ts'
import { gateRule } from '../../../src/parts/browser/address.ts'
import { launchBrowser, type LaunchedBrowser } from '../../../src/parts/browser/launch.ts'
import { makeFolder } from '../../support/processes.ts'
import { startServer, type TestServer, type TestServerOptions } from '../../support/server.ts'
import type { Suite } from '../../support/suite.ts'
import { isBrowserThere } from '../browser/browsers.ts'
import { attachTab, type Tab } from './tab.ts'
import { newCode } from './visitor.ts'

export { isBrowserThere }
export type { Tab }

/** Adds a test that needs a browser. Without a browser the test is skipped. */
export type Drive = (name: string, body: () => void | Promise<void>) => void

/**
 * Returns the function that adds the tests of a suite that need a browser. The browser ends after the last test of the
 * suite.
 */
export function driveIn(test: Suite): Drive {
  test.after(closeBrowser)
  return (name, body) => {
    if (isBrowserThere) test(name, body)
    else test.skip(name, 'no Chromium is installed')
  }
}

/** A server and a tab of 1280 × 900 pixels that has not signed in. */
export interface Opened {
  readonly server: TestServer
  readonly tab: Tab
}

/** `driveIn` with one server and one tab for all tests of the suite. `opened` gets them before the first test. */
export function driveOne(
  test: Suite, opened: (both: Opened) => void | Promise<void>, options: TestServerOptions = {},
): Drive {
  let server: TestServer | undefined
  test.before(async () => {
    if (!isBrowserThere) return
    server = await startServer(options)
    const tab = await openTab(server.url)
    await tab.size(1280, 900)
    await opened({ server, tab })
  })
  const drive = driveIn(test)
  test.after(() => server?.close())
  return drive
}

/** Signs a tab in with a new code, and waits for the page. */
export async function signIn(tab: Tab, server: TestServer): Promise<void> {
  await tab.open(`${server.url}/console/#code=${await newCode(server)}`)
  await tab.until("document.querySelector('.shell') !== null")
}

/** Lets no notice of the page end by its time, so that a slow machine can still press the button of a notice. */
export async function keepNotices(tab: Tab): Promise<void> {
  await tab.run(`void (() => {
    const real = setInterval
    window.setInterval = (run, ms, ...more) => real(ms === 8000 ? () => undefined : run, ms, ...more)
  })()`)
}

/** Responses that were read and are not given to the page yet. */
export interface HeldAnswers {
  /** Resolves when a response is held. */
  held(): Promise<void>
  release(): Promise<void>
}

/** Holds each JSON response whose address matches, until the page is loaded anew. */
export async function holdAnswers(tab: Tab, address: RegExp): Promise<HeldAnswers> {
  await tab.run(`void (() => {
    const real = Response.prototype.json
    window.held = []
    Response.prototype.json = async function () {
      const body = await real.call(this)
      if (${address}.test(this.url)) await new Promise((resolve) => window.held.push(resolve))
      return body
    }
  })()`)
  return {
    held: () => tab.until('window.held.length > 0'),
    release: async () => void await tab.run('window.held.splice(0).forEach((go) => go())'),
  }
}

/** Opens a tab in a browser context of its own. `urls` are the servers that the context may reach. */
export async function openTab(...urls: readonly string[]): Promise<Tab> {
  const hosts = urls.map((url) => new URL(url).host)
  const gate = await openGate({ ruleFor: (target) => gateRule(target, hosts) })
  gates.add(gate)
  return openTabThrough(gate.port, async () => {
    await gate.close()
    gates.delete(gate)
  })
}

/** Opens a tab whose requests all go through a SOCKS proxy on this port. `closed` is called after its end. */
export async function openTabThrough(port: number, closed: () => Promise<void>): Promise<Tab> {
  const { connection } = await (running ??= start())
  const context = await connection.call('', 'Target.createBrowserContext', {
    proxyServer: `socks5://127.0.0.1:${port}`, proxyBypassList: '<-loopback>',
  }, {})
  const browserContextId = String(context['browserContextId'])
  const target = await connection.call('', 'Target.createTarget', { url: 'about:blank', browserContextId }, {})
  return attachTab(connection, { targetId: String(target['targetId']), browserContextId }, async () => {
    await connection.call('', 'Target.disposeBrowserContext', { browserContextId }, {})
    await closed()
  })
}

let running: Promise<LaunchedBrowser> | undefined
/** The gates of the open tabs. */
const gates = new Set<Gate>()

/** Ends the browser with all tabs, if a tab was opened. The next tab starts a new browser. */
export async function closeBrowser(): Promise<void> {
  const browser = running
  running = undefined
  await (await browser)?.close()
  for (const gate of gates) await gate.close()
  gates.clear()
}

async function start(): Promise<LaunchedBrowser> {
  const { folder, remove } = makeFolder()
  const browser = await launchBrowser({
    program: undefined, env: { PATH: process.env['PATH'] ?? '' }, folder: join(folder, 'browser'),
    marker: `test${randomBytes(6).toString('hex')}/1`, withoutSandbox: process.getuid?.() === 0,
    allowed: [], timeoutMs: 20_000, signal: new AbortController().signal,
  })
  const { connection } = browser
  return { connection, close: () => browser.close().finally(remove) }
}
