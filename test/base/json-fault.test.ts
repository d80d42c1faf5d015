/** Where a text stops being JSON, compared with the texts that JSON.parse accepts. */
import * as assert from 'uvu/assert'
import { findJsonFault } from '../../src/base/json-fault.ts'
import { suite } from '../support/suite.ts'

const test = suite('base/json-fault')

const table: readonly [string, number, string][] = [
  ['', 0, 'expected a value'],
  ['  ', 2, 'expected a value'],
  ['{', 1, 'expected a property name in double quotes'],
  ['{"a"', 4, 'expected ":"'],
  ['{"a":', 5, 'expected a value'],
  ['{"a":}', 5, 'expected a value'],
  ['{"a":1', 6, 'expected "," or "}"'],
  ['{"a":1,}', 7, 'expected a property name in double quotes'],
  ['{"a":1 "b":2}', 7, 'expected "," or "}"'],
  ["{'a':1}", 1, 'expected a property name in double quotes'],
  ['{,}', 1, 'expected a property name in double quotes'],
  ['{"a":1]', 6, 'expected "," or "}"'],
  ['[', 1, 'expected a value'],
  ['[1', 2, 'expected "," or "]"'],
  ['[1,]', 3, 'expected a value'],
  ['[1 2]', 3, 'expected "," or "]"'],
  ['[1}', 2, 'expected "," or "]"'],
  ['1 2', 2, 'expected the end of the text'],
  ['{} x', 3, 'expected the end of the text'],
  ['[]]', 2, 'expected the end of the text'],
  ['01', 0, 'expected a value'],
  ['+1', 0, 'expected a value'],
  ['.5', 0, 'expected a value'],
  ['NaN', 0, 'expected a value'],
  ['tru', 0, 'expected a value'],
  ['\ufeff{}', 0, 'expected a value'],
  ['"abc', 0, 'expected the string to end'],
  ['{"a', 1, 'expected the string to end'],
  ['"a\nb"', 2, 'expected no control character in a string'],
  ['"a\\x"', 2, 'expected a valid escape sequence'],
  ['"\\u12g4"', 1, 'expected a valid escape sequence'],
  ['"\\', 1, 'expected a valid escape sequence'],
  ['{"a\\q":1}', 3, 'expected a valid escape sequence'],
  ['// c', 0, 'expected a value'],
]

for (const [text, offset, reason] of table) {
  test(`finds the fault of ${JSON.stringify(text)}`, () => {
    assert.throws(() => JSON.parse(text), SyntaxError)
    assert.equal(findJsonFault(text), { offset, reason })
  })
}

test('finds no fault in what is JSON', () => {
  for (const text of [
    'null', ' {"a" : [1, -2.5e+3, "x\\n\\u00e9\\"", {}, [ ]], "":true} ', '"\u2028"', '[[[]]]', '0',
  ]) {
    JSON.parse(text)
    assert.is(findJsonFault(text), undefined, text)
  }
})

test('agrees with JSON.parse about every text made by leaving out, doubling or replacing one character', () => {
  const source = '{"a":[1,-2.5e+3,"x\\u00e9\\n",null,true],"b":{"c":"","d":[]}} '
  for (let index = 0; index < source.length; index++) {
    for (const middle of ['', source.charAt(index).repeat(2), ',', '"', '}', '0', '\\', ' ', '\u0001']) {
      const text = source.slice(0, index) + middle + source.slice(index + 1)
      assert.is(findJsonFault(text) === undefined, isJson(text), text)
    }
  }
})

test('needs no stack for a text that nests a million levels', () => {
  assert.equal(findJsonFault('['.repeat(1_000_000)), { offset: 1_000_000, reason: 'expected a value' })
})

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

test.run()
