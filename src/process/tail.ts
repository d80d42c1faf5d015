/**
 * Keeps the last lines of a stream, for error messages, in a buffer of fixed size.
 *
 * It masks nothing: mask the text before it is shown. A line whose beginning was lost is left out, because a secret in
 * the line could have lost its beginning too, and masking would not find it. A secret of several lines can still lose
 * its first lines: masking then finds only lines that are secrets by themselves (settings/masked-parts).
 */
export interface Tail {
  push(chunk: Buffer): void
  /**
   * Returns the last bytes as text. When earlier bytes were lost, the text begins after the first line end. If no text
   * follows this line end, returns a note with the least length of the lost line.
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
