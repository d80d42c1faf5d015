/**
 * Finds many strings in one pass over a text: the automaton of Aho and Corasick (Communications of the ACM 18, 1975).
 *
 * Time is linear in the text whatever the strings are, and building it linear in their total length. Nodes live in
 * typed arrays, about 24 bytes for each character of the strings. It works on UTF-16 code units.
 */

export interface PatternSearch {
  /** The state after one more code unit; the first state is 0. */
  step(state: number, codeUnit: number): number
  /** The length of the longest pattern that ends in this state, 0 if none does. */
  matchLength(state: number): number
  /** How many of the last code units may be the beginning of a pattern. */
  depth(state: number): number
}

export function createPatternSearch(patterns: Iterable<string>): PatternSearch {
  const trie = buildTrie([...patterns])
  linkFailures(trie)
  return {
    step: (state, codeUnit) => step(trie, state, codeUnit),
    matchLength: (state) => at(trie.matchLength, state),
    depth: (state) => at(trie.depth, state),
  }
}

/** Node 0 is the root; as a link, 0 means "none" for children and siblings and "the root" for failures. */
interface Trie {
  size: number
  readonly codeUnit: Uint16Array
  readonly firstChild: Int32Array
  readonly nextSibling: Int32Array
  readonly failure: Int32Array
  readonly depth: Int32Array
  readonly matchLength: Int32Array
  /** The root's children by code unit: most steps begin and end at the root. */
  readonly rootChild: Int32Array
}

function buildTrie(patterns: readonly string[]): Trie {
  const capacity = patterns.reduce((sum, pattern) => sum + pattern.length, 1)
  const trie: Trie = {
    size: 1,
    codeUnit: new Uint16Array(capacity),
    firstChild: new Int32Array(capacity),
    nextSibling: new Int32Array(capacity),
    failure: new Int32Array(capacity),
    depth: new Int32Array(capacity),
    matchLength: new Int32Array(capacity),
    rootChild: new Int32Array(0x10000),
  }
  for (const pattern of patterns) insert(trie, pattern)
  return trie
}

function insert(trie: Trie, pattern: string): void {
  let node = 0
  for (let index = 0; index < pattern.length; index++) {
    const codeUnit = pattern.charCodeAt(index)
    node = childOf(trie, node, codeUnit) || addChild(trie, node, codeUnit)
  }
  trie.matchLength[node] = pattern.length
}

function addChild(trie: Trie, parent: number, codeUnit: number): number {
  const node = trie.size++
  trie.codeUnit[node] = codeUnit
  trie.depth[node] = at(trie.depth, parent) + 1
  trie.nextSibling[node] = at(trie.firstChild, parent)
  trie.firstChild[parent] = node
  if (parent === 0) trie.rootChild[codeUnit] = node
  return node
}

function childOf(trie: Trie, node: number, codeUnit: number): number {
  if (node === 0) return at(trie.rootChild, codeUnit)
  let child = at(trie.firstChild, node)
  while (child !== 0 && trie.codeUnit[child] !== codeUnit) child = at(trie.nextSibling, child)
  return child
}

/** Breadth first, so that the failure of a node is complete before its children need it. */
function linkFailures(trie: Trie): void {
  const order = new Int32Array(trie.size)
  let filled = 1
  for (let next = 0; next < filled; next++) {
    const node = at(order, next)
    for (let child = at(trie.firstChild, node); child !== 0; child = at(trie.nextSibling, child)) {
      order[filled++] = child
      if (node !== 0) trie.failure[child] = step(trie, at(trie.failure, node), at(trie.codeUnit, child))
      if (trie.matchLength[child] === 0) trie.matchLength[child] = at(trie.matchLength, at(trie.failure, child))
    }
  }
}

function step(trie: Trie, state: number, codeUnit: number): number {
  let node = state
  for (;;) {
    const child = childOf(trie, node, codeUnit)
    if (child !== 0 || node === 0) return child
    node = at(trie.failure, node)
  }
}

/** Every index comes from the trie itself, so the fallback is never taken. */
function at(array: Int32Array | Uint16Array, index: number): number {
  return array[index] ?? 0
}
