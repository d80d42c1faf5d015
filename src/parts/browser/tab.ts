/**
 * One tab: its page, the sessions of the page's frames, whether the page is loading, and notices (`Notice`).
 *
 * An open dialog blocks the page, so prompts are dismissed at once, and other dialogs are accepted. Dialogs and file
 * choosers become notices for the result of an action.
 */
import { AppError } from '../../base/errors.ts'
import { deferred, sleep, untilAborted, within, type Deferred } from '../../base/wait.ts'
import type { CallOptions, CdpEvent, CdpSession } from './connection.ts'
import { objectOf, type Fields } from '../../base/fields.ts'
import { lineOf, textOrEmpty } from './fields.ts'
import type { FrameSession, PageFrame } from './frames.ts'
import { viewport } from './launch.ts'

export interface TabOptions {
  /** Four characters that name the tab. */
  readonly id: string
  readonly targetId: string
  readonly session: CdpSession
  /** The longest time that `settle` waits for the page to load. */
  readonly loadLimitMs: number
}

/** An element of a page whose state was read (`readState`). The model names it by its index in `Tab.elements`. */
export interface NumberedElement {
  readonly frame: PageFrame
  /** The index of the element in the list that `findElements` made for its frame. */
  readonly place: number
}

/** An event of a tab that the result of an action reports. */
export interface Notice {
  /** A description of the event, written by the server. */
  readonly said: string
  /** The page's own text in the event, such as the text of a dialog. Default: none. */
  readonly quoted?: string
}

const noticeLimit = 20
const noticeChars = 500
/** The time in milliseconds that `settle` waits before each check whether the page is loading. */
const quietMs = 300
/** The timeout of the command that the method `answers` sends to learn whether the page responds. */
const responseLimitMs = 3000
/** The most CDP sessions of a tab. Further frames that run in other processes are left out. */
const sessionLimit = 50

export class Tab {
  readonly id: string
  readonly targetId: string
  readonly session: CdpSession
  /** The address of the page at the last `update`; empty before the first `update`. */
  url = ''
  title = ''
  /** The elements that the last `readState` found; empty after `navigate`, and after a new document in the tab. */
  elements: readonly NumberedElement[] = []
  readonly #loadLimitMs: number
  readonly #frameSessions = new Map<string, FrameSession>()
  readonly #notices: Notice[] = []
  #isLoading = false
  #hasCrashed = false
  #hasEnded = false
  #changed: Deferred<void> = deferred()
  /** Called with each picture of a screencast. */
  onFrame: ((params: Fields) => void) | undefined
  /** Called with each request that is paused by the CDP domain Fetch. */
  onRequest: ((params: Fields) => void) | undefined

  constructor({ id, targetId, session, loadLimitMs }: TabOptions) {
    this.id = id
    this.targetId = targetId
    this.session = session
    this.#loadLimitMs = loadLimitMs
    this.#frameSessions.set(session.id, { session, frameId: targetId, parent: undefined })
  }

  /** Listens to the events of the page, then lets the page run. The browser pauses a new page until then. */
  async open(): Promise<void> {
    await this.#open({ session: this.session, frameId: this.targetId, parent: undefined })
  }

  get hasCrashed(): boolean {
    return this.#hasCrashed
  }

  get hasEnded(): boolean {
    return this.#hasEnded
  }

