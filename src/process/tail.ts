/**
 * Keeps the last lines of a stream, for error messages, in a buffer of fixed size. Mask the text before you show it.
 *
 * A line that lost its beginning is left out, because masking would not find a secret that lost its beginning.
 */
export interface Tail {
  push(chunk: Buffer): void
  /**
   * Returns the last bytes as text. When earlier bytes were dropped, the text begins after the first line end. If that
   * leaves no text, returns a note about the length of the dropped line.
   */
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
      const lineEnd = bytes.indexOf('\n')
      const whole = lineEnd === -1 ? '' : bytes.toString('utf8', lineEnd + 1)
      return whole === '' ? `(a line of at least ${lineEnd === -1 ? limitBytes : lineEnd} bytes)` : whole
    },
  }
}
