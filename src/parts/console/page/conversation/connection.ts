/**
 * The event socket of a conversation. A lost socket is opened again, except after a final close code
 * (contract/websocket.md, section 2).
 *
 * Browsers hide pings from a page. So after 40 s without a frame the page checks over REST that it knows the newest
 * event. If the check fails, or the socket has brought no frame at all, a new socket is opened.
 *
 * Each new socket continues after the newest event that the page knows.
 */
import type { Api } from '../api.ts'
import { onPageReturn } from '../page-return.ts'

export type Connection =
  | { readonly name: 'connecting' }
  | { readonly name: 'open' }
  /** The next attempt is at `retryAt`, in milliseconds since the epoch. */
  | { readonly name: 'waiting'; readonly retryAt: number }
  | { readonly name: 'ended'; readonly reason: string }

export interface ConnectionEvents {
  /** Returns the id of the event to continue after; undefined to get every event. */
  readonly after: () => string | undefined
  readonly onFrame: (text: string) => void
  readonly onChange: (connection: Connection) => void
  /** Tells whether the page knows the conversation's newest event; false also when that event cannot be read. */
  readonly isCurrent: (signal: AbortSignal) => Promise<boolean>
  /** Called when the server does not know the event that `after` returned. The function has to call `start` again. */
  readonly onLost: () => void
}

const firstPauseMs = 300
/** The longest silence of a socket before `isCurrent` is called. */
const silentMs = 40_000
/** The time after which a call of `isCurrent` is aborted. */
const answerMs = 10_000
const longestPauseMs = 10_000
const finalCodes: ReadonlyMap<number, string> = new Map([
  [4001, 'The session has ended. Sign in again.'], [4004, 'The conversation was deleted.'],
])
const unknownEvent = 4010
/** The close code for a lost connection (RFC 6455, section 7.4.1). The page uses it for a socket that stays silent. */
const silentCode = 1006

export class EventConnection {
  readonly #api: Api
  readonly #id: string
  readonly #events: ConnectionEvents
  readonly #forgetPage = onPageReturn(() => {
    if (this.#timer !== undefined) this.retry()
  })
  #socket: ReturnType<Api['openSocket']> | undefined
  #timer: number | undefined
  #silence: number | undefined
  /** The base of the pause between two attempts: `firstPauseMs` at first, and 0 once a socket has brought a frame. */
  #pauseMs = firstPauseMs
  #isClosed = false

  constructor(api: Api, id: string, events: ConnectionEvents) {
    this.#api = api
    this.#id = id
    this.#events = events
  }

  /** Opens a socket, and closes the earlier one. Does nothing after `close`. */
  start(): void {
    if (this.#isClosed) return
    const earlier = this.#socket
    const after = this.#events.after()
    const query = after === undefined ? 'resend_mode=all' : `after=${encodeURIComponent(after)}`
    this.#events.onChange({ name: 'connecting' })
    const socket = this.#api.openSocket(`/sockets/events/${encodeURIComponent(this.#id)}?${query}`)
    this.#socket = socket
    earlier?.close()
    this.#heard(socket)
    socket.addEventListener('message', ({ data }) => {
      if (socket !== this.#socket || typeof data !== 'string') return
      this.#heard(socket)
      this.#received(data)
    })
    socket.addEventListener('close', ({ code }) => {
      if (socket === this.#socket) this.#ended(code)
    })
  }

  /** Opens a socket now and ends the pause. */
  retry(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.start()
  }

  close(): void {
    this.#isClosed = true
    clearTimeout(this.#timer)
    clearTimeout(this.#silence)
    this.#forgetPage()
    const socket = this.#socket
    this.#socket = undefined
    socket?.close()
  }

  /** Handles a frame. The connection is `open` from the first frame on: the server may still refuse an open socket. */
  #received(text: string): void {
    if (this.#pauseMs > 0) this.#events.onChange({ name: 'open' })
    this.#pauseMs = 0
    this.#events.onFrame(text)
  }

  /** Restarts the timer after which a socket that stays silent is checked. */
  #heard(socket: ReturnType<Api['openSocket']>): void {
    clearTimeout(this.#silence)
    const silence = this.#silence = setTimeout(async () => {
      const isCurrent = await this.#events.isCurrent(AbortSignal.timeout(answerMs))
      // If a frame or a new socket came during the check, it has started another timer.
      if (this.#isClosed || this.#silence !== silence) return
      // Keep the socket if the page missed no event and the socket has brought a frame. Without a frame, it may hang.
      if (isCurrent && this.#pauseMs === 0) return this.#heard(socket)
      this.#ended(silentCode)
      socket.close()
    }, silentMs)
  }

  #ended(code: number): void {
    if (this.#isClosed) return
    this.#socket = undefined
    clearTimeout(this.#silence)
    const reason = finalCodes.get(code)
    if (reason !== undefined) return this.#events.onChange({ name: 'ended', reason })
    if (code === unknownEvent) return this.#events.onLost()
    this.#pauseMs = Math.min(longestPauseMs, Math.max(firstPauseMs, this.#pauseMs * 2))
    const pause = this.#pauseMs * (0.75 + Math.random() / 2)
    this.#events.onChange({ name: 'waiting', retryAt: Date.now() + pause })
    this.#timer = setTimeout(() => this.retry(), pause)
  }
}
