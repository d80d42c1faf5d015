/**
 * Reports responses and WebSockets to observers, without targets, headers and bodies.
 *
 * The reported bytes of a response include its head.
 */
import type { ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { deferred, type Deferred } from '../base/wait.ts'

/** A request as observers see it. Upgrade requests are included. */
export interface ObservedRequest {
  /** The method; undefined when the request could not be read. */
  readonly method: string | undefined
  /** The pattern of the route; undefined when no route matched. */
  readonly route: string | undefined
  /** The id in the response and in the log; undefined when the request could not be read. */
  readonly requestId: string | undefined
  /** The address of the client or of its proxy. */
  readonly address: string | undefined
  /** The principal's `name`; undefined if the request was not admitted, or its route has the right `open` or `init`. */
  readonly keyName: string | undefined
}

export interface ObservedResponse extends ObservedRequest {
  readonly status: number
  readonly bytes: number
  /** The time from the request until the response was handed to Node; for a stream, until the stream began. */
  readonly answerMs: number
  /** The time from the request until the end of the response. */
  readonly totalMs: number
  /** True when the connection closed before the end of the response. */
  readonly isCut: boolean
}

export interface ObservedClose {
  /** The WebSocket close code that the connection's owner gets (`ConnectionOwner.onClose`). */
  readonly code: number
  readonly bytes: number
  /** The time since the WebSocket was opened. */
  readonly totalMs: number
}

/** The methods must not throw. */
export interface TrafficObserver {
  answered(response: ObservedResponse): void
  opened(socket: ObservedRequest): void
  closed(socket: ObservedRequest, close: ObservedClose): void
}

export class Traffic {
  /** The number of open connections of the server's own listener, WebSockets too. */
  connections = 0
  readonly #observers = new Set<TrafficObserver>()
  /** The `bytesWritten` of each connection when a response or WebSocket was last reported. */
  readonly #told = new WeakMap<Duplex, { bytes: number }>()
  /** The number of responses and WebSockets whose end is not reported yet. */
  #awaited = 0
  #settled: Deferred<void> | undefined

  /** Adds an observer. Returns the function that removes it. */
  observe(observer: TrafficObserver): () => void {
    this.#observers.add(observer)
    return () => void this.#observers.delete(observer)
  }

  get isObserved(): boolean {
    return this.#observers.size > 0
  }

  /** Resolves when the end of every response and WebSocket is reported. */
  async settled(): Promise<void> {
    if (this.#awaited === 0) return
    this.#settled ??= deferred()
    await this.#settled.promise
  }

  /** Reports the response when it ends. Must be called in the same turn of the event loop as its `writeHead`. */
  answered(request: () => ObservedRequest, response: ServerResponse, status: number, answerMs: number): void {
    if (this.#observers.size === 0) return
    const { socket } = response.req
    const answered = performance.now()
    let isTold = false
    this.#awaited++
    const tell = (isCut: boolean): void => {
      if (isTold) return
      isTold = true
      this.#ended()
      const totalMs = answerMs + performance.now() - answered
      this.#tell({ ...request(), status, bytes: this.#bytesOf(socket), answerMs, totalMs, isCut })
    }
    if (response.destroyed) return tell(true)
    // Runs before Node's own listener, which writes the next response: `bytesWritten` would include that response.
    response.prependOnceListener('finish', () => tell(false))
    response.once('close', () => tell(true))
  }

  /** Reports a response that was written to the socket directly, and that closes the connection. */
  refused(request: () => ObservedRequest, socket: Duplex, status: number, ms: number): void {
    if (this.#observers.size === 0) return
    const bytes = this.#bytesOf(socket)
    this.#tell({ ...request(), status, bytes, answerMs: ms, totalMs: ms, isCut: false })
  }

  /** Reports a WebSocket now, and its end when its socket has closed. */
  opened(request: () => ObservedRequest, socket: Duplex, connection: { readonly closeCode: number }): void {
    if (this.#observers.size === 0) return
    const begun = performance.now()
    const told = request()
    this.#awaited++
    for (const observer of this.#observers) observer.opened(told)
    socket.once('close', () => {
      this.#ended()
      const close = { code: connection.closeCode, bytes: this.#bytesOf(socket), totalMs: performance.now() - begun }
      for (const observer of this.#observers) observer.closed({ ...told, keyName: request().keyName }, close)
    })
  }

  #tell(response: ObservedResponse): void {
    for (const observer of this.#observers) observer.answered(response)
  }

  #ended(): void {
    this.#awaited--
    if (this.#awaited > 0) return
    // The code after `await settled()` runs in a later microtask, when the caller of `#ended` has told the observers.
    this.#settled?.resolve()
    this.#settled = undefined
  }

  #bytesOf(socket: Duplex): number {
    const written = 'bytesWritten' in socket && typeof socket.bytesWritten === 'number' ? socket.bytesWritten : 0
    const told = this.#told.get(socket)
    if (told === undefined) this.#told.set(socket, { bytes: written })
    const before = told?.bytes ?? 0
    if (told !== undefined) told.bytes = written
    return written - before
  }
}

/** Returns a request of which only the connection is known. */
export function unreadable(socket: Duplex): ObservedRequest {
  const found = 'remoteAddress' in socket ? socket.remoteAddress : undefined
  const address = typeof found === 'string' ? found : undefined
  return { method: undefined, route: undefined, requestId: undefined, address, keyName: undefined }
}
