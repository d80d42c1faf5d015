/** Which conversations the limits of retention do not keep, and which work makes a conversation stay. */
import * as assert from 'uvu/assert'
import { formatMicros } from '../../../src/base/stamp.ts'
import type { ListEntry } from '../../../src/conversation/list/sorted-entries.ts'
import { dueFamilies, familiesOf, type RetainLimits } from '../../../src/parts/retention/families.ts'
import { waitingWork } from '../../../src/parts/retention/waiting.ts'
import { suite } from '../../support/suite.ts'

const test = suite('parts/retention: families')

const dayMs = 86_400_000
const now = Date.UTC(2026, 10, 23)

/** A conversation whose last change was so many days ago. */
function entry(id: string, daysAgo: number, more: Partial<ListEntry> = {}): ListEntry {
  const at = formatMicros((now - daysAgo * dayMs) * 1000)
  return {
    id, createdAt: at, updatedAt: at, status: 'finished', parentId: null, workingDir: '/w', tags: {}, createdBy: null,
    ...more,
  }
}

/** The ids that go, in order, a family as one word. */
function due(entries: readonly ListEntry[], limits: Partial<RetainLimits>, bytes = 10): string {
  const all = { days: 0, count: 0, bytes: 0, ...limits }
  const families = dueFamilies(familiesOf(entries), all, ({ members }) => bytes * members.length, now)
  return families.map(({ members }) => members.map(({ id }) => id).join('+')).join(' ')
}

const five = [entry('c', 3), entry('a', 1), entry('e', 5), entry('b', 2), entry('d', 4)]

test('the oldest go first, by each limit', () => {
  assert.is(due(five, {}), '')
  assert.is(due(five, { days: 3 }), 'e d')
  assert.is(due(five, { count: 2 }), 'e d c')
  assert.is(due(five, { bytes: 45 }), 'e')
  assert.is(due(five, { bytes: 9 }), 'e d c b a')
  assert.is(due(five, { days: 4, count: 4, bytes: 30 }), 'e d')
  assert.is(due(five, { days: 3.5 }), 'e d')
})

test('the moment of the limit still keeps', () => {
  assert.is(due([entry('a', 3)], { days: 3 }), '')
  assert.is(due([entry('a', 3.000001)], { days: 3 }), 'a')
  assert.is(due(five, { count: 5 }), '')
  assert.is(due(five, { bytes: 50 }), '')
})

test('a conversation with the tag "keep" takes the place of none', () => {
  const kept = entry('k', 0, { tags: { keep: 'no matter' } })
  assert.is(due([kept, ...five], { count: 5 }), '')
  assert.is(due([kept, ...five], { bytes: 50 }), '')
  assert.equal(familiesOf([kept]).map(({ isKept }) => isKept), [true])
})

test('a conversation and those below it are one, with the newest change of them', () => {
  const child = entry('child', 1, { parentId: 'e' })
  const grandchild = entry('grandchild', 0.5, { parentId: 'child' })
  assert.is(due([grandchild, child, ...five], { days: 3 }), 'd')
  assert.is(due([grandchild, child, ...five], { count: 1 }), 'd c b a')
  assert.is(due([grandchild, child, ...five], { count: 4 }), 'd')
  assert.is(due([entry('lone', 9, { parentId: 'gone' })], { days: 3 }), 'lone')
  const kept = entry('child', 9, { parentId: 'x', tags: { keep: '' } })
  assert.equal(familiesOf([entry('x', 9), kept]).map(({ isKept }) => isKept), [true])
})

test('parents that name each other do not hang', () => {
  assert.is(familiesOf([entry('x', 1, { parentId: 'y' }), entry('y', 1, { parentId: 'x' })]).length > 0, true)
})

test('10,000 conversations are judged in one short turn', () => {
  const many = Array.from({ length: 10_000 }, (_, number) => {
    return entry(`id-${number}`, number / 100, number % 5 === 0 ? {} : { parentId: `id-${number - (number % 5)}` })
  })
  assert.is(due(many, { count: 1 }).split(' ').length, 1999)
})

const resting = { execution_status: 'finished', pending_confirmations: [], goal: null, unserved: [] } as const

test('work that waits makes a conversation stay', () => {
  assert.is(waitingWork(resting), undefined)
  assert.is(waitingWork({ ...resting, execution_status: 'running' }), 'a run is under way')
  assert.is(waitingWork({ ...resting, execution_status: 'waiting_for_confirmation' }), 'a question waits for an answer')
  assert.is(waitingWork({ ...resting, pending_confirmations: [{}] }), 'a question waits for an answer')
  assert.is(waitingWork({ ...resting, goal: { active: true } }), 'a goal is pursued')
  assert.is(waitingWork({ ...resting, goal: { active: false } }), undefined)
  assert.is(waitingWork({ ...resting, unserved: ['x'] }), 'a message waits for a run')
  assert.is(waitingWork({ ...resting, execution_status: 'error', unserved: ['x'] }), undefined)
  assert.is(waitingWork({ ...resting, execution_status: 'paused' }), undefined)
})

test.run()
