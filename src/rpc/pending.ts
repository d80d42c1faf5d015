/**
 * The requests that this side has sent and that have no response yet.
 *
 * A request ends with its response, its time-out, its signal, a failed send or the end of the connection. Ids count up
 * from 1, because some peers take 0 for "no id".
 */
import { setMaxListeners } from 'node:events'
import { RpcClosedError, RpcLimitError, RpcTimeoutError } from './errors.ts'
import type { RpcId } from './message.ts'

export interface PendingOptions {
  /** The most open requests. */
  readonly limit: number
  /** Called when an open request timed out or was aborted. */
  readonly onGivenUp: (id: number) => void
}

export interface Wait {
  readonly method: string
  readonly timeoutMs: number
  readonly signal: AbortSignal | undefined
}

interface Entry {
  readonly resolve: (result: unknown) => void
  readonly reject: (reason: unknown) => void
}

/** The longest delay of a timer, in ms: Node fires a timer with a longer delay at once. */
const longestTimerMs = 2 ** 31 - 1

export class PendingRequests {
  readonly #options: PendingOptions
  readonly #entries = new Map<RpcId, Entry>()
  #lastId = 0

  constructor(options: PendingOptions) {
    this.#options = options
  }

  /**
   * Opens a request, calls `send` with its id, and returns the result.
   * @throws (as a rejection) RpcLimitError when too many requests are open, or the reason for which the request failed
   */
  open(wait: Wait, send: (id: number) => void): Promise<unknown> {
    const { method, timeoutMs, signal } = wait
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason)
      if (this.#entries.size >= this.#options.limit) {
        return reject(new RpcLimitError(`Cannot request "${method}": ${this.#options.limit} requests are open already`))
      }
      const id = ++this.#lastId
      const giveUp = (reason: unknown): void => {
        this.reject(id, reason)
        this.#options.onGivenUp(id)
      }
      const onAbort = (): void => giveUp(signal?.reason)
      const onTimeout = (): void => giveUp(new RpcTimeoutError(`No answer to "${method}" within ${timeoutMs} ms`))
      const timer = Number.isFinite(timeoutMs) ? setTimeout(onTimeout, Math.min(timeoutMs, longestTimerMs)) : undefined
      const release = (): void => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', onAbort)
      }
      // Without this line Node warns when more than ten requests share a signal.
      if (signal !== undefined) setMaxListeners(0, signal)
      signal?.addEventListener('abort', onAbort, { once: true })
      this.#entries.set(id, {
        resolve: (result) => { release(); resolve(result) },
        reject: (reason) => { release(); reject(reason) },
      })
      send(id)
    })
  }

  /** Resolves a request. Returns false for an unknown id. */
  resolve(id: RpcId, result: unknown): boolean {
    const entry = this.#take(id)
    entry?.resolve(result)
    return entry !== undefined
  }

  /** Rejects a request. Returns false for an unknown id. */
  reject(id: RpcId, reason: unknown): boolean {
    const entry = this.#take(id)
    entry?.reject(reason)
    return entry !== undefined
  }

  /** Rejects all open requests with `RpcClosedError`. */
  close(cause: Error | undefined): void {
    const reason = cause === undefined
      ? new RpcClosedError('The connection closed before the answer came')
      : new RpcClosedError(`The connection failed: ${cause.message}`, { cause })
    for (const id of [...this.#entries.keys()]) this.reject(id, reason)
  }

  #take(id: RpcId): Entry | undefined {
    const entry = this.#entries.get(id)
    this.#entries.delete(id)
    return entry
  }
}
