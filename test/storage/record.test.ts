import * as assert from 'uvu/assert'
import { hasSource, isEvent, isPrivateRecord, kindPlaceOf, labelOf, markOf } from '../../src/storage/record.ts'
import { suite } from '../support/suite.ts'

const test = suite('storage/record')
const kinds = ['A', 'MessageEvent']
const id = '01a1fd70-f1c4-7abc-8087-fbf7479cb86d'
const label = (text: string) => labelOf(Buffer.from(text), kinds)

test('tells events from private records by their first bytes', () => {
  for (const [text, event, record] of [
    ['{"kind":"A"}', true, false],
    ['["a",1]', false, true],
    ['{"k":1}', false, false],
    ['[1]', false, false],
    ['', false, false],
  ] as const) {
    assert.is(isEvent(Buffer.from(text)), event, text)
    assert.is(isPrivateRecord(Buffer.from(text)), record, text)
  }
})

test('reads the upper half of the id, kind and source from the beginning of an event', () => {
  const upper = '01a1fd70f1c47abc'
  const head = `{"kind":"MessageEvent","id":"${id}","timestamp":"2026-11-21T09:30:00.004000Z"`
  assert.equal(label(`${head},"source":"user","x":1}`), { upper, mark: markOf(1, 'user') })
  assert.equal(label(`${head},"x":{"source":"user"}}`), { upper, mark: markOf(1, '') })
  assert.equal(label(`{"kind":"A","id":"${id}"}`), { upper, mark: markOf(0, '') })
  assert.equal(label(`{"kind":"A","id":"${id}","source":"hook"}`), { upper, mark: markOf(0, '') })
  assert.equal(label(`${head},"source":"agent","text":"${'é'.repeat(500)}"}`)?.mark, markOf(1, 'agent'))
})

test('gives no label to other kinds, other ids or another order of members', () => {
  for (const text of [
    `{"kind":"B","id":"${id}"}`,
    '{"kind":"A","id":"7"}',
    `{"kind":"A","x":1,"id":"${id}"}`,
    '{"kind":"A"',
    '["A"]',
    '',
  ]) {
    assert.is(label(text), undefined, text)
  }
})

test('packs kind and source into one byte', () => {
  const mark = markOf(13, 'environment')
  assert.ok(mark < 256)
  assert.is(kindPlaceOf(mark), 13)
  assert.ok(hasSource(mark, 'environment'))
  assert.not(hasSource(mark, 'agent'))
  assert.not(hasSource(markOf(0, ''), 'agent'))
})

test.run()
