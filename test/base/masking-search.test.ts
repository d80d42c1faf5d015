/** Whether the search is linear in the text for any patterns: counted in steps, not in time. */
import * as assert from 'uvu/assert'
import { secretForms } from '../../src/base/masking-forms.ts'
import { PatternSearch } from '../../src/base/masking-search.ts'
import { TextMasking } from '../../src/base/masking-stream.ts'
import { Trie } from '../../src/base/masking-trie.ts'
import { suite } from '../support/suite.ts'

const test = suite('base/masking-search')

/** With no room for anything but deep states most of them have no row: that is the slow way. */
const sets: readonly (readonly [string, readonly string[]])[] = [
  ['700 with a common beginning',
    range(700).map((place) => `sk-common-beginning-of-them-all-${place * 7919}-${place}`)],
  ['one character again and again', range(500).map((place) => 'a'.repeat(20 + place))],
  ['a long run and its end', [`${'a'.repeat(60_000)}b`]],
  ['endings of each other', range(400).map((place) => `${'a'.repeat(place + 8)}b${'a'.repeat(400 - place)}`)],
  ['thousands', range(5000).map((place) => `${(place * 2654435761 % 4294967296).toString(36)}x${place * 7919}`)],
]
const pieces: readonly (readonly [string, string])[] = [
  ['a run', 'a'], ['runs that end', `${'a'.repeat(1000)}c`], ['short lines', 'a\n'],
  ['near misses', 'sk-common-beginning-of-them-all-79'],
  ['wide rows', `${'a'.repeat(70)}${' '.repeat(10)}\n`], ['numbers', '1\n12\ta'],
]

for (const [name, patterns] of sets) {
  for (const [kind, piece] of pieces) {
    test(`takes steps in proportion to the text: ${name}, ${kind}`, () => {
      const search = new PatternSearch({ texts: patterns.flatMap(secretForms), words: [] })
      const work = (length: number): number => {
        const before = search.work
        const masking = new TextMasking(() => search)
        const text = piece.repeat(Math.ceil(length / piece.length))
        for (let place = 0; place < text.length; place += 4096) masking.push(text.slice(place, place + 4096))
        masking.end()
        return (search.work - before) / text.length
      }
      const small = work(20_000)
      const large = work(200_000)
      assert.ok(large < 200, `${large} steps for each character`)
      assert.ok(large <= 4 * small + 4, `${small} steps for each character of a short text, ${large} of a long one`)
    })
  }
}

test('finds the longest pattern that ends at a place, and words apart', () => {
  const search = new PatternSearch({ texts: ['longer-secret', 'secret'], words: ['ret', 'cret', 'ecret'] })
  let state = 0
  for (const char of 'a longer-secret') state = search.step(state, char.charCodeAt(0))
  assert.is(search.matchLength(state), 'longer-secret'.length)
  assert.is(search.wordLengths(state), (1 << 4) | (1 << 5))
})

test('makes the states that a text reaches, and no others', () => {
  const trie = new Trie({ texts: range(1000).map((place) => `${place * 7919} ${'x'.repeat(1000)}`), words: [] })
  let state = 0
  for (const char of `7919 ${'x'.repeat(100)}`) state = trie.childOf(state, char.charCodeAt(0))
  assert.is(trie.depth[state], 105)
  assert.ok(trie.size < 1000, `${trie.size} of a million states`)
})

test('states whose failure links lead through a thousand others grow too', () => {
  const longest = 1400
  const search = new PatternSearch({ texts: range(longest).map((place) => `${'a'.repeat(place + 1)}uv`), words: [] })
  const text = `${'a'.repeat(longest)}uv`
  let state = 0
  for (const char of text) state = search.step(state, char.charCodeAt(0))
  assert.is(search.matchLength(state), text.length)
})

function range(count: number): number[] {
  return Array.from({ length: count }, (_, place) => place)
}

test.run()
