import * as assert from 'uvu/assert'
import { suite } from '../support/suite.ts'
import {
  countValues, isObject, maxJsonDepth, parseJson, parseOwnJson, TooManyValuesError, usualValueLimit,
} from '../../src/base/json.ts'

const test = suite('base/json')
const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth)

test('parses what is nested as deep as the limit', () => {
  assert.ok(Array.isArray(parseJson(nested(maxJsonDepth))))
})

test('refuses one level more, with objects and arrays alike', () => {
  assert.throws(() => parseJson(nested(maxJsonDepth + 1)), (error: unknown) => error instanceof RangeError)
  const objects = '{"a":'.repeat(maxJsonDepth + 1) + '1' + '}'.repeat(maxJsonDepth + 1)
  assert.throws(() => parseJson(objects), (error: unknown) => error instanceof RangeError)
})

test('survives a nesting of a million levels', () => {
  assert.throws(() => parseJson(nested(1_000_000)))
})

test('does not count brackets that stand in strings', () => {
  const text = JSON.stringify({ a: '[{'.repeat(500), 'b\\"[': '\\'.repeat(300) + '"[[[' })
  assert.equal(parseJson(text), JSON.parse(text))
})

test('counts siblings as one level', () => {
  const text = `[${Array.from({ length: 1000 }, () => '{"a":[]}').join(',')}]`
  assert.ok(Array.isArray(parseJson(text)))
})

test('throws a SyntaxError for what is not JSON', () => {
  for (const text of ['', '{', 'undefined', '[1,]', '\u0000']) {
    assert.throws(() => parseJson(text), (error: unknown) => error instanceof SyntaxError)
  }
})

test('keeps a member called __proto__ a plain member', () => {
  const value = parseJson('{"__proto__":{"polluted":true}}')
  assert.ok(isObject(value) && Object.hasOwn(value, '__proto__'))
  assert.is(Object.prototype.hasOwnProperty.call({}, 'polluted'), false)
})

test('calls objects objects, but neither arrays nor null', () => {
  assert.ok(isObject({}))
  for (const value of [[], null, 'x', 1, undefined]) assert.not.ok(isObject(value))
})

test('counts values and names of members, and nothing that stands in strings', () => {
  const counts: readonly (readonly [text: string, count: number])[] = [
    ['1', 0],
    ['[]', 1],
    ['[1,2,3]', 3],
    ['{"a":1,"b":[{}]}', 6],
    [JSON.stringify(['[{,:', '\\', '"[[', '\\"[,', `${'x'.repeat(200)}\\"[,`, `${'\\'.repeat(201)}[`]), 6],
    ['"an open string [[[', 0],
  ]
  for (const [text, count] of counts) assert.is(countValues(text, 1000), count, text)
})

test('counts the same as a look at every character, whatever strings hold', () => {
  const pieces = ['"', '\\', '[', ',', 'x'.repeat(70), ':', '{', '\\\\']
  let seed = 7
  for (let round = 0; round < 500; round++) {
    const parts = Array.from({ length: 40 }, () => {
      seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0
      return pieces[seed >>> 29] ?? ''
    })
    const text = JSON.stringify([parts.join(''), parts, { [parts.join('')]: parts.join('x'.repeat(65)) }])
    assert.is(countValues(text, Infinity), countedByParts(text), text)
  }
})

/** Outside of strings, which an expression takes out. */
function countedByParts(text: string): number {
  return [...text.replaceAll(/"(?:[^"\\]|\\.)*"/g, '').matchAll(/[[{,:]/g)].length
}

test('refuses too many values before anything is built', () => {
  // This is no JSON: a parser would report it.
  for (const piece of ['[', '{}', '1,', '"a":', '[],']) {
    const text = piece.repeat(usualValueLimit + 1)
    assert.throws(() => parseJson(text), (error: unknown) => error instanceof TooManyValuesError)
  }
})

test('takes as many values as the limit, and any length of a string', () => {
  const most = `[${'1,'.repeat(usualValueLimit - 2)}1]`
  assert.is(countValues(most, Infinity), usualValueLimit - 1)
  assert.ok(Array.isArray(parseJson(most)))
  assert.ok(isObject(parseJson(JSON.stringify({ image: 'x'.repeat(1_000_000) }), 10)))
  assert.throws(() => parseJson('[1,2,3,4]', 3), (error: unknown) => error instanceof TooManyValuesError)
})

test('stops to count when it is enough', () => {
  assert.is(countValues('['.repeat(1000), 10), 11)
})

test('has no limits for its own texts', () => {
  assert.equal(parseOwnJson(nested(maxJsonDepth + 5)), JSON.parse(nested(maxJsonDepth + 5)))
  assert.ok(Array.isArray(parseOwnJson(`[${'1,'.repeat(usualValueLimit)}1]`)))
})

test.run()
