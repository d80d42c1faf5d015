/** How `npm run compare` names differences, and when it fails. */
import * as assert from 'uvu/assert'
import { differencesOf } from '../../../scripts/compare/difference.ts'
import { judge, why } from '../../../scripts/compare/verdict.ts'
import type { Recorded } from '../../../scripts/compare/stage.ts'
import { suite } from '../../support/suite.ts'

const test = suite('the verdict of compare')
const recorded = (body: unknown, more: Partial<Recorded> = {}): Recorded => ({
  status: 200, headers: {}, as: 'value', body, ...more,
})

test('a difference of status hides the others', () => {
  const refused = recorded({ detail: 'no' }, { status: 404, headers: { allow: 'GET' } })
  assert.equal(differencesOf(recorded({ a: 1 }), refused), ['status 200 | 404'])
})

test('members, types, values, lengths and headers are named, theirs first', () => {
  const theirs = recorded({ only: 1, type: null, value: 1, list: [1, 2], same: true }, { headers: { allow: 'GET' } })
  const ours = recorded({ type: 'x', value: 2, list: [3], same: true, more: null })
  assert.equal(differencesOf(theirs, ours), [
    'header allow GET | none', '- $.only', 'type $.type null | string', 'value $.value 1 | 2', 'length $.list 2 | 1',
    'value $.list[0] 1 | 3', '+ null $.more',
  ])
})

test('the words of an error and the values of a shape may differ, their form may not', () => {
  const words = (detail: unknown): Recorded => recorded({ detail }, { status: 400 })
  assert.equal(differencesOf(words('No'), words('Not so')), [])
  assert.equal(differencesOf(words('No'), words([])), ['type $.detail string | list'])
  const shape = (body: unknown): Recorded => recorded(body, { as: 'shape' })
  assert.equal(differencesOf(shape([{ a: 1 }, { a: 2 }]), shape([{ a: 3 }])), [])
  assert.equal(differencesOf(shape([{ a: 1 }]), shape([{ a: '1' }])), ['type $[].a number | string'])
})

test('a difference that no entry names is a fault, and so is an entry that names none', () => {
  const found = [{ at: 'settings', is: 'value $.a 1 | 2' }, { at: 'settings', is: '- $.b' }]
  const [known, gone] = [why('set*', 'value $.? *', 'a reason'), why('*', '- $.c', 'a reason')]
  assert.equal(judge(found, [known, gone]), { unnamed: [{ at: 'settings', is: '- $.b' }], stale: [gone] })
  assert.equal(judge(found, [known, why('settings', '- $.b', 'a reason')]), { unnamed: [], stale: [] })
})

test.run()