  /** The sessions of the page and of frames in other processes, the session of the page first. */
  get sessions(): readonly FrameSession[] {
    return [...this.#frameSessions.values()]
  }

  note(said: string, quoted?: string): void {
    if (this.#notices.length < noticeLimit) this.#notices.push(quoted === undefined ? { said } : { said, quoted })
  }

  takeNotices(): Notice[] {
    return this.#notices.splice(0)
  }

  /** Returns false if the page runs no command in time, for example in an endless loop. Returns true after a crash. */
  async answers(signal: AbortSignal): Promise<boolean> {
    if (this.#hasCrashed) return true
    try {
      await this.session.call('Runtime.evaluate', { expression: '1' }, { signal, timeoutMs: responseLimitMs })
      return true
    } catch (thrown) {
      if (thrown instanceof AppError && thrown.code === 'upstream_timeout') return false
      throw thrown
    }
  }

  assertAlive(): void {
    if (this.#hasCrashed) {
      throw new AppError('upstream_failed', `The page in tab ${this.id} has crashed; open an address to go on`)
    }
  }

  /**
   * Opens an address, then waits with `settle`.
   * @throws the errors of `CdpConnection.call`; AppError `upstream_failed` also when the address cannot be opened
   */
  async navigate(url: string, options: CallOptions): Promise<void> {
    this.elements = []
    try {
      const { errorText, isDownload } = await this.session.call('Page.navigate', { url }, options)
      const problem = isDownload === true
        ? 'it is a download, and downloads are refused'
        : explain(textOrEmpty(errorText))
      if (problem !== '') throw new AppError('upstream_failed', `Cannot open "${lineOf(url, 300)}": ${problem}`)
    } catch (thrown) {
      this.session.tell('Page.stopLoading')
      if (!(thrown instanceof AppError) || thrown.code !== 'upstream_timeout') throw thrown
      throw new AppError('upstream_timeout', `Cannot open "${lineOf(url, 300)}": no answer came in time`, {
        cause: thrown,
      })
    }
    this.#hasCrashed = false
    await this.settle(options.signal)
  }

  /** Waits until the page is not loading any more, for about `#loadLimitMs` at most. */
  async settle(signal: AbortSignal | undefined): Promise<void> {
    const end = performance.now() + this.#loadLimitMs
    for (let isQuiet = false; !isQuiet;) {
      await sleep(quietMs, signal)
      isQuiet = !this.#isLoading
      while (this.#isLoading && performance.now() < end) await this.#nextChange(end - performance.now(), signal)
      if (performance.now() >= end) break
    }
    if (this.#isLoading) this.note('The page is still loading: this is the part that has come so far.')
  }

  /** Sets address and title from `TargetInfo`, the browser's information about the target. */
  update(info: Fields): void {
    this.url = lineOf(info['url'], 2000)
    this.title = lineOf(info['title'], 200)
  }

  end(): void {
    this.#hasEnded = true
    for (const { session } of this.#frameSessions.values()) session.forget()
    this.#isLoading = false
    this.#changed.resolve()
  }

  async #open(frame: FrameSession): Promise<void> {
    const { session } = frame
    session.listen((event) => this.#take(frame, event))
    // Without `worker` in the filter, a new worker would stay paused for ever, because `#attach` would not start it.
    const filter: Record<string, string | boolean>[] = [{ type: 'iframe' }, { type: 'worker' }, { exclude: true }]
    const isOutermost = frame.parent === undefined
    await Promise.all([
      session.call('Page.enable'),
      session.call('Target.setAutoAttach', { autoAttach: true, waitForDebuggerOnStart: true, flatten: true, filter }),
      ...(isOutermost
        ? [session.call('Page.setInterceptFileChooserDialog', { enabled: true }), session.call('Inspector.enable')]
        : []),
      ...(isOutermost
        ? [session.call('Emulation.setDeviceMetricsOverride', { ...viewport, deviceScaleFactor: 1, mobile: false })]
        : []),
      session.call('Runtime.runIfWaitingForDebugger'),
    ])
  }

  #take(frame: FrameSession, { method, params }: CdpEvent): void {
    switch (method) {
      case 'Target.attachedToTarget': return this.#attach(frame, params)
      case 'Target.detachedFromTarget': return this.#detach(textOrEmpty(params['sessionId']))
      case 'Page.javascriptDialogOpening': return this.#answerDialog(frame, params)
      case 'Page.fileChooserOpened': return this.note('The page wanted a file to be chosen; the browser can give none.')
      case 'Inspector.targetCrashed': return this.#crash(frame)
      case 'Page.screencastFrame': return this.onFrame?.(params)
      case 'Fetch.requestPaused': return this.onRequest?.(params)
      default: return this.#followLoading(method, params)
    }
  }

  #followLoading(method: string, { frameId, frame }: Fields): void {
    const isOurs = frameId === this.targetId || objectOf(frame)['id'] === this.targetId
    if (!isOurs) return
    if (method === 'Page.frameNavigated') this.elements = []
    if (method === 'Page.frameStartedLoading' || method === 'Page.frameStartedNavigating') this.#setLoading(true)
    else if (method === 'Page.frameStoppedLoading' || method === 'Page.navigatedWithinDocument') this.#setLoading(false)
  }

  #setLoading(isLoading: boolean): void {
    this.#isLoading = isLoading
    this.#changed.resolve()
  }

  async #nextChange(limitMs: number, signal: AbortSignal | undefined): Promise<void> {
    this.#changed = deferred()
    const change = this.#changed.promise
    await within(signal === undefined ? change : untilAborted(change, signal), Math.max(1, limitMs))
  }

  #attach(parent: FrameSession, params: Fields): void {
    const session = parent.session.sibling(textOrEmpty(params['sessionId']))
    const { type, targetId } = objectOf(params['targetInfo'])
    if (type !== 'iframe' || this.#frameSessions.size >= sessionLimit) {
      return session.tell('Runtime.runIfWaitingForDebugger')
    }
    const frame = { session, frameId: textOrEmpty(targetId), parent }
    this.#frameSessions.set(session.id, frame)
    this.#open(frame).catch(() => this.#detach(session.id)) // Usually the frame has gone.
  }

  #detach(sessionId: string): void {
    this.#frameSessions.get(sessionId)?.session.forget()
    this.#frameSessions.delete(sessionId)
  }

  #answerDialog({ session }: FrameSession, params: Fields): void {
    const kind = textOrEmpty(params['type'])
    const accept = kind !== 'prompt'
    session.tell('Page.handleJavaScriptDialog', { accept })
    const end = `It was ${accept ? 'accepted' : 'dismissed'}.`
    if (kind === 'beforeunload') this.note(`The page showed a warning before leaving. ${end}`)
    else {
      this.note(
        `The page showed a dialog (${kind}). ${end}`,
        `Dialog: ${JSON.stringify(lineOf(params['message'], noticeChars))}`,
      )
    }
  }

  #crash({ parent }: FrameSession): void {
    if (parent !== undefined) return
    this.#hasCrashed = true
    this.#setLoading(false)
  }
}

/** Returns the browser's error text (such as net::ERR_FAILED), or why the proxy (gate.ts) made no connection. */
function explain(errorText: string): string {
  if (errorText !== 'net::ERR_SOCKS_CONNECTION_FAILED') return errorText
  return 'its server cannot be found or reached, or its address is not open to the browser'
}
