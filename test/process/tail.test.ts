import { suite } from '../support/suite.ts'
import * as assert from 'uvu/assert'
import { createTail } from '../../src/process/tail.ts'

const test = suite('process/tail')

const cases: [string, number, string[], string][] = [
  ['nothing', 4, [], ''],
  ['less than the limit', 4, ['a', 'bc'], 'abc'],
  ['exactly the limit', 4, ['ab', 'cd'], 'abcd'],
  ['one byte more', 4, ['ab', 'cde'], 'bcde'],
  ['a chunk longer than the limit', 4, ['x', 'abcdefghij'], 'ghij'],
  ['many rounds', 4, 'abcdefghijklmnopqrstuvwxyz'.split(''), 'wxyz'],
  ['chunks of odd sizes', 5, ['abc', 'defg', 'hi', 'jklmnop', 'q'], 'mnopq'],
  ['a cut inside a character', 4, ['a€€'], '€'],
  ['a cut between characters', 6, ['a€€'], '€€'],
]
for (const [name, limit, chunks, expected] of cases) {
  test(`keeps the end of ${name}`, () => {
    const tail = createTail(limit)
    for (const chunk of chunks) tail.push(Buffer.from(chunk))
    assert.is(tail.text(), expected)
  })
}

test('survives bytes that are no text', () => {
  const tail = createTail(4)
  tail.push(Buffer.from([0x80, 0x81, 0x82, 0x83, 0x84]))
  assert.is(tail.text(), '\ufffd'.repeat(4))
})

test.run()
