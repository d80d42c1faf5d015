/**
 * Follows the changes of all conversations on a stream of server-sent events. The stream is reopened when it ends, and
 * when nothing comes for 40 s: the server writes a comment every 15 s.
 *
 * The pauses between attempts grow to ten seconds. A page that becomes visible or goes online tries at once.
 */
import type { Api } from '../api.ts'
import type { Wait } from '../outage.ts'

/** The pause after a stream that was open for longer than `retryMs`. */
const firstPauseMs = 300
/** The pause after the first attempt that failed. */
const retryMs = 1500
const longestPauseMs = 10_000
/** The time without a byte after which the server counts as away. */
const silentMs = 40_000
/** The longest time from the end of a stream to the failure of the next attempt, if the server refuses at once. */
const noticedMs = 3000

export interface ChangesFollower {
  /** Takes the summary of a changed conversation. */
  readonly changed: (change: unknown) => void
  /** Takes the conversations that wait for an agent; undefined when the stream ends. */
  readonly queued: (queue: unknown) => void
  /** Called when the server has answered an attempt to open the stream. */
  readonly answered: () => void
  /** Called each time the stream opens, so that the follower can read what it missed before. */
  readonly opened: () => void
  /**
   * Called when the stream cannot be opened or is silent, because the server or a proxy before it does not answer.
   * `wait` is the pause before the next attempt. `awayMs` is the time for which the server may have been away.
   */
  readonly failed: (wait: Wait, awayMs: number) => void
  /** Called when the stream has ended. */
  readonly ended: () => void
}

/** Calls the members of `follower` until the returned function is called, which closes the stream. */
export function followChanges(api: Api, follower: ChangesFollower): () => void {
  const stream = new ChangesStream(api, follower)
  void stream.follow()
  return () => stream.close()
}

class ChangesStream {
  readonly #api: Api
  readonly #follower: ChangesFollower
  readonly #wake = (): void => {
    if (document.visibilityState === 'visible') this.#endPause?.()
  }
  #attempt = new AbortController()
  #timer = 0
  #pauseMs = 0
  #endPause: (() => void) | undefined
  #isOpen = false
  #isHurried = false
  #isClosed = false

  constructor(api: Api, follower: ChangesFollower) {
    this.#api = api
    this.#follower = follower
    addEventListener('online', this.#wake)
    document.addEventListener('visibilitychange', this.#wake)
  }

  async follow(): Promise<void> {
    while (!this.#isClosed) {
      this.#attempt = new AbortController()
      this.#isHurried = false
      this.#heard()
      const response = await this.#api.open('/api/console/changes', this.#attempt.signal)
        .catch(() => undefined) // Told to the follower.
      if (this.#isClosed) return
      if (response?.status === 401) return this.#api.onSignedOut()
      const isAway = await this.#take(response)
      clearTimeout(this.#timer)
      if (!this.#isClosed) await this.#pause(isAway)
    }
  }

  close(): void {
    this.#isClosed = true
    clearTimeout(this.#timer)
    removeEventListener('online', this.#wake)
    document.removeEventListener('visibilitychange', this.#wake)
    this.#attempt.abort()
    this.#endPause?.()
  }

  /** Reads the stream of a response until it ends. Returns whether the server is away. */
  async #take(response: Response | undefined): Promise<boolean> {
    if (response === undefined || response.status >= 500) return true
    const follower = this.#follower
    follower.answered()
    if (!response.ok || response.body === null) return false
    this.#isOpen = true
    const openedAt = performance.now()
    follower.opened()
    await readStream(response.body, follower, () => this.#heard()).catch(() => undefined) // Opened again by `follow`.
    this.#isOpen = false
    if (performance.now() - openedAt > retryMs) this.#pauseMs = 0
    if (this.#isClosed) return false
    follower.queued(undefined)
    follower.ended()
    return this.#attempt.signal.aborted
  }

  /** Waits until the next attempt. Tells the follower about the pause when the server is away. */
  async #pause(isAway: boolean): Promise<void> {
    const isSilent = this.#attempt.signal.aborted
    const usual = this.#pauseMs === 0 ? firstPauseMs : Math.max(retryMs, this.#pauseMs * 2)
    this.#pauseMs = Math.min(longestPauseMs, usual)
    const pause = this.#isHurried ? 0 : this.#pauseMs
    const wait = { retryAt: Date.now() + pause, retry: () => this.#retry() }
    if (isAway) this.#follower.failed(wait, noticedMs + (isSilent ? silentMs : 0))
    if (pause === 0) return
    await new Promise<void>((resolve) => {
      this.#endPause = resolve
      this.#timer = setTimeout(resolve, pause)
    })
    clearTimeout(this.#timer)
    this.#endPause = undefined
  }

  /** Tries to open the stream now. An attempt that runs begins anew, because its connection may be dead. */
  #retry(): void {
    if (this.#isOpen) return
    this.#isHurried = true
    if (this.#endPause === undefined) this.#attempt.abort()
    else this.#endPause()
  }

  /** Ends the attempt after `silentMs` without a byte. */
  #heard(): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#attempt.abort(), silentMs)
  }
}

async function readStream(
  body: ReadableStream<Uint8Array<ArrayBuffer>>, { changed, queued }: ChangesFollower, heard: () => void,
): Promise<void> {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  for (;;) {
    const { value, done } = await reader.read()
    if (done) return
    heard()
    text += value
    const messages = text.split('\n\n')
    text = messages.pop() ?? ''
    for (const message of messages) {
      const [, type, data = 'null'] = /^(?:event: (\w+)\n)?data: (.*)$/.exec(message) ?? []
      if (data === 'null') continue
      if (type === 'queue') queued(JSON.parse(data))
      else changed(JSON.parse(data))
    }
  }
}
