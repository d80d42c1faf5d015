import * as assert from 'uvu/assert'
import { suite } from '../../support/suite.ts'
import { Listing, type SortOrder } from '../../../src/conversation/list/listing.ts'
import type { ListEntry } from '../../../src/conversation/list/sorted-entries.ts'

const test = suite('conversation/list/listing')

const idOf = (name: string): string => `${name.repeat(8)}-0000-4000-8000-000000000000`
const nameOf = (id: string): string => id.slice(0, 1)

function entry(name: string, changes: Partial<ListEntry> = {}): ListEntry {
  return {
    id: idOf(name), createdAt: '2026-01-01', updatedAt: '2026-01-01', status: 'idle', parentId: null,
    workingDir: '/w', tags: {}, createdBy: null,
    ...changes,
  }
}

function listed(...entries: ListEntry[]): Listing {
  const listing = new Listing()
  for (const one of entries) listing.set(one)
  return listing
}

const order = (listing: Listing, sortOrder: SortOrder): string =>
  listing.page({ sortOrder, limit: 100 }).ids.map(nameOf).join('')

test('sorts by creation and by change, either way, with ids where times are the same', () => {
  const listing = listed(
    entry('c'), entry('b'), entry('a', { createdAt: '2026-01-02' }), entry('d', { updatedAt: '2026-01-02' }),
  )
  assert.is(order(listing, 'CREATED_AT'), 'bcda')
  assert.is(order(listing, 'CREATED_AT_DESC'), 'adcb')
  assert.is(order(listing, 'UPDATED_AT'), 'abcd')
  assert.is(order(listing, 'UPDATED_AT_DESC'), 'dcba')
})

test('a change moves a conversation in the order of changes alone', () => {
  const listing = listed(entry('a'), entry('b'))
  assert.is(order(listing, 'UPDATED_AT'), 'ab')
  assert.is(order(listing, 'CREATED_AT'), 'ab')
  listing.set(entry('a', { updatedAt: '2026-01-03' }))
  assert.is(order(listing, 'UPDATED_AT'), 'ba')
  assert.is(order(listing, 'CREATED_AT'), 'ab')
})

test('gives pages that join, named by the id of the next item', () => {
  const listing = listed(entry('a'), entry('b'), entry('c'))
  const first = listing.page({ sortOrder: 'CREATED_AT', limit: 2 })
  assert.equal(first, { ids: [idOf('a'), idOf('b')], nextPageId: idOf('c') })
  const second = listing.page({ sortOrder: 'CREATED_AT', limit: 2, pageId: idOf('c') })
  assert.equal(second, { ids: [idOf('c')], nextPageId: null })
})

test('what is made between two pages neither repeats nor hides another', () => {
  const listing = listed(entry('b'), entry('c'))
  const first = listing.page({ sortOrder: 'CREATED_AT', limit: 1 })
  listing.set(entry('a'))
  const second = listing.page({ sortOrder: 'CREATED_AT', limit: 1, pageId: idOf('c') })
  assert.equal([...first.ids, ...second.ids].map(nameOf), ['b', 'c'])
})

test('an unknown page begins from the start', () => {
  const listing = listed(entry('a'))
  assert.equal(listing.page({ sortOrder: 'CREATED_AT', limit: 1, pageId: idOf('z') }).ids, [idOf('a')])
})

test('goes on at the conversation that was named, also when it has another status by then', () => {
  const listing = listed(entry('a'), entry('b'), entry('c'), entry('d'))
  const query = { sortOrder: 'CREATED_AT_DESC', limit: 2, status: 'idle' } as const
  assert.equal(listing.page(query), { ids: [idOf('d'), idOf('c')], nextPageId: idOf('b') })
  listing.set(entry('b', { status: 'running' }))
  assert.equal(listing.page({ ...query, pageId: idOf('b') }), { ids: [idOf('a')], nextPageId: null })
})

test('keeps the order through thousands of changes', () => {
  let state = 7
  const below = (limit: number): number => (state = (state * 48_271) % 2_147_483_647) % limit
  const listing = new Listing()
  const expected = new Map<string, ListEntry>()
  for (let step = 0; step < 3000; step++) {
    const name = below(400).toString(16).padStart(8, '0')
    const id = `${name}-0000-4000-8000-000000000000`
    if (below(4) === 0) {
      assert.equal(listing.delete(id), expected.get(id))
      expected.delete(id)
    } else {
      const known = expected.get(id)
      const createdAt = known?.createdAt ?? String(1000 + below(50))
      const changed: ListEntry = {
        id, createdAt, updatedAt: String(1000 + step), status: 'idle', parentId: null,
        workingDir: '/w', tags: {}, createdBy: null,
      }
      listing.set(changed)
      expected.set(id, changed)
    }
    if (step % 500 !== 0) continue
    for (const [sortOrder, key] of [['CREATED_AT', 'createdAt'], ['UPDATED_AT', 'updatedAt']] as const) {
      const sorted = [...expected.values()].sort((a, b) => `${a[key]} ${a.id}`.localeCompare(`${b[key]} ${b.id}`))
      assert.equal(listing.page({ sortOrder, limit: 1000 }).ids, sorted.map((one) => one.id))
      const reversed = listing.page({ sortOrder: `${sortOrder}_DESC`, limit: 1000 }).ids
      assert.equal(reversed, sorted.map((one) => one.id).reverse())
    }
  }
})

test('pages and counts by status, also after it has changed', () => {
  const listing = listed(entry('a'), entry('b', { status: 'running' }), entry('c'))
  const running = (): string[] =>
    listing.page({ sortOrder: 'CREATED_AT', limit: 10, status: 'running' }).ids.map(nameOf)
  assert.equal(running(), ['b'])
  assert.equal([listing.count(), listing.count('idle'), listing.count('running')], [3, 2, 1])
  listing.set(entry('a', { status: 'running' }))
  assert.equal(running(), ['a', 'b'])
  assert.equal([listing.count(), listing.count('idle'), listing.count('running')], [3, 1, 2])
})

test('knows children by their parent', () => {
  const listing = listed(entry('a'), entry('b', { parentId: idOf('a') }), entry('c', { parentId: idOf('a') }))
  assert.equal(listing.childrenOf(idOf('a')).map(nameOf), ['b', 'c'])
  assert.equal(listing.childrenOf(idOf('b')), [])
})

test('a deleted one is gone from everything, and is given back', () => {
  const listing = listed(entry('a'), entry('b'))
  assert.is(order(listing, 'UPDATED_AT'), 'ab')
  assert.equal(listing.delete(idOf('a')), entry('a'))
  assert.is(listing.delete(idOf('a')), undefined)
  assert.not.ok(listing.has(idOf('a')))
  assert.is(order(listing, 'UPDATED_AT'), 'b')
  assert.is(order(listing, 'CREATED_AT'), 'b')
  assert.is(listing.count(), 1)
})

test.run()
