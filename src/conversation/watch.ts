/**
 * An async iterable over a conversation's feed, for hosts that embed the server.
 *
 * The iterable is a reader like a socket: while the host is slow, it takes no events, and later it reads on from the
 * log. No event is lost, doubled or reordered, and at most `bufferLimit` events are held.
 */
import { parseOwnJsonBytes } from '../base/json-turns.ts'
import { deferred, type Deferred } from '../base/wait.ts'
import type { Conversation } from './conversation.ts'
import type { FeedEnd, Sink } from './log/feed.ts'

const bufferLimit = 256

/**
 * Yields the full state, then events from seq `from` on, or only new events. Ends when the conversation is closed or
 * deleted, or when `signal` is aborted.
 */
export async function* watch(
  conversation: Conversation, from: number | 'now', signal: AbortSignal,
): AsyncGenerator<unknown> {
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

  /** Resolves when there is an event to take, or when no more events will come. */
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
