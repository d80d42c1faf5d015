/**
 * Finds many strings in one pass over a text: the automaton of Aho and Corasick (Communications of the ACM 18, 1975).
 *
 * A state stands for the longest beginning of a pattern with which the text read so far ends. Each of the first states
 * has a row in a table of successors. More states are made when a text reaches them. Offsets count UTF-16 code units.
 */

import { at, Trie, wordBits, type Patterns } from './masking-trie.ts'

export class PatternSearch {
  /** The number of states that `#stepDeep` has visited, for tests of the running time. */
  work = 0
  readonly #trie: Trie
  readonly #rows: Int32Array
  /** The column of a code unit in `#rows`; 0 for a code unit in no pattern. */
  readonly #columns: Int32Array
  readonly #width: number
  /** Each state below this number has a row in `#rows`. The row has the next state for each column. */
  readonly #rowCount: number

  constructor(patterns: Patterns) {
    this.#trie = new Trie(patterns)
    const { columns, width } = columnsOf(this.#trie.units)
    this.#columns = columns
    this.#width = width
    this.#rowCount = growRows(this.#trie, Math.max(1, Math.floor(tableLimit / width)))
    this.#rows = fillRows(this.#trie, columns, width, this.#rowCount)
  }

  /** Returns the state that follows `state` when `codeUnit` is read. The first state is 0. */
  step(state: number, codeUnit: number): number {
    const column = at(this.#columns, codeUnit)
    if (column === 0) return 0
    if (state < this.#rowCount) return at(this.#rows, state * this.#width + column)
    return this.#stepDeep(state, codeUnit, column)
  }

  /** Like `step`, but returns 0 after it has followed `giveUpAfter` failure links (masking-trie). */
  stepOrGiveUp(state: number, codeUnit: number): number {
    const column = at(this.#columns, codeUnit)
    return column === 0 ? 0 : this.#stepDeep(state, codeUnit, column, giveUpAfter)
  }

  /**
   * Reads `text` from the offset `from`, and updates `cursor.state`. Stops after a pattern, and at the end of the text.
   * Inside of a pattern, also stops before a margin that has a line break or ends the text. Returns the offset reached.
   */
  read(text: string, from: number, cursor: { state: number }): number {
    const columns = this.#columns
    const rows = this.#rows
    const width = this.#width
    const rowCount = this.#rowCount
    const { output } = this.#trie
    let { state } = cursor
    let index = from
    /** The offset after the last checked margin, which has no line break. No character before it is checked again. */
    let lineEnd = from
    for (; index < text.length; index++) {
      const unit = text.charCodeAt(index)
      if (state !== 0 && isMargin(unit) && index >= lineEnd) {
        lineEnd = endOfBlanks(text, index)
        if (lineEnd === index) break
      }
      const column = at(columns, unit)
      if (column === 0) state = 0
      else {
        state = state < rowCount ? at(rows, state * width + column) : this.#stepDeep(state, unit, column)
        if (at(output, state) !== 0) {
          index++
          break
        }
      }
    }
    cursor.state = state
    return index
  }

  /** True when the text has no pattern, whole or broken into lines. False when it may have one. */
  isFree(text: string): boolean {
    const cursor = { state: 0 }
    return this.read(text, 0, cursor) === text.length && at(this.#trie.output, cursor.state) === 0
  }

  /** Returns the length of the longest of `Patterns.texts` with which this state's text ends; 0 if there is none. */
  matchLength(state: number): number {
    return at(this.#trie.matchLength, state)
  }

  /** Returns the `Patterns.words` with which this state's text ends, as bits: bit n stands for a word of n units. */
  wordLengths(state: number): number {
    return at(this.#trie.output, state) & wordBits
  }

  /** Returns the length of the beginning of a pattern that this state stands for; 0 for the first state. */
  depth(state: number): number {
    return at(this.#trie.depth, state)
  }

  #stepDeep(from: number, codeUnit: number, column: number, limit = Infinity): number {
    let state = from
    for (let links = 0; state >= this.#rowCount; links++) {
      this.work++
      if (links === limit) return 0
      const child = this.#trie.childOf(state, codeUnit)
      if (child !== 0) return child
      state = at(this.#trie.failure, state)
    }
    return at(this.#rows, state * this.#width + column)
  }
}

/**
 * True for a space, a no-break space, a control character up to U+001F, `|` or a box-drawing character. A run of these
 * is called a margin: a secret may be broken into lines there.
 */
export function isMargin(codeUnit: number): boolean {
  return codeUnit <= 0x20 || codeUnit === 0x7c || codeUnit === 0xa0 || (codeUnit >= 0x2500 && codeUnit <= 0x257f)
}

/** Returns the offset after the margin at `from`; `from` itself if the margin has a line break or ends the text. */
function endOfBlanks(text: string, from: number): number {
  for (let index = from; index < text.length; index++) {
    const unit = text.charCodeAt(index)
    if (unit === 0x0a || unit === 0x0d) return from
    if (!isMargin(unit)) return index
  }
  return from
}

/** The most failure links that one call of `stepOrGiveUp` follows. Real texts need only a few. */
const giveUpAfter = 32

/** The most elements of `#rows`. So the more columns a row has, the fewer states have a row. */
const tableLimit = 1 << 18

function columnsOf(units: Uint16Array): { readonly columns: Int32Array; readonly width: number } {
  const columns = new Int32Array(0x10000)
  let width = 1
  for (const unit of units) {
    if (columns[unit] === 0) columns[unit] = width++
  }
  return { columns, width }
}

/** Makes the children of at most `limit` states, breadth first from the root. Returns the number of these states. */
function growRows(trie: Trie, limit: number): number {
  let state = 0
  for (; state < limit && state < trie.size; state++) trie.firstChild(state)
  return state
}

/** Makes the table of successors. A state's row is a copy of its failure link's row, with its own children added. */
function fillRows(trie: Trie, columns: Int32Array, width: number, rowCount: number): Int32Array {
  const rows = new Int32Array(rowCount * width)
  for (let state = 0; state < rowCount; state++) {
    const from = at(trie.failure, state) * width
    if (state > 0) rows.copyWithin(state * width, from, from + width)
    for (let child = trie.firstChild(state); child < trie.endChild(state); child++) {
      rows[state * width + at(columns, at(trie.codeUnit, child))] = child
    }
  }
  return rows
}
