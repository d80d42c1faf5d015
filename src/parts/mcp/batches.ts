/**
 * Splits received batches into single messages (MCP 2025-03-26, "Batching"; JSON-RPC 2.0, section 6). The JSON-RPC peer
 * does not support batches.
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
        // `inner` is paused while messages of a batch wait. So all messages of the earlier batch have been delivered.
        batch = Array.isArray(value) ? value : [value]
        next = 0
        deliver()
      }
      inner.start({
        onMessage,
        onNoise: (excerpt) => given.onNoise(excerpt),
        onClosed: (error) => given.onClosed(error),
      })
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
