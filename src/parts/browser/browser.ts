/** A browser and its tabs. Actions use the current tab. A window that a page opens becomes a tab, up to `tabLimit`. */
import { AppError } from '../../base/errors.ts'
import { CdpSession, type CallOptions, type CdpEvent } from './connection.ts'
import { objectOf, objectsOf, type Fields } from '../../base/fields.ts'
import { lineOf, textOrEmpty } from './fields.ts'
import { launchBrowser, type LaunchedBrowser, type LaunchOptions } from './launch.ts'
import { Tab } from './tab.ts'

export interface BrowserOptions extends LaunchOptions {
  readonly loadLimitMs: number
  readonly tabLimit: number
}

/** Starts a browser and opens its first tab. @throws the errors of `launchBrowser` and of `CdpConnection.call` */
export async function openBrowser(options: BrowserOptions): Promise<Browser> {
  const launched = await launchBrowser(options)
  const browser = new Browser(launched, options)
  try {
    await browser.open(options.signal)
    return browser
  } catch (thrown) {
    await browser.close()
    throw thrown
  }
}

export class Browser {
  readonly root: CdpSession
  readonly #launched: LaunchedBrowser
  readonly #options: BrowserOptions
  readonly #tabs = new Map<string, Tab>()
  #current: Tab | undefined
  #closing: Promise<void> | undefined
  /** Called with the tab that has become the current tab. */
  onSwitch: ((tab: Tab) => void) | undefined

  /** Called by `openBrowser` only. */
  constructor(launched: LaunchedBrowser, options: BrowserOptions) {
    this.#launched = launched
    this.#options = options
    this.root = new CdpSession(launched.connection, '')
  }

  /** The operator's allow list of addresses on this machine (`--browser-allow`), see address.ts. */
  get allowed(): readonly string[] {
    return this.#options.allowed
  }

  get hasEnded(): boolean {
    return this.#launched.connection.isClosed || this.#closing !== undefined
  }

