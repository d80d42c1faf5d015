/**
 * The browser of one conversation. The first action starts the browser, and actions run one after another.
 *
 * After a browser has ended by itself, the next action starts a new browser.
 */
import { join } from 'node:path'
import { AppError } from '../../base/errors.ts'
import { deferred, untilAborted } from '../../base/wait.ts'
import { openBrowser, type Browser } from './browser.ts'
import { PageRefusal, type Outcome } from './outcome.ts'
import type { BrowserPlaces } from './places.ts'
import { Recording, type RecordingLimits } from './recording.ts'

export interface AgentBrowserOptions {
  /** The path of the browser program. If undefined, the PATH is searched. */
  readonly program: string | undefined
  readonly withoutSandbox: boolean
  /** The operator's allow list (`--browser-allow`), see address.ts. */
  readonly allowed: readonly string[]
  /** Limits the number of browsers. All conversations of a server share this object. */
  readonly places: BrowserPlaces
  /** The server's environment variables that a child process may get: the result of `buildEnvironment`. */
  readonly env: Readonly<Record<string, string>>
  /** The folder in which each running browser has a subfolder. */
  readonly runtimeDir: string
  /** The folder that gets a subfolder for each saved recording. */
  readonly observationsDir: string
  readonly instance: string
  readonly cgroupParent?: string | undefined
  readonly createId: () => string
  readonly limits?: Partial<AgentBrowserLimits>
}

export interface AgentBrowserLimits {
  /** Timeout of one command to the browser. */
  readonly commandMs: number
  /** The longest time that an action waits for a page to load. After this time the action returns its result. */
  readonly loadMs: number
  readonly tabs: number
  readonly recording: RecordingLimits
}

const usualLimits: AgentBrowserLimits = {
  commandMs: 15_000,
  loadMs: 15_000,
  tabs: 20,
  recording: { limitFrames: 600, limitBytes: 32 * 1024 * 1024, intervalMs: 250 },
}

export class AgentBrowser {
  readonly #options: AgentBrowserOptions
  readonly #limits: AgentBrowserLimits
  readonly #closed = new AbortController()
  /** Resolves when all actions so far have ended. */
  #last: Promise<void> = Promise.resolve()
  #browser: Browser | undefined
  #leavePlace = (): void => undefined
  #recording: Recording | undefined
  #closing: Promise<void> | undefined

  constructor(options: AgentBrowserOptions) {
    this.#options = options
    this.#limits = { ...usualLimits, ...options.limits }
  }

  /**
   * Runs an action after all earlier actions. An AppError of the action becomes an outcome.
   * @throws AppError or a system error if no browser starts; AppError if `close` was called; RpcLimitError when too
   * many commands wait for the browser; the signal's reason
   */
  async act(
    signal: AbortSignal, action: (browser: Browser, signal: AbortSignal) => Promise<Outcome> | Outcome,
  ): Promise<Outcome> {
    const turn = deferred<void>()
    const before = this.#last
    this.#last = before.then(() => turn.promise)
    const either = AbortSignal.any([signal, this.#closed.signal])
    try {
      await untilAborted(before, either)
      const { browser, said } = await this.#open(either)
      const outcome = withNotices(await attempt(async () => {
        await browser.refresh({ signal: either })
        return action(browser, either)
      }), browser)
      either.throwIfAborted()
      return said === '' ? outcome : { ...outcome, said: `${said}\n${outcome.said}` }
    } finally {
      turn.resolve()
    }
  }

  startRecording(signal: AbortSignal): Promise<Outcome> {
    return this.act(signal, async (browser) => {
      if (this.#recording !== undefined) throw new AppError('conflict', 'Cannot start a recording: one is running')
      const recording = new Recording(this.#limits.recording)
      await recording.follow(browser.current, signal)
      this.#recording = recording
      // A failed `follow` is ignored: the tab may have closed.
      browser.onSwitch = (tab) => void recording.follow(tab).catch(() => undefined)
      const { limitFrames } = this.#limits.recording
      return {
        said: `The recording has begun. It keeps at most ${limitFrames} frames, and is saved when it is stopped.`,
      }
    })
  }

  stopRecording(signal: AbortSignal): Promise<Outcome> {
    return this.act(signal, async (browser) => {
      const recording = this.#recording
      if (recording === undefined) throw new AppError('conflict', 'Cannot stop the recording: none is running')
      this.#recording = undefined
      browser.onSwitch = undefined
      const folder = join(this.#options.observationsDir, `browser-recording-${this.#options.createId()}`)
      const { frames, seconds } = await recording.save(folder)
      const full = recording.isFull ? ' It was full; later frames are not in it.' : ''
      return {
        said: `The recording has ${frames} frames from ${seconds.toFixed(1)} seconds, saved as JPEG files in ` +
          `${folder}.${full}`,
        folder,
      }
    })
  }

  /** Ends the browser if it runs. Idempotent. */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    this.#closed.abort(new AppError('conflict', 'The browser is being closed'))
    await this.#last
    await this.#end()
  }

  async #end(): Promise<void> {
    this.#recording?.close()
    this.#recording = undefined
    const browser = this.#browser
    this.#browser = undefined
    try {
      await browser?.close()
    } finally {
      this.#leavePlace()
    }
  }

  async #open(signal: AbortSignal): Promise<{ browser: Browser, said: string }> {
    signal.throwIfAborted()
    if (this.#browser !== undefined && !this.#browser.hasEnded) return { browser: this.#browser, said: '' }
    const hadOne = this.#browser !== undefined
    await this.#end()
    const leavePlace = this.#options.places.take()
    try {
      this.#browser = await this.#start(signal)
      this.#leavePlace = leavePlace
    } catch (thrown) {
      leavePlace()
      throw thrown
    }
    return {
      browser: this.#browser,
      said: hadOne ? 'The browser had ended and was started anew: its tabs and its storage are gone.' : '',
    }
  }

  #start(signal: AbortSignal): Promise<Browser> {
    const { program, withoutSandbox, allowed, env, runtimeDir, instance, cgroupParent, createId } = this.#options
    const id = `browser-${createId()}`
    const { commandMs, loadMs, tabs } = this.#limits
    return openBrowser({
      program, withoutSandbox, allowed, env, cgroupParent, signal,
      folder: join(runtimeDir, id),
      marker: `${instance}/${id}`,
      timeoutMs: commandMs,
      loadLimitMs: loadMs,
      tabLimit: tabs,
    })
  }
}

/** Returns the outcome of an action. An AppError becomes an outcome with `isError`; other errors are thrown. */
async function attempt(action: () => Promise<Outcome>): Promise<Outcome> {
  try {
    return await action()
  } catch (thrown) {
    if (!(thrown instanceof AppError)) throw thrown
    return { said: thrown.message, isError: true, ...(thrown instanceof PageRefusal ? { page: thrown.quoted } : {}) }
  }
}

function withNotices(outcome: Outcome, browser: Browser): Outcome {
  const notices = browser.tabs.flatMap((tab) => tab.takeNotices().map(({ said, quoted }) => {
    return { said: tab === browser.current ? said : `In tab ${tab.id}: ${said}`, quoted }
  }))
  const page = [...notices.map(({ quoted }) => quoted), outcome.page].filter((part) => part !== undefined)
  const said = [outcome.said, ...notices.map((notice) => notice.said)].join('\n')
  return page.length === 0 ? { ...outcome, said } : { ...outcome, said, page: page.join('\n') }
}
