/** The log of a change: the names of the changed settings, and no value. */
import * as assert from 'uvu/assert'
import { createLog } from '../../src/base/log.ts'
import { changeLog } from '../../src/settings/change-log.ts'
import { suite } from '../support/suite.ts'

const test = suite('settings/change-log')

function told(before: unknown, after: unknown): Record<string, unknown> {
  const lines: string[] = []
  const log = createLog({ write: (line) => lines.push(line), level: 'info', clock: () => 0, mask: (line) => line })
  changeLog(log, 'Settings were changed')(before, after)
  assert.not.match(lines.join(''), 'a value')
  const { time: _, level, message, ...fields } = JSON.parse(lines[0] ?? '')
  assert.equal([lines.length, level, message], [1, 'info', 'Settings were changed'])
  return fields
}

const cases: readonly [what: string, before: unknown, after: unknown, names: string][] = [
  ['members of objects, by their path', { a: { b: 'a value 1', c: 2 }, d: 3 }, { a: { b: 'a value 2', c: 2 }, d: 3 },
    'a.b'],
  ['what is new and what is gone', { a: 'a value 1', b: 1 }, { b: 1, c: 'a value' }, 'a, c'],
  ['entries of a map', new Map([['A', { value: 'a value 1' }]]),
    new Map([['A', { value: 'a value 2' }], ['B', { value: 'a value' }]]), 'A.value, B'],
  ['a list as a whole', { a: { b: ['a value 1'] } }, { a: { b: ['a value 2'] } }, 'a.b'],
  ['what changes its kind', { a: { b: 'a value 1' } }, { a: null }, 'a'],
]
for (const [what, before, after, names] of cases) {
  test(`names ${what}`, () => assert.equal(told(before, after), { names }))
}

test('says nothing where nothing is different', () => {
  const lines: string[] = []
  const log = createLog({ write: (line) => lines.push(line), level: 'info', clock: () => 0, mask: (line) => line })
  changeLog(log, 'Settings were changed')({ a: { b: [1] } }, { a: { b: [1] } })
  assert.equal(lines, [])
})

test('is bounded in names, in their length and in depth', () => {
  const many = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`${index}`.repeat(100), 1]))
  const { names, more } = told({}, many)
  assert.is(more, 30)
  assert.ok(String(names).length <= 20 * 102)
  assert.equal(told({ a: { b: { c: { d: { e: 1 } } } } }, { a: { b: { c: { d: { e: 2 } } } } }), { names: 'a.b.c.d' })
})

test.run()
