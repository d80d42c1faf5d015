/**
 * Keeps the last bytes of a stream, for error messages, in a buffer of fixed size.
 *
 * It masks nothing: mask the text before it is shown.
 */
export interface Tail {
  push(chunk: Buffer): void
  /** Returns the last bytes as text, starting at a whole character. */
  text(): string
}

export function createTail(limitBytes: number): Tail {
  const ring = Buffer.alloc(limitBytes)
  let total = 0
  return {
    push(chunk) {
      const kept = chunk.subarray(Math.max(0, chunk.length - limitBytes))
      const start = (total + chunk.length - kept.length) % limitBytes
      const fitting = kept.copy(ring, start)
      kept.copy(ring, 0, fitting)
      total += chunk.length
    },
    text() {
      if (total <= limitBytes) return ring.toString('utf8', 0, total)
      const cut = total % limitBytes
      const bytes = Buffer.concat([ring.subarray(cut), ring.subarray(0, cut)])
      return bytes.toString('utf8', firstWholeCharacter(bytes))
    },
  }
}

/** Returns the index of the first byte that is no UTF-8 continuation (10xxxxxx); 0 if the first four all are. */
function firstWholeCharacter(bytes: Buffer): number {
  const start = bytes.subarray(0, 4).findIndex((byte) => (byte & 0xc0) !== 0x80)
  return Math.max(start, 0)
}
