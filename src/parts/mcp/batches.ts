/**
 * Takes batches apart, for a peer that knows none: a server that speaks 2025-03-26 may put several messages into one line
 * (MCP 2025-03-26, "Batching"; JSON-RPC 2.0, section 6). Nothing is ever sent as a batch.
 *
 * The contract of framings holds for what is in a batch too: one message at a time, none while the peer has paused.
 */
import type { Framing, FramingHandlers } from '../../rpc/peer.ts'

export function withoutBatches(inner: Framing): Framing {
  let handlers: FramingHandlers | undefined
  let batch: readonly unknown[] = []
  let next = 0
  let isPaused = false
  const deliver = (): void => {
    while (!isPaused && next < batch.length) handlers?.onMessage(batch[next++])
  }
  return {
    start(given) {
      handlers = given
      const onMessage = (value: unknown): void => {
        // No other one comes before the last one of these was taken: until then the framing has paused.
        batch = Array.isArray(value) ? value : [value]
        next = 0
        deliver()
      }
      inner.start({ onMessage, onNoise: (excerpt) => given.onNoise(excerpt), onClosed: (error) => given.onClosed(error) })
    },
    send: (value) => inner.send(value),
    pause() {
      isPaused = true
      inner.pause()
    },
    resume() {
      isPaused = false
      deliver()
      if (!isPaused) inner.resume()
    },
    close() {
      batch = []
      inner.close()
    },
  }
}
