/** Whether diffs merge as contract/settings.md 2.4 and 2.6 say. The first table is RFC 7386, appendix A. */
import * as assert from 'uvu/assert'
import { mergeFields, mergePatch } from '../../src/settings/merge.ts'
import { suite } from '../support/suite.ts'

const test = suite('settings/merge')

type Json = Record<string, unknown>

const rfc: readonly (readonly [Json, Json, Json])[] = [
  [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
  [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
  [{ a: 'b' }, { a: null }, {}],
  [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
  [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
  [{ a: 'c' }, { a: ['b'] }, { a: ['b'] }],
  [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
  [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
  [{ e: null }, { a: 1 }, { e: null, a: 1 }],
  [{ a: { b: { c: 1, d: 2 } } }, { a: { b: { c: null } } }, { a: { b: { d: 2 } } }],
]
for (const [base, patch, expected] of rfc) {
  test(`merges ${JSON.stringify(patch)} into ${JSON.stringify(base)}`, () => {
    assert.equal(mergePatch(base, patch), expected)
  })
}

test('takes an object for a member that the base lacks as given, with its nulls', () => {
  assert.equal(mergePatch({}, { a: { b: null, c: 1 } }), { a: { b: null, c: 1 } })
  assert.equal(mergePatch({ a: 'text' }, { a: { b: null } }), { a: { b: null } })
  assert.equal(mergePatch({ a: [1] }, { a: { b: null } }), { a: { b: null } })
})

test('keeps null as a value in the fields themselves and deletes with it inside', () => {
  assert.equal(mergeFields({ a: 1, m: { x: 1, y: 2 } }, { a: null, m: { x: null } }), { a: null, m: { y: 2 } })
  assert.equal(mergeFields({}, { m: { x: null } }), { m: { x: null } })
  assert.equal(mergeFields({ list: [1, 2] }, { list: [3] }), { list: [3] })
})

test('changes neither argument', () => {
  const base = Object.freeze({ a: Object.freeze({ b: 1 }) })
  const patch = Object.freeze({ a: Object.freeze({ b: 2 }) })
  assert.equal(mergePatch(base, patch), { a: { b: 2 } })
  assert.equal(base, { a: { b: 1 } })
})

test('treats hostile names as ordinary members', () => {
  const patch: Json = JSON.parse('{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}')
  for (const merged of [mergePatch({}, patch), mergePatch({ a: {} }, { a: patch }), mergeFields({}, patch)]) {
    assert.is(Object.getPrototypeOf(merged), Object.prototype)
    assert.not.ok('polluted' in merged)
  }
  assert.is(JSON.stringify(mergePatch({}, patch)), JSON.stringify(patch))
  assert.not.ok('polluted' in {})
})

test('does not take an inherited member for a member of the base', () => {
  assert.equal(mergePatch({}, { toString: { a: null } }).toString, { a: null })
})

test.run()
