/**
 * Watching a conversation from inside the process: an async iterable over its feed, for hosts that embed the server.
 *
 * It is a reader like any socket: when the host does not take events fast enough it stops being given them, and reads on
 * from the log later. Nothing is lost, doubled or reordered, and at most `bufferLimit` events are held.
 */
import { parseOwnJsonBytes } from '../base/json-turns.ts'
import { deferred, type Deferred } from '../base/wait.ts'
import type { Conversation } from './conversation.ts'
import type { FeedEnd, Sink } from './feed.ts'

const bufferLimit = 256

/**
 * Yields events from number `from` on, or from now on, beginning with the full state; ends when the conversation is
 * closed or deleted, or when `signal` is aborted.
 */
export async function* watch(conversation: Conversation, from: number | 'now', signal: AbortSignal): AsyncGenerator<unknown> {
  const buffer = new WatchBuffer()
  const reader = conversation.join({ from, encode: same, sink: buffer })
  const stop = (): void => buffer.end('closed')
  signal.addEventListener('abort', stop, { once: true })
  if (signal.aborted) stop()
  try {
    for (;;) {
      const json = buffer.take()
      if (json !== undefined) yield await parseOwnJsonBytes(json)
      else if (buffer.hasEnded) return
      else {
        reader.drained()
        await buffer.filled()
      }
    }
  } finally {
    signal.removeEventListener('abort', stop)
    reader.close()
  }
}

class WatchBuffer implements Sink {
  readonly #lines: Buffer[] = []
  #waiting: Deferred<void> | undefined
  #hasEnded = false

  get hasEnded(): boolean {
    return this.#hasEnded
  }

  write(json: Buffer): boolean {
    if (this.#lines.length >= bufferLimit) return false
    this.#lines.push(json)
    this.#waiting?.resolve()
    return true
  }

  end(_reason: FeedEnd): void {
    this.#hasEnded = true
    this.#waiting?.resolve()
  }

  take(): Buffer | undefined {
    return this.#lines.shift()
  }

  /** Resolves when there is something to take, or nothing will come. */
  async filled(): Promise<void> {
    if (this.#lines.length > 0 || this.#hasEnded) return
    this.#waiting = deferred<void>()
    await this.#waiting.promise
    this.#waiting = undefined
  }
}

function same(json: Buffer): Buffer {
  return json
}
