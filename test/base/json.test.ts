import * as assert from 'uvu/assert'
import { suite } from '../support/suite.ts'
import { isObject, maxJsonDepth, parseJson } from '../../src/base/json.ts'

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

test.run()
