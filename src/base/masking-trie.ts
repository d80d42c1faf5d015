/**
 * The tree of the strings that masking-search looks for, with its failure links.
 *
 * Built breadth first from the sorted strings: the children of a state stand side by side, and what a failure link leads
 * to is complete before its children need it. Everything is in typed arrays, about 20 bytes for each character of the
 * strings, and 8 more while it is built. It works on UTF-16 code units.
 */

export interface Patterns {
  /** Found wherever they stand. */
  readonly texts: Iterable<string>
  /** Of 4 to 7 code units: reported apart, since they count as whole words only. */
  readonly words: Iterable<string>
}

/** In `output`: bits 4 to 7 stand for words of that length, bit 0 for any other pattern. */
export const wordBits = 0xf0

/** State 0 is the root. The children of a state go from its `firstChild` to that of the next state. */
export interface Trie {
  size: number
  readonly codeUnit: Uint16Array
  readonly firstChild: Int32Array
  readonly failure: Int32Array
  readonly depth: Int32Array
  readonly matchLength: Int32Array
  readonly output: Uint8Array
}

export function buildTrie({ texts, words }: Patterns): Trie {
  const wordSet = new Set(words)
  const patterns = [...new Set([...texts, ...wordSet])].filter((text) => text !== '').sort()
  const { units, starts } = flat(patterns)
  const capacity = units.length + 1
  const trie: Trie = {
    size: 1,
    codeUnit: new Uint16Array(capacity),
    firstChild: new Int32Array(capacity + 1),
    failure: new Int32Array(capacity),
    depth: new Int32Array(capacity),
    matchLength: new Int32Array(capacity),
    output: new Uint8Array(capacity),
  }
  // The sorted patterns below a state are a range.
  const first = new Int32Array(capacity)
  const end = new Int32Array(capacity)
  end[0] = patterns.length
  /** Most failure links lead to a child of the root, or to the root. */
  const belowRoot = new Int32Array(0x10000)
  for (let state = 0; state < trie.size; state++) {
    trie.firstChild[state] = trie.size
    const depth = at(trie.depth, state)
    const last = at(end, state)
    let next = at(first, state)
    // The first may be the pattern that ends here.
    if (next < last && lengthOf(starts, next) === depth) next++
    while (next < last) {
      const unit = at(units, at(starts, next) + depth)
      const child = addChild(trie, state, unit, belowRoot)
      if (state === 0) belowRoot[unit] = child
      if (lengthOf(starts, next) === depth + 1) markEnd(trie, child, wordSet.has(patterns[next] ?? ''))
      first[child] = next
      do next++
      while (next < last && at(units, at(starts, next) + depth) === unit)
      end[child] = next
    }
    trie.firstChild[state + 1] = trie.size
  }
  return trie
}

/** All patterns behind each other, and where each begins. */
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

function lengthOf(starts: Int32Array, place: number): number {
  return at(starts, place + 1) - at(starts, place)
}

function markEnd(trie: Trie, state: number, isWord: boolean): void {
  const depth = at(trie.depth, state)
  if (!isWord) trie.matchLength[state] = depth
  trie.output[state] = at(trie.output, state) | (isWord ? 1 << depth : 1)
}

/** Breadth first: what a failure link leads to is complete before its children need it. */
function addChild(trie: Trie, parent: number, codeUnit: number, belowRoot: Int32Array): number {
  const child = trie.size++
  trie.codeUnit[child] = codeUnit
  trie.depth[child] = at(trie.depth, parent) + 1
  const failure = parent === 0 ? 0 : failureOf(trie, at(trie.failure, parent), codeUnit, belowRoot)
  trie.failure[child] = failure
  trie.matchLength[child] = at(trie.matchLength, failure)
  trie.output[child] = at(trie.output, failure)
  return child
}

function failureOf(trie: Trie, from: number, codeUnit: number, belowRoot: Int32Array): number {
  for (let state = from; state !== 0; state = at(trie.failure, state)) {
    const child = childOf(trie, state, codeUnit)
    if (child !== 0) return child
  }
  return at(belowRoot, codeUnit)
}

/** 0 for none. The children are in the order of their code units. */
export function childOf({ firstChild, codeUnit: units }: Trie, state: number, codeUnit: number): number {
  let low = at(firstChild, state)
  let high = at(firstChild, state + 1)
  while (low < high) {
    const middle = (low + high) >> 1
    const unit = at(units, middle)
    if (unit === codeUnit) return middle
    if (unit < codeUnit) low = middle + 1
    else high = middle
  }
  return 0
}

/** Every index comes from the automaton itself, so the fallback is never taken. */
export function at(array: Int32Array | Uint16Array | Uint8Array, index: number): number {
  return array[index] ?? 0
}
