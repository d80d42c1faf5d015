/** Finds the candidate nearest to a mistyped name, by edit distance (Levenshtein). */

/** Returns the nearest candidate; undefined if its distance exceeds a third of the name's length. */
export function nearest(name: string, candidates: readonly string[]): string | undefined {
  let best: string | undefined
  let bestDistance = Math.floor(name.length / 3) + 1
  for (const candidate of candidates) {
    const distance = distanceOf(name, candidate)
    if (distance < bestDistance) {
      best = candidate
      bestDistance = distance
    }
  }
  return best
}

/**
 * Returns the edit distance of two texts. `row[column]` is the distance of the letters of `left` so far to the first
 * `column` letters of `right`.
 */
function distanceOf(left: string, right: string): number {
  let row = Array.from({ length: right.length + 1 }, (_, column) => column)
  for (const letter of left) {
    const next: number[] = []
    for (const [column, above] of row.entries()) {
      const corner = row[column - 1] ?? Infinity
      const before = next[column - 1] ?? Infinity
      next.push(Math.min(above + 1, before + 1, corner + (letter === right[column - 1] ? 0 : 1)))
    }
    row = next
  }
  return row.at(-1) ?? 0
}
