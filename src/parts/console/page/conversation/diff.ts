/**
 * The difference of two texts by lines, as hunks with context. Pure functions.
 *
 * `script` finds the shortest edit script (Myers, 1986). If the search exceeds `workLimit` or `editLimit`, the script
 * removes all lines of `old` and adds all lines of `fresh`.
 */

export type DiffKind = 'same' | 'removed' | 'added'

export interface DiffRow {
  readonly kind: DiffKind
  readonly text: string
  /** The number of the line in the old text, from 1; undefined for an added line. */
  readonly before?: number
  /** The number of the line in the new text, from 1; undefined for a removed line. */
  readonly after?: number
}

export interface Diff {
  readonly hunks: readonly (readonly DiffRow[])[]
  readonly added: number
  readonly removed: number
}

/** Two rows side by side. A side without a row is undefined. */
export interface DiffPair {
  readonly left: DiffRow | undefined
  readonly right: DiffRow | undefined
}

/** The most steps of the search for the shortest edit script. */
const workLimit = 2_000_000
/** The most edits (removed and added lines) of a script. The memory of `search` grows with their square. */
const editLimit = 1000
const contextLines = 3

export function diffOf(before: string, after: string): Diff {
  const rows = rowsOf(linesOf(before), linesOf(after))
  const changed = (kind: DiffKind): number => rows.filter((row) => row.kind === kind).length
  return { hunks: hunksOf(rows), added: changed('added'), removed: changed('removed') }
}

function linesOf(text: string): readonly string[] {
  if (text === '') return []
  const lines = text.split('\n')
  return lines.at(-1) === '' ? lines.slice(0, -1) : lines
}

function rowsOf(old: readonly string[], fresh: readonly string[]): readonly DiffRow[] {
  const shorter = Math.min(old.length, fresh.length)
  let start = 0
  while (start < shorter && old[start] === fresh[start]) start++
  let end = 0
  while (end < shorter - start && old[old.length - 1 - end] === fresh[fresh.length - 1 - end]) end++
  const middle = script(old.slice(start, old.length - end), fresh.slice(start, fresh.length - end))
  const kinds: readonly DiffKind[] = [...repeated('same', start), ...middle, ...repeated('same', end)]
  return numbered(kinds, old, fresh)
}

function repeated(kind: DiffKind, count: number): DiffKind[] {
  return Array.from({ length: count }, () => kind)
}

function numbered(kinds: readonly DiffKind[], old: readonly string[], fresh: readonly string[]): readonly DiffRow[] {
  let before = 0
  let after = 0
  return kinds.map((kind) => {
    const text = (kind === 'added' ? fresh[after] : old[before]) ?? ''
    if (kind !== 'added') before++
    if (kind !== 'removed') after++
    return { kind, text, ...(kind === 'added' ? {} : { before }), ...(kind === 'removed' ? {} : { after }) }
  })
}

/** Returns the edit script from `old` to `fresh`: the kind of each row of the difference. */
function script(old: readonly string[], fresh: readonly string[]): readonly DiffKind[] {
  const coarse = [...repeated('removed', old.length), ...repeated('added', fresh.length)]
  if (old.length === 0 || fresh.length === 0) return coarse
  const trace = search(old, fresh)
  return trace === undefined ? coarse : walkBack(trace, old.length, fresh.length)
}

/**
 * Returns an array of zeros, then an array for 0 edits, an array for 1 edit, and so on. At the index
 * `diagonal + edits + 2`, an array has the farthest old line that so many edits reach on this diagonal (the old line
 * minus the new line). Returns undefined when a limit is exceeded.
 */
