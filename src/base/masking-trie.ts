/**
 * The tree of the strings that masking-search looks for, with its failure links.
 *
 * A node of the tree is called a state; its text is the beginning of a pattern. The failure link of a state leads to
 * another state: of all states whose text is a proper suffix of the first state's text, the state with the longest text
 * (Aho and Corasick, 1975). The children of a state are made when one of them is needed.
 */

export interface Patterns {
  /** Patterns that are found anywhere. */
  readonly texts: Iterable<string>
  /** Patterns of 4 to 7 code units, which are masked as whole words only. */
  readonly words: Iterable<string>
}

/** The bits of `output` for `Patterns.words`: bit n means a word of n code units. Bit 0 is for `Patterns.texts`. */
export const wordBits = 0xf0

/** The tree of the patterns. Its nodes are the states of the search; state 0 is the root. */
export class Trie {
  /** The number of states made so far. */
  size = 1
  /** The code units of all patterns, one pattern after the other, in sorted order. */
  readonly units: Uint16Array
  readonly codeUnit: Uint16Array
  readonly failure: Int32Array
  readonly depth: Int32Array
  readonly matchLength: Int32Array
  readonly output: Uint8Array
  /** Indexed by state: the state's first child, and its last child plus 1. Both are 0 until `#grow` sets them. */
  readonly #firstChild: Int32Array
  readonly #endChild: Int32Array
  /** The offset of each pattern in `units`. */
  readonly #starts: Int32Array
  readonly #isWord: Uint8Array
  /** Indexed by state. In sorted order, patterns `#first` to `#end` - 1 are those that begin with the state's text. */
  readonly #first: Int32Array
  readonly #end: Int32Array
  /** Indexed by code unit: the child of the root; 0 if there is none. */
  readonly #belowRoot = new Int32Array(0x10000)

  constructor({ texts, words }: Patterns) {
    const wordSet = new Set(words)
    const patterns = [...new Set([...texts, ...wordSet])].filter((text) => text !== '').sort()
    const { units, starts } = flat(patterns)
    const capacity = units.length + 1
    this.units = units
    this.#starts = starts
    this.#isWord = Uint8Array.from(patterns, (pattern) => (wordSet.has(pattern) ? 1 : 0))
    this.codeUnit = new Uint16Array(capacity)
    this.failure = new Int32Array(capacity)
    this.depth = new Int32Array(capacity)
    this.matchLength = new Int32Array(capacity)
    this.output = new Uint8Array(capacity)
    this.#firstChild = new Int32Array(capacity)
    this.#endChild = new Int32Array(capacity)
    this.#first = new Int32Array(capacity)
    this.#end = new Int32Array(capacity)
    this.#end[0] = patterns.length
  }

  /** Returns the first child of a state. Makes the children if they are missing. */
  firstChild(state: number): number {
    if (at(this.#firstChild, state) === 0) this.#grow(state)
    return at(this.#firstChild, state)
  }

  /** Returns the last child of a state, plus 1. Call `firstChild` first, because it makes the children. */
  endChild(state: number): number {
    return at(this.#endChild, state)
  }

  /** Returns the child for a code unit; 0 when there is no child. */
  childOf(state: number, codeUnit: number): number {
    let low = this.firstChild(state)
    let high = this.endChild(state)
    while (low < high) {
      const middle = (low + high) >> 1
      const unit = at(this.codeUnit, middle)
      if (unit === codeUnit) return middle
      if (unit < codeUnit) low = middle + 1
      else high = middle
    }
    return 0
  }

  /** Makes the children of a state, then their failure links. `#link` may also make children of other states. */
  #grow(state: number): void {
    const first = this.size
    const depth = at(this.depth, state)
    const last = at(this.#end, state)
    let next = at(this.#first, state)
    // The patterns are sorted and distinct, so only the first can equal the state's text. It needs no child.
    if (next < last && this.#lengthOf(next) === depth) next++
    while (next < last) {
      const child = this.size++
      const unit = this.#unitOf(next, depth)
      this.codeUnit[child] = unit
      this.depth[child] = depth + 1
      this.#first[child] = next
      do next++
      while (next < last && this.#unitOf(next, depth) === unit)
      this.#end[child] = next
    }
    this.#firstChild[state] = first
    this.#endChild[state] = this.size
    for (let child = first; child < at(this.#endChild, state); child++) this.#link(child, state)
  }

  #link(child: number, parent: number): void {
    const unit = at(this.codeUnit, child)
    const failure = parent === 0 ? 0 : this.#failureOf(at(this.failure, parent), unit)
    if (parent === 0) this.#belowRoot[unit] = child
    this.failure[child] = failure
    this.matchLength[child] = at(this.matchLength, failure)
    this.output[child] = at(this.output, failure)
    const pattern = at(this.#first, child)
    const depth = at(this.depth, child)
    if (this.#lengthOf(pattern) !== depth) return
    const isWord = at(this.#isWord, pattern) === 1
    if (!isWord) this.matchLength[child] = depth
    this.output[child] = at(this.output, child) | (isWord ? 1 << depth : 1)
  }

  #failureOf(from: number, codeUnit: number): number {
    for (let state = from; state !== 0; state = at(this.failure, state)) {
      const child = this.childOf(state, codeUnit)
      if (child !== 0) return child
    }
    return at(this.#belowRoot, codeUnit)
  }

  #lengthOf(pattern: number): number {
    return at(this.#starts, pattern + 1) - at(this.#starts, pattern)
  }

  #unitOf(pattern: number, place: number): number {
    return at(this.units, at(this.#starts, pattern) + place)
  }
}

/** Returns the code units of all patterns in one array, and the offset of each pattern. */
function flat(patterns: readonly string[]): { readonly units: Uint16Array; readonly starts: Int32Array } {
  const units = new Uint16Array(patterns.reduce((sum, { length }) => sum + length, 0))
  const starts = new Int32Array(patterns.length + 1)
  let end = 0
  for (const [place, pattern] of patterns.entries()) {
    for (let index = 0; index < pattern.length; index++) units[end++] = pattern.charCodeAt(index)
    starts[place + 1] = end
  }
  return { units, starts }
}

/** Returns an element of an array. The index must be inside of the array. */
export function at(array: Int32Array | Uint16Array | Uint8Array, index: number): number {
  return array[index] ?? 0
}
