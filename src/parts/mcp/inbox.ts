/**
 * Hands messages that come over HTTP to a peer as the contract of framings wants it: one at a time, none while the peer
 * has paused. Whoever brings a message waits until it was taken, and so reads no further meanwhile.
 *
 * A batch (2025-03-26, "Batching") is taken apart: the layer above knows none.
 */
import { AppError } from '../../base/errors.ts'
import { isObject, TooManyValuesError } from '../../base/json.ts'
import { parseJsonText } from '../../base/json-turns.ts'
import { deferred, type Deferred } from '../../base/wait.ts'
import type { FramingHandlers } from '../../rpc/peer.ts'

export class Inbox {
  readonly #valueLimit: number | undefined
  #handlers: FramingHandlers | undefined
  /** There while the peer has paused. */
  #pause: Deferred<void> | undefined
  #isClosed = false

  /** `valueLimit`: how many values a message may hold. */
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
   * Resolves when what is in the text was taken: with true when the answer to the request with this id was in it.
   * @throws AppError when it holds too many values
   */
  async put(text: string, requestId: unknown): Promise<boolean> {
    let isAnswered = false
    for (const message of await this.#read(text)) {
      while (this.#pause !== undefined) await this.#pause.promise
      if (this.#isClosed) return isAnswered
      isAnswered ||= isObject(message) && message.method === undefined && message.id === requestId
      this.#handlers?.onMessage(message)
    }
    return isAnswered
  }

  /** The server is gone, or no longer to be used. */
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
      if (error instanceof TooManyValuesError) throw new AppError('upstream_failed', `Cannot read a message of the server: ${error.message}`)
      this.#handlers?.onNoise('a message that is no JSON')
      return []
    }
  }
}
