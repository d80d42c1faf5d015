/**
 * Keeps the last lines of a stream, for error messages, in a buffer of fixed size.
 *
 * It masks nothing: mask the text before it is shown. A line whose beginning was lost is left out, because a secret in
 * it could have lost its beginning too, and would not be found. Of a secret of several lines that lost its first lines,
 * the masking finds only those lines and values that it masks alone (settings/masked-parts).
 */
export interface Tail {
  push(chunk: Buffer): void
  /**
   * Returns the last bytes as text. When earlier bytes were lost, the text begins after the first line end. When
   * nothing is left then, the text says how long the line was at least.
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
