/**
 * Delivers messages that arrive over HTTP to the JSON-RPC peer: one at a time, and none while the peer is paused.
 *
 * A batch (MCP 2025-03-26, "Batching") is split into messages, because the peer does not support batches.
 */
import { AppError } from '../../base/errors.ts'
import { isObject, TooManyValuesError } from '../../base/json.ts'
import { parseJsonText } from '../../base/json-turns.ts'
import { deferred, type Deferred } from '../../base/wait.ts'
import type { FramingHandlers } from '../../rpc/peer.ts'

export class Inbox {
  readonly #valueLimit: number | undefined
  #handlers: FramingHandlers | undefined
  /** Resolves when the peer resumes; undefined while the peer is not paused. */
  #pause: Deferred<void> | undefined
  #isClosed = false

  /** @param valueLimit the most JSON values in one call of `put` */
  constructor(valueLimit?: number) {
    this.#valueLimit = valueLimit
  }

  start(handlers: FramingHandlers): void {
    this.#handlers = handlers
  }

  pause(): void {
    this.#pause ??= deferred()
  }

  resume(): void {
    this.#pause?.resolve()
    this.#pause = undefined
  }

  /**
   * Passes the messages in the text to the peer, until the inbox is closed. Resolves to true if one of the delivered
   * messages is the response to the request with this id.
   * @throws AppError when the text has too many JSON values
   */
  async put(text: string, requestId: unknown): Promise<boolean> {
    let isAnswered = false
    for (const message of await this.#read(text)) {
      while (this.#pause !== undefined) await this.#pause.promise
      if (this.#isClosed) return isAnswered
      isAnswered ||= isObject(message) && message['method'] === undefined && message['id'] === requestId
      this.#handlers?.onMessage(message)
    }
    return isAnswered
  }

  /** Closes the inbox and tells the JSON-RPC peer (`rpc/peer`) that the connection has ended. Idempotent. */
  end(error: Error | undefined): void {
    if (this.#isClosed) return
    this.close()
    this.#handlers?.onClosed(error)
  }

  close(): void {
    this.#isClosed = true
    this.resume()
  }

  async #read(text: string): Promise<readonly unknown[]> {
    try {
      const value = await parseJsonText(text, this.#valueLimit)
      return Array.isArray(value) ? value : [value]
    } catch (error) {
      if (error instanceof TooManyValuesError) {
        throw new AppError('upstream_failed', `Cannot read a message of the server: ${error.message}`)
      }
      this.#handlers?.onNoise('a message that is no JSON')
      return []
    }
  }
}
