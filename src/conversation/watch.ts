/**
 * The events of a conversation as an async iterable, for programs that embed the server.
 *
 * At most `bufferLimit` events and frames are buffered for a slow consumer. Later events are read from the log.
 */
import { parseOwnJsonBytes } from '../base/json-turns.ts'
import { deferred, type Deferred } from '../base/wait.ts'
import type { Conversation } from './conversation.ts'
import { isPushFrame, toPushFrame, type Event, type PushFrame } from '../schema/generated/events.ts'
import type { FeedEnd, Sink } from './log/feed.ts'
import { storedEvent } from './log/stored-event.ts'

const bufferLimit = 256

/** A stored event, or an unstored frame such as the full state. */
export type WatchedEvent = Event | PushFrame

/**
 * Yields the full state, then the events from number `from` on (for `now`, only new events) and unstored frames. Ends
 * when the conversation is closed or deleted, `signal` is aborted, or the log cannot be read.
 */
export async function* watch(
  conversation: Conversation, from: number | 'now', signal: AbortSignal,
): AsyncGenerator<WatchedEvent> {
  const buffer = new WatchBuffer()
  const reader = conversation.join({ from, encode: same, sink: buffer })
  const stop = (): void => buffer.end('closed')
  signal.addEventListener('abort', stop, { once: true })
  if (signal.aborted) stop()
  try {
    for (;;) {
      const json = buffer.take()
      if (json !== undefined) yield watchedEvent(await parseOwnJsonBytes(json))
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

/** Returns the value as a stored event or an unstored frame. @throws TypeError for any other value */
function watchedEvent(value: unknown): WatchedEvent {
  const event = storedEvent(value) ?? pushedFrame(value)
  if (event === undefined) throw new TypeError('Expected an event or a pushed frame')
  return event
}

function pushedFrame(value: unknown): PushFrame | undefined {
  if (!isPushFrame(value)) return undefined
  const { id, timestamp } = value
  return id === undefined || timestamp === undefined ? undefined : toPushFrame({ ...value, id, timestamp })
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

  /** Resolves when an event or frame is available or the stream has ended. */
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
