/**
 * Follows the changes of all conversations on a stream of server-sent events. The stream is reopened when it ends, and
 * after 40 s without a byte.
 */
import type { Api } from '../api.ts'
import type { Wait } from '../outage.ts'
import { onPageReturn } from '../page-return.ts'

/** The first pause between attempts to open the stream. The pauses start anew after a stream of over `retryMs`. */
const firstPauseMs = 300
/** The second pause between attempts. Each later pause is twice the previous pause, up to `longestPauseMs`. */
const retryMs = 1500
const longestPauseMs = 10_000
/** The longest time without a byte from the server. After this time the server counts as away. */
const silentMs = 40_000
/** The age that an outage is assumed to have when the page notices it. After a silent stream, `silentMs` is added. */
const noticedMs = 3000

export interface ChangesFollower {
  /** Receives the summary of a changed conversation, or its id with `removed: true`. */
  readonly changed: (change: unknown) => void
  /** Receives the length of the queue for agents and its places (`ConsoleQueue`); undefined when the stream ends. */
  readonly queued: (queue: unknown) => void
  /** Called when the server has answered an attempt to open the stream, except with status 401 or 5xx. */
  readonly answered: () => void
  /** Called each time the stream opens. The follower may have missed changes before that. */
  readonly opened: () => void
  /**
   * Called after an attempt without a response or with a 5xx status, and after a silence of `silentMs`. `wait` has
   * the time of the next attempt. If an outage begins with this call, `awayMs` is the outage's assumed age.
   */
  readonly failed: (wait: Wait, awayMs: number) => void
  /** Called when an open stream ends, unless the page has closed it. */
  readonly ended: () => void
}

/** Opens the stream and calls the members of `follower`. Returns a function that closes the stream. */
export function followChanges(api: Api, follower: ChangesFollower): () => void {
  const stream = new ChangesStream(api, follower)
  void stream.follow()
  return () => stream.close()
}

class ChangesStream {
  readonly #api: Api
  readonly #follower: ChangesFollower
  readonly #forgetPage = onPageReturn(() => this.#endPause?.())
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
  }

  async follow(): Promise<void> {
    while (!this.#isClosed) {
      this.#attempt = new AbortController()
      this.#isHurried = false
      this.#heard()
      const response = await this.#api.open('/api/console/changes', this.#attempt.signal)
        .catch(() => undefined) // `#pause` tells the follower of the failure.
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
    this.#forgetPage()
    this.#attempt.abort()
    this.#endPause?.()
  }

  /** Reads the stream to its end. Returns whether the server is away: no response, a 5xx status or a silent stream. */
  async #take(response: Response | undefined): Promise<boolean> {
    if (response === undefined || response.status >= 500) return true
    const follower = this.#follower
    follower.answered()
    if (!response.ok || response.body === null) return false
    this.#isOpen = true
    const openedAt = performance.now()
    follower.opened()
    await readStream(response.body, follower, () => this.#heard()).catch(() => undefined) // `follow` tries again.
    this.#isOpen = false
    if (performance.now() - openedAt > retryMs) this.#pauseMs = 0
    if (this.#isClosed) return false
    follower.queued(undefined)
    follower.ended()
    return this.#attempt.signal.aborted
  }

  /** Waits until the next attempt. If the server is away, first tells the follower about the pause. */
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

  /** Opens the stream now, if it is not open. Aborts a running attempt first, because its connection may be dead. */
  #retry(): void {
    if (this.#isOpen) return
    this.#isHurried = true
    if (this.#endPause === undefined) this.#attempt.abort()
    else this.#endPause()
  }

  /** Restarts the timer that ends the attempt after `silentMs`. Called at the attempt's start and for each chunk. */
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