function search(old: readonly string[], fresh: readonly string[]): readonly Int32Array[] | undefined {
  const trace: Int32Array[] = []
  const limit = Math.min(editLimit, old.length + fresh.length)
  let work = 0
  let reached = new Int32Array(3)
  for (let edits = 0; edits <= limit; edits++) {
    trace.push(reached)
    const next = new Int32Array(2 * edits + 5)
    next.set(reached, 1)
    for (let diagonal = -edits; diagonal <= edits; diagonal += 2) {
      let x = startOf(next, edits, diagonal)
      while (x < old.length && x - diagonal < fresh.length && old[x] === fresh[x - diagonal]) {
        x++
        work++
      }
      next[diagonal + edits + 2] = x
      if (x >= old.length && x - diagonal >= fresh.length) return [...trace, next]
      if (++work > workLimit) return undefined
    }
    reached = next
  }
  return undefined
}

/**
 * Returns the old line at which the last edit arrives on `diagonal`. An added line comes from `diagonal + 1` and stays
 * at the same old line (`below`). A removed line comes from `diagonal - 1` and goes to the next old line (`above + 1`).
 */
function startOf(reached: Int32Array, edits: number, diagonal: number): number {
  if (edits === 0) return 0
  const at = diagonal + edits + 2
  const [below = 0, above = 0] = [reached[at + 1], reached[at - 1]]
  return diagonal === -edits || (diagonal !== edits && above < below) ? below : above + 1
}

function walkBack(trace: readonly Int32Array[], oldLength: number, freshLength: number): readonly DiffKind[] {
  const kinds: DiffKind[] = []
  let [x, y] = [oldLength, freshLength]
  for (let edits = trace.length - 2; edits > 0; edits--) {
    // `trace[edits]` is the array of `edits - 1` edits. In it, a diagonal has the index `diagonal + (edits - 1) + 2`.
    const reached = trace[edits] ?? new Int32Array(3)
    const at = (diagonal: number): number => reached[diagonal + edits + 1] ?? 0
    const diagonal = x - y
    const isAdded = diagonal === -edits || (diagonal !== edits && at(diagonal - 1) < at(diagonal + 1))
    const from = isAdded ? at(diagonal + 1) : at(diagonal - 1)
    const fromDiagonal = isAdded ? diagonal + 1 : diagonal - 1
    const startX = isAdded ? from : from + 1
    for (; x > startX; x--, y--) kinds.push('same')
    kinds.push(isAdded ? 'added' : 'removed')
    x = from
    y = from - fromDiagonal
  }
  for (; x > 0; x--) kinds.push('same')
  return kinds.reverse()
}

function hunksOf(rows: readonly DiffRow[]): readonly (readonly DiffRow[])[] {
  const hunks: DiffRow[][] = []
  let shownUntil = 0
  rows.forEach(({ kind }, index) => {
    if (kind === 'same') return
    const from = Math.max(0, index - contextLines)
    const last = hunks.at(-1)
    const hunk = last !== undefined && from <= shownUntil ? last : []
    if (hunk !== last) hunks.push(hunk)
    const end = Math.min(rows.length, index + contextLines + 1)
    hunk.push(...rows.slice(Math.max(from, hunk === last ? shownUntil : 0), end))
    shownUntil = Math.max(shownUntil, end)
  })
  return hunks
}

/** Returns the rows of a hunk in pairs: a `same` row twice, removed rows beside the added rows that follow them. */
export function pairsOf(hunk: readonly DiffRow[]): readonly DiffPair[] {
  const pairs: DiffPair[] = []
  let at = 0
  while (at < hunk.length) {
    const row = hunk[at]
    if (row?.kind === 'same') {
      pairs.push({ left: row, right: row })
      at++
      continue
    }
    const removed = takeWhile(hunk, at, 'removed')
    const added = takeWhile(hunk, at + removed.length, 'added')
    const count = Math.max(removed.length, added.length)
    for (let index = 0; index < count; index++) pairs.push({ left: removed[index], right: added[index] })
    at += removed.length + added.length
  }
  return pairs
}

function takeWhile(rows: readonly DiffRow[], from: number, kind: DiffKind): readonly DiffRow[] {
  let end = from
  while (rows[end]?.kind === kind) end++
  return rows.slice(from, end)
}
