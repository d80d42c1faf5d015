/**
 * Every sentence of the specification with its proofs (sentences/). Fails when a place of the outline has no sentence,
 * or when a test that is named is gone. Prints the counts.
 */
import * as assert from 'uvu/assert'
import { suite } from '../support/suite.ts'
import { faultOf } from './proofs.ts'
import { sections } from './sentences/outline.ts'
import { parseProof } from './sentences/sentence.ts'

const test = suite('sentences of the specification')

for (const { title, places, sentences } of sections) {
  test(`${title}: every place has a sentence, and every sentence a place`, () => {
    const stated = Object.keys(sentences)
    const isAt = (place: string) => (name: string): boolean => name === place || name.startsWith(`${place}.`)
    // A list item such as "5 external" stands for its rule.
    const covers = (place: string): boolean => stated.some((name) => isAt(place)(name) || name.startsWith(`${place} `))
    assert.equal(places.filter((place) => !covers(place)), [])
    assert.equal(stated.filter((name) => !places.some((place) => isAt(place)(name))), [])
  })
  test(`${title}: what is said to hold a sentence is there`, () => {
    for (const [place, [says, ...heldBy]] of Object.entries(sentences)) {
      assert.ok(says !== '' && heldBy.length > 0, place)
      for (const proof of heldBy.map(parseProof)) assert.is(faultOf(proof), undefined, `${title}, ${place}`)
    }
  })
}

test('counts what is held by tests, what waits for a later part, and what states no behaviour', () => {
  const sentences = sections.flatMap((section) => Object.values(section.sentences))
  const kinds = sentences.map(([, ...heldBy]) => new Set(heldBy.map((text) => parseProof(text).kind)))
  const inTests = kinds.filter((found) => found.has('test'))
  const wholly = inTests.filter((found) => !found.has('later'))
  const later = kinds.filter((found) => found.has('later') && !found.has('test'))
  const [all, held, open] = [kinds.length, inTests.length, later.length]
  process.stdout.write(`${all} sentences: ${wholly.length} held by tests, ${held - wholly.length} in part and the ` +
    'rest ' +
    `later, ${open} later, ${all - held - open} without behaviour\n`)
  assert.ok(held > all - held)
})

test.run()