  get tabs(): readonly Tab[] {
    return [...this.#tabs.values()]
  }

  get current(): Tab {
    if (this.#current === undefined) throw new AppError('upstream_failed', 'The browser has no tab any more')
    return this.#current
  }

  async open(signal: AbortSignal): Promise<void> {
    const filter: Record<string, string | boolean>[] = [{ type: 'page' }, { exclude: true }]
    this.root.listen((event) => this.#take(event))
    await this.root.call('Browser.setDownloadBehavior', { behavior: 'deny', eventsEnabled: true }, { signal })
    await this.root.call('Target.setDiscoverTargets', { discover: true, filter }, { signal })
    await this.root.call(
      'Target.setAutoAttach', { autoAttach: true, waitForDebuggerOnStart: true, flatten: true, filter }, { signal },
    )
    this.#current ??= this.tabs[0]
    if (this.#current === undefined) await this.openTab(signal)
  }

  /** Opens an empty tab and makes it the current tab. @throws the errors of `createTab` */
  async openTab(signal: AbortSignal): Promise<Tab> {
    const tab = await this.createTab(signal)
    await this.switchTo(tab, { signal })
    return tab
  }

  /** Opens an empty tab; `current` stays. @throws AppError `conflict` at `tabLimit`; errors of `CdpConnection.call` */
  async createTab(signal: AbortSignal): Promise<Tab> {
    if (this.#tabs.size >= this.#options.tabLimit) {
      throw new AppError('conflict', `Cannot open another tab: there are ${this.#tabs.size} already, close some`)
    }
    const { targetId } = await this.root.call('Target.createTarget', { url: 'about:blank' }, { signal })
    const tab = this.#tabs.get(textOrEmpty(targetId))
    if (tab === undefined) throw new AppError('upstream_failed', 'The browser has opened a tab and closed it again')
    return tab
  }

  /** Returns the tab with this id, in upper or lower case. @throws AppError `not_found` */
  tab(id: string): Tab {
    const tab = this.tabs.find((one) => one.id === id.toUpperCase())
    if (tab !== undefined) return tab
    const ids = this.tabs.map((one) => one.id).join(', ')
    throw new AppError('not_found', `There is no tab ${JSON.stringify(id)}, expected one of ${ids}`)
  }

  async switchTo(tab: Tab, options: CallOptions): Promise<void> {
    await this.root.call('Target.activateTarget', { targetId: tab.targetId }, options)
    this.#setCurrent(tab)
  }

  /**
   * Opens a tab if there is no current tab, and updates the addresses and titles of all tabs. Brings the current tab to
   * the front, because another window may cover the tab.
   */
  async refresh({ signal }: { signal: AbortSignal }): Promise<void> {
    if (this.#current === undefined) this.#setCurrent(await this.createTab(signal))
    await this.root.call('Target.activateTarget', { targetId: this.current.targetId }, { signal })
    const { targetInfos } = await this.root.call('Target.getTargets', {}, { signal })
    for (const info of objectsOf(targetInfos)) this.#tabs.get(textOrEmpty(info['targetId']))?.update(info)
  }

  /**
   * Closes a tab. If it is the current tab, another tab becomes current first. If it is the only tab, a new tab is
   * opened first.
   */
  async closeTab(tab: Tab, signal: AbortSignal): Promise<void> {
    if (this.#tabs.size === 1) await this.openTab(signal)
    else if (tab === this.#current) {
      const other = this.tabs.findLast((one) => one !== tab)
      if (other !== undefined) await this.switchTo(other, { signal })
    }
    this.#forget(tab)
    await this.root.call('Target.closeTarget', { targetId: tab.targetId }, { signal })
  }

  /** Ends the browser and removes its folder. Idempotent. */
  close(): Promise<void> {
    this.#closing ??= this.#launched.close()
    return this.#closing
  }

  #take({ method, params }: CdpEvent): void {
    switch (method) {
      case 'Target.attachedToTarget': return this.#attach(params)
      case 'Target.targetDestroyed': {
        const tab = this.#tabs.get(textOrEmpty(params['targetId']))
        return tab === undefined ? undefined : this.#forget(tab)
      }
      case 'Browser.downloadWillBegin': return this.#noteDownload(params)
    }
  }

  #attach(params: Fields): void {
    const info = objectOf(params['targetInfo'])
    const targetId = textOrEmpty(info['targetId'])
    const session = this.root.sibling(textOrEmpty(params['sessionId']))
    if (this.#tabs.size >= this.#options.tabLimit) {
      // Let the new window run, then close it: the page that opened the window is paused until the window runs.
      session.tell('Runtime.runIfWaitingForDebugger')
      this.root.tell('Target.closeTarget', { targetId })
      this.#current?.note(
        `The page wanted to open another tab; it was closed, since there are ${this.#tabs.size} already.`,
      )
      return
    }
    const tab = new Tab({ id: this.#freeId(targetId), targetId, session, loadLimitMs: this.#options.loadLimitMs })
    tab.update(info)
    this.#tabs.set(targetId, tab)
    const isPopUp = textOrEmpty(info['openerId']) !== ''
    if (isPopUp) this.#current?.note(`A new tab was opened: ${tab.id}. Switch to it to see it.`)
    tab.open().catch(() => undefined) // Usually the tab has closed: `#forget` removes it.
  }

  #forget(tab: Tab): void {
    if (!this.#tabs.delete(tab.targetId)) return
    tab.end()
    if (tab !== this.#current) return
    const other = this.tabs.at(-1)
    this.#current = undefined
    if (other === undefined) return
    this.#setCurrent(other)
    other.note(`Tab ${tab.id} was closed by its page; this is tab ${other.id}.`)
  }

  #setCurrent(tab: Tab): void {
    if (tab === this.#current) return
    this.#current = tab
    this.onSwitch?.(tab)
  }

  #noteDownload({ url, suggestedFilename }: Fields): void {
    const file = `Download: ${JSON.stringify(lineOf(suggestedFilename, 100))} from ${lineOf(url, 300)}`
    this.#current?.note(
      'The page wanted to download a file. Downloads are refused; fetch it with another tool if it is needed.', file,
    )
  }

  /**
   * Returns an id for a new tab: the last four characters of `targetId` in upper case. If another tab has this id, the
   * four that begin one character earlier are tried, and so on. @throws RangeError when no four characters are free
   */
  #freeId(targetId: string): string {
    const taken = new Set(this.tabs.map((tab) => tab.id))
    for (let end = targetId.length; end >= 4; end--) {
      const id = targetId.slice(end - 4, end).toUpperCase()
      if (!taken.has(id)) return id
    }
    throw new RangeError(`Cannot find a free id for the tab ${JSON.stringify(targetId)}`)
  }
}
