import { suite } from '../support/suite.ts'
import * as assert from 'uvu/assert'
import { createTail } from '../../src/process/tail.ts'

const test = suite('process/tail')

const cases: [string, number, string[], string][] = [
  ['nothing', 4, [], ''],
  ['less than the limit', 4, ['a', 'bc'], 'abc'],
  ['exactly the limit', 4, ['ab', 'cd'], 'abcd'],
  ['one byte more', 4, ['ab', 'c\ne'], 'e'],
  ['a chunk longer than the limit', 4, ['x', 'abcdefg\nij'], 'ij'],
  ['many rounds', 4, 'abcdefghijklmnopqrstuvw\nyz'.split(''), 'yz'],
  ['chunks of odd sizes', 8, ['abc', 'def\n', 'hi\n', 'jk', 'l\nn', 'op'], 'jkl\nnop'],
  ['a character cut in two', 6, ['a€\n€'], '€'],
  ['a line longer than the limit', 4, ['a\nbcdef'], '(a line of at least 4 bytes)'],
  ['a line longer than the limit and its end', 4, ['a\nbcdef\n'], '(a line of at least 3 bytes)'],
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
  tail.push(Buffer.from([0x80, 0x81, 0x0a, 0x83, 0x84]))
  assert.is(tail.text(), '\ufffd'.repeat(2))
})

test.run()
