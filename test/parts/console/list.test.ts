/** The order of the console's list: copies and sub-agents below their origin. */
import * as assert from 'uvu/assert'
import { ageOf, summaryOf, type Summary } from '../../../src/parts/console/page/list/summary.ts'
import { arrange } from '../../../src/parts/console/page/list/tree.ts'
import { suite } from '../../support/suite.ts'

const test = suite('parts/console: the order of the list')

function shown(items: readonly object[], search = ''): string[] {
  const summaries = items.map(summaryOf)
  const placed = arrange(new Map(summaries.map((one): [string, Summary] => [one.id, one])), search)
  return placed.map(({ summary, depth }) => `${'>'.repeat(depth)}${summary.id}`)
}

const at = (id: string, minute: number, more: object = {}): object => {
  return { id, title: `title ${id}`, updated_at: `2026-01-01T00:${String(minute).padStart(2, '0')}:00`, ...more }
}

const family = [
  at('old', 1), at('task', 9, { parent_conversation_id: 'old' }), at('copy', 8, { forked_from_conversation_id: 'old' }),
  at('copy-of-copy', 2, { forked_from_conversation_id: 'copy' }), at('new', 5),
]

test('copies and sub-agents stand below their origin, the newest first', () => {
  assert.equal(shown(family), ['new', 'old', '>task', '>copy', '>>copy-of-copy'])
})

test('a search shows what is above a found conversation', () => {
  assert.equal(shown(family, 'copy-of-copy'), ['old', '>copy', '>>copy-of-copy'])
  assert.equal(shown(family, 'nothing'), [])
})

test('an origin that is gone, and origins in a circle, hide nothing', () => {
  assert.equal(shown([at('lost', 1, { forked_from_conversation_id: 'gone' })]), ['lost'])
  const circle = [at('a', 2, { forked_from_conversation_id: 'b' }), at('b', 1, { forked_from_conversation_id: 'a' })]
  assert.equal(shown([...circle, at('c', 3, { forked_from_conversation_id: 'a' })]), ['a', '>c', '>b'])
})

test('the list has a heading for each age, by days from midnight to midnight', () => {
  const now = new Date(2026, 2, 30, 0, 30)
  const age = (...parts: readonly [number, number, number, number]): string => {
    return ageOf(new Date(...parts).toISOString(), now)
  }
  assert.equal([age(2026, 2, 30, 0), age(2026, 2, 31, 9), ageOf('no time', now)], ['Today', 'Today', 'Today'])
  assert.equal([age(2026, 2, 29, 23), age(2026, 2, 29, 0)], ['Yesterday', 'Yesterday'])
  assert.equal([age(2026, 2, 28, 23), age(2026, 2, 24, 0)], ['Last 7 days', 'Last 7 days'])
  assert.equal([age(2026, 2, 23, 23), age(2025, 2, 30, 0)], ['Earlier', 'Earlier'])
})

test('20,000 conversations that are copies of each other are arranged without recursion', () => {
  const chain = Array.from({ length: 20_000 }, (_, index) => {
    return at(`c${index}`, 1, { forked_from_conversation_id: `c${index - 1}` })
  })
  assert.is(shown(chain).length, 20_000)
})

test.run()
