/**
 * A tab of Chromium, driven over the DevTools protocol. It notes requests, errors and breaches of the
 * Content-Security-Policy.
 *
 * With CONSOLE_PICTURES set, `picture` writes a screenshot of the tab into that folder.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { memberAt, textOf } from '../../../src/base/fields.ts'
import type { JsonValue } from '../../../src/base/json.ts'
import type { CdpConnection } from '../../../src/parts/browser/connection.ts'
import { until } from '../../support/processes.ts'

export interface Tab {
  /** The addresses of all requests, without the fragment. */
  readonly requests: readonly string[]
  /** Uncaught errors of scripts, messages of level error, and breaches of the policy. */
  readonly faults: readonly string[]
  open(url: string): Promise<void>
  /** Returns the value of an expression in the page, as JSON. */
  run(expression: string): Promise<unknown>
  /** Waits until an expression is true. */
  until(expression: string): Promise<void>
  /** Waits until the text of the page has these words. */
  untilText(words: string): Promise<void>
  /** Clicks the first visible button, link or label whose text or label begins with these words. */
  click(words: string): Promise<void>
  /** Replaces the text of the field that a selector finds. */
  type(selector: string, text: string): Promise<void>
  /** Presses a key, such as `a`, `Enter` or `Shift+Tab`. */
  press(key: string): Promise<void>
  size(width: number, height: number, scheme?: 'light' | 'dark'): Promise<void>
  /** Sets media features, such as `prefers-reduced-motion`, until the next call of `size`. */
  media(features: Readonly<Record<string, string>>): Promise<void>
  picture(name: string): Promise<void>
  /** The id of the browser context, for commands of the domain Browser. */
  readonly browserContextId: string
  call(method: string, params?: Readonly<Record<string, JsonValue>>): Promise<unknown>
  /** Calls `listener` with the parameters of each later event of the DevTools protocol with this name. */
  on(method: string, listener: (params: unknown) => void): void
  close(): Promise<void>
}

interface Target {
  readonly targetId: string
  readonly browserContextId: string
}

/** Drives a target of the browser. `close` ends the target. */
export async function attachTab(
  connection: CdpConnection, { targetId, browserContextId }: Target, close: Tab['close'],
): Promise<Tab> {
  const attached = await connection.call('', 'Target.attachToTarget', { targetId, flatten: true }, {})
  const sessionId = String(attached['sessionId'])
  const requests: string[] = []
  const faults: string[] = []
  const listeners = new Map<string, (params: unknown) => void>()
  connection.listen(sessionId, ({ method, params }) => {
    listeners.get(method)?.(params)
    if (method === 'Network.requestWillBeSent') requests.push(String(memberAt(params, 'request', 'url')))
    if (method === 'Runtime.exceptionThrown') {
      faults.push(String(memberAt(params, 'exceptionDetails', 'exception', 'description')))
    }
    if (method === 'Log.entryAdded' && memberAt(params, 'entry', 'level') === 'error') {
      faults.push(String(memberAt(params, 'entry', 'text')))
    }
  })
  const call: Tab['call'] = (method, params = {}) => connection.call(sessionId, method, params, {})
  for (const domain of ['Page', 'Runtime', 'Network', 'Log']) await call(`${domain}.enable`)
  const run = async (expression: string): Promise<unknown> => {
    const outcome = await call('Runtime.evaluate', { expression, awaitPromise: true, returnByValue: true })
    const error = textOf(memberAt(outcome, 'exceptionDetails', 'exception', 'description'))
    if (error !== undefined) throw new Error(`${expression}: ${error}`)
    return memberAt(outcome, 'result', 'value')
  }
  // An expression fails while the page is being loaded.
  const holds = (expression: string): Promise<void> => {
    return until(async () => await run(expression).catch(() => false) === true, expression)
  }
  return {
    requests, faults, browserContextId, call, run,
    until: holds,
    on: (method, listener) => void listeners.set(method, listener),
    untilText: (words) => holds(`document.body.innerText.includes(${JSON.stringify(words)})`),
    async open(url) {
      await call('Page.navigate', { url })
    },
    async click(words) {
      // The search and the click are one expression, because an element can go between two.
      const found = `(${clickable})(${JSON.stringify(words)})`
      await holds(`(() => { const one = ${found}; one?.click(); return one !== undefined })()`)
    },
    async type(selector, text) {
      await run(`(() => { const e = document.querySelector(${JSON.stringify(selector)}); e.focus(); e.select() })()`)
      await call('Input.insertText', { text })
    },
    async press(pressed) {
      const key = pressed.replace('Shift+', '')
      const modifiers = key === pressed ? 0 : 8
      const text = key === 'Enter' ? '\r' : key.length === 1 ? key : ''
      const more = { key, modifiers, windowsVirtualKeyCode: keyCodes[key] ?? 0 }
      await call('Input.dispatchKeyEvent', { type: 'keyDown', ...more, ...(text === '' ? {} : { text }) })
      await call('Input.dispatchKeyEvent', { type: 'keyUp', ...more })
    },
    async size(width, height, scheme = 'light') {
      await call('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: 1, mobile: false })
      await call('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme', value: scheme }] })
      const isScheme = `matchMedia('(prefers-color-scheme: ${scheme})').matches`
      await holds(`innerWidth === ${width} && innerHeight === ${height} && ${isScheme}`)
    },
    async media(features) {
      const list = Object.entries(features).map(([name, value]) => ({ name, value }))
      await call('Emulation.setEmulatedMedia', { features: list })
    },
    async picture(name) {
      const to = process.env['CONSOLE_PICTURES']
      if (to === undefined) return
      mkdirSync(to, { recursive: true })
      const shot = memberAt(await call('Page.captureScreenshot', { format: 'png' }), 'data')
      writeFileSync(join(to, `${name}.png`), Buffer.from(String(shot), 'base64'))
    },
    close,
  }
}

const keyCodes: Readonly<Record<string, number>> = {
  Tab: 9, Enter: 13, Escape: 27, ' ': 32, ArrowLeft: 37, ArrowUp: 38, ArrowRight: 39, ArrowDown: 40,
}

const clickable = `(words) => [...document.querySelectorAll('button, a, label, summary, [role=tab]')].find((one) => {
  const text = (one.innerText || one.textContent).trim()
  return one.checkVisibility() && (text.startsWith(words) || (one.getAttribute('aria-label') || '').startsWith(words))
})`
